#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model fixtures of this folder.

usage: make_models.py [--out FOLDER] [NAME...]

Needs torch 2.13.0 (CPU) and safetensors. Each name is made in a forked process of its own, inside a scratch folder, so
that the counters torch keeps per process start alike, and the files come out the same on every run and every machine:
no absolute path, no memory address, no clock. Without names everything is made: first the exported programs (one
`CASES` table per file of sources/), then what is repacked from them, then the other kinds of file.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile
import types
import warnings

if os.environ.get("PYTHONHASHSEED") != "0":  # TorchScript writes class attributes in the order of a set
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
warnings.simplefilter("ignore")
os.environ["TORCH_LOGS"] = "-all"
sys.dont_write_bytecode = True
import torch
import torch._dynamo  # imported before the forks: it takes seconds
import torch._inductor.cpp_builder
import torch.export.pt2_archive._package as package

import other_kinds
import repack
import tidy

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH_NEEDED = "2.13.0"


def load_source(stem):
    """runs sources/<stem>.py under the file name that its traces shall show"""
    name = f"models/{stem}.py"
    module = types.ModuleType(f"models.{stem}")
    module.__file__ = name
    sys.modules.setdefault("models", types.ModuleType("models"))
    sys.modules[module.__name__] = module
    with open(name) as f:
        exec(compile(f.read(), name, "exec"), module.__dict__)
    return module


def case_table():
    """file stem -> source stem, read from the text, so that a source is run only in its own process"""
    table = {}
    folder = os.path.join(HERE, "sources")
    for source in sorted(os.listdir(folder)):
        with open(os.path.join(folder, source)) as f:
            cases = re.search(r"^CASES = \{(.*)", f.read(), re.M | re.S)
        for stem in re.findall(r'^(?:    )?"(\w+)":', cases[1], re.M) if cases else []:
            table[stem] = source[: -len(".py")]
    return table


def export(case):
    """one case of a CASES table -> ExportedProgram"""
    options = case.get("export", {})
    weightless = case.get("weightless")
    if weightless == "fake":  # built and exported without a byte of weights
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
            built = case["build"]()
            program = torch.export.export(built["model"], built["args"], built.get("kwargs"), **options)
        program._example_inputs = None
    else:
        program = torch.export.export(case["model"], case["args"], case.get("kwargs"), **options)
    if case.get("decompose") == "none":
        program = program.run_decompositions({})
    elif case.get("decompose") == "core":
        program = program.run_decompositions()
    if weightless == "state":  # exported with weights, saved without
        mode = torch._subclasses.FakeTensorMode()
        program._state_dict = {k: mode.from_tensor(v, static_shapes=True) for k, v in program.state_dict.items()}
    return program


def make_program(stem, source):
    case = load_source(source).CASES[stem]()
    path = stem + ".pt2"
    if "several" in case:
        programs = {name: export(one) for name, one in case["several"].items()}
        package.package_pt2(path, exported_programs=programs)
    else:
        torch.export.save(export(case), path, extra_files=case.get("extra"))


def in_child(label, work, *args):
    """runs work(*args) in a forked process; True if it came to its end"""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        torch.manual_seed(0)
        try:
            work(*args)
            code = 0
        except BaseException as error:
            print(f"{label}: {type(error).__name__}: {str(error)[:600]}", file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def prepare_scratch(scratch):
    os.symlink(os.path.join(HERE, "sources"), os.path.join(scratch, "models"))
    os.symlink(tidy.SITE_PACKAGES, os.path.join(scratch, "site-packages"))
    os.chdir(scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*", help="file stems; nothing means all")
    options = parser.parse_args()
    if torch.__version__.split("+")[0] != TORCH_NEEDED:
        sys.exit(f"torch {TORCH_NEEDED} is needed, this is {torch.__version__}")
    out = os.path.abspath(options.out)
    torch.set_num_threads(1)
    tidy.install(package)
    jobs = [(stem, make_program, stem, source) for stem, source in case_table().items()]
    jobs += [(name, work, *args) for name, work, *args in repack.jobs(out, load_source) + other_kinds.jobs(load_source)]
    unknown = set(options.names) - {job[0] for job in jobs}
    if unknown:
        sys.exit(f"no such fixture: {' '.join(sorted(unknown))}")
    failed = []
    for label, work, *args in jobs:
        if options.names and label not in options.names:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            prepare_scratch(scratch)
            if not in_child(label, work, *args):
                failed.append(label)
                os.chdir(HERE)
                continue
            for made in sorted(os.listdir(scratch)):
                if made not in ("models", "site-packages"):
                    tidy.check(made)
                    target = os.path.join(out, made)
                    if os.path.isdir(target):
                        shutil.rmtree(target)
                    shutil.move(made, target)
                    print(f"{made}")
            os.chdir(HERE)
    sys.exit(f"failed: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
