#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Switches off or weakens each rule of numerics/ in turn and checks that a test fails.

usage: mutate_numerics.py [--work build/mutants] [--only TEXT] [--list] [--report FILE]

A clone of the working tree's HEAD is built once in --work; each mutant of numerics_mutants.txt is one replacement in one source file,
built and run against the tests of the library until one fails. A mutant that no test notices, or whose text is no longer in its file,
is an error: exit code 1. A comparator that cannot fail is the worst bug this project can ship.
"""
import argparse
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Quick ones first: the first that fails ends the mutant.
TESTS = ["numerics_judge_test", "numerics_metrics_test", "numerics_selection_test", "numerics_format_test", "numerics_factorisation_test",
         "numerics_operator_faults_test", "numerics_mutation_test", "numerics_reorder_test", "numerics_random_test"]


def mutants():
    """[(rule, file, old, new)]"""
    text = (pathlib.Path(__file__).parent / "numerics_mutants.txt").read_text()
    out = []
    for block in text.split("\n== ")[1:]:
        head, rest = block.split("\n", 1)
        rule, file = head.split(" @ ")
        old, new = rest.split("\n--\n", 1)
        out.append((rule, file, old, new.strip("\n")))
    return out


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def prepare(work):
    clone = work / "tree"
    if not clone.exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    else:
        subprocess.run(["git", "fetch", "-q", "origin"], cwd=clone, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "checkout", "-q", "--force", head], cwd=clone, check=True)
    subprocess.run(["cmake", "--preset", "dev", "-DNEURONCHECK_WITH_BENCHMARKS=OFF",
                    "-DNEURONCHECK_WARNINGS_AS_ERRORS=OFF"], cwd=clone, check=True, capture_output=True)
    built = run(["ninja", "-C", "build/dev", *TESTS], clone)
    if built.returncode != 0:
        sys.exit(f"the unchanged tree does not build:\n{built.stdout[-2000:]}")
    return clone


def noticed_by(clone):
    """The test that fails; "" when none does."""
    for test in TESTS:
        # Tests are built one by one: most mutants end with the first.
        built = run(["ninja", "-C", "build/dev", test], clone)
        if built.returncode != 0:
            return "the compiler"
        if run([f"build/dev/numerics/{test}", "--gtest_brief=1"], clone).returncode != 0:
            return test
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    chosen = [m for m in mutants() if options.only in m[0]]
    if options.list:
        print("\n".join(f"{rule}: {file}" for rule, file, _, _ in chosen))
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    clone = prepare(options.work)
    survived, rows = 0, []
    for index, (rule, file, old, new) in enumerate(chosen):
        path = clone / file
        source = path.read_text()
        if source.count(old) != 1:
            sys.exit(f"{rule}: its text occurs {source.count(old)} times in {file}")
        start = time.monotonic()
        path.write_text(source.replace(old, new))
        try:
            test = noticed_by(clone)
        finally:
            path.write_text(source)
        survived += not test
        rows.append((rule, file, test or "NOTHING"))
        print(f"[{index + 1}/{len(chosen)}] {rule}: {test or 'SURVIVED'} ({time.monotonic() - start:.0f} s)", flush=True)
    if options.report:
        lines = [f"| {rule} | `{file}` | {test} |" for rule, file, test in rows]
        options.report.write_text("| rule switched off or weakened | in | noticed by |\n|---|---|---|\n" + "\n".join(lines) + "\n")
    print(f"{len(chosen) - survived} of {len(chosen)} mutants were noticed")
    return 1 if survived or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
