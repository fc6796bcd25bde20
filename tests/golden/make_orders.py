#!/usr/bin/env python3
"""Golden sample orders: the rules of GPT-NeoX and Megatron-LM restated with NumPy, every map materialised.

usage: make_orders.py > ../data/orders/orders.txt

Token j of a set is the number j. A line holds the setting and, of the order it gives, counts, the first values and
FNV-1a checksums (64 bits, over each value as eight little-endian bytes) of all of it. The tests compute the same from
prefix sums and binary searches.
"""

import math

import numpy

SETTINGS = 40  # for each program


def fnv(values):
    state = 0xCBF29CE484222325
    for byte in numpy.asarray(values, dtype="<i8").tobytes():
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    return state


def split_neox(text, size):
    shares = [float(s) for s in (text.split(",") if "," in text else text.split("/"))]
    shares = (shares + [0.0] * 3)[:3]
    total = sum(shares)
    ends = [0]
    for share in shares:
        ends.append(ends[-1] + int(round(share / total * float(size))))
    surplus = ends[-1] - size
    return [0] + [e - surplus for e in ends[1:]]


def split_megatron(text, size):
    shares = [float(s) for s in text.replace("/", ",").split(",")]
    shares = (shares + [0.0] * 3)[:3]
    total = sum(shares)
    ends, reached = [0], 0.0
    for share in shares:
        reached += share / total
        ends.append(int(round(reached * float(size))))
    return ends


def begins_of_rows(sizes, documents, length, rows):
    """Where each row begins: (place among the documents, token in that document), walking from row to row."""
    begins, place, offset = [(0, 0)], 0, 0
    for _ in range(rows):
        left = length + 1
        while left:
            here = sizes[documents[place]] - offset
            if here >= left:
                offset += left - 1
                left = 0
            else:
                left -= here
                place, offset = place + 1, 0
        begins.append((place, offset))
    return begins


def order_of(program, sizes, length, needed, seed):
    count, tokens = len(sizes), sum(sizes)
    epochs = 1
    while (epochs * tokens - 1) // length < needed:
        epochs += 1
    rows = (epochs * tokens - 1) // length
    random = numpy.random.RandomState(seed)
    separate = False
    if program == "megatron" and epochs > 1:
        before_last = ((epochs - 1) * tokens - 1) // length
        separate = needed - before_last < int(0.80 * ((tokens - 1) // length))
    parts = [epochs - 1, 1] if separate else [epochs]
    documents = []
    for part in parts:
        repeated = numpy.tile(numpy.arange(count, dtype=numpy.int32), part)
        random.shuffle(repeated)
        documents += [int(d) for d in repeated]
    cuts = [0, before_last, rows] if separate else [0, rows]
    shuffle = []
    for first, end in zip(cuts, cuts[1:]):
        part = numpy.arange(first, end, dtype=numpy.uint32)
        random.shuffle(part)
        shuffle += [int(r) for r in part]
    return epochs, rows, separate, documents, begins_of_rows(sizes, documents, length, rows), shuffle


def read(sizes, starts, documents, begins, row):
    (place, offset), (last_place, last_offset) = begins[row], begins[row + 1]
    tokens = []
    for at in range(place, last_place + 1):
        first = offset if at == place else 0
        end = last_offset + 1 if at == last_place else sizes[documents[at]]
        tokens += range(starts[documents[at]] + first, starts[documents[at]] + end)
    return tokens


def main():
    print("# made by tests/golden/make_orders.py, NumPy", numpy.__version__)
    print("# program seed length split part needed sizes... |"
          " epochs rows separate fnv(documents) fnv(begins) fnv(shuffle) fnv(tokens) first row")
    choose = numpy.random.RandomState(20230403)
    made = {"gpt-neox": 0, "megatron": 0}
    while min(made.values()) < SETTINGS:
        program = ["gpt-neox", "megatron"][choose.randint(2)]
        count = int(choose.randint(1, 48))
        sizes = [int(s) for s in choose.randint(0, int(choose.randint(2, 80)), size=count)]
        length = int(choose.randint(1, 33))
        seed = int(choose.randint(0, 2**32, dtype=numpy.uint64))
        split = ["1", "969,30,1", "80,15,5", "98,2,0", "50/25/25", "7/2/1"][choose.randint(6)]
        part = int(choose.choice([0, 0, 0, 1, 2]))
        ends = (split_megatron if program == "megatron" else split_neox)(split, count)
        inside = sizes[ends[part]:ends[part + 1]]
        if sum(inside) <= length + 1 or made[program] == SETTINGS:
            continue
        per_epoch = (sum(inside) - 1) / length
        needed = max(1, math.ceil(per_epoch * float(choose.uniform(0.2, 6.0))))
        epochs, rows, separate, documents, begins, shuffle = order_of(program, inside, length, needed, seed)
        starts = [0]
        for size in sizes[:-1]:
            starts.append(starts[-1] + size)
        first = ends[part]
        tokens = []
        for row in shuffle:
            tokens += read(inside, starts[first:], documents, begins, row)
        print(program, seed, length, split, part, needed, *sizes, "|", epochs, rows, int(separate),
              fnv([d + first for d in documents]), fnv(numpy.array(begins).ravel()), fnv(shuffle), fnv(tokens),
              *tokens[:length + 1])
        made[program] += 1


main()
