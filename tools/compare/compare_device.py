#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares claims for one release with what a recording backend saw when the same graphs ran.

usage: compare_device.py FOLDER [--program ./neuron-check] [--release 0.1.0-pre] [--minimum 99] [--trace] [-v]

Every FILE.device.oracle.json in FOLDER lists the nodes of FILE in execution order, with the operators below each that arrived at a
backend whose kernels are the release's native rows. What the arrivals imply is compared with the claim of the same use:

    native     all arrivals have a native row, or are views
    fallback   some arrival has no native row, but a CPU kernel to fall back on, or a row that says cpu-fallback
    raises     some arrival has neither; and the node after the last recorded one of a graph that stopped
    none       nothing arrived

A claim agrees when it is of the same class; a node whose arrivals are views alone agrees with native and none. Uses that did not run
(a branch not taken) are left out, and so is the copy_ with which torch writes a mutated buffer back after a functional graph: it is
no node of the file (its number is printed). Exit code 0 when at least the minimum agrees, 1 when less does, 2 when nothing could be compared.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VIEWS = {"aten::view", "aten::as_strided", "aten::_reshape_alias", "aten::unfold"}
CLASS_OF_CLAIM = {
    "no-device-work": "none",
    "native": "native",
    "decomposed": "native",
    "cpu-fallback": "fallback",
    "cpu-fallback-view": "fallback",
    "unsupported": "raises",
    "depends": "open",
    "unknown": "open",
}


class Release:
    """The registrations of one release, and which operators have a CPU kernel."""

    def __init__(self, name, support, ops):
        with open(support, encoding="utf-8", newline="") as f:
            rows = [r for r in csv.DictReader(f) if r["release"] == name and r["mode"] in ("eager", "any")]
        self.native = {r["op"] for r in rows if r["status"] == "native"}
        self.fallback = {r["op"] for r in rows if r["status"] == "cpu-fallback"}
        with open(ops, encoding="utf-8") as f:
            catalogue = [json.loads(line) for line in f]
        self.cpu_kernel = {o["name"] for o in catalogue if o["cpu_kernel"]}

    def implied(self, arrivals):
        missing = [a for a in arrivals if a not in self.native and a not in VIEWS]
        if any(a not in self.fallback and a not in self.cpu_kernel for a in missing):
            return "raises"
        if missing:
            return "fallback"
        if not arrivals:
            return "none"
        return "view" if set(arrivals) <= VIEWS else "native"


def report_of(program, release, path, trace=False):
    command = [program, str(path), "--release", release, "--mode", "eager", "--format", "json", "--fail-on", "none"]
    command += ["--trace"] if trace else []
    done = subprocess.run(command, capture_output=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        message = done.stderr.decode(errors="replace").strip()
        raise SystemExit(f"{path.name}: no report (exit {done.returncode}): {message[:500]}") from None


def uses_of(report, model):
    """The uses of one model in execution order: (target, node, claim, reason)"""
    found = []
    for entry in report["ops"]:
        if entry["model"] != model:
            continue
        for use in entry["uses"]:
            found.append((use["use_id"], entry["target"], use["node"]["name"], use["claimed"], use["reason"]))
    return [use[1:] for use in sorted(found)]


def align(expected, ours):
    """Pairs (i, j) of a longest common subsequence of two lists of targets."""
    n, m = len(expected), len(ours)
    length = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            same = expected[i] == ours[j]
            length[i][j] = length[i + 1][j + 1] + 1 if same else max(length[i + 1][j], length[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < n and j < m:
        if expected[i] == ours[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def agrees(implied, claim):
    mine = CLASS_OF_CLAIM.get(claim, "open")
    return mine in ("native", "none") if implied == "view" else mine == implied


def compare_model(oracle, uses, release):
    """Yields (agreed, target, node, claim, implied, reason, note) for each executed node."""
    nodes = oracle["nodes"]
    pairs = dict(align([n["target"] for n in nodes], [u[0] for u in uses]))
    for i, node in enumerate(nodes):
        implied = release.implied(node["arrivals"])
        if i not in pairs:
            if node["target"] == "aten::copy_":
                continue
            yield False, node["target"], "", "not in the inventory", implied, "", "no use of this operator at this place"
            continue
        target, name, claim, reason = uses[pairs[i]]
        yield agrees(implied, claim), target, name, claim, implied, reason, " ".join(node["arrivals"])
    if oracle.get("error"):
        last = pairs.get(len(nodes) - 1, -1)
        if last + 1 >= len(uses):
            yield False, "?", "", "no use", "raises", "", oracle["error"].splitlines()[0]
            return
        target, name, claim, reason = uses[last + 1]
        yield agrees("raises", claim), target, name, claim, "raises", reason, oracle["error"].splitlines()[0]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "neuron-check"))
    parser.add_argument("--release", default="0.1.0-pre")
    parser.add_argument("--support", default=str(ROOT / "datasets/support/support-matrix.csv"))
    parser.add_argument("--ops", default=str(ROOT / "datasets/catalogue/torch-2.13.0/ops.jsonl"))
    parser.add_argument("--minimum", type=float, default=99.0, help="per cent of nodes that must agree")
    parser.add_argument("--trace", action="store_true", help="claims with --trace")
    parser.add_argument("-v", "--verbose", action="store_true", help="one line for each file")
    return parser.parse_args()


def main():
    options = arguments()
    release = Release(options.release, options.support, options.ops)
    total, agreed, misses, recorded = collections.Counter(), collections.Counter(), [], 0
    oracles = sorted(options.folder.glob("*.device.oracle.json"))
    for path in oracles:
        model_file = path.with_name(path.name.removesuffix(".device.oracle.json"))
        report = report_of(options.program, options.release, model_file, options.trace)
        before = sum(total.values()), sum(agreed.values())
        for model, oracle in json.loads(path.read_text(encoding="utf-8"))["models"].items():
            recorded += len(oracle["nodes"]) + bool(oracle.get("error"))
            for ok, *rest in compare_model(oracle, uses_of(report, model), release):
                total[rest[3]] += 1
                agreed[rest[3]] += ok
                if not ok:
                    misses.append((model_file.name, model, *rest))
        if options.verbose:
            print(f"{model_file.name}: {sum(agreed.values()) - before[1]} of {sum(total.values()) - before[0]}")
    nodes = sum(total.values())
    if nodes == 0:
        print(f"{options.folder}: no executed node to compare", file=sys.stderr)
        return 2
    for file, model, target, name, claim, implied, reason, note in misses:
        print(f"miss: {file}:{model}: {target} ({name}): claimed {claim}, implied {implied}\n      ours: {reason}\n      seen: {note}")
    for implied in sorted(total):
        print(f"{implied}: {agreed[implied]} of {total[implied]}")
    if recorded > nodes:
        print(f"left out: {recorded - nodes} aten::copy_ after functional graphs")
    share = 100 * sum(agreed.values()) / nodes
    print(f"{len(oracles)} files, {nodes} executed nodes, {sum(agreed.values())} agree: {share:.2f} %")
    return 0 if share >= options.minimum else 1


if __name__ == "__main__":
    sys.exit(main())
