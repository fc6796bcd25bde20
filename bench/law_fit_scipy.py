#!/usr/bin/env python3
"""Approach 3 with SciPy, for a comparison with `shoal fit`: the same table, objective and starts.

usage: law_fit_scipy.py TABLE.jsonl [--delta D] [--starts N] [--processes P] [--gradient]

Minimises the sum of Huber(log loss - logsumexp(...)) with L-BFGS-B from the grid of 4,500 starts (or N of them, evenly
spaced), with SciPy's finite differences as the published scripts do, or with the analytic gradient, and prints the
best minimum, the time, and the time for the whole grid.
"""
import argparse
import itertools
import json
import multiprocessing
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def table(path):
    rows = [json.loads(line) for line in open(path)]
    log = lambda name: np.log(np.array([row[name] for row in rows], dtype=float))
    return log("params_active_precise"), log("tokens"), log("final_loss")


def pieces(p, points):
    n, d, loss = points
    parts = np.stack([p[2] - p[0] * n, p[3] - p[1] * d, np.full_like(n, p[4])])
    predicted = logsumexp(parts, axis=0)
    return parts, predicted, loss - predicted


def objective(p, points, delta):
    _, _, r = pieces(p, points)
    return np.where(np.abs(r) < delta, 0.5 * r * r, delta * (np.abs(r) - 0.5 * delta)).sum()


def with_gradient(p, points, delta):
    parts, predicted, r = pieces(p, points)
    slope = np.clip(r, -delta, delta)
    shares = np.exp(parts - predicted)
    n, d, _ = points
    gradient = np.array([(slope * shares[0] * n).sum(), (slope * shares[1] * d).sum(), -(slope * shares[0]).sum(),
                         -(slope * shares[1]).sum(), -(slope * shares[2]).sum()])
    value = np.where(np.abs(r) < delta, 0.5 * r * r, delta * (np.abs(r) - 0.5 * delta)).sum()
    return value / delta**2, gradient / delta**2


def run(job):
    start, points, delta, gradient = job
    if gradient:
        found = minimize(with_gradient, start, args=(points, delta), jac=True, method="L-BFGS-B")
        return found.fun * delta**2, found.x
    found = minimize(objective, start, args=(points, delta), method="L-BFGS-B")
    return found.fun, found.x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--delta", type=float, default=1e-4)
    parser.add_argument("--starts", type=int, default=4500)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--gradient", action="store_true")
    given = parser.parse_args()
    points = table(given.table)
    exponents, coefficients, constants = np.arange(0, 2.1, 0.5), np.arange(0, 26, 5), np.arange(-1, 1.1, 0.5)
    grid = list(itertools.product(exponents, exponents, coefficients, coefficients, constants))
    chosen = [grid[i * len(grid) // given.starts] for i in range(given.starts)]
    begin = time.time()
    with multiprocessing.Pool(given.processes) as pool:
        results = pool.map(run, [(start, points, given.delta, given.gradient) for start in chosen], chunksize=8)
    seconds = time.time() - begin
    value, best = min(results, key=lambda result: result[0])
    print(f"objective {value:.8g} at exponents {best[0]:.5f} {best[1]:.5f}, log coefficients {best[2]:.4f} {best[3]:.4f}, "
          f"log irreducible {best[4]:.5f}")
    print(f"{len(chosen)} starts on {len(points[0])} points in {seconds:.1f} s; "
          f"{len(grid)} starts would take {seconds * len(grid) / len(chosen):.0f} s")


if __name__ == "__main__":
    main()
