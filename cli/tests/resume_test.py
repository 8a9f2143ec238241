#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a run by kill -9 at random moments, goes on with --resume, and compares with an undisturbed run to the bit.

usage: resume_test.py --program PROGRAM [--times N] [--seed S]
"""
import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNARY = ["relu", "exp", "gelu", "tanh", "neg", "sigmoid", "sqrt", "cumsum", "softmax.int", "nonzero", "t", "logsumexp"]
MORE = {"cumsum": ", 1", "softmax.int": ", 1", "logsumexp": ", [1]"}
TABLES = {
    "case": "SELECT c.position, c.id, c.text, c.uses FROM \"case\" c ORDER BY 1",
    "outcome": "SELECT o.case_position, o.state, s.value, c.value, m.value, f.value, e.value, n.value, o.runs FROM outcome o"
    " JOIN text s ON s.id = o.stage JOIN text c ON c.id = o.cause JOIN text m ON m.id = o.message JOIN text f ON f.id = o.fallbacks"
    " JOIN text e ON e.id = o.ending JOIN text n ON n.id = o.notes ORDER BY 1",
    "attempt": "SELECT * FROM attempt ORDER BY 1, 2",
    "metric": "SELECT m.case_position, m.attempt, m.number, w.value, m.state, c.value, r.value, u.value, elements, wrong, max_abs,"
    " max_rel, max_ulp, max_ratio, worst_index, worst_actual, worst_truth, rtol_needed, atol_needed, identical_to_cpu, constant FROM metric m"
    " JOIN text w ON w.id = m.what JOIN text c ON c.id = m.cause JOIN text r ON r.id = m.reason JOIN text u ON u.id = m.rule"
    " ORDER BY 1, 2, 3",
}


def bits(value):
    return value.hex() if isinstance(value, float) else value


def contents(path):
    database = sqlite3.connect(path)
    rows = {name: [tuple(map(bits, row)) for row in database.execute(query)] for name, query in TABLES.items()}
    database.close()
    return rows


def cases():
    for size in range(8, 88, 6):
        for dtype in ("f32", "bf16"):
            for op in UNARY:
                yield f"aten::{op}({dtype}[{size},{size}]{MORE.get(op, '')})"
            yield f"aten::mm({dtype}[{size},16], {dtype}[16,{size}])"


class Runs:
    def __init__(self, program, folder):
        path = os.path.join(folder, "many.cases")
        pathlib.Path(path).write_text("".join(f"{case}\n" for case in cases()))
        self.command = [program, "run", path, "--device", "cpu", "-q", "--seed", "7"]

    def start(self, path, *more):
        return subprocess.Popen([*self.command, "--run-file", path, *more], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, path, *more):
        process = self.start(path, *more)
        _, errors = process.communicate(timeout=300)
        assert process.returncode in (0, 1), (process.returncode, errors.decode())

    def killed(self, path, after):
        """Kills a run `after` seconds after its file appeared; how long the run then took, where it was quicker."""
        process = self.start(path)
        while process.poll() is None and not os.path.exists(path):
            time.sleep(0.001)
        began = time.monotonic()
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        return time.monotonic() - began


def unfinished(path):
    if not os.path.exists(path):
        return None
    rows = contents(path)["outcome"]
    return sum(row[2] == "begun" for row in rows), sum(row[1] == "not-run" and row[8] == 0 for row in rows), len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    options = parser.parse_args()
    print(f"--seed {options.seed}")
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(os.path.abspath(options.program), folder)
        whole = os.path.join(folder, "whole.ncr")
        lasts = runs.killed(whole, 300)
        expected = contents(whole)
        assert len(expected["outcome"]) > 40 and len(expected["metric"]) > 40, "too little to compare"
        cut = 0
        for number in range(options.times):
            path = os.path.join(folder, f"killed{number}.ncr")
            after = chance.uniform(0.0, 1.0) * lasts
            runs.killed(path, after)
            left = unfinished(path)
            cut += left is not None and 0 < left[0] + left[1] < left[2]
            runs.finish(path, "--resume")
            print(f"killed after {after:.3f} s of {lasts:.3f} s; begun, not begun, all: {left}")
            found = contents(path)
            for table, rows in expected.items():
                different = [pair for pair in zip(rows, found[table]) if pair[0] != pair[1]]
                assert len(rows) == len(found[table]) and not different, f"{table}: {different[:2]}"
            assert not os.path.exists(path + "-wal"), "the log is left"
        assert cut >= options.times // 5, f"only {cut} of {options.times} kills hit a run in the middle"
    print(f"{options.times} runs killed, {cut} of them in the middle: all equal the undisturbed one")


if __name__ == "__main__":
    sys.exit(main())
