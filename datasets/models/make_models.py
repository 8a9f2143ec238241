#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model fixtures of this folder.

usage: make_models.py [--out FOLDER] [NAME...]

Needs torch 2.13.0 (CPU) and safetensors. Each name is made in a forked process of its own, inside a scratch folder, so
that the counters torch keeps per process start alike, and the files come out the same on every run and every machine:
no absolute path, no memory address, no clock. Without names everything is made: first the exported programs (one
`CASES` table per file of sources/), then what is repacked from them, then the other kinds of file. The files that only
an old torch can write come from make_old_layouts.py.
"""
import argparse
import os
import sys

import maker
import torch
import torch._inductor.cpp_builder  # imported before the forks
import torch.ao.nn.quantized.dynamic  # imported before its paths are made relative
import torch.export.pt2_archive._package as package

import other_kinds
import repack
import tidy

TORCH_NEEDED = "2.13.0"


def make_program(stem, source):
    case = maker.load_source(source).CASES[stem]()
    path = stem + ".pt2"
    if "several" in case:
        programs = {name: maker.export(one) for name, one in case["several"].items()}
        package.package_pt2(path, exported_programs=programs)
    else:
        torch.export.save(maker.export(case), path, extra_files=case.get("extra"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=maker.HERE)
    parser.add_argument("names", nargs="*", help="names of jobs, file stems as a rule; nothing means all")
    options = parser.parse_args()
    if torch.__version__.split("+")[0] != TORCH_NEEDED:
        sys.exit(f"torch {TORCH_NEEDED} is needed, this is {torch.__version__}")
    out = os.path.abspath(options.out)
    torch.set_num_threads(1)
    tidy.install(package)
    jobs = [(stem, make_program, stem, source) for stem, source in maker.case_table().items()]
    jobs += repack.jobs(out, maker.load_source) + other_kinds.jobs(maker.load_source)
    unknown = set(options.names) - {job[0] for job in jobs}
    if unknown:
        sys.exit(f"no such fixture: {' '.join(sorted(unknown))}")
    failed = maker.run_jobs([job for job in jobs if not options.names or job[0] in options.names], out)
    sys.exit(f"failed: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
