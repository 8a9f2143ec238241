#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FILE.oracle.json beside each model fixture: what torch itself finds in the file.

usage: make_oracles.py [--dir FOLDER] [NAME...]

The graph of every program is loaded with torch 2.13.0 and walked; the walk is then checked against a count made from the
JSON text alone, and a difference stops the run. Files that torch cannot load get the kind `unreadable` and torch's words;
what is expected of such a file stands in expected_kinds.json.
"""
import argparse
import collections
import json
import os
import re
import sys
import tempfile
import zipfile

import maker  # first: it quiets torch
import rawzip
import torch
import torch.export.pt2_archive._package as package
from torch.utils._pytree import tree_leaves

FRAME = re.compile(r'File "([^"]*)", line (\d+), in ')
NOT_USER = ("site-packages/torch/", "torch/", "<")


def plain(kind):
    return str(kind).replace("torch.", "")


def describe(value):
    """dtype and shape of a tensor, kind and expression of a symbolic scalar, None for the rest"""
    if isinstance(value, torch.Tensor):
        return {"dtype": plain(value.dtype), "shape": [d if isinstance(d, int) else str(d) for d in value.shape]}
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return {"sym": type(value).__name__, "expr": str(value)}
    return None


def places(trace):
    """(last frame of the user's own code, last frame of all) as file:line"""
    frames = [f"{file}:{line}" for file, line in FRAME.findall(trace or "")]
    own = [f for f in frames if not f.startswith(NOT_USER)]
    return (own[-1] if own else None), (frames[-1] if frames else None)


def literal(value):
    """an attribute as JSON can hold it"""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and all(v is None or isinstance(v, (int, float)) for v in value):
        return list(value)
    return str(value)


class GraphWalk:
    """collects the operators of a graph module and of every graph inside it"""

    def __init__(self):
        self.operators = {}
        self.higher_order = collections.Counter()
        self.scalar = collections.Counter()
        self.subgraphs = []

    def walk(self, module, path=""):
        for node in module.graph.nodes:
            if node.op == "get_attr":
                inner = module
                for part in node.target.split("."):
                    inner = getattr(inner, part)
                if isinstance(inner, torch.fx.GraphModule):
                    self.subgraphs.append(f"{path}/{node.target}")
                    self.walk(inner, self.subgraphs[-1])
            elif node.op == "call_function":
                self.call(node, path)

    def call(self, node, path):
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            entry = self.operators.setdefault(target.name(), [])
            entry.append(self.record(node, path))
        elif isinstance(target, torch._ops.HigherOrderOperator):
            self.higher_order[target.name()] += 1
        elif target.__name__ == "getitem":
            pass  # takes a result apart: the file has no such node
        else:
            self.scalar[f"{target.__module__}.{target.__name__}"] += 1

    def record(self, node, path):
        named = [a.name for a in node.target._schema.arguments]
        inputs, attributes = [], {}
        for name, value in list(zip(named, node.args)) + list(node.kwargs.items()):
            nodes = [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.fx.Node)]
            if nodes:
                inputs += [{**(describe(n.meta.get("val")) or {}), "arg": name} for n in nodes]
            else:
                attributes[name] = literal(value)
        source, last = places(node.meta.get("stack_trace"))
        found = {
            "name": node.name,
            "inputs": inputs,
            "attrs": attributes,
            "outputs": [describe(v) for v in tree_leaves(node.meta.get("val"))],
            "source": source,
            "last_frame": last,
        }
        return {**found, "graph": path} if path else found


def texts(path):
    """model name -> its JSON text, from either archive layout"""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            inner = re.fullmatch(r"[^/]+/models/(.*)\.json", name)
            if inner or name == "serialized_exported_program.json":
                found[inner[1] if inner else "model"] = archive.read(name)
    return found


def targets(text):
    """target -> number of nodes, from the JSON text alone"""
    count = collections.Counter()

    def visit(graph):
        for node in graph["nodes"]:
            count[node["target"]] += 1
            for argument in node["inputs"]:
                if "as_graph" in argument["arg"]:
                    visit(argument["arg"]["as_graph"]["graph"])

    visit(json.loads(text)["graph_module"]["graph"])
    return dict(count)


def serialised_name(operator):
    base = operator.split("::")[1]
    return "torch.ops." + operator.replace("::", ".") + ("" if "." in base else ".default")


def check_counts(path, walk, text):
    mine = {serialised_name(k): len(v) for k, v in walk.operators.items()}
    mine.update({f"torch.ops.higher_order.{k}": v for k, v in walk.higher_order.items()})
    mine.update(walk.scalar)
    if mine != targets(text):
        raise SystemExit(f"{path}: the loaded graph and the JSON text differ: {mine} / {targets(text)}")


def size(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def signature(program):
    inputs = []
    for node, spec in zip(program.graph.find_nodes(op="placeholder"), program.graph_signature.input_specs):
        entry = {"name": node.name, "kind": spec.kind.name, "target": spec.target}
        if spec.kind.name == "BUFFER":
            entry["persistent"] = spec.persistent
        inputs.append({**entry, "value": describe(node.meta.get("val"))})
    outputs = [
        {"name": getattr(s.arg, "name", None) or repr(getattr(s.arg, "value", None)), "kind": s.kind.name, "target": s.target}
        for s in program.graph_signature.output_specs
    ]
    return inputs, outputs


def model_record(path, program, text):
    walk = GraphWalk()
    walk.walk(program.graph_module)
    check_counts(path, walk, text)
    raw = json.loads(text)
    entries = [{"target": k, "count": len(v), "nodes": v} for k, v in walk.operators.items()]
    parameters, buffers = dict(program.named_parameters()), dict(program.named_buffers())
    inputs, outputs = signature(program)
    return {
        "schema_version": raw["schema_version"],
        "torch_version": raw["torch_version"],
        "verifiers": raw["verifiers"],
        "opset_version": raw["opset_version"],
        "nodes": sum(targets(text).values()),
        "ops": [e for e in entries if e["target"].startswith("aten::")],
        "custom_ops": [e for e in entries if not e["target"].startswith("aten::")],
        "higher_order_ops": dict(walk.higher_order),
        "scalar_ops": dict(walk.scalar),
        "subgraphs": walk.subgraphs,
        "inputs": inputs,
        "outputs": outputs,
        "range_constraints_in_file": raw["range_constraints"],
        "guards_code": raw.get("guards_code", []),
        "parameters": {
            "count": len(parameters),
            "bytes": size(parameters.values()),
            "elements": sum(t.numel() for t in parameters.values()),
        },
        "buffers": {"count": len(buffers), "bytes": size(buffers.values())},
        "constants": sorted(program.constants),
    }


def load(path):
    """model name -> ExportedProgram; the compiled part of a package is never started"""
    package._load_aoti = lambda *args, **kwargs: None
    with zipfile.ZipFile(path) as archive:
        flat = "serialized_exported_program.json" in archive.namelist()
    if flat:
        return {"model": torch.export.load(path)}
    return package.load_pt2(path).exported_programs


def has_compiled_part(path):
    with zipfile.ZipFile(path) as archive:
        return any("/data/aotinductor/" in name for name in archive.namelist())


def last_of_each(path):
    """the file, or where it has two records of one name a copy with the last of each

    torch looks a name up by binary search and takes whichever of the two it meets: the first here, the last in other files.
    """
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(set(names)) == len(names):
            return path
        parts = [rawzip.Record(name, archive.read(name)) for name in dict.fromkeys(names)]
    rawzip.write(os.path.basename(path), parts)
    return os.path.abspath(os.path.basename(path))


def oracle(path):
    try:
        path = last_of_each(path)
        programs = load(path)
    except Exception as error:
        first = (str(error).splitlines() or [""])[0].replace(os.path.dirname(path) + "/", "")
        found = {"kind": "unreadable", "torch_error": f"{type(error).__name__}: {first}"[:300]}
        try:
            found["json_targets"] = {name: targets(text) for name, text in texts(path).items()}
        except Exception:
            pass  # no graph to count in
        return found
    if not programs:
        return {"kind": "aotinductor_package" if has_compiled_part(path) else "unreadable"}
    text = texts(path)
    return {"kind": "exported_program", "models": {n: model_record(path, p, text[n]) for n, p in programs.items()}}


def dump(value, indent=0):
    """JSON with one operator use, one input or one output a line"""
    if isinstance(value, dict) and indent < 5 and value:
        rows = [f"{' ' * indent} {json.dumps(k)}: {dump(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict) and indent < 7:
        rows = [" " * indent + " " + dump(v, indent + 1) for v in value]
        return "[\n" + ",\n".join(rows) + "\n" + " " * indent + "]"
    return json.dumps(value)


def write(path):
    text = dump(oracle(path)) + "\n"
    json.loads(text)
    with open(path + ".oracle.json", "w") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default=maker.HERE)
    parser.add_argument("names", nargs="*", help="file names; nothing means every .pt2")
    options = parser.parse_args()
    folder = os.path.abspath(options.dir)
    names = options.names or sorted(n for n in os.listdir(folder) if n.endswith(".pt2"))
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        maker.prepare_scratch(scratch)
        for needed in ("custom_op", "dynamic", "collective"):  # operators and output classes that torch must know
            maker.load_source(needed)
        bad = [n for n in names if not maker.in_child(n, write, os.path.join(folder, n))]
        os.chdir(folder)
    sys.exit(f"failed: {' '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
