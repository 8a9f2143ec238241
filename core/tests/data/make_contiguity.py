# SPDX-License-Identifier: Apache-2.0
"""Writes contiguity.csv: what torch says of random sizes and strides, for tensor_spec_test.cpp.

    python make_contiguity.py > contiguity.csv
"""
import random

import torch

FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def strides_of(rng, sizes):
    """Dense strides of a random order of dimensions, now and then with one stride replaced."""
    order = list(range(len(sizes)))
    if rng.random() < 0.5:
        order = [0] + order[2:] + [1] if len(sizes) > 2 else order
    elif rng.random() < 0.5:
        rng.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    if sizes and rng.random() < 0.3:
        strides[rng.randrange(len(sizes))] = rng.choice([0, 1, 2, 7])
    return strides


def main():
    rng = random.Random(20261201)
    print("sizes,strides,contiguous,channels_last")
    seen = set()
    while len(seen) < 300:
        rank = rng.choice([0, 1, 2, 3, 4, 4, 4, 5, 5])
        sizes = [rng.choice([1, 1, 2, 3, 4]) if rng.random() < 0.97 else 0 for _ in range(rank)]
        strides = strides_of(rng, sizes)
        line = " ".join(map(str, sizes)) + "," + " ".join(map(str, strides))
        if line in seen:
            continue
        seen.add(line)
        tensor = torch.zeros(2048).as_strided(sizes, strides)
        contiguous = tensor.is_contiguous()
        last = rank in FORMATS and tensor.is_contiguous(memory_format=FORMATS[rank])
        print("%s,%d,%d" % (line, contiguous, last and not contiguous))


if __name__ == "__main__":
    main()
