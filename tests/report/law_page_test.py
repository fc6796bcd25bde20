#!/usr/bin/env python3
"""Opens the page of `shoal fit` in headless Chromium and looks at what it makes of it.

usage: law_page_test.py SHOAL TABLE
The screenshot stays in the current folder, as fit-light.png.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from browser_test import chromium, near, pixels

READER = """
<script>
  const box = (node) => { const b = node.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  document.title = JSON.stringify({
    requests: performance.getEntriesByType("resource").length,
    charts: [...document.querySelectorAll("figure.xy")].map((f) => ({
      id: f.id, frame: box(f), marks: [...f.querySelectorAll("circle, .axis")].map(box),
      texts: [...f.querySelectorAll("svg text")].map(box)})),
    buttons: document.querySelectorAll(".controls button").length,
    rows: document.querySelectorAll(".advice tbody tr").length,
    wide: document.documentElement.scrollWidth > innerWidth});
</script>
"""


def inside(inner, outer):
    return inner[0] >= outer[0] - 1 and inner[1] >= outer[1] - 1 and inner[2] <= outer[2] + 1 and inner[3] <= outer[3] + 1


def main():
    shoal, table = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    work = Path(tempfile.mkdtemp(prefix="shoal-fit-"))
    subprocess.run([shoal, "fit", table, "--flops", "gemstones", "--delta", "1e-4", "--bootstraps", "20", "--output", work / "fit"],
                   check=True, capture_output=True)
    html = (work / "fit/report.html").read_text()
    page = work / "read.html"
    page.write_text(html.replace("</body>", READER + "</body>"))
    result = chromium(work / "profile", "--dump-dom", page.as_uri())
    assert not [line for line in result.stderr.splitlines() if "CONSOLE" in line], result.stderr
    seen = json.loads(re.search(r"<title>(.*?)</title>", result.stdout, re.S).group(1))
    assert seen["requests"] == 0 and seen["buttons"] == 1 and not seen["wide"], seen
    assert len(seen["charts"]) == 9, [chart["id"] for chart in seen["charts"]]
    assert seen["rows"] >= 20, seen["rows"]
    for chart in seen["charts"]:
        assert chart["texts"], chart["id"]
        for box in chart["texts"] + chart["marks"]:
            assert inside(box, chart["frame"]), (chart["id"], box, chart["frame"])

    shot = Path("fit-light.png").resolve()
    shot.unlink(missing_ok=True)
    chromium(work / "profile", "--blink-settings=preferredColorScheme=1", "--window-size=1200,2400", f"--screenshot={shot}",
             (work / "fit/report.html").as_uri())
    everything = [p for row in pixels(shot) for p in row]
    for ink in [(37, 99, 168), (196, 83, 43), (44, 138, 87), (29, 33, 37)]:
        assert sum(near(p, ink) for p in everything) > 300, ink
    if shutil.which("gnuplot"):
        for script in sorted((work / "fit").glob("*.gp")):
            subprocess.run(["gnuplot", script.name], cwd=work / "fit", check=True, capture_output=True)
            assert script.with_suffix(".svg").read_text().rstrip().endswith("</svg>"), script
    shutil.rmtree(work)
    print("the fit reads well")


if __name__ == "__main__":
    main()
