#!/usr/bin/env python3
"""Whole runs on grids of 2, 4, 6 and 8 ranks against the same run on one: grid_runs_test.py SHOAL CASE.

Cases: curves (every grid gives the loss curve of one rank), shards (the same with parallel.shard_optimizer, for each
optimizer that allows it), bits (parallel.reproducible: equal to the bit for every z and data), resume (checkpoints go
from grid to grid), mistakes (what is refused, and how).
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

SPEC = """
version: 1
run: {steps: 20, threads: 1}
model: {family: %s, hidden_size: 40, intermediate_size: 99, num_layers: 2, num_attention_heads: 4, vocab_size: 259}
data: {seq_length: 12, train: [{path: corpus}], valid: [{path: corpus}]}
batch: {global: 24, micro: 2}
loss: {goldfish: {k: 4, h: 5}}
optimizer: {lr: 3e-3}
checkpoint: {every: 0, save_final: false}
eval: {every: 10, batches: 7}
log: {progress: none, peak_gflops: 100, tensorboard: false}
"""
TOLERANCE = 2e-5


def write_tokens(prefix):
    """A .bin/.idx pair of random documents, u16 tokens below 256."""
    rng = random.Random(1)
    sizes = [rng.randrange(20, 120) for _ in range(150)]
    starts = [2 * sum(sizes[:i]) for i in range(len(sizes))]
    with open(prefix + ".bin", "wb") as f:
        f.write(b"".join(struct.pack("<H", int(256 * rng.random() ** 2)) for _ in range(sum(sizes))))
    with open(prefix + ".idx", "wb") as f:
        f.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(sizes), len(sizes) + 1))
        f.write(struct.pack(f"<{len(sizes)}i", *sizes))
        f.write(struct.pack(f"<{len(starts)}q", *starts))
        f.write(struct.pack(f"<{len(sizes) + 1}q", *range(len(sizes) + 1)))


class Folder:
    def __init__(self, program, path):
        self.program, self.path, self.count = os.path.abspath(program), path, 0
        write_tokens(os.path.join(path, "corpus"))
        for family in ("gpt-neox", "llama"):
            with open(os.path.join(path, family + ".yaml"), "w", encoding="utf-8") as f:
                f.write(SPEC % family)

    def start(self, family, grid, *keys, ranks=None, environment=None):
        sizes = dict(part.split("=") for part in grid.split())
        wanted = math.prod(int(size) for size in sizes.values())
        launcher = ["mpiexec.mpich", "-n", str(ranks or wanted)] if wanted > 1 or ranks else []
        words = [*launcher, self.program, "train", family + ".yaml",
                 *[f"parallel.{axis}={size}" for axis, size in sizes.items()], *keys]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", **(environment or {})}
        return subprocess.run(words, cwd=self.path, env=env, capture_output=True, text=True, timeout=240, check=False)

    def train(self, family, grid, *keys, run=None):
        """The records of metrics.jsonl, without what depends on time."""
        self.count += 1
        run = run or f"run{self.count}"
        done = self.start(family, grid, f"run.dir={run}", *keys)
        assert done.returncode == 0, f"{family} {grid} {keys}: {done.returncode}\n{done.stdout}{done.stderr}"
        kept = ("step", "tokens", "loss", "grad_norm", "lr", "loss_plain", "loss_dropped", "kept", "dropped", "valid_loss")
        with open(os.path.join(self.path, run, "metrics.jsonl"), encoding="utf-8") as f:
            return [{k: r[k] for k in kept if k in r} for r in map(json.loads, f)]


def check_close(found, expected, what):
    assert len(found) == len(expected) > 0, f"{what}: {len(found)} records, not {len(expected)}"
    for a, b in zip(found, expected):
        assert a.keys() == b.keys(), what
        for key, value in b.items():
            tolerance = TOLERANCE * (10 if key == "grad_norm" else 1)
            assert abs(a[key] - value) <= tolerance * abs(value), f"{what}, step {b['step']}: {key} {a[key]}, not {value}"
    print(f"{what}: as on one rank")


def curves(folder):
    for family in ("gpt-neox", "llama"):
        expected = folder.train(family, "x=1")
        for grid in ("data=2", "z=2", "x=2", "y=2", "x=2 data=2", "z=2 data=2", "x=2 y=2 z=2", "z=3 data=2"):
            check_close(folder.train(family, grid), expected, f"{family} {grid}")
    expected = folder.train("gpt-neox", "x=1", "precision.recompute=true", "model.tie_embeddings=true")
    found = folder.train("gpt-neox", "y=2 z=2", "precision.recompute=true", "model.tie_embeddings=true",
                         "parallel.overlap=false", "parallel.bucket_mb=0.001")
    check_close(found, expected, "recomputed and tied, y=2 z=2 without overlap")


def shards(folder):
    for optimizer in ("adamw", "adam-atan2", "sgd"):
        expected = folder.train("llama", "x=1", f"optimizer.name={optimizer}")
        for grid in ("data=3", "x=2 z=2 data=2"):
            found = folder.train("llama", grid, f"optimizer.name={optimizer}", "parallel.shard_optimizer=true")
            check_close(found, expected, f"{optimizer} sharded, {grid}")
    a, b = (folder.train("gpt-neox", "z=2 data=2", "precision.compute=bf16", f"parallel.shard_optimizer={s}")
            for s in ("false", "true"))
    check_close(b, a, "bf16 sharded, z=2 data=2")


def bits(folder):
    for family, keys in (("gpt-neox", []), ("llama", ["precision.compute=bf16"])):
        keys = ["parallel.reproducible=true", "run.steps=12", *keys]
        expected = folder.train(family, "x=1", *keys)
        for grid in ("data=2", "data=3", "data=4", "z=2", "z=3", "z=4", "z=2 data=2"):
            assert folder.train(family, grid, *keys) == expected, f"{family} {grid}: not the bits of one rank"
            print(f"{family} {grid}: the bits of one rank")
        sharded = folder.train(family, "z=2 data=2", "parallel.shard_optimizer=true", *keys)
        assert sharded == expected, f"{family}: not the bits of one rank with a sharded optimizer"


def resume(folder):
    expected = folder.train("llama", "x=1")
    part = ["checkpoint.save_final=true", "schedule.decay_steps=20"]
    for number, grids in enumerate((("x=2 y=2 z=2", "z=3", "x=1", "y=2 z=3", "x=2 y=2 z=2"), ("x=1", "data=2", "z=2"))):
        run = f"resumed{number}"
        steps = [4 * (i + 1) for i in range(len(grids) - 1)] + [20]
        for grid, step in zip(grids, steps):
            shard = "true" if "data" in grid else "false"
            found = folder.train("llama", grid, *part, f"run.steps={step}", f"parallel.shard_optimizer={shard}", run=run)
        # An evaluation at the end of each part comes on top.
        losses = [r for r in found if "loss" in r]
        check_close(losses, [r for r in expected if "loss" in r], "resumed on " + ", then ".join(grids))


def mistakes(folder):
    wrong = folder.start("llama", "x=2 z=2", ranks=2)
    assert wrong.returncode == 2 and "= 4" in wrong.stderr and "2 were started" in wrong.stderr, wrong.stderr
    assert wrong.stderr.count("shoal: error") == 1, wrong.stderr
    alone = folder.start("llama", "x=1", environment={"SLURM_STEP_NUM_TASKS": "4"})
    assert alone.returncode == 2 and "--mpi=pmi2" in alone.stderr, alone.stderr
    heads = folder.start("llama", "x=3")
    assert heads.returncode == 2 and "parallel.x" in heads.stderr, heads.stderr
    for name in ("jorge", "muon"):
        cut = folder.start("llama", "z=2", f"optimizer.name={name}", f"run.dir={name}")
        assert cut.returncode == 2 and "whole matrices" in cut.stderr, cut.stderr


CASES = {f.__name__: f for f in (curves, shards, bits, resume, mistakes)}


def main():
    with tempfile.TemporaryDirectory() as path:
        CASES[sys.argv[2]](Folder(sys.argv[1], path))


if __name__ == "__main__":
    main()
