#!/usr/bin/env python3
"""Ranks that are killed while they save together: every checkpoint that is visible stays whole, and the rest goes on.

usage: save_kill_test.py SAVE_LOOP SHOAL [--kills 20] [--seed 1]
"""

import argparse
import glob
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

STEPS = 100000  # more than there is time for


def start(program, folder, ranks, steps):
    words = ["mpiexec.mpich", "-n", str(ranks), program, folder, str(steps)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))


def newest(folder):
    files = sorted(glob.glob(folder + "/ckpt/*.h5"))
    return int(os.path.basename(files[-1])[5:-3]) if files else 0


def kill_one(program, folder, ranks, rng):
    """Starts the ranks and kills one of them; true if it was while a checkpoint was being written."""
    for path in glob.glob(folder + "/pid.*"):
        os.remove(path)
    before = newest(folder)
    process = start(program, folder, ranks, STEPS)
    deadline = time.monotonic() + 60
    while newest(folder) <= before:  # it has loaded the newest one, checked it, and saved another
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline, "no checkpoint"
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.05))
    if rng.random() < 0.7:
        while not glob.glob(folder + "/ckpt/*.part"):
            assert time.monotonic() < deadline, "no checkpoint is being written"
    with open(f"{folder}/pid.{rng.randrange(ranks)}", encoding="utf-8") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    text, _ = process.communicate(timeout=60)
    assert process.returncode != 0, text
    assert "another state" not in text and "damaged" not in text, text
    return bool(glob.glob(folder + "/ckpt/*.part"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("save_loop")
    parser.add_argument("shoal")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="shoal_saves_", dir=memory)
    try:
        while_saving = 0
        for kill in range(options.kills):  # each time another number of ranks
            while_saving += kill_one(options.save_loop, folder, 2 + kill % 2, rng)
            done = subprocess.run([options.shoal, "ckpt", "verify", folder], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        last = newest(folder) + 3
        process = start(options.save_loop, folder, 4, last)
        text, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and text == "", text
        assert newest(folder) == last and not glob.glob(folder + "/ckpt/*.part")
        print(f"{options.kills} kills, {while_saving} of them while a checkpoint was written, {last} steps")
        assert while_saving >= options.kills // 10
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
