#!/usr/bin/env python3
"""A sweep of tiny runs with cooldowns is stopped, then killed, goes on each time, and is collected.

usage: sweep_test.py SHOAL
"""

import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

SHOAL = os.path.abspath(sys.argv[1])
SPEC = """version: 1
run: {name: tiny, dir: out, steps: 40, threads: 1}
sweep:
  shapes: {width: [32, 64], depth: [1, 2], head_dim: 32, params: [1e4, 6e4]}
  lr: {rule: gemstones, effective: 0.3}
  cooldowns: {marks: [20, 40], length: 0.1}
data: {tokenizer: byte, seq_length: 32, train: [{path: corpus}], split: "90,10,0"}
batch: {global: 4, micro: 4}
schedule: {name: constant, warmup: 2}
checkpoint: {every: 5}
eval: {every: 0}
log: {tensorboard: false, peak_gflops: 1}
"""


def shoal(*words, code=0):
    done = subprocess.run([SHOAL, *words], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"shoal {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check(condition, message):
    if not condition:
        sys.exit("sweep_test: " + message)


def interrupted(sent):
    """Starts the sweep and interrupts it when a run has been done."""
    sweep = subprocess.Popen([SHOAL, "sweep", "run", "s.yaml", "--jobs", "2"], stdout=subprocess.PIPE, text=True)
    for line in sweep.stdout:
        if line.startswith("done"):
            break
    sweep.send_signal(sent)
    rest = sweep.stdout.read()
    return sweep.wait(), rest


def main():
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("text.txt", "w") as text:
            for _ in range(500):
                text.write(" ".join(random.choices(["one", "two", "three", "shoal"], k=12)) + "\n")
        shoal("data", "tokenize", "text.txt", "--documents", "line", "--tokenizer", "byte", "--output", "corpus")
        with open("s.yaml", "w") as spec:
            spec.write(SPEC)
        listed = shoal("sweep", "expand", "s.yaml")
        check("9 runs" in listed, "expanded to\n" + listed)
        check("9 of 9 runs are not done" in shoal("sweep", "collect", "s.yaml", code=2), "collected too early")

        code, rest = interrupted(signal.SIGTERM)
        check(code in (0, 75), f"stopped with {code}: {rest}")
        interrupted(signal.SIGKILL)
        # The runs of a killed sweep go on by themselves, and keep their folders locked until they end.
        for _ in range(60):
            again = subprocess.run([SHOAL, "sweep", "run", "s.yaml", "--jobs", "2", "--retry"],
                                   capture_output=True, text=True)
            if again.returncode == 0:
                break
            time.sleep(1)
        check("9 of 9 done" in again.stdout, again.stdout + again.stderr)
        check("started  " not in shoal("sweep", "run", "s.yaml"), "what is done was started again")
        check(shoal("sweep", "status", "s.yaml").count("done") == 9, "status")

        shoal("sweep", "collect", "s.yaml")
        with open("out/table.csv") as table:
            rows = list(csv.DictReader(table))
        check(len(rows) == 9, "rows")
        for row in rows:
            width, depth = int(row["width"]), int(row["depth"])
            check(int(row["params_non_embedding"]) == (12 * width**2 + 13 * width) * depth + 2 * width, str(row))
            check(int(row["tokens"]) == int(row["step"]) * 4 * 32, str(row))
            check(0 < float(row["loss"]) < 6, str(row))
            check(int(row["step"]) == {"": 40, "20": 22, "40": 44}[row["cooldown"]], str(row))

        # A run that cannot work is listed with its reason, and the others are done.
        with open("s.yaml", "w") as spec:
            spec.write(SPEC.replace("  cooldowns: {marks: [20, 40], length: 0.1}\n", "")
                       .replace("dir: out", "dir: bad"))
        os.makedirs("bad/w32-d1")
        with open("bad/w32-d1/note", "w") as note:
            note.write("not a run")
        text = shoal("sweep", "run", "s.yaml", "--jobs", "2", code=1)
        check("1 failed" in text and "2 of 3 done" in text, text)
        check("failed   w32-d1: exit code" in shoal("sweep", "status", "s.yaml"), "the reason")


main()
