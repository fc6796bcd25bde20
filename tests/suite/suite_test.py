#!/usr/bin/env python3
"""A suite of four sizes trains end to end, and all sizes see identical batches.

usage: suite_test.py SHOAL

The demonstration's suite (configs/suite.yaml) with a corpus made here, fewer steps, and every batch compared: what
`shoal data show` computes for each run's own resolved spec, and what the runs logged.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

SHOAL = os.path.abspath(sys.argv[1])
CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs/suite.yaml")
SIZES = ["0.2m", "0.5m", "1.3m", "2.6m"]
STEPS = 64
SCHEDULE = [0, 1, 2, 4, 8, 16, 32, 64]


def shoal(*words):
    done = subprocess.run([SHOAL, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"shoal {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, message):
    if not condition:
        sys.exit("suite_test: " + message)


def main():
    random.seed(1)
    words = ["".join(random.choices("abcdefghijklmnoprstuvw", k=random.randint(2, 9))) for _ in range(2000)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("text.txt", "w") as text:
            for _ in range(3000):
                text.write(" ".join(random.choices(words, k=40)) + ".\n")
        shoal("data", "train-tokenizer", "text.txt", "--documents", "line", "--vocab-size", "2048", "--output", "t.json")
        shoal("data", "tokenize", "text.txt", "--documents", "line", "--tokenizer", "t.json", "--output", "corpus")
        keys = [f"run.steps={STEPS}", "run.dir=suite", "data.tokenizer=t.json", "data.train=[{path: corpus}]",
                "data.valid=[]", "log.progress=none", "run.threads=1"]
        shoal("suite", "train", CONFIG, *keys)

        tokens, losses = {}, {}
        for size in SIZES:
            run = f"suite/{size}"
            specs = [f"{run}/resolved.yaml"]
            for step in [0, 1, 17, STEPS - 1]:
                tokens.setdefault(step, set()).add(shoal("data", "show", *specs, "--step", str(step)))
            with open(f"{run}/metrics.jsonl") as lines:
                records = [json.loads(line) for line in lines]
            steps = [r for r in records if "loss" in r]
            check([r["step"] for r in steps] == list(range(1, STEPS + 1)), f"{size} did not log every step")
            losses[size] = [r["loss"] for r in steps]
            check(losses[size][-1] < losses[size][0] - 0.5, f"{size} did not learn: {losses[size][-1]}")
        for step, rows in tokens.items():
            check(len(rows) == 1, f"the sizes see {len(rows)} different batches in step {step}")
        check(len({rows.pop() for rows in tokens.values()}) == 4, "different steps have the same batch")

        # A batch that is harder for one size is harder for all: the wiggles of the losses go together.
        def wiggles(values):
            return [b - a for a, b in zip(values[40:], values[41:])]

        first = wiggles(losses[SIZES[0]])
        for size in SIZES[1:]:
            other = wiggles(losses[size])
            scale = (sum(a * a for a in first) * sum(b * b for b in other)) ** 0.5
            check(sum(a * b for a, b in zip(first, other)) > 0.5 * scale, f"{size} saw other batches than {SIZES[0]}")

        table = shoal("ckpt", "ls", "suite")
        for step in SCHEDULE:
            row = [line for line in table.splitlines() if line.split()[:1] == [f"step{step}"]]
            check(len(row) == 1 and "-" not in row[0].split(), f"revision step{step} is not complete:\n{table}")
        before = {size: os.stat(f"suite/{size}/ckpt/step_{STEPS:06}.h5").st_mtime for size in SIZES}
        shoal("suite", "train", CONFIG, *keys)  # all done: nothing is trained again
        after = {size: os.stat(f"suite/{size}/ckpt/step_{STEPS:06}.h5").st_mtime for size in SIZES}
        check(before == after, "a finished suite was trained again")
    print("suite_test: four sizes, the same batches")


main()
