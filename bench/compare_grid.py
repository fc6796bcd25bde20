#!/usr/bin/env python3
"""Trains one model on the same cores in one process and in two, with shoal and with PyTorch, in turn.

The sides: shoal in one process with all threads; shoal under mpiexec with the data, the z and the x axis of 2;
PyTorch in one process; PyTorch with DistributedDataParallel and with FSDP2 over gloo in two processes. The same
global batch everywhere. Prints a Markdown table of medians over all steps of all rounds. Run it on an otherwise idle
machine:

    bench/compare_grid.py --python venv/bin/python --rounds 3
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

from compare import HERE, SHAPES, run, write_tokens

ROWS = {"70m": 4, "25m": 8}  # sequences a step


def run_twin(options, dtype, parallel):
    command = [options.python, HERE / "twin.py", "--shape", options.shape, "--dtype", dtype, "--parallel", parallel,
               "--processes", options.processes, "--warmup", options.warmup, "--steps", options.steps]
    output, _, _ = run(command)
    return json.loads(output.strip().splitlines()[-1])["step_ms"]


def run_shoal(options, dtype, grid):
    vocab, tokens, _ = SHAPES[options.shape]
    steps, ranks = options.warmup + options.steps, options.processes if grid else 1
    threads = max(1, len(os.sched_getaffinity(0)) // ranks)
    launcher = [options.mpiexec, "-n", ranks] if grid else []
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(f"{folder}/tokens", vocab, tokens * (steps + 2))
        keys = [f"run.dir={folder}/run", f"run.steps={steps}", f"run.threads={threads}", f"precision.compute={dtype}",
                f"data.train=[{{path: {folder}/tokens}}]", *options.set]
        if grid:
            keys.append(f"parallel.{grid}={ranks}")
            if grid in ("data", "z"):  # every rank takes its share of the rows
                keys.append(f"batch.micro={ROWS[options.shape] // ranks}")
        run([*launcher, options.shoal, "train", HERE / f"{options.shape}.yaml", *keys])
        records = [json.loads(line) for line in open(f"{folder}/run/metrics.jsonl")]
    return [r["step_ms"] for r in records if "step_ms" in r][options.warmup:]



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", default=HERE.parent / "build/apps/shoal/shoal")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--shape", default="25m", choices=SHAPES)
    parser.add_argument("--dtypes", nargs="+", default=["f32", "bf16"], choices=["f32", "bf16"])
    parser.add_argument("--grids", nargs="*", default=["data", "z", "x"], choices=["data", "z", "x", "y"])
    parser.add_argument("--twins", nargs="*", default=["none", "ddp", "fsdp"], choices=["none", "ddp", "fsdp"])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="further keys for shoal")
    options = parser.parse_args()

    tokens = SHAPES[options.shape][1]
    sides = [("shoal", None), *(("shoal", g) for g in options.grids), *(("pytorch", t) for t in options.twins)]
    rows = []
    for dtype in options.dtypes:
        ms = {side: [] for side in sides}
        for round_number in range(options.rounds):
            for side in sides:
                run_side = run_shoal if side[0] == "shoal" else run_twin
                measured = run_side(options, dtype, side[1])
                print(f"# {dtype} round {round_number + 1} {side}: {measured}", file=sys.stderr)
                ms[side] += measured
        speed = {side: tokens / statistics.median(values) * 1e3 for side, values in ms.items()}
        for side in sides:
            row = [dtype, side[0], side[1] or "one process", f"{speed[side]:.0f}",
                   f"{speed[side] / speed[('shoal', None)]:.2f}"]
            for twin in ("ddp", "fsdp"):
                known = side[0] == "shoal" and ("pytorch", twin) in speed
                row.append(f"{speed[side] / speed[('pytorch', twin)]:.2f}x" if known else "–")
            rows.append(row)

    header = ["type", "side", "ranks", "tok/s", "of shoal in one process", "to DDP", "to FSDP2"]
    for cells in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
