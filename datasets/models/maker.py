# SPDX-License-Identifier: Apache-2.0
"""What the makers share: a quiet torch, the scratch folder, loading a source under the name its traces show, exporting.

Runs with old and new torch alike.
"""
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

import tidy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))


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


def move_results(scratch, out):
    """checks what was made in the scratch folder and moves it out"""
    for made in sorted(os.listdir(scratch)):
        if made in ("models", "site-packages"):
            continue
        tidy.check(made)
        target = os.path.join(out, made)
        if os.path.isdir(target):
            shutil.rmtree(target)
        shutil.move(made, target)
        print(made)


def run_jobs(jobs, out):
    """makes each (label, work, arguments...) in a scratch folder of its own; the labels that failed"""
    failed = []
    for label, work, *args in jobs:
        with tempfile.TemporaryDirectory() as scratch:
            prepare_scratch(scratch)
            if in_child(label, work, *args):
                move_results(scratch, out)
            else:
                failed.append(label)
            os.chdir(HERE)
    return failed
