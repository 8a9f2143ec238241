#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares traced arrivals with what a recording backend saw when the same graphs ran.

usage: compare_trace.py FOLDER [--program ./neuron-check] [--worker neuron-check-torch] [--release 0.1.0-pre] [--minimum 99] [-v]

Every FILE.device.oracle.json in FOLDER lists the nodes of FILE in execution order, with the operators below each that arrived at a
backend whose kernels are the release's native rows. The case of the same use (symbolic sizes at their hints) is given to the worker,
which dispatches it on its recorder with the same rows, and the two lists of arrivals must be equal, after

    - a structured operator and its out= form (add.Tensor, add.out) are one;
    - allocations are left out, unless the operator is a factory.

The node after the last recorded one of a graph that stopped must raise. Uses that did not run are left out, and so is the copy_ with
which torch writes a mutated buffer back after a functional graph. Every miss is printed with both sides, and its reason where it
lies in the file and not in the trace: an operator of a library that is not loaded, autocast around the node, strides that the file
recorded from another attention kernel. With --both-ways every traced case is traced a second time on tensors without memory, which
must give the same answer. Exit code 0 when at least the minimum agrees or has such a reason, 1 when less does, 2 when nothing
could be compared.
"""
import argparse
import collections
import csv
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case_text
import compare_device

ROOT = compare_device.ROOT
ALLOCATIONS = {"aten::empty.memory_format", "aten::empty_strided"}


class Worker:
    """One running neuron-check-torch (docs/worker-protocol.md)."""

    def __init__(self, program):
        self._process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._read()

    def _read(self):
        head = self._process.stdout.read(4)
        if len(head) < 4:
            raise SystemExit("the worker ended")
        return json.loads(self._process.stdout.read(struct.unpack("<I", head)[0]))

    def ask(self, request):
        body = json.dumps(request).encode()
        self._process.stdin.write(struct.pack("<I", len(body)) + body)
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise SystemExit(f"the worker refuses: {answer['error']}")
        return answer


class Catalogue:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            ops = [json.loads(line) for line in f]
        self.names = {o["name"] for o in ops}
        self._twin = {o["name"]: o["structured_twin"] for o in ops if o["structured_twin"]}
        options = ("ScalarType? dtype", "Layout? layout", "Device? device", "bool? pin_memory")
        self._factories = {o["name"] for o in ops if all(part in o["schema"] for part in options)}

    def is_factory(self, target):
        return target in self._factories and not target.startswith(("aten::to", "aten::_to_"))

    def normal(self, target, arrivals):
        kept = [a for a in arrivals if a not in ALLOCATIONS or self.is_factory(target)]
        return [self._twin.get(a, a) for a in kept]


def inventory_of(program, path):
    done = subprocess.run([program, "inventory", str(path), "--format", "json"], capture_output=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{path.name}: no inventory: {done.stderr.decode(errors='replace')[:500]}")
    return json.loads(done.stdout)["inputs"][0]


def uses_of(model):
    """(target, node) of one model in execution order"""
    found = [(n["id"], op["target"], n) for op in model["ops"] + model["custom_ops"] for n in op["nodes"]]
    return [(target, node) for _, target, node in sorted(found, key=lambda use: use[0])]


def hints_of(model):
    return {d["symbol"]: d["hint"] for d in model["dynamic_dims"] if d["hint"] is not None}


def text_of(use, hints):
    try:
        return case_text.case_of(*use, hints)
    except case_text.NoText as reason:
        return f"({reason})"


def expected_of(oracle, uses):
    """(target, use or None, arrivals or None where it must raise) for each executed node"""
    nodes = oracle["nodes"]
    pairs = dict(compare_device.align([n["target"] for n in nodes], [u[0] for u in uses]))
    for i, node in enumerate(nodes):
        if i in pairs or node["target"] != "aten::copy_":
            yield node["target"], uses[pairs[i]] if i in pairs else None, node["arrivals"]
    if oracle.get("error"):
        after = pairs.get(len(nodes) - 1, -1) + 1
        yield "(stopped)", uses[after] if after < len(uses) else None, None


def autocast_graphs(model):
    nodes = [n for n in model["higher_order_nodes"] if n["op"] == "wrap_with_autocast"]
    return tuple(a["value"]["graph"] for n in nodes for a in n["args"] if isinstance(a["value"], dict) and "graph" in a["value"])


def reason_of(use, uses, autocast, names):
    """Why a miss is none of the trace's, or an empty text."""
    if use is None:
        return ""
    target, node = use
    if target not in names:
        return "an operator of a library that is not loaded"
    if autocast and node["graph"].startswith(autocast):
        return "autocast, which is no part of a case"
    producers = {o["name"]: u for u in uses for o in u[1]["outputs"] if o}
    while node["inputs"] and node["inputs"][0]["name"] in producers:
        target, node = producers[node["inputs"][0]["name"]]
        if target == "aten::scaled_dot_product_attention":
            return "strides of the attention kernel of the device on which the file was made"
        if target not in ("aten::transpose.int", "aten::permute"):
            break
    return ""


def ask_all(worker, native, texts, **more):
    """The answers by case text."""
    texts = sorted(set(texts))
    cases = [{"id": i, "case": text} for i, text in enumerate(texts)]
    answer = worker.ask({"do": "trace", "native": native, "cases": cases, **more})
    return {texts[case["id"]]: case for case in answer["cases"]}


def verdict_of(answer):
    for word in ("not_traced", "raised"):
        if word in answer:
            return f"{word}: {answer[word].splitlines()[0]}"
    return " ".join(a["target"] for a in answer["arrivals"]) or "(nothing)"


def without_values(answer):
    """What both ways of tracing must agree on."""
    return {k: answer.get(k) for k in ("arrivals", "raised", "not_traced")}


def agrees(catalogue, target, arrivals, answer):
    if arrivals is None:
        return "raised" in answer
    if "raised" in answer or "not_traced" in answer:
        return False
    seen = [a["target"] for a in answer["arrivals"]]
    return catalogue.normal(target, seen) == catalogue.normal(target, arrivals)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build/dev/cli/neuron-check"))
    parser.add_argument("--worker", default=str(ROOT / "build/dev/cli/neuron-check-torch"))
    parser.add_argument("--release", default="0.1.0-pre")
    parser.add_argument("--support", default=str(ROOT / "datasets/support/support-matrix.csv"))
    parser.add_argument("--ops", default=str(ROOT / "datasets/catalogue/torch-2.13.0/ops.jsonl"))
    parser.add_argument("--minimum", type=float, default=99.0, help="per cent of nodes that must agree")
    parser.add_argument("--both-ways", action="store_true", help="also trace without memory and compare")
    parser.add_argument("-v", "--verbose", action="store_true", help="one line for each file")
    return parser.parse_args()


def main():
    options = arguments()
    catalogue = Catalogue(options.ops)
    with open(options.support, encoding="utf-8", newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["release"] == options.release and r["mode"] in ("eager", "any")]
    native = sorted({r["op"] for r in rows if r["status"] == "native"})
    checks = []
    for path in sorted(options.folder.glob("*.device.oracle.json")):
        file = path.name.removesuffix(".device.oracle.json")
        models = inventory_of(options.program, path.with_name(file))["models"]
        for name, oracle in json.loads(path.read_text(encoding="utf-8"))["models"].items():
            uses, hints, autocast = uses_of(models[name]), hints_of(models[name]), autocast_graphs(models[name])
            for target, use, arrivals in expected_of(oracle, uses):
                text = text_of(use, hints) if use else "(not in the inventory)"
                checks.append((file, target, text, arrivals, reason_of(use, uses, autocast, catalogue.names)))
    if not checks:
        print(f"{options.folder}: no executed node to compare", file=sys.stderr)
        return 2
    worker = Worker(options.worker)
    texts = [text for _, _, text, _, _ in checks if not text.startswith("(")]
    answers = ask_all(worker, native, texts)
    total, agreed, misses, explained = (collections.Counter() for _ in range(4))
    for file, target, text, arrivals, reason in checks:
        answer = answers.get(text, {"not_traced": text})
        total[file] += 1
        if agrees(catalogue, target, arrivals, answer):
            agreed[file] += 1
            continue
        explained[file] += bool(reason)
        seen = "raises" if arrivals is None else " ".join(arrivals) or "(nothing)"
        because = f"\n      reason: {reason}" if reason else ""
        misses[f"miss: {file}: {text}\n      traced: {verdict_of(answer)}\n      seen:   {seen}{because}"] += 1
    for miss, times in misses.items():
        print(f"{miss}" + (f"\n      {times} times" if times > 1 else ""))
    if options.verbose:
        for file in total:
            print(f"{file}: {agreed[file]} of {total[file]}")
    nodes = total.total()
    print(
        f"{len(total)} files, {nodes} executed nodes, {len(answers)} distinct cases, {agreed.total()} agree: "
        f"{100 * agreed.total() / nodes:.2f} %, and {explained.total()} differ for a reason in the file"
    )
    failed = 100 * (agreed.total() + explained.total()) / nodes < options.minimum
    if options.both_ways:
        other = ask_all(worker, native, texts, exact_bytes=0)
        # A Meta kernel may not see what the CPU refuses.
        traced = [t for t in answers if "not_traced" not in answers[t]]
        differ = [t for t in traced if without_values(answers[t]) != without_values(other[t])]
        for text in differ:
            print(f"differs: {text}\n      computed:       {verdict_of(answers[text])}\n      without memory: {verdict_of(other[text])}")
        print(f"both ways: {len(traced) - len(differ)} of {len(traced)} traced cases are answered alike")
        failed = failed or bool(differ)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
