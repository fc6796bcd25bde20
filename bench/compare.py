#!/usr/bin/env python3
"""Trains the same model with shoal and with its PyTorch twin, in turn, and prints the ratios as a Markdown table.

Each round runs every side once, in a process of its own; the numbers are medians over all steps of all rounds after
each process's warm-up. Needs torch for the twin (bench/requirements.txt); run it on an otherwise idle machine:

    python3 -m venv venv && venv/bin/pip install -r bench/requirements.txt
    bench/compare.py --python venv/bin/python --rounds 3
"""
import argparse
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHAPES = {  # vocabulary, tokens a step, FLOPs a token as bench/twin.py counts them
    "70m": (50304, 4 * 512, 6 * (6 * 12 * 512**2 + 50304 * 512) + 12 * 6 * 512 * 512),
    "25m": (8192, 8 * 512, 6 * (8 * 12 * 512**2 + 8192 * 512) + 12 * 8 * 512 * 512),
}


def write_tokens(prefix, vocab, count):
    """A token file of uniformly random ids in one document: .bin holds uint16, .idx is version 1 of the format."""
    random.seed(1234)
    Path(f"{prefix}.bin").write_bytes(array("H", random.choices(range(vocab), k=count)).tobytes())
    Path(f"{prefix}.idx").write_bytes(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 1, 2) + struct.pack("<i", count) +
                                      struct.pack("<q", 0) + struct.pack("<qq", 0, 1))


def run(command):
    """Runs to the end; gives the output, the seconds until the first step line and the peak memory in MB."""
    start, first, lines = time.perf_counter(), None, []
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if first is None and re.match(r"step +\d", line):
            first = time.perf_counter() - start
        lines.append(line)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{''.join(lines[-30:])}")
    return "".join(lines), first, usage.ru_maxrss // 1024


def run_twin(options, shape, dtype, mode):
    output, _, _ = run([options.python, HERE / "twin.py", "--shape", shape, "--mode", mode, "--dtype", dtype,
                        "--warmup", options.warmup, "--steps", options.steps])
    result = json.loads(output.strip().splitlines()[-1])
    return {"ms": result["step_ms"], "memory": result["peak_mb"], "name": result["side"]}


def run_shoal(options, shape, dtype):
    vocab, tokens, _ = SHAPES[shape]
    steps = options.warmup + options.steps
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(f"{folder}/tokens", vocab, tokens * (steps + 2))
        _, first, memory = run([options.shoal, "train", HERE / f"{shape}.yaml", f"run.dir={folder}/run",
                                f"run.steps={steps}", f"precision.compute={dtype}",
                                f"data.train=[{{path: {folder}/tokens}}]", *options.set])
        records = [json.loads(line) for line in open(f"{folder}/run/metrics.jsonl")]
    ms = [r["step_ms"] for r in records if "step_ms" in r]
    mfu = [r["mfu"] for r in records if r.get("mfu")]
    return {"ms": ms[options.warmup:], "memory": memory, "start": first - ms[0] / 1e3 if first else None, "mfu": mfu}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", default=HERE.parent / "build/apps/shoal/shoal")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--dtypes", nargs="+", default=["f32", "bf16"], choices=["f32", "bf16"])
    parser.add_argument("--modes", nargs="*", default=["eager", "compile"], choices=["eager", "compile"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="further keys for shoal")
    options = parser.parse_args()

    rows, notes = [], []
    for shape in options.shapes:
        _, tokens, flops = SHAPES[shape]
        for dtype in options.dtypes:
            found = {}
            for round_number in range(options.rounds):
                for side in [*options.modes, "shoal"]:
                    result = run_shoal(options, shape, dtype) if side == "shoal" else run_twin(options, shape, dtype, side)
                    print(f"# {shape} {dtype} round {round_number + 1} {side}: {result}", file=sys.stderr)
                    entry = found.setdefault(side, {"ms": [], "memory": 0, "start": [], "mfu": []})
                    entry["ms"] += result["ms"]
                    entry["memory"] = max(entry["memory"], result["memory"])
                    entry["start"] += [result["start"]] if result.get("start") else []
                    entry["mfu"] += result.get("mfu", [])
            speed = {side: tokens / statistics.median(entry["ms"]) * 1e3 for side, entry in found.items()}
            ours = found["shoal"]
            row = [shape, dtype, f"{speed['shoal']:.0f}", f"{speed['shoal'] * flops / 1e9:.0f}"]
            for mode in ("eager", "compile"):
                row += [f"{speed[mode]:.0f}", f"{speed['shoal'] / speed[mode]:.2f}x"] if mode in speed else ["–", "–"]
            row += [str(ours["memory"])]
            row += ([str(found["compile"]["memory"]), f"{100 * ours['memory'] / found['compile']['memory']:.0f} %"]
                    if "compile" in found else ["–", "–"])
            rows.append(row)
            if ours["start"]:
                notes.append(f"{shape} {dtype}: {statistics.median(ours['start']):.2f} s from start to first step")
            if ours["mfu"]:
                notes.append(f"{shape} {dtype}: MFU {100 * statistics.median(ours['mfu']):.1f} % of the measured peak")

    header = ["shape", "type", "shoal tok/s", "GFLOP/s", "eager tok/s", "ratio", "compile tok/s", "ratio",
              "shoal MB", "compile MB", "share"]
    for cells in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(cells) + " |")
    print()
    for note in notes:
        print("- " + note)


if __name__ == "__main__":
    main()
