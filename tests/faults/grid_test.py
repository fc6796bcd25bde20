#!/usr/bin/env python3
"""`shoal train` on several ranks: what it says and records, and what happens when one of them fails."""

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from shoal_run import Shoal, losses

TIMEOUT = 4
RUN = ["run.steps=30", "run.threads=1", "checkpoint.every=0", "log.every=10"]
GRID = ["parallel.x=2", "parallel.data=2", "batch.micro=1"]
# Hydra ends everybody when a process dies. Behind a shell that stays, the launcher does not see it.
UNSEEN = ["sh", "-c", '"$0" "$@"; code=$?; [ $code = 137 ] && sleep 100; exit $code']


class Ranks:
    """One start of `shoal train` under mpiexec."""

    def __init__(self, shoal, run, ranks, *words, wrapper=(), other=None):
        command = ["mpiexec.mpich", "-n", str(ranks), *wrapper, shoal.program, "train", shoal.spec, f"run.dir={run}", *words]
        if other:  # the last rank gets words of its own
            command[2] = str(ranks - 1)
            command += [":", "-n", "1", shoal.program, "train", shoal.spec, f"run.dir={run}", *words, *other]
        self.run = run
        self.out = run + ".out"
        self.begin = time.monotonic()
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)

    def finish(self, seconds=120):
        """The exit code and what was printed."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the ranks have not ended:\n{self.text()}") from None
        return code, self.text()

    def text(self):
        with open(self.out, encoding="utf-8") as f:
            return f.read()

    def beat(self, rank):
        path = os.path.join(self.run, "heartbeat.json" if rank == 0 else f"heartbeat.{rank}.json")
        try:
            with open(path, encoding="utf-8") as f:
                return json.load(f)
        except (OSError, ValueError):
            return {}

    def wait_for_step(self, step, ranks):
        while any(self.beat(rank).get("step", 0) < step for rank in range(ranks)):
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < self.begin + 60, self.text()
            time.sleep(0.05)


def check_nested(spans, where):
    """Spans of one thread, as (begin, end), are nested or apart."""
    open_until = []
    for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= begin + 0.002:  # microseconds with three decimals
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 0.002, f"{where}: spans overlap"
        open_until.append(end)


def check_trace(run, ranks, steps):
    with open(os.path.join(run, "trace.json"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    threads, names = {}, {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
            names.setdefault((event["pid"], event["tid"]), []).append(event["name"])
    for rank in range(ranks):
        assert names[rank, 0].count("step") == steps, rank
        assert any(name.startswith("wait ") for name in names[rank, 0]), rank
        assert any(name.startswith("AR_x ") for name in names[rank, 1]), names[rank, 1][:20]
    for where, spans in threads.items():
        check_nested(spans, where)

    # As Pipit reads it: pandas.read_csv(skipinitialspace=True), sorted by time; numbers are counters.
    with open(os.path.join(run, "trace.csv"), encoding="utf-8") as f:
        rows = list(csv.DictReader(f, skipinitialspace=True))
    assert list(rows[0]) == ["Timestamp (ns)", "Event Type", "Name", "Process", "Thread", "bytes", "Attributes"]
    assert {int(row["Process"]) for row in rows} == set(range(ranks))
    stacks, counters = {}, {}
    for row in sorted(rows, key=lambda row: int(row["Timestamp (ns)"])):
        where = int(row["Process"]), int(row["Thread"])
        sent = float(row["bytes"])
        assert sent >= counters.get(where, 0), "a counter falls"
        counters[where] = sent
        if row["Event Type"] == "Enter":
            stacks.setdefault(where, []).append(row["Name"])
        else:
            assert row["Event Type"] == "Leave" and stacks[where].pop() == row["Name"], row
    assert not any(stacks.values())
    assert sum(row["Event Type"] == "Enter" for row in rows) == sum(map(len, threads.values()))
    assert all(counters[rank, 0] > 0 for rank in range(ranks))


def test_what_a_run_says(shoal, folder):
    run = os.path.join(folder, "says")
    code, text = Ranks(shoal, run, 4, *RUN, *GRID, "trace.steps=3").finish()
    assert code == 0, text
    assert "grid         x 2 * y 1 * z 1 * data 2 = 4 ranks on 1 host\n" in text, text
    assert re.search(r"rank 3    x 1   y 0   z 0   data 1    \S+\n", text), text
    assert re.search(r"bandwidth    x \S+/s, data \S+/s sent a rank", text), text
    assert re.search(r"traffic      AR_x +\S+ a step in \S+ calls, \S+ ms waited of \S+ ms, \d+ % hidden", text), text
    assert text.count("grid         x 2") == 1, "more than one rank speaks"
    check_trace(run, 4, 3)
    with open(os.path.join(run, "traffic.json"), encoding="utf-8") as f:
        traffic = json.load(f)
    assert traffic["ranks"] == 4 and traffic["steps"] == 30, traffic
    assert any(entry["label"].startswith("AR_data") for entry in traffic["labels"]), traffic
    page = os.path.join(folder, "page.html")
    subprocess.run([shoal.program, "report", run, "--output", page], check=True, stdout=subprocess.DEVNULL)
    with open(page, encoding="utf-8") as f:
        assert '<section id="traffic">' in f.read()
    assert len(losses(run)) == 4, losses(run)  # steps 1, 10, 20, 30, once each
    print("says: table, traffic, trace and report")


def test_stopped_run_has_its_trace(shoal, folder):
    run = os.path.join(folder, "stopped")
    ranks = Ranks(shoal, run, 4, *RUN, *GRID, "run.steps=1000000", "trace.first=1", "trace.steps=1000000",
                  "trace.max_spans=1000")
    ranks.wait_for_step(3, 4)
    ranks.process.send_signal(signal.SIGTERM)
    code, text = ranks.finish()
    assert "wrote " in text and "the trace lacks its last " in text, text
    with open(os.path.join(run, "trace.json"), encoding="utf-8") as f:
        assert sum(event["ph"] == "X" for event in json.load(f)["traceEvents"]) == 4000
    assert os.listdir(os.path.join(run, "ckpt")), "no checkpoint"
    print(f"stopped: exit code {code}, a checkpoint and a trace")


def test_a_rank_that_hangs_or_dies(shoal, folder):
    for how, number in (("hang", signal.SIGSTOP), ("die", signal.SIGKILL)):
        run = os.path.join(folder, how)
        ranks = Ranks(shoal, run, 4, *RUN, *GRID, "run.steps=1000000", f"parallel.timeout={TIMEOUT}", wrapper=UNSEEN)
        ranks.wait_for_step(3, 4)
        victim = ranks.beat(2)["pid"]
        failed = time.monotonic()
        os.kill(victim, number)
        try:
            code, text = ranks.finish(TIMEOUT + 40)
        finally:
            if number == signal.SIGSTOP:
                os.kill(victim, signal.SIGKILL)
        assert code not in (0, 75), text
        assert re.search(r"did not finish within 4 s; behind the others: .*rank 2 \(process %d on \S+\), after step \d+, "
                         r"phase \S+, (last collective .+ \(number \d+\)|before)" % victim, text), text
        assert text.count("behind the others") == 1, f"more than one rank speaks:\n{text}"
        print(f"{how}: named after {time.monotonic() - failed:.1f} s")


def test_a_flipped_bit(shoal, folder):
    run = os.path.join(folder, "flip")
    flip = os.path.abspath(sys.argv[2])
    done = subprocess.run(["mpiexec.mpich", "-n", "3", flip, "1", "6", shoal.spec, f"run.dir={run}", "run.steps=20",
                           "parallel.data=3", "batch.global=3", "batch.micro=1", "checkpoint.every=1",
                           "parallel.check_replicas=2"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive"))
    text = done.stdout + done.stderr
    assert done.returncode == 1, f"{done.returncode}\n{text}"
    assert text.count("after step 6 the copies of 1 weight differ between ranks") == 1, text
    assert re.search(r"\n  \S+\.\S+: rank 1 \(x 0 y 0 z 0 data 1\) not as on 2 others\n", text), text
    kept = sorted(os.listdir(os.path.join(run, "ckpt")))
    assert kept and not any("000006" in name for name in kept), kept
    print("flipped bit: found, named, not saved")


def test_a_mistake_on_one_rank(shoal, folder):
    begin = time.monotonic()
    run = os.path.join(folder, "mistake")
    code, text = Ranks(shoal, run, 4, *RUN, *GRID, other=["data.train=[{path: nowhere}]"]).finish()
    assert code == 2, f"{code}\n{text}"
    assert text.count("there are no nowhere.bin") == 1, text
    assert "rank 3" in text, text
    assert time.monotonic() - begin < 30, text
    print("mistake on one rank: printed once, exit code 2")


def test_wrong_number_of_ranks(shoal, folder):
    code, text = Ranks(shoal, os.path.join(folder, "wrong"), 3, *RUN, *GRID).finish()
    assert code == 2 and text.count("error") == 1, f"{code}\n{text}"
    assert "4 ranks" in text and "3" in text, text
    print("3 ranks for a grid of 4: exit code 2")


def main():
    program = sys.argv[1]
    only = sys.argv[3:]
    tests = [test_what_a_run_says, test_stopped_run_has_its_trace, test_a_rank_that_hangs_or_dies,
             test_a_flipped_bit, test_a_mistake_on_one_rank, test_wrong_number_of_ranks]
    with tempfile.TemporaryDirectory() as folder:
        shoal = Shoal(program, folder, random.Random(21))
        for test in tests:
            if not only or test.__name__ in only:
                test(shoal, folder)


if __name__ == "__main__":
    main()
