#!/usr/bin/env python3
"""Opens pages of `shoal report` in headless Chromium and looks at what it makes of them.

usage: browser_test.py SHOAL
The screenshots stay in the current folder, as report-light.png and report-dark.png.
"""
import json
import math
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

STEPS, SPIKE = 600, 350

# Clicks through a page as a reader would and leaves what it saw in the document's title.
READER = """
<script>
  const seen = {};
  const figure = document.querySelector("#chart-loss"), svg = figure.querySelector("svg");
  const ticks = () => [...svg.querySelectorAll(".plot text")].map((t) => t.textContent);
  const press = (text) => [...document.querySelectorAll("button")].find((b) => b.textContent.startsWith(text)).click();
  seen.static = ticks();
  const box = svg.getBoundingClientRect();
  const pointer = (type, share) => svg.dispatchEvent(new PointerEvent(type,
      {clientX: box.left + share * box.width, clientY: box.top + box.height / 2, button: 0, bubbles: true}));
  pointer("pointermove", 0.5);
  seen.tip = figure.querySelector(".tip").textContent;
  pointer("pointerdown", 0.5); pointer("pointermove", 0.75); pointer("pointerup", 0.75);
  seen.zoomed = ticks();
  figure.querySelector(".tools button").click();
  seen.whole = ticks();
  figure.querySelectorAll(".tools button")[1].click();
  seen.log = ticks();
  press("x: steps");
  seen.tokens = svg.querySelector(".x-name").textContent;
  press("light");
  seen.theme = document.documentElement.dataset.theme;
  seen.requests = performance.getEntriesByType("resource").length;
  document.title = JSON.stringify(seen);
</script>
"""


def write_run(folder, seed, rate):
    random.seed(seed)
    folder.mkdir()
    with open(folder / "metrics.jsonl", "w") as out:
        for step in range(1, STEPS + 1):
            loss = 3.1 + 6 * math.exp(-step / 60) + random.gauss(0, 0.06)
            norm = abs(random.gauss(0.8, 0.2)) + (6 if step == SPIKE else 0)
            out.write(json.dumps({
                "step": step, "tokens": step * 16384, "loss": None if step == 200 else loss, "grad_norm": norm,
                "lr": rate * min(1, step / 30), "step_ms": 240.0, "tokens_per_second": 68000.0, "mfu": 0.7}) + "\n")
            if step % 50 == 0:
                out.write(json.dumps({"step": step, "valid_loss": 3.2 + 6 * math.exp(-step / 60)}) + "\n")
        out.write('{"step": 601, "tok')
    (folder / "env.json").write_text(json.dumps({"hosts": ["box"], "threads": 2}))
    (folder / "resolved.yaml").write_text(
        f"run:\n  name: {folder.name}  # override\noptimizer:\n  lr: {rate}  # a.yaml:3:7\n")
    (folder / "samples.txt").write_text("Once <upon> a time & ever after")


def chromium(profile, *arguments):
    program = shutil.which("chromium")
    if not program:
        sys.exit("chromium is not installed: scripts/setup installs it")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", "--enable-logging=stderr",
               "--window-size=1200,1000", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def pixels(path):
    """The rows of an 8-bit RGB or RGBA PNG without interlacing, as Chromium writes it, as tuples (r, g, b)."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    assert depth == 8 and color in (2, 6)
    channels = 3 if color == 2 else 4
    raw, stride = zlib.decompress(packed), width * channels
    above, rows = bytearray(stride), []
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if kind else 0):
            a = row[i - channels] if i >= channels else 0
            b = above[i]
            c = above[i - channels] if i >= channels else 0
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = (row[i] + (a, b, (a + b) // 2, nearest)[kind - 1]) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, stride, channels)])
        above = row
    return rows


def near(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) < 24


def main():
    shoal = Path(sys.argv[1]).resolve()
    work = Path(tempfile.mkdtemp(prefix="shoal-report-"))
    write_run(work / "first", 1, 1e-3)
    write_run(work / "second", 2, 3e-3)

    printed = subprocess.run([shoal, "report", work / "first", "--mark", "unigram entropy=6.5"],
                             check=True, capture_output=True, text=True).stdout.strip()
    assert printed == str(work / "first" / "report.html"), printed
    both = work / "both.html"
    subprocess.run([shoal, "report", work / "first", work / "second", "--output", both],
                   check=True, capture_output=True)

    # As it stands without a script: complete charts, and no markup from the run's own text.
    html = Path(printed).read_text()
    assert html.count("<svg") == 6 and html.count('class="curve') == 8, (html.count("<svg"), html.count('class="curve'))
    assert "unigram entropy 6.500" in html and "Once &lt;upon&gt; a time &amp; ever after" in html
    assert both.read_text().count('class="curve') == 16

    # As a reader uses it.
    page = work / "read.html"
    page.write_text(html.replace("</body>", READER + "</body>"))
    result = chromium(work / "profile", "--dump-dom", page.as_uri())
    title = re.search(r"<title>(.*?)</title>", result.stdout, re.S).group(1)
    try:
        seen = json.loads(title)
    except json.JSONDecodeError:
        sys.exit("the page's script failed:\n" + result.stderr)
    errors = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    assert not errors, errors
    assert seen["requests"] == 0
    assert "300" in seen["static"] and "600" in seen["static"] and "9" in seen["static"], seen["static"]
    assert seen["tip"].startswith("step ") and "smoothed" in seen["tip"], seen["tip"]
    middle = int(re.match(r"step (\d+)", seen["tip"]).group(1))
    assert 250 < middle < 350, middle
    assert seen["zoomed"] != seen["static"] and "600" not in seen["zoomed"] and "400" in seen["zoomed"], seen["zoomed"]
    assert seen["whole"] == seen["static"], (seen["whole"], seen["static"])
    assert seen["log"] != seen["static"] and seen["tokens"] == "tokens"
    assert seen["theme"] in ("light", "dark")

    # As it looks: paper and the first two runs' colours of each theme are there.
    themes = {"light": ("1", (252, 252, 250), [(37, 99, 168), (196, 83, 43)]),
              "dark": ("0", (20, 23, 26), [(106, 169, 234), (236, 138, 99)])}
    for theme, (scheme, paper, inks) in themes.items():
        shot = Path(f"report-{theme}.png").resolve()
        shot.unlink(missing_ok=True)
        chromium(work / "profile", f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={shot}", both.as_uri())
        rows = pixels(shot)
        assert near(rows[5][5], paper), (theme, rows[5][5])
        everything = [p for row in rows for p in row]
        for ink in inks:
            count = sum(near(p, ink) for p in everything)
            assert count > 300, (theme, ink, count)
    shutil.rmtree(work)
    print("the report reads well")


if __name__ == "__main__":
    main()
