# SPDX-License-Identifier: Apache-2.0
"""Compares expansions.jsonl with call trees recorded on a device with a release's kernels registered.

    python3 datasets/catalogue/check_device_oracles.py FOLDER [--catalogue datasets/catalogue/torch-2.13.0]

FOLDER holds *.device.oracle.json: {"models": {name: {"nodes": [{"target", "tree": [[depth, operator], ...],
"arrivals": [...]}]}}}. A call is compared where the tree shows it expanded: it has children, or it is a composite that did not
arrive at the backend. It agrees when every recorded child is one of ours and every one of our "always" children was
recorded. Exit code 1 if any call disagrees, 5 if nothing was compared. Needs no torch.
"""
import argparse
import collections
import json
import pathlib
import sys

COMPOSITE = ("ceanf", "cea", "cia")


def read_lines(path):
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def calls_of(tree):
    """(operator, [children]) of each call of a tree."""
    for index, (depth, op) in enumerate(tree):
        children = []
        for child_depth, child in tree[index + 1 :]:
            if child_depth <= depth:
                break
            if child_depth == depth + 1:
                children.append(child)
        yield op, children


def expanded_calls(folder, ops):
    for path in sorted(folder.glob("*.device.oracle.json")):
        for model in json.loads(path.read_text(encoding="utf-8"))["models"].values():
            for node in model["nodes"]:
                for op, children in calls_of(node["tree"]):
                    known = ops.get(op)
                    if known is None or known["dispatch_class"] not in COMPOSITE:
                        continue
                    if children or op not in node["arrivals"]:
                        yield path.name, op, children


def judge(children, rows):
    """None when they agree, else what is wrong."""
    if rows is None:
        return "no rows"
    ours = {row["child"] for row in rows} - {None}
    always = {row["child"] for row in rows if row["mode"] == "always"} - {None}
    extra, absent = sorted(set(children) - ours), sorted(always - set(children))
    if extra:
        return "recorded but not ours: " + ", ".join(extra)
    if absent:
        return "ours always, not recorded: " + ", ".join(absent)
    return None


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--catalogue", type=pathlib.Path, default=here / "torch-2.13.0")
    options = parser.parse_args()
    ops = {op["name"]: op for op in read_lines(options.catalogue / "ops.jsonl")}
    rows = collections.defaultdict(list)
    for row in read_lines(options.catalogue / "expansions.jsonl"):
        rows[row["op"]].append(row)
    total, wrong, seen = 0, collections.Counter(), set()
    for _, op, children in expanded_calls(options.folder, ops):
        total += 1
        seen.add(op)
        reason = judge(children, rows.get(op))
        if reason:
            wrong[f"{op}: {reason}"] += 1
    for text, count in wrong.most_common():
        print(f"{count:5} {text}")
    if total == 0:
        print("nothing was compared")
        return 5
    bad = sum(wrong.values())
    print(f"{total - bad} of {total} expanded calls agree ({100 * (total - bad) / total:.2f} %), {len(seen)} operators")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
