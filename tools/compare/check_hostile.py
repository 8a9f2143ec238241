#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs neuron-check on damaged and hostile files and checks that it answers well.

usage: check_hostile.py FILE.pt2... [--program ./neuron-check] [--seed 0] [--max-rss-mb 200] [--max-seconds 5] [-k REGEX]

Every mutation of mutate.py is made from every file. `neuron-check inventory --format json` must end by itself, in time and
memory, with one of the exit codes that are right for the mutation; with 2 it must name the file and say the reason, with 0
its JSON must be sound. The check of the same file must end as well. Nothing may be executed: a file `pwned` in
the working folder is a failure, as is an escape character on standard output. Exit code 0 when all is well, else 1.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate


def limited_run(command, folder, seconds):
    """(exit code or -signal, stdout, stderr, seconds, peak RSS in MB); -SIGKILL when time was up"""
    paths = [os.path.join(folder, name) for name in ("stdout", "stderr")]
    started = time.monotonic()
    with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, cwd=folder)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - started > 4 * seconds:
                child.kill()
            time.sleep(0.002)
    child.returncode = os.waitstatus_to_exitcode(status)
    took = usage.ru_utime + usage.ru_stime  # CPU time: other work on the machine must not fail this check
    texts = []
    for path in paths:
        with open(path, "rb") as f:
            texts.append(f.read())
    return child.returncode, *texts, took, usage.ru_maxrss / 1024


def resources(result, options):
    code, _, _, seconds, rss = result
    if code < 0:
        yield f"ended by {signal.Signals(-code).name}"
    if seconds > options.max_seconds:
        yield f"took {seconds:.1f} s"
    if rss > options.max_rss_mb:
        yield f"took {rss:.0f} MB"


def judge_inventory(mutation, name, result, options):
    yield from resources(result, options)
    code, out, err, _, _ = result
    if code not in mutation.exits:
        yield f"exit code {code}, right are {mutation.exits}"
    text = err.decode(errors="replace")
    if code == 2 and name not in text:
        yield "the error does not name the file"
    if code == 2 and not re.search(mutation.says, text.replace(name, ""), re.I):
        yield f"the error does not say /{mutation.says}/"
    if b"\x1b" in out or b"\x1b" in err:
        yield "an escape character in the output"
    try:
        entry = json.loads(out)["inputs"][0]
    except (ValueError, LookupError) as problem:
        yield f"no sound JSON: {problem}"
        return
    if code == 0 and mutation.noted and not re.search(mutation.says, json.dumps(entry.get("notes")), re.I):
        yield f"read, but no note says /{mutation.says}/"


def judge_check(result, options):
    yield from resources(result, options)
    code, out, err, _, _ = result
    if code not in (0, 1, 2, 5):
        yield f"exit code {code} of the check"
    if b"\x1b" in out or b"\x1b" in err:
        yield "an escape character in the report"


def problems(program, mutation, path, folder, options):
    name = os.path.basename(path)
    first = limited_run([program, "inventory", "--format", "json", path], folder, options.max_seconds)
    yield from ((line, first) for line in judge_inventory(mutation, name, first, options))
    second = limited_run([program, path], folder, options.max_seconds)
    yield from ((line, second) for line in judge_check(second, options))
    if os.path.exists(os.path.join(folder, "pwned")):
        os.remove(os.path.join(folder, "pwned"))
        yield "something was executed", first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--program", default="./neuron-check")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--max-rss-mb", type=float, default=200)
    parser.add_argument("--max-seconds", type=float, default=5, help="of CPU time; four times that by the clock")
    parser.add_argument("-k", default="", help="only mutations whose name matches")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    good = bad = 0
    for file in options.files:
        sample = mutate.Sample.read(file)
        stem = os.path.splitext(os.path.basename(file))[0]
        for mutation in mutate.all_mutations():
            if not re.search(options.k, mutation.name):
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, f"{stem}.{mutation.name}.pt2")
                mutate.write(sample, mutation, path, options.seed)
                found = list(problems(program, mutation, path, folder, options))
            good, bad = good + (not found), bad + bool(found)
            for line, result in found:
                said = result[2].decode(errors="replace").strip().replace(folder, "")[:300]
                print(f"BAD {stem}.{mutation.name}: {line}\n      it said: {said}")
    print(f"{good} answered well, {bad} not")
    return 0 if good and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
