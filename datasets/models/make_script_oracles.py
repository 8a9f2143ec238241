#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FILE.oracle.json beside each TorchScript fixture: what torch finds in every method, inlined, blocks and forks included.

usage: make_script_oracles.py [--dir FOLDER] [NAME...]

Loads the files, which runs code of them: it skips those that are hostile on purpose, and must never be given a file of somebody
else. It skips those whose custom operators return something that only their library knows, too.
"""
import argparse
import collections
import json
import os
import re
import sys

import maker  # first: it quiets torch
import torch

HOSTILE = {"ts_version_999.pt", "ts_writes.pt", "ts_endless.pt", "ts_hungry.pt"}
GUESSED = {"ts_custom.pt"}  # result types of its operators cannot be told from the file
PATTERN = re.compile(r"^(ts_.*\.pt|.*\.ptl)$")


def register_custom_operators():
    libraries = [torch.library.Library("scriptlib", "FRAGMENT")]
    for schema in (
        "halves(Tensor x, int n) -> (Tensor, Tensor)",
        "pieces(Tensor x, *, int dim=0) -> Tensor[]",
        "factor(Tensor x) -> float",
        "nms_like(Tensor boxes, Tensor scores, float limit) -> Tensor",
    ):
        libraries[0].define(schema)
    return libraries


def place(node):
    """(innermost frame outside torch or else the innermost, innermost frame) of a node's own source range"""
    text = node.sourceRange()
    stack = re.findall(r"^(\S+?)\((\d+)\): ", text, re.M)
    if stack:
        own = [f for f in stack if not f[0].startswith("site-packages/torch/")] or stack
        return "%s:%s" % own[0], "%s:%s" % stack[0]
    line = re.search(r'File "([^"]+)", line (\d+)', text)
    last = f"{line[1]}:{line[2]}" if line else None
    return last, last


def nodes_of(block):
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from nodes_of(inner)
        if node.hasAttribute("Subgraph"):
            graph = node.g("Subgraph").copy()
            torch._C._jit_pass_inline(graph)
            yield from nodes_of(graph)


def method(graph, known):
    graph = graph.copy()
    torch._C._jit_pass_inline(graph)
    counts = {"ops": collections.Counter(), "interpreter_ops": collections.Counter(), "prim": collections.Counter()}
    nodes = []
    for node in nodes_of(graph):
        if node.kind().startswith("prim::"):
            counts["prim"][node.kind()] += 1
            continue
        schema = node.schema()
        name = node.kind() if schema == "(no schema)" else schema.split("(", 1)[0]
        counts["ops" if name in known else "interpreter_ops"][name] += 1
        if name in known:
            source, last = place(node)
            nodes.append({"op": name, "source": source, "last_frame": last})
    return {**{kind: dict(sorted(count.items())) for kind, count in counts.items()}, "nodes": nodes}


class ModuleWalk:
    """which module calls which operators: follows GetAttr and CallMethod through the graphs as they are, before any inlining

    Branches that inlining finds to be dead are still in these graphs, so a count is a bound. Functions cannot be followed from here;
    a module that calls any has `functions`.
    """

    def __init__(self, root, known):
        self.modules, self.known, self.found = dict(root.named_modules(remove_duplicate=False)), known, {}

    def method(self, path, name):
        graph = self.modules[path]._c._get_method(name).graph
        self.block(graph, path, {next(graph.inputs()).debugName(): path})

    def block(self, block, path, modules):
        kind = re.sub(r"\.___torch_mangle_\d+", "", self.modules[path]._c._type().qualified_name().removeprefix("__torch__."))
        entry = self.found.setdefault(path, {"class": kind, "functions": False, "ops": collections.Counter()})
        for node in block.nodes():
            inputs = [modules.get(value.debugName()) for value in node.inputs()]
            if node.kind() == "prim::GetAttr" and inputs[0] is not None:
                inner = f"{inputs[0]}.{node.s('name')}".lstrip(".")
                if inner in self.modules:
                    modules[node.output().debugName()] = inner
            elif node.kind() == "prim::CallMethod" and inputs[0] is not None:
                self.method(inputs[0], node.s("name"))
            elif node.kind() == "prim::CallFunction":
                entry["functions"] = True
            elif node.schema() != "(no schema)" and node.schema().split("(", 1)[0] in self.known:
                entry["ops"][node.schema().split("(", 1)[0]] += 1
            for inner in node.blocks():
                self.block(inner, path, modules)
            if node.hasAttribute("Subgraph"):
                graph = node.g("Subgraph")
                captured = {value.debugName(): inputs[i] for i, value in enumerate(graph.inputs())}
                self.block(graph, path, captured)


def modules_of(module, name, known):
    walk = ModuleWalk(module, known)
    walk.method("", name)
    found = {path: {**entry, "ops": dict(sorted(entry["ops"].items()))} for path, entry in sorted(walk.found.items())}
    return {path: entry for path, entry in found.items() if entry["ops"] or entry["functions"]}


def oracle(path):
    module = torch.jit.load(path, map_location="cpu")
    known = set(torch._C._dispatch_get_all_op_names())
    tensors = {name: value for name, value in module.state_dict().items() if isinstance(value, torch.Tensor)}
    return {
        "kind": "torchscript",
        "methods": {
            name: {
                **method(module._c._get_method(name).graph, known),
                "modules": modules_of(module, name, known),
            }
            for name in module._c._method_names()
        },
        "state": {
            name: {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
            for name, value in tensors.items()
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default=maker.HERE)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    libraries = register_custom_operators()
    names = options.names or sorted(n for n in os.listdir(options.dir) if PATTERN.match(n) and n not in HOSTILE | GUESSED)
    for name in names:
        with open(os.path.join(options.dir, name + ".oracle.json"), "w") as f:
            json.dump(oracle(os.path.join(options.dir, name)), f, indent=1)
            f.write("\n")
    del libraries
    print(f"{len(names)} oracles")


if __name__ == "__main__":
    sys.exit(main())
