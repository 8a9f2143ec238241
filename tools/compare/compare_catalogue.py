#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares claims from the catalogue's expansions with claims from dispatching the same cases (--trace).

usage: compare_catalogue.py FILE... [--program ./neuron-check] [--release NAME] [--minimum 99] [-v]

Both reports of each model are made; the claims of every use must lead to the same verdict. `depends` in the catalogue's report agrees
with anything: it says that arguments decide, and the trace decided. Uses without a trace are counted apart. Exit code 0 when at
least the minimum agrees, 1 when less does, 2 when nothing was traced.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUCKET = {
    "no-device-work": "ready",
    "native": "ready",
    "decomposed": "ready",
    "cpu-fallback": "fallback",
    "cpu-fallback-view": "refused",
    "unsupported": "refused",
    "unknown": "unknown",
    "depends": "depends",
}


def report(program, path, *flags):
    command = [program, str(path), "--format", "json", "--fail-on", "none", *flags]
    done = subprocess.run(command, capture_output=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise SystemExit(f"{path}: no report (exit {done.returncode}): {done.stderr.decode(errors='replace')[:300]}") from None


def uses_of(document):
    found = {}
    for entry in document["ops"]:
        for use in entry["uses"]:
            found[entry["model"], use["use_id"]] = (entry["target"], use["claimed"], use["reason"])
    return found


def untraced(document):
    """How many uses the report says have no trace."""
    total = 0
    for entry in document["not_checked"]:
        words = entry["what"].split()
        if entry["what"].startswith("a trace of "):
            total += int(words[3])
    return total


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "neuron-check"))
    parser.add_argument("--release", default="0.1.0-pre")
    parser.add_argument("--minimum", type=float, default=99.0)
    parser.add_argument("-v", "--verbose", action="store_true", help="every difference; else one for each operator and pair of claims")
    return parser.parse_args()


def main():
    options = arguments()
    total = agreed = without = files = 0
    seen = collections.Counter()
    for path in options.files:
        plain = report(options.program, path, "--release", options.release)
        traced = report(options.program, path, "--release", options.release, "--trace")
        mine, theirs = uses_of(plain), uses_of(traced)
        files += bool(theirs)
        without += untraced(traced)
        for key, (target, claim, reason) in sorted(mine.items()):
            other = theirs[key]
            total += 1
            if BUCKET[claim] in (BUCKET[other[1]], "depends"):
                agreed += 1
                continue
            seen[target, claim, other[1]] += 1
            if options.verbose or seen[target, claim, other[1]] == 1:
                print(f"differs: {path.name}: {target}\n    catalogue: {claim}: {reason[:300]}\n    trace:     {other[1]}: {other[2][:300]}")
    if total - without <= 0:
        print("nothing was traced", file=sys.stderr)
        return 2
    share = 100 * agreed / total
    print(f"{files} files, {total} uses, {without} without a trace, {agreed} agree: {share:.2f} %")
    return 0 if share >= options.minimum else 1


if __name__ == "__main__":
    sys.exit(main())
