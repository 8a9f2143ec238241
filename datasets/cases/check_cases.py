#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs case files on the CPU: all must pass but for those that expected.tsv names, with the state it names.

usage: check_cases.py --program NEURON-CHECK [--every N] [--device cpu] [--list] FILE.cases...

--every N runs each N-th case only. --list prints what did not pass, state and text, and checks nothing. Without --every a line of
expected.tsv that no case of the files needs is an error too, when every file of the folder is given.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PASSES = ("pass", "pass-weak")


def cases_of(path):
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def outcomes(text):
    """State, text and reasons of every case of a verbose report; long lines are broken at blanks."""
    state, found = None, []
    for line in text.splitlines():
        if match := re.fullmatch(r"  ([a-z-]+) +\d+ cases?", line):
            state = match[1]
        elif re.match(r"    aten::", line):
            found.append([state, line.strip(), ""])
        elif found and re.match(r"      \S", line):
            found[-1][1] += " " + line.strip()
        elif found and re.match(r"        \S", line):
            found[-1][2] += " " + line.strip()
        elif not line.startswith("    "):
            state = state if not line or line.startswith("  ") else None
    return found


def expectations():
    rows = (line.split("\t") for line in (HERE / "expected.tsv").read_text().splitlines() if line and not line.startswith("#"))
    return {text: (state, reason) for state, reason, text in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    wanted = [case for path in options.files for case in cases_of(path)][::options.every]
    with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
        file.write("\n".join(wanted) + "\n")
        file.flush()
        run = subprocess.run([options.program, "run", file.name, "--device", options.device, "-v"], capture_output=True, text=True)
    found = outcomes(run.stdout)
    if len(found) != len(set(wanted)):
        sys.exit(f"{len(set(wanted))} cases were to be run, {len(found)} outcomes were found\n{run.stderr[-2000:]}")
    if options.list:
        for state, text, reason in found:
            if state not in PASSES:
                print(f"{state}\t{text}\t{reason.strip()}")
        return
    expected, wrong = expectations(), 0
    for state, text, reason in found:
        wanted_state, why = expected.pop(text, ("pass", ""))
        # Which kernel of torch runs, and so how far it is off, depends on the processor.
        allowed = (*PASSES, "as-upstream", "degraded") if why == "kernel" else PASSES if wanted_state == "pass" else (wanted_state,)
        if state in allowed:
            continue
        wrong += 1
        print(f"{state}\t{text}\n   {reason.strip()}\n   expected: {wanted_state}")
    if options.every == 1 and len(options.files) == len(list(HERE.glob("*.cases"))):
        for text in expected:
            wrong += 1
            print(f"no such case: {text}")
    print(f"{len(found)} cases, {wrong} not as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
