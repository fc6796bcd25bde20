"""Kills a training run at random moments, many times, and checks that nothing is lost.

usage: kill_test.py SHOAL [--kills 200] [--seed 1] [--minutes 6] [--set KEY=VALUE ...]

A tiny model is trained undisturbed, with a checkpoint after every step. Then the same run is started in another folder
and killed (SIGKILL) after a random time, or at the moment when a checkpoint is being written, again and again until it
ends by itself; then in a third folder, and so on, until there were enough kills. After each kill every checkpoint that
is visible must be whole. At each end the training state must equal the undisturbed run's bit for bit, and the logged
losses must be the same.
"""

import argparse
import glob
import os
import random
import shutil
import sys
import tempfile
import time

from shoal_run import Shoal, losses

class Test:
    def __init__(self, program, folder, rng, overrides):
        self.overrides = overrides
        self.shoal, self.folder, self.rng = Shoal(program, folder, rng), folder, rng
        self.kills = self.kills_while_saving = 0

    def finished(self, process, run):
        """Whether the run has ended; it may only end well."""
        code = process.poll()
        if code is None:
            return False
        if code != 0:
            with open(run + ".out", encoding="utf-8") as f:
                print(f.read()[-3000:], file=sys.stderr)
        assert code == 0, f"{run} ended with {code} after {self.kills} kills"
        return True

    def undisturbed(self):
        run = os.path.join(self.folder, "undisturbed")
        begin = time.monotonic()
        process = self.shoal.start(run, *self.overrides)
        process.wait()
        assert self.finished(process, run)
        self.seconds = time.monotonic() - begin
        self.reference = run

    def kill_once(self, run):
        """Starts the run; true if it ended before it was killed."""
        process = self.shoal.start(run, *self.overrides)
        until = time.monotonic() + self.rng.uniform(0, 0.15 + self.seconds / 12)
        while time.monotonic() < until:
            if self.finished(process, run):
                return True
            time.sleep(0.001)
        if self.rng.random() < 0.5:  # wait for the next save
            while not glob.glob(run + "/ckpt/*.part"):
                if self.finished(process, run):
                    return True
        process.kill()
        if process.wait() == 0:
            return True
        self.kills += 1
        self.kills_while_saving += bool(glob.glob(run + "/ckpt/*.part"))
        if glob.glob(run + "/ckpt/*.h5"):
            self.shoal.must("verify", run)
        return False

    def disturbed(self, run, deadline):
        before = self.kills
        while not self.kill_once(run):
            assert time.monotonic() < deadline, f"too slow: {self.kills} kills"
        self.shoal.must("verify", run)
        self.shoal.must("diff", self.reference, run)
        assert losses(run) == losses(self.reference)
        assert not glob.glob(run + "/ckpt/*.part") and not glob.glob(run + "/ckpt/*.damaged")
        print(f"{os.path.basename(run)}: {self.kills - before} kills, the same training state and losses", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shoal")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="what differs from the spec")
    options = parser.parse_args()
    # SIGKILL does not touch what the kernel has taken over, so a file system in memory serves as well as a disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="shoal_kills_", dir=memory)
    try:
        test = Test(options.shoal, folder, random.Random(options.seed), options.set)
        deadline = time.monotonic() + 60 * options.minutes
        test.undisturbed()
        runs = 0
        while test.kills < options.kills:
            runs += 1
            test.disturbed(os.path.join(folder, f"run{runs}"), deadline)
        print(f"{test.kills} kills, {test.kills_while_saving} of them while a checkpoint was written, {runs} runs")
        assert test.kills_while_saving >= options.kills // 10
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
