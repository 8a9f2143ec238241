#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program on the command lines of .case files and compares exit code and output.

usage: run_cases.py --program PROGRAM [--update] [--with-torch] FILE.case...

A case file is a list of steps, run in order in the repository root with one scratch folder per file ($TMP):

    # comment
    $ neuron-check datasets/models/mlp.pt2 --fail-on none
    exit: 0
    out has: READY
    out lacks: PASSED
    err has: nothing to check
    out:
    | the whole standard output, line by line

`out:` compares everything, `has` and `lacks` search. A step without `exit:` is an error, and so is one without any expectation on
output: a case must be able to fail. `shell: COMMAND` runs a helper command (cp, chmod) that must succeed. Ages, dates, paths of the
scratch folder and of the database are replaced before comparing.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITH_TORCH = False


class Step:
    def __init__(self, command, line):
        self.command, self.line = command, line
        self.exit, self.checks, self.full = None, [], None


def parse(path):
    steps = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if line.startswith("|"):
            steps[-1].full.append(line[2:])
        elif not text or text.startswith("#"):
            continue
        elif text.startswith("$ "):
            steps.append(Step(text[2:], number))
        elif text.startswith("shell: "):
            steps.append(Step(None, number))
            steps[-1].shell = text[7:]
        elif text.startswith("exit: "):
            steps[-1].exit = int(text[6:])
        elif text == "out:":
            steps[-1].full = []
        elif match := re.fullmatch(r"(out|err) (has|lacks): (.*)", text):
            steps[-1].checks.append(match.groups())
        else:
            raise SystemExit(f"{path}:{number}: not understood: {text}")
    for step in steps:
        if step.command and (step.exit is None or (not step.checks and step.full is None)):
            raise SystemExit(f"{path}:{step.line}: a step needs 'exit:' and an expectation on its output")
    return steps


def normalise(text, scratch):
    text = text.replace(str(scratch), "$TMP").replace(str(ROOT) + "/", "")
    text = re.sub(r"\d+ days? old", "N days old", text)
    text = re.sub(r'"age_days": -?\d+', '"age_days": N', text)
    text = re.sub(r"\S*share/neuron-check/operators\.db", "OPERATORS.db", text)
    return re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


def run_step(step, program, scratch, path, update):
    words = [w.replace("$TMP", str(scratch)) for w in shlex.split(step.command)]
    for name in ("SCRIPTLIB", "TORCH_PYTHON"):
        words = [w.replace("$" + name, os.environ.get(name, "")) for w in words]
    if words[0] != "neuron-check":
        raise SystemExit(f"{path}:{step.line}: a command must start with neuron-check")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NEURON_CHECK", "NO_COLOR"))}
    env.update(XDG_DATA_HOME=str(scratch / "data"), COLUMNS="80")
    if not WITH_TORCH:
        env["NEURON_CHECK_TORCH"] = "none"
    done = subprocess.run([program, *words[1:]], cwd=ROOT, env=env, capture_output=True, timeout=300)
    streams = {"out": normalise(done.stdout.decode(errors="replace"), scratch), "err": normalise(done.stderr.decode(errors="replace"), scratch)}
    problems = []
    if done.returncode != step.exit:
        problems.append(f"exit code {done.returncode}, expected {step.exit}\n{streams['err']}")
    for stream, verb, text in step.checks:
        if (text in streams[stream]) != (verb == "has"):
            problems.append(f"{stream} {verb}: {text}\n--- {stream}:\n{streams[stream][:1500]}")
    if step.full is not None and streams["out"].splitlines() != step.full:
        if update:
            step.replacement = streams["out"].splitlines()
        else:
            problems.append(difference(step.full, streams["out"].splitlines()))
    return [f"{path}:{step.line}: $ {step.command}\n    {p}" for p in problems]


def difference(expected, actual):
    import difflib

    return "\n".join(["output differs:", *difflib.unified_diff(expected, actual, "expected", "actual", lineterm="", n=1)])


def rewrite(path, steps):
    """Replaces the bodies of `out:` blocks that changed."""
    fresh = {s.line: s.replacement for s in steps if getattr(s, "replacement", None) is not None}
    if not fresh:
        return
    result, current, skipping = [], None, False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("$ "):
            current, skipping = number, False
        if line.startswith("|") and skipping:
            continue
        result.append(line)
        if line.strip() == "out:" and current in fresh:
            result += [("| " + text).rstrip() for text in fresh[current]]
            skipping = True
    path.write_text("\n".join(result) + "\n")


def run_file(path, program, update):
    steps = parse(path)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for step in steps:
            if step.command is None:
                subprocess.run(step.shell.replace("$TMP", folder), shell=True, check=True, cwd=ROOT)
            else:
                problems += run_step(step, program, scratch, path, update)
    if update:
        rewrite(path, steps)
    return len([s for s in steps if s.command]), problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--with-torch", action="store_true", help="let the program use neuron-check-torch; else it is told there is none")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    global WITH_TORCH
    WITH_TORCH = arguments.with_torch
    program = str(pathlib.Path(arguments.program).resolve())
    passed = failed = 0
    for path in arguments.files:
        count, problems = run_file(path, program, arguments.update)
        failed += len(problems)
        passed += count - min(count, len(problems))
        for problem in problems:
            print(problem)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
