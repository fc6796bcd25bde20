#!/usr/bin/env python3
"""Tokenises one JSONL file with `shoal data tokenize` and with Hugging Face's tokenizers, in turn, and compares ids.

    bench/tokenizer.py --tokenizer tokenizer.json --text corpus.txt

The other side is encode_batch_fast over all documents in memory, on the same cores; its reading of the file is not
timed, while shoal's time is that of the whole command. Needs tokenizers and numpy (bench/requirements.txt).
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def documents_of(text, size):
    """Paragraphs gathered to documents of about `size` characters."""
    documents, current = [], ""
    for paragraph in text.split("\n\n"):
        current += paragraph + "\n\n"
        if len(current) >= size:
            documents.append(current)
            current = ""
    return documents + ([current] if current else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", default=HERE.parent / "build/apps/shoal/shoal")
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json")
    parser.add_argument("--text", required=True)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    cores = len(os.sched_getaffinity(0))
    os.environ["RAYON_NUM_THREADS"] = str(cores)
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    import numpy
    from tokenizers import Tokenizer, __version__

    text = Path(options.text).read_text(encoding="utf-8")[: int(options.megabytes * 1e6)]
    documents = documents_of(text, 4000)
    megabytes = sum(len(d.encode()) for d in documents) / 1e6
    theirs = Tokenizer.from_file(options.tokenizer)
    times = {"tokenizers": [], "shoal": []}
    with tempfile.TemporaryDirectory() as folder:
        jsonl, prefix = Path(folder) / "corpus.jsonl", Path(folder) / "ours"
        jsonl.write_text("".join(json.dumps({"text": d}, ensure_ascii=False) + "\n" for d in documents))
        for _ in range(options.rounds):
            start = time.perf_counter()
            encoded = theirs.encode_batch_fast(documents, add_special_tokens=False)
            times["tokenizers"].append(time.perf_counter() - start)
            for suffix in (".bin", ".idx"):
                Path(f"{prefix}{suffix}").unlink(missing_ok=True)
            start = time.perf_counter()
            subprocess.run([options.shoal, "data", "tokenize", jsonl, "--tokenizer", options.tokenizer, "--output",
                            prefix, "--no-eod"], check=True, capture_output=True)
            times["shoal"].append(time.perf_counter() - start)
        width = numpy.uint16 if theirs.get_vocab_size() <= 65536 else numpy.int32
        ours = numpy.fromfile(f"{prefix}.bin", dtype=width)
        ids = numpy.concatenate([numpy.array(e.ids, dtype=width) for e in encoded])

    speed = {side: megabytes / statistics.median(seconds) for side, seconds in times.items()}
    print(f"{megabytes:.1f} MB in {len(documents)} documents, {cores} cores, medians of {options.rounds}")
    print(f"| tokenizers {__version__} | shoal | ratio | ids |\n| --- | --- | --- | --- |")
    same = "identical" if numpy.array_equal(ours, ids) else f"DIFFERENT ({len(ours)} and {len(ids)})"
    print(f"| {speed['tokenizers']:.1f} MB/s | {speed['shoal']:.1f} MB/s | "
          f"{speed['shoal'] / speed['tokenizers']:.2f}x | {same} |")


if __name__ == "__main__":
    main()
