#!/usr/bin/env python3
"""AdamW, Jorge, Muon and SGD on one corpus with equal tuning budgets: loss against steps and against time.

usage: optimizers.py SHOAL SPEC FOLDER [--steps N] [--trials N] [--seeds N] [key=value ...]

SPEC names the data (configs/demo.yaml, after scripts/demo has made its corpus); further words are keys for every run.
Each contender gets the same number of trials of its learning rate, each a run of a third of the steps with its own
cosine schedule: three a factor of 3 apart, then further out where the best lies at an end, else closer around it.
The best rate is then trained with every seed. Times are medians of the means of `shoal bench step`, the contenders in turn, so that
what else the machine does falls on all alike. Runs that are there already are not repeated.
"""
import argparse
import json
import math
import re
import statistics
import subprocess
from pathlib import Path

SHAPE = ["model.hidden_size=128", "model.num_layers=4", "model.num_attention_heads=4", "data.seq_length=128",
         "batch.global=8", "batch.micro=8", "run.threads=1", "optimizer.weight_decay=0", "schedule.warmup=0.1",
         "checkpoint.every=0", "checkpoint.save_final=false", "log.tensorboard=false", "log.progress=none",
         "log.peak_gflops=100", "eval.batches=25"]
JORGE = ["optimizer.name=jorge", "optimizer.jorge.block_size=128", "optimizer.jorge.refresh_every={refresh}"]
CONTENDERS = {  # name -> keys, first learning rate; {adamw} is the best rate of AdamW
    "adamw": (["optimizer.name=adamw"], 4e-3),
    "sgd": (["optimizer.name=sgd"], 0.3),
    "muon": (["optimizer.name=muon", "optimizer.adamw_lr={adamw}"], 4e-3),
    "jorge, SGD graft": (JORGE + ["optimizer.jorge.graft=sgd", "optimizer.adamw_lr={adamw}"], 0.3),
    "jorge, Adam graft": (JORGE + ["optimizer.jorge.graft=adam", "optimizer.adamw_lr={adamw}"], 4e-3),
    "published jorge, Adam graft": (JORGE + ["optimizer.jorge.form=published", "optimizer.jorge.graft=adam",
                                             "optimizer.adamw_lr={adamw}"], 4e-3),
}


class Study:
    def __init__(self, given):
        self.given, self.folder = given, Path(given.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.best = {}

    def keys(self, name, rate):
        words = CONTENDERS[name][0] + [f"optimizer.lr={rate:.6g}"]
        adamw = f"{self.best.get('adamw', rate):.6g}"
        return SHAPE + [w.format(adamw=adamw, refresh=self.given.refresh) for w in words] + self.given.keys

    def run(self, name, rate, steps, seed):
        """The validation losses by step; empty if the run diverged."""
        run = self.folder / f"{name.replace(', ', '-').replace(' ', '-')}-{rate:.4g}-{steps}-{seed}"
        if not (run / "done").exists():
            subprocess.run(["rm", "-rf", run])
            words = self.keys(name, rate) + [f"run.dir={run}", f"run.steps={steps}", f"run.seed={seed}",
                                             f"eval.every={max(1, steps // 12)}"]
            code = subprocess.run([self.given.shoal, "train", self.given.spec, *words], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            if code.returncode not in (0, 3):
                raise SystemExit(code.stderr)
            (run / "done").write_text(str(code.returncode))
        if (run / "done").read_text() != "0":
            return {}
        rows = [json.loads(line) for line in open(run / "metrics.jsonl")]
        return {row["step"]: row["valid_loss"] for row in rows if row.get("valid_loss") is not None}

    def tune(self, name):
        steps, tried = self.given.steps // 3, {}

        def trial(rate):
            losses = self.run(name, rate, steps, 1)
            tried[rate] = min(losses[max(losses)], 99.0) if losses else 99.0

        first = CONTENDERS[name][1]
        for factor in (1, 3, 1 / 3):
            trial(first * factor)
        while len(tried) < self.given.trials:
            best, rates = min(tried, key=tried.get), sorted(tried)
            if best == rates[0]:
                trial(best / 3)
            elif best == rates[-1]:
                trial(best * 3)
            else:
                at = rates.index(best)
                up, down = math.sqrt(best * rates[at + 1]), math.sqrt(best * rates[at - 1])
                trial(up if tried[rates[at + 1]] < tried[rates[at - 1]] else down)
        self.best[name] = min(tried, key=tried.get)
        print(f"{name:28} " + "  ".join(f"{rate:.3g}: {tried[rate]:.3f}" for rate in sorted(tried)), flush=True)

    def step_times(self):
        times = {name: [] for name in CONTENDERS}
        for _ in range(self.given.rounds):
            for name in CONTENDERS:
                words = [w for w in self.keys(name, self.best[name]) if not w.startswith(("data.tokenizer", "log."))]
                text = subprocess.run([self.given.shoal, "bench", "step", self.given.spec, *words, "model.vocab_size=4096",
                                       "--steps", "40", "--quick"], check=True, capture_output=True, text=True).stdout
                times[name].append(float(re.search(r"mean ([\d.]+)", text).group(1)))
        return {name: statistics.median(t) for name, t in times.items()}


def crossing(losses, level):
    """The first step at which the loss is at or below the level, between evaluations on a straight line."""
    before = None
    for step in sorted(losses):
        if losses[step] <= level:
            if before is None:
                return step
            share = (losses[before] - level) / (losses[before] - losses[step])
            return before + share * (step - before)
        before = step
    return math.inf


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shoal")
    parser.add_argument("spec")
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--refresh", type=int, default=10)
    parser.add_argument("keys", nargs="*")
    given = parser.parse_args()
    study = Study(given)
    print(f"learning rates tried, and the validation loss after {given.steps // 3} steps")
    for name in CONTENDERS:
        study.tune(name)
    curves = {}
    for name in CONTENDERS:
        runs = [study.run(name, study.best[name], given.steps, seed) for seed in range(11, 11 + given.seeds)]
        runs = [run for run in runs if run]
        curves[name] = {step: [run[step] for run in runs] for step in (runs[0] if runs else {})}
    times = study.step_times()
    mean = {name: {step: statistics.mean(v) for step, v in curve.items()} for name, curve in curves.items()}
    goal = mean["adamw"][max(mean["adamw"])]
    print(f"\n{'contender':28}{'rate':>9}{'loss':>9}{'+-':>8}{'ms a step':>11}{'of AdamW':>10}{'steps to':>10}{'time to AdamW':>15}")
    with open(study.folder / "curves.csv", "w") as out:
        out.write("contender,step,milliseconds,valid_loss,lowest,highest\n")
        for name, curve in curves.items():
            for step, values in sorted(curve.items()):
                out.write(f"\"{name}\",{step},{step * times[name]:.1f},{statistics.mean(values):.5f},{min(values):.5f},{max(values):.5f}\n")
            if not curve:
                print(f"{name:28}{study.best[name]:>9.3g}   diverged")
                continue
            last = curve[max(curve)]
            steps = crossing(mean[name], goal + 1e-9)
            ratio = times[name] / times["adamw"]
            spread = statistics.stdev(last) if len(last) > 1 else 0
            print(f"{name:28}{study.best[name]:>9.3g}{statistics.mean(last):>9.4f}{spread:>8.4f}{times[name]:>11.1f}{ratio:>10.2f}"
                  f"{steps / given.steps:>10.2f}{steps / given.steps * ratio:>15.2f}")
    print(f"\nsteps to, time to: to the final loss of AdamW, as shares of what AdamW took; curves in {study.folder / 'curves.csv'}")


if __name__ == "__main__":
    main()
