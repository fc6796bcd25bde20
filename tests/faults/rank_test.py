#!/usr/bin/env python3
"""A rank that dies, hangs or throws: the others end within the time-out and name it."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT = 3


# Hydra ends everybody when a process dies. Behind a shell that stays, the launcher does not see it, as is the case on
# other machines, and the ranks have to find out by themselves.
UNSEEN = ["sh", "-c", '"$0" "$@"; code=$?; [ $code = 137 ] && sleep 100; exit $code']


def run(program, how, wrapper=(), ranks=3):
    """The exit code, what was printed, the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["mpiexec.mpich", "-n", str(ranks), *wrapper, program, folder, how, str(TIMEOUT)]
        begin = time.monotonic()
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        try:
            text, _ = child.communicate(timeout=TIMEOUT + 60)
        except subprocess.TimeoutExpired:
            child.kill()
            raise AssertionError(f"{how}: the ranks have not ended") from None
        finally:
            stopped = os.path.join(folder, "heartbeat.1.json")
            if how == "stop" and os.path.exists(stopped):
                with open(stopped, encoding="utf-8") as f:
                    end(json.load(f)["pid"])
        return child.returncode, text, time.monotonic() - begin


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    program = sys.argv[1]
    code, text, seconds = run(program, "kill")
    assert code != 0 and seconds < TIMEOUT, f"{seconds} s\n{text}"
    print(f"kill, seen by the launcher: ended after {seconds:.1f} s")
    for how in ("kill", "stop"):
        code, text, seconds = run(program, how, UNSEEN)
        assert code != 0, text
        assert seconds < TIMEOUT + 30, f"{how}: {seconds:.0f} s"
        assert re.search(r"rank [02]: .*AR_data bucket 2 \(world group\) did not finish within 3 s; behind the others: "
                         r"rank 1 \(process \d+ on \S+\), after step 7, phase step, last collective AR_data bucket 1 "
                         r"\(number 23\), last sign of life [3-9] s ago", text), text
        assert text.count("behind the others") == 1, f"more than one rank speaks:\n{text}"
        print(f"{how}: ended after {seconds:.1f} s")
    code, text, seconds = run(program, "throw")
    assert code == 1 and text.count("a rank has had enough") == 1 and "rank 1: " in text, text
    assert seconds < TIMEOUT, f"throw: {seconds:.0f} s"
    print(f"throw: ended after {seconds:.1f} s")


if __name__ == "__main__":
    main()
