#!/usr/bin/env python3
"""A model memorizes what it sees six times with the standard loss, and does not with the goldfish loss.

usage: memorization_test.py SHOAL

Runs scripts/memorization and reads what it noted. The bounds are wide: another processor rounds differently, and which
pages are memorized with it.
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check(condition, message):
    if not condition:
        sys.exit("memorization_test: " + message)


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([os.path.join(ROOT, "scripts/memorization"), "--shoal", os.path.abspath(sys.argv[1]),
                               "--folder", folder], capture_output=True, text=True)
        print(done.stdout, done.stderr)
        check(done.returncode == 0, "scripts/memorization fails")
        share, overlap = {}, {}
        for run in ["standard", "goldfish"]:
            with open(os.path.join(folder, run, "memorization.jsonl")) as lines:
                records = [json.loads(line) for line in lines]
            share[run] = {r["epochs"]: r["share"] for r in records}
            overlap[run] = {r["epochs"]: r["rouge_l"] for r in records}
        with open(os.path.join(folder, "report.html")) as page:
            check("Pages memorized after epochs" in page.read(), "the report has no chart of it")
    for run in share:
        check(sorted(share[run]) == [0, 1, 4, 6], f"{run} lacks a bucket")
        check(share[run][0] == 0, f"{run} knows pages that it never saw")
        check(share[run][1] <= 0.1, f"{run} memorizes from one look")
    check(share["standard"][6] >= 0.4, "the standard loss does not memorize")
    check(share["standard"][4] <= share["standard"][6], "more epochs memorize less")
    check(share["goldfish"][6] <= 0.15, "the goldfish loss memorizes")
    check(overlap["goldfish"][6] < overlap["standard"][6] - 0.2, "the goldfish loss is as close to the pages")


main()
