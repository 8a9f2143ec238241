#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what neuron-check reads from files with what torch found in them.

usage: compare_inventory.py FOLDER [--program ./neuron-check] [--rules FILE] [--lines N] [NAME...]

Every file of FOLDER that has a FILE.oracle.json, and every file named in the rules, is given to
`neuron-check inventory --format json`. The exit code and the kind must be right, and the inventory of an exported program
must be the oracle's, as far as normalise.py says; so must the tensors of a checkpoint (FILE.tensors.oracle.json, or
FILE.oracle.json where that lists tensors) and the methods of a TorchScript archive (exactly where libtorch read it, by
name where its source was). Files that torch cannot read, or that are no programs, are judged by
the rules: file name -> {kind, exit, same_as}, where kind may be a list of words. The rules' kind and exit win over the oracle's; `same_as` names the file
whose oracle holds. Exit code 0 when everything agrees, 1 when something differs, 2 when nothing was compared.
"""
import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import checkpoints
import normalise
import torchscript

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 150


def read(path):
    with open(path) as f:
        return json.load(f)


def run(program, path):
    """(exit code, the input's entry of the JSON or None, error text)"""
    done = subprocess.run([program, "inventory", "--format", "json", path], capture_output=True, timeout=TIMEOUT_S)
    try:
        entry = json.loads(done.stdout)["inputs"][0]
    except (ValueError, KeyError, IndexError):
        entry = None
    return done.returncode, entry, done.stderr.decode(errors="replace").strip()


def expectation(folder, name, rules):
    """(kind, exit code, oracle models or None, target counts or None, oracle with tensors or None, oracle with methods or None)"""
    path = os.path.join(folder, name + ".oracle.json")
    oracle = read(path) if os.path.exists(path) else {}
    rule = rules.get(name, {})
    models, counts = oracle.get("models"), None
    if "same_as" in rule:
        models = read(os.path.join(folder, rule["same_as"] + ".oracle.json"))["models"]
    kind = rule.get("kind", oracle.get("kind"))
    if kind == "exported_program" and not models:
        counts = oracle.get("json_targets")
    code = rule.get("exit", 0 if kind in ("exported_program", "torchscript") else 2)
    methods = oracle if "methods" in oracle else None
    return kind, code, models, counts, checkpoints.oracle_of(os.path.join(folder, name), oracle), methods


def compare_models(expected, actual):
    for name in dict.fromkeys([*expected, *actual]):
        if name not in actual or name not in expected:
            yield f"model {name}: only in the {'oracle' if name in expected else 'inventory'}"
            continue
        yield from normalise.differences(normalise.model(expected[name]), normalise.model(actual[name]), name)


def compare_counts(expected, actual):
    found = {name: normalise.target_counts(model) for name, model in actual.items()}
    yield from normalise.differences(expected, found)


def compare(expected, result):
    """lines of difference between an expectation and a run"""
    kind, code, models, counts, tensors, methods = expected
    actual_code, entry, error = result
    lines = []
    if actual_code != code:
        lines.append(f"exit code: should be {code}, is {actual_code} ({error[:200]})")
    if entry is None:
        return lines + ["no JSON on standard output"]
    kinds = kind if isinstance(kind, list) else [kind]
    if entry.get("kind") not in kinds:
        lines.append(f"kind: should be {' or '.join(map(str, kinds))}, is {entry.get('kind')}")
    if tensors is not None:
        lines += checkpoints.differences(tensors, entry)
    if methods is not None:
        try:
            lines += torchscript.differences(methods, entry)
        except (KeyError, TypeError) as problem:
            lines.append(f"the inventory has not the form of neuron-check/inventory/1: {type(problem).__name__} {problem}")
    if kind == "exported_program" and code == 0:
        if not models and counts is None:
            lines.append("there is no oracle to compare with")
        try:
            pairs = compare_models(models, entry["models"]) if models else compare_counts(counts or {}, entry["models"])
            lines += pairs
        except (KeyError, TypeError, ValueError) as problem:
            lines.append(f"the inventory has not the form of neuron-check/inventory/1: {type(problem).__name__} {problem}")
    return lines


def names_of(folder, rules):
    oracles = {n[: -len(".oracle.json")] for n in os.listdir(folder) if n.endswith(".oracle.json")}
    derived = {n for n in oracles if not os.path.exists(os.path.join(folder, n))}  # oracles of other kinds: device, dispatch
    ruled = {n for n in rules if os.path.exists(os.path.join(folder, n))}
    return sorted((oracles - derived) | ruled)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", help="files of the folder; nothing means all")
    parser.add_argument("--program", default="./neuron-check")
    parser.add_argument("--rules", default=os.path.join(HERE, "rules.json"))
    parser.add_argument("--lines", type=int, default=5, help="differences shown of each file")
    options = parser.parse_intermixed_args()
    rules = read(options.rules)
    local = os.path.join(options.folder, "expected_kinds.json")
    if os.path.exists(local):
        rules.update(read(local))
    passed = failed = 0
    for name in options.names or names_of(options.folder, rules):
        try:
            result = run(options.program, os.path.join(options.folder, name))
            lines = compare(expectation(options.folder, name, rules), result)
        except subprocess.TimeoutExpired:
            lines = [f"no answer within {TIMEOUT_S} s"]
        passed, failed = passed + (not lines), failed + bool(lines)
        print(f"{'DIFF' if lines else 'OK'}  {name}" + (f"  ({len(lines)} differences)" if lines else ""))
        for line in lines[: options.lines]:
            print(f"      {line}")
    print(f"{passed} passed, {failed} failed")
    return 2 if passed + failed == 0 else int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
