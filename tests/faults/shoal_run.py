"""A tiny training run and the ways to start it, for the tests of this folder."""

import json
import os
import struct
import subprocess

SPEC = """
version: 1
run: {steps: 150, threads: 1}
model: {hidden_size: 32, num_layers: 2, num_attention_heads: 2}
data: {tokenizer: byte, seq_length: 16, train: [{path: %s}]}
batch: {global: 4, micro: 2}
checkpoint: {every: 1, keep_last: 2, keep_every: 50}
eval: {every: 0}
log: {progress: lines, peak_gflops: 100}
"""


def write_tokens(prefix, rng):
    """A .bin/.idx pair of random documents, u16 tokens below 256."""
    sizes = [rng.randrange(20, 120) for _ in range(200)]
    starts = [2 * sum(sizes[:i]) for i in range(len(sizes))]
    with open(prefix + ".bin", "wb") as f:
        f.write(b"".join(struct.pack("<H", rng.randrange(256)) for _ in range(sum(sizes))))
    with open(prefix + ".idx", "wb") as f:
        f.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(sizes), len(sizes) + 1))
        f.write(struct.pack(f"<{len(sizes)}i", *sizes))
        f.write(struct.pack(f"<{len(starts)}q", *starts))
        f.write(struct.pack(f"<{len(sizes) + 1}q", *range(len(sizes) + 1)))


def losses(run):
    """The loss of each step; a step that was computed twice must have given the same."""
    found = {}
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as f:
        for line in f:
            record = json.loads(line)
            if "loss" not in record:
                continue
            before = found.setdefault(record["step"], record["loss"])
            assert before == record["loss"], f"step {record['step']}: loss {before}, then {record['loss']}"
    return found


class Shoal:
    """The program with one spec, whose runs lie side by side in a folder."""

    def __init__(self, program, folder, rng):
        self.program = os.path.abspath(program)
        corpus = os.path.join(folder, "corpus")
        write_tokens(corpus, rng)
        self.spec = os.path.join(folder, "spec.yaml")
        with open(self.spec, "w", encoding="utf-8") as f:
            f.write(SPEC % corpus)

    def start(self, run, *overrides, out=None):
        """Starts training; what it prints is appended to `out`, by default RUN.out."""
        words = [self.program, "train", self.spec, f"run.dir={run}", *overrides]
        with open(out or run + ".out", "ab") as f:
            return subprocess.Popen(words, stdout=f, stderr=f, stdin=subprocess.DEVNULL)

    def train(self, run, *overrides, out=None):
        """Trains until it ends; the exit code and what it printed."""
        out = out or run + ".out"
        open(out, "wb").close()
        code = self.start(run, *overrides, out=out).wait()
        with open(out, encoding="utf-8") as f:
            return code, f.read()

    def ckpt(self, *words):
        done = subprocess.run([self.program, "ckpt", *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def must(self, *words):
        code, text = self.ckpt(*words)
        assert code == 0, f"shoal ckpt {' '.join(words)}:\n{text}"
