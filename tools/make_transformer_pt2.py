#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a decoder of the usual shape (32 layers, width 4096, grouped-query attention, bf16) without weights, for timing.

usage: make_transformer_pt2.py OUT.pt2 [--layers 32] [--width 4096]

Needs torch 2.13.0. The model is that of datasets/models/sources/decoder.py, built and exported on fake tensors.
"""
import argparse
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "datasets", "models"))
import maker
import torch
import torch.export.pt2_archive._package as package

import tidy


def build(layers, width):
    torch.set_default_dtype(torch.bfloat16)
    decoder = maker.load_source("decoder").Decoder(width, layers, 32000, heads=width // 128, groups=8)
    return dict(model=decoder.eval(), args=(torch.zeros(1, 128, dtype=torch.int64),))


def write(name, layers, width):
    program = maker.export(dict(build=lambda: build(layers, width), weightless="fake"))
    torch.export.save(program, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--width", type=int, default=4096, help="a multiple of 1024")
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    tidy.install(package)
    with tempfile.TemporaryDirectory() as scratch:
        maker.prepare_scratch(scratch)
        write("transformer.pt2", options.layers, options.width)
        tidy.check("transformer.pt2")
        shutil.move("transformer.pt2", out)
        os.chdir("/")
    print(f"{options.out}: {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
