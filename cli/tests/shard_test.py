#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan in shards and as a whole, merges in several orders, and compares to the bit.

usage: shard_test.py --program PROGRAM
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import resume_test  # noqa: E402

MODELS = [f"datasets/models/{name}.pt2" for name in ("decoder", "native_mlp", "inplace_views", "lstm")]
SLURM = {"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "2"}


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def __call__(self, *arguments, variables=None, expect=0):
        run = subprocess.run(
            [self.path, *arguments], cwd=resume_test.ROOT, capture_output=True, text=True, env={**os.environ, **(variables or {})}
        )
        assert run.returncode == expect, (arguments, run.returncode, run.stderr)
        return run.stdout, run.stderr

    def file(self, name):
        return os.path.join(self.folder, name + ".ncr")

    def run(self, name, *more, **others):
        output = os.path.join(self.folder, "report.md")
        command = [*MODELS, "--run", "--device", "sim", "--fail-on", "none", "--format", "md", "-o", output]
        return self(*command, "--run-file", self.file(name), *more, **others)

    def merge(self, name, *parts):
        return self("merge", *map(self.file, parts), "-o", self.file(name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.program, folder)
        program.run("whole")
        for number in (1, 2):
            program.run(str(number), "--shard", f"{number}/3")
        _, errors = program.run("3", variables=SLURM)
        assert "shard 3/3 (SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT)" in errors, errors
        program.merge("sorted", "whole")
        expected = resume_test.contents(program.file("sorted"))
        assert len(expected["case"]) == len(resume_test.contents(program.file("whole"))["case"]) > 20
        program.merge("123", "1", "2", "3")
        out, errors = program.merge("12", "1", "2")
        assert "shard 3/3 is not there" in errors, errors
        assert "simulated: no hardware ran anything" in out, out
        program.merge("3-12", "3", "12")
        out, _ = program.merge("12-23", "12", "2", "3")
        assert "ran more than once with the same result" in out, out
        for name in ("123", "3-12", "12-23"):
            assert resume_test.contents(program.file(name)) == expected, name
        out, _ = program("diff", program.file("whole"), program.file("sorted"))
        assert "the same in both runs" in out and "no hardware ran anything" in out and "unlike" not in out, out
        out, _ = program("diff", program.file("whole"), program.file("12"), expect=1)
        assert "no longer run" in out and "unlike in shard" in out, out
        program("diff", program.file("whole"), "datasets/models/mlp.pt2", expect=2)
        program.run("seed", "--seed", "5", "--shard", "1/3")
        _, errors = program("merge", program.file("1"), program.file("seed"), "-o", program.file("x"), expect=2)
        assert "unlike seeds" in errors, errors
        _, errors = program.run("y", variables={"JOB_COMPLETION_INDEX": "1"}, expect=2)
        assert "JOB_COMPLETIONS is not" in errors, errors
    print("shards merged in every order equal the whole run")


if __name__ == "__main__":
    sys.exit(main())
