#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the comparison itself: an inventory that equals its oracle passes, and each kind of wrong one is reported.

usage: test_compare.py FOLDER        (a folder of oracles, datasets/models)

An inventory is made from every oracle by writing it the way the program does; then one thing at a time is made wrong.
"""
import copy
import glob
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checkpoints
import compare_inventory
import normalise
import torchscript
import symbolic


def as_inventory(oracle):
    """the entry of an inventory document that says the same as this oracle"""
    entry = copy.deepcopy(oracle)
    for model in entry["models"].values():
        model["producer"] = {k: model.pop(k) for k in ("torch_version", "schema_version", "verifiers", "opset_version")}
        ranges = model.pop("range_constraints_in_file")
        model["range_constraints"] = {s: {"min": b["min_val"], "max": b["max_val"]} for s, b in ranges.items()}
        model["guards"] = model.pop("guards_code")
        for one in nodes(entry, model):
            one.setdefault("graph", "")
            one.update(module="a.b", defaults={}, unused=False)
            for item in one["inputs"]:
                if "shape" in item:
                    item.update(strides=None, device="cpu", layout="strided")
    return entry


def nodes(entry, model=None):
    models = [model] if model else entry["models"].values()
    return [one for m in models for op in m["ops"] + m["custom_ops"] for one in op["nodes"]]


def judge(oracle, entry, code=0):
    return compare_inventory.compare((oracle["kind"], 0, oracle["models"], None, None, None), (code, entry, ""))


def pick(random_state, items):
    return random_state.choice(list(items))


def any_tensor(entry, state, side):
    return pick(state, [i for n in nodes(entry) for i in n[side] if i and "shape" in i])


def drop_node(entry, state):
    op = pick(state, [o for m in entry["models"].values() for o in m["ops"] + m["custom_ops"]])
    op["nodes"].pop()
    op["count"] -= 1


def rename_operator(entry, state):
    op = pick(state, [o for m in entry["models"].values() for o in m["ops"] + m["custom_ops"]])
    op["target"] += "_x"


def change_attribute(entry, state):
    one = pick(state, [n for n in nodes(entry) if set(n["attrs"]) - {i["arg"] for i in n["inputs"]}])
    name = pick(state, sorted(set(one["attrs"]) - {i["arg"] for i in one["inputs"]}))
    one["attrs"][name] = {"something": "else"}


def integer_for_float(entry, state):
    one, name = pick(state, [(n, k) for n in nodes(entry) for k, v in n["attrs"].items() if isinstance(v, float) and v == int(v)])
    one["attrs"][name] = int(one["attrs"][name])


def change_expression(entry, state):
    item = pick(state, [i for n in nodes(entry) for side in ("inputs", "outputs") for i in n[side] if any(isinstance(d, str) for d in (i or {}).get("shape", []))])
    index = pick(state, [i for i, d in enumerate(item["shape"]) if isinstance(d, str)])
    item["shape"][index] += " + 1"


def change_model(name, change):
    def apply(entry, state):
        model = pick(state, entry["models"].values())
        change(model, name)

    return apply


def bump_count(model, name):
    counted = model[name]
    key = pick(random.Random(1), sorted(counted)) if counted else None
    if key is None:
        raise IndexError
    counted[key] += 1


def set_on(side, key, value):
    def apply(entry, state):
        any_tensor(entry, state, side)[key] = value

    return apply


def set_node(key, value):
    def apply(entry, state):
        one = pick(state, [n for n in nodes(entry) if key != "name" or n["outputs"] not in ([], [None])])
        if one.get(key) == value:
            raise IndexError
        one[key] = value

    return apply


def swap_nodes(entry, state):
    op = pick(state, [o for m in entry["models"].values() for o in m["ops"] if o["count"] > 1 and not o["nodes"][0]["graph"] and not o["nodes"][1]["graph"]])
    op["nodes"][0], op["nodes"][1] = op["nodes"][1], op["nodes"][0]


def set_port(side, key):
    def apply(entry, state):
        pick(state, [p for m in entry["models"].values() for p in m[side]])[key] = "changed"

    return apply


def set_bound(entry, state):
    model = pick(state, [m for m in entry["models"].values() if m["range_constraints"]])
    bound = pick(state, sorted(model["range_constraints"]))
    model["range_constraints"][bound]["max"] = 77777


def drop_model(entry, state):
    entry["models"].pop(pick(state, sorted(entry["models"])))


WRONG = {
    "node lost": drop_node,
    "overload wrong": rename_operator,
    "attribute changed": change_attribute,
    "1 for 1.0": integer_for_float,
    "size expression changed": change_expression,
    "input dtype": set_on("inputs", "dtype", "int8"),
    "input shape": set_on("inputs", "shape", [31]),
    "input argument": set_on("inputs", "arg", "elsewhere"),
    "output dtype": set_on("outputs", "dtype", "int8"),
    "output shape": set_on("outputs", "shape", [31]),
    "node name": set_node("name", "no_such"),
    "source": set_node("source", "models/other.py:1"),
    "last frame": set_node("last_frame", "models/other.py:1"),
    "subgraph path": set_node("graph", "/no_such"),
    "node order": swap_nodes,
    "input kind": set_port("inputs", "kind"),
    "input target": set_port("inputs", "target"),
    "output kind": set_port("outputs", "kind"),
    "output name": set_port("outputs", "name"),
    "range": set_bound,
    "model lost": drop_model,
    "subgraphs": change_model("subgraphs", lambda m, n: m[n].append("/more")),
    "guards": change_model("guards", lambda m, n: m[n].append("L['x'] > 3")),
    "constants": change_model("constants", lambda m, n: m[n].append("more")),
    "higher-order count": change_model("higher_order_ops", bump_count),
    "scalar count": change_model("scalar_ops", bump_count),
    "parameter bytes": change_model("parameters", lambda m, n: m[n].update(bytes=1)),
    "buffer count": change_model("buffers", lambda m, n: m[n].update(count=99)),
    "torch version": change_model("producer", lambda m, n: m[n].update(torch_version="0")),
    "verifiers": change_model("producer", lambda m, n: m[n].update(verifiers=[])),
    "schema": change_model("producer", lambda m, n: m[n].update(schema_version={"major": 8, "minor": 0})),
    "nodes": change_model("nodes", lambda m, n: m.update({n: m[n] + 1})),
}


class Compare(unittest.TestCase):
    oracles = {}

    def test_equal_inventories_pass(self):
        for name, oracle in self.oracles.items():
            self.assertEqual(judge(oracle, as_inventory(oracle)), [], name)

    def test_each_wrong_thing_is_reported(self):
        for label, spoil in WRONG.items():
            tried = 0
            for name, oracle in self.oracles.items():
                entry = as_inventory(oracle)
                try:
                    spoil(entry, random.Random(name))
                except IndexError:
                    continue  # this file has nothing of the kind
                tried += 1
                self.assertTrue(judge(oracle, entry), f"{label} not noticed in {name}")
            self.assertGreater(tried, 0, f"no oracle can show {label}")

    def test_exit_code_kind_and_form(self):
        oracle = next(iter(self.oracles.values()))
        self.assertTrue(judge(oracle, as_inventory(oracle), code=1))
        self.assertTrue(judge(oracle, {**as_inventory(oracle), "kind": "torchscript"}))
        self.assertTrue(judge(oracle, None))
        self.assertTrue(judge(oracle, {"kind": "exported_program", "models": {"model": {}}}))

    def test_a_program_without_an_oracle_is_a_failure(self):
        self.assertTrue(compare_inventory.compare(("exported_program", 0, None, None, None, None), (0, {"kind": "exported_program", "models": {}}, "")))

    def test_target_counts_stand_in_for_a_graph(self):
        oracle = next(iter(self.oracles.values()))
        entry = as_inventory(oracle)
        counts = {"model": normalise.target_counts(entry["models"]["model"])}
        self.assertEqual(compare_inventory.compare(("exported_program", 0, None, counts, None, None), (0, entry, "")), [])
        drop_node(entry, random.Random(0))
        self.assertTrue(compare_inventory.compare(("exported_program", 0, None, counts, None, None), (0, entry, "")))

    def test_each_wrong_thing_about_a_script_is_reported(self):
        node = {"id": 0, "source": "m.py:3", "last_frame": "m.py:3", "module": "act.0", "module_type": "m.ReLU"}
        op = {"target": "aten::relu", "nodes": [node]}
        method = {"ops": [op], "custom_ops": [], "interpreter_ops": {"aten::len.t": 1}, "prim": {}, "stored": []}
        oracle = {
            "state": {},
            "methods": {
                "forward": {
                    "ops": {"aten::relu": 1},
                    "interpreter_ops": {"aten::len.t": 1},
                    "prim": {},
                    "nodes": [{"op": "aten::relu", "source": "m.py:3", "last_frame": "m.py:3"}],
                    "modules": {"act.0": {"class": "m.ReLU", "functions": False, "ops": {"aten::relu": 1}}},
                }
            },
        }

        def lines(change):
            changed = copy.deepcopy({"methods": {"forward": method}})
            change(changed["methods"])
            return list(torchscript.differences(oracle, changed))

        self.assertEqual(lines(lambda m: None), [])
        changes = [
            lambda m: m.pop("forward"),
            lambda m: m.update(other=method),
            lambda m: m["forward"]["ops"].clear(),
            lambda m: m["forward"]["ops"][0].update(target="aten::gelu"),
            lambda m: m["forward"]["interpreter_ops"].clear(),
            lambda m: m["forward"]["prim"].update({"prim::If": 1}),
            lambda m: m["forward"]["ops"][0]["nodes"][0].update(source="m.py:4"),
            lambda m: m["forward"]["ops"][0]["nodes"][0].update(last_frame="m.py:4"),
            lambda m: m["forward"]["ops"][0]["nodes"][0].update(module="0"),
            lambda m: m["forward"]["ops"][0]["nodes"][0].update(module_type="m.GELU"),
            lambda m: m["forward"]["ops"][0]["nodes"][0].update(module_type=""),
        ]
        for change in changes:
            self.assertTrue(lines(change))
        oracle["state"]["w"] = {"dtype": "float32", "shape": [1]}
        self.assertTrue(lines(lambda m: None))

        def named(m):
            m["forward"]["approximate"] = True

        self.assertEqual(lines(named), [])
        self.assertTrue(lines(lambda m: (named(m), m["forward"]["ops"].clear())))

    def test_each_wrong_thing_about_a_checkpoint_is_reported(self):
        tensor = {"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0, "device": "cpu"}
        oracle = {"top": "dict", "tensors": {"w": tensor}, "globals": ["torch.FloatStorage"], "weights_only_loadable": True}
        entry = {**oracle, "tensors": {"w": {**tensor, "storage": "0"}}, "globals": [{"name": "torch.FloatStorage", "risk": "data"}]}
        self.assertEqual(list(checkpoints.differences(oracle, entry)), [])
        for wrong in (
            {"tensors": {}}, {"tensors": {**entry["tensors"], "more": tensor}}, {"top": "list"}, {"globals": []},
            {"weights_only_loadable": False}, *({"tensors": {"w": {**tensor, field: None}}} for field in tensor),
        ):  # fmt: skip
            self.assertTrue(list(checkpoints.differences(oracle, {**entry, **wrong})), wrong)

    def test_arithmetic(self):
        for left, right in [("2*s1 - 1", "s1 + s1 + -1"), ("((s2//2)) + (Mod(s0, 3))", "Mod(s0, 3) + s2//2"), ("u0 >= 1", "1 <= u0"), ("s0**2", "s0*s0"), ("Max(1, s0)", "Max(s0, 1)"), ("New(s0, 2*s1)", "New(s0, s1*2)"), ("Eq(s0, s1)", "s1 == s0")]:
            self.assertTrue(symbolic.equal(left, right), (left, right))
        for left, right in [("s0", "s1"), ("u0 >= 1", "u0 >= 2"), ("u0 > 1", "u0 >= 1"), ("s0//2", "s0/2"), ("New(s0)", "Old(s0)"), ("s0 s1", "s0s1"), ("s0", "__import__('os')"), ("s0/0", "s0/0 ")]:
            self.assertFalse(symbolic.equal(left, right), (left, right))


if __name__ == "__main__":
    for path in sorted(glob.glob(os.path.join(sys.argv.pop(1), "*.oracle.json"))):
        with open(path) as f:
            found = json.load(f)
        if found.get("kind") == "exported_program" and "models" in found:
            Compare.oracles[os.path.basename(path)[: -len(".oracle.json")]] = found
    if not Compare.oracles:
        sys.exit("no oracles there")
    unittest.main()
