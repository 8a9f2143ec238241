#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the fixtures that an old torch wrote itself: layout A with 2.6.0, layout B with 2.8.0.

usage: make_old_layouts.py [--out FOLDER]      (run it once under each of the two versions)
"""
import argparse
import os
import sys
import types
import zipfile

import maker
import torch
import torch._export.serde.serialize as serialize

import tidy

LABELS = {"2.6.0": "torch_2_6", "2.8.0": "torch_2_8"}
BOTH = {"native_mlp": "native", "dynamic": "dynamic", "decoder": "decoder", "wrappers": "wrappers", "custom_op": "custom_op"}
ONLY_2_6 = {"nonfinite": "numbers"}  # 2.8 cannot save it
ONLY_2_8 = {"control": "control", "mutation": "mutation"}  # 2.6 cannot export these two


# layout A is written by zipfile, which would note the time of day
zipfile.time = types.SimpleNamespace(time=lambda: 0, localtime=lambda *_: (1980, 1, 1, 0, 0, 0))


def write(name, stem, source):
    case = maker.load_source(source).CASES[stem]()
    torch.export.save(maker.export(case), name + ".pt2", extra_files=case.get("extra"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=maker.HERE)
    options = parser.parse_args()
    label = LABELS.get(torch.__version__.split("+")[0])
    if label is None:
        sys.exit(f"torch {' or '.join(LABELS)} is needed, this is {torch.__version__}")
    torch.set_num_threads(1)
    tidy.install(serialize)
    if hasattr(torch.export, "pt2_archive"):
        import torch.export.pt2_archive._package as package

        package.serialize = serialize.serialize
    models = {**BOTH, **(ONLY_2_8 if label == "torch_2_8" else ONLY_2_6)}
    jobs = [(f"{label}_{stem}", write, f"{label}_{stem}", stem, source) for stem, source in models.items()]
    failed = maker.run_jobs(jobs, os.path.abspath(options.out))
    sys.exit(f"failed: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
