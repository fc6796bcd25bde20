#!/usr/bin/env python3
"""Writes a .bin/.idx pair of about 303 billion u16 tokens whose .bin is a sparse file.

usage: sparse_set.py PREFIX DOCUMENTS [LENGTH]    LENGTH: of every document; otherwise they have random lengths
"""
import sys

import numpy as np

prefix, documents = sys.argv[1], int(sys.argv[2])
total = 303_000_000_000
if len(sys.argv) > 3:
    sizes = np.full(documents, int(sys.argv[3]), dtype="<i4")
else:
    mean = total // documents
    sizes = np.random.RandomState(1).randint(1, 2 * mean, size=documents).astype("<i4")
pointers = np.zeros(documents, dtype="<i8")
np.cumsum(sizes[:-1].astype("<i8") * 2, out=pointers[1:])
with open(prefix + ".idx", "wb") as f:
    f.write(b"MMIDIDX\0\0" + (1).to_bytes(8, "little") + bytes([8]) + documents.to_bytes(8, "little") + (documents + 1).to_bytes(8, "little"))
    sizes.tofile(f); pointers.tofile(f); np.arange(documents + 1, dtype="<i8").tofile(f)
tokens = int(pointers[-1]) // 2 + int(sizes[-1])
with open(prefix + ".bin", "wb") as f:
    f.truncate(tokens * 2)
print(tokens, "tokens in", documents)
