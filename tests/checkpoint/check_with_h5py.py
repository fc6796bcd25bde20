"""Runs the Python pieces of docs/CHECKPOINT_FORMAT.md on the file that test_checkpoint.cpp wrote.

usage: check_with_h5py.py DOCUMENT CHECKPOINT
"""

import re
import sys

import h5py
import numpy

document, path = sys.argv[1:]
pieces = re.findall(r"```python\n(.*?)```", open(document, encoding="utf-8").read(), re.S)
assert len(pieces) == 3, len(pieces)
names = {"path": path}
for piece in pieces:
    exec(piece, names)

assert names["step"] == 7
assert names["samples"] == 224
assert names["spec"] == "version: 1\nrun: {name: t}\n", names["spec"]
assert names["state"] == {"random": '{"seed": 1}', "empty": ""}, names["state"]

weight = names["model"]["embed.weight"]
assert weight.dtype == numpy.float32 and weight.shape == (40, 16)
assert (weight.ravel() == numpy.arange(640) - 0.5).all()

# What rounding to nearest even to 8 significant bits gives, computed without the program.
bf16 = names["model"]["layers.0.attention.qkv.weight"]
exact = (numpy.arange(768, dtype=numpy.float32) * 0.25).reshape(16, 48)
bits = exact.view(numpy.uint32)
bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
assert bf16.dtype == numpy.float32 and (bf16 == bits.view(numpy.float32)).all()

hashed = 0


def check(name, item):
    global hashed
    if isinstance(item, h5py.Dataset) and "hash" in item.attrs:
        assert names["tensor_hash"](item) == item.attrs["hash"].decode(), name
        hashed += 1


with h5py.File(path, "r") as f:
    assert f.attrs["format_version"] == 1
    assert f.userblock_size == 4096
    raw = names["raw_bits"](f["model/layers.0.attention.qkv.weight"])
    assert (raw.astype(numpy.uint32) << 16 == bits).all()
    f.visititems(check)
assert hashed == 9, hashed
print("h5py", h5py.__version__, "reads", path)
