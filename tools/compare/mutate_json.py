# SPDX-License-Identifier: Apache-2.0
"""Mutations of the graph's JSON."""
import json
import sys

from mutate import Mutation

BAD = (2,)
EITHER = (0, 2)
DEEP = 100_000
sys.setrecursionlimit(20_000)  # to write graphs within graphs
SHAPE = r"json|graph|model|field|type|expected|missing|null|object|member|name|size|nest|deep|depth|version"


def edit(change):
    """change(program, rng) works on the parsed JSON"""

    def make(sample, rng):
        program = sample.program()
        change(program, rng)
        return sample.with_graph(json.dumps(program).encode())

    return make


def retext(change):
    """change(text) works on the JSON text"""
    return lambda sample, rng: sample.with_graph(change(sample.parts[sample.graph]))


def graph(program):
    return program["graph_module"]["graph"]


def some_node(program, rng):
    return rng.choice(graph(program)["nodes"])


def set_node(key, value):
    return edit(lambda p, rng: some_node(p, rng).update({key: value}))


def set_meta(key, value):
    """changes the metadata of the first tensor"""
    return edit(lambda p, rng: next(iter(graph(p)["tensor_values"].values())).update({key: value}))


def set_sizes(*sizes):
    """gives the first tensor these sizes, and as many strides"""

    def change(program, rng):
        meta = next(iter(graph(program)["tensor_values"].values()))
        meta.update(sizes=[{"as_int": s} for s in sizes], strides=[{"as_int": 1} for _ in sizes])

    return edit(change)


def set_argument(value):
    def change(program, rng):
        rng.choice([a for n in graph(program)["nodes"] for a in n["inputs"]])["arg"] = value

    return edit(change)


def remove(*path):
    """removes one field, found by its path of keys"""

    def change(program, rng):
        for key in path[:-1]:
            program = program[key]
        program.pop(path[-1], None)

    return edit(change)


def null(*path):
    def change(program, rng):
        for key in path[:-1]:
            program = program[key]
        program[path[-1]] = None

    return edit(change)


def expression(text):
    """gives the first tensor one size, with this expression"""

    def change(program, rng):
        size = {"as_expr": {"expr_str": text, "hint": None}}
        next(iter(graph(program)["tensor_values"].values())).update(sizes=[size], strides=[{"as_int": 1}])

    return edit(change)


def deep_value(text):
    """an unknown field with brackets `DEEP` deep, in front"""
    return text.replace(b"{", b'{"zz": ' + b"[" * DEEP + b"]" * DEEP + b", ", 1)


def deep_argument(text):
    at = text.index(b'"arg": {') + len(b'"arg": ')
    return text[:at] + b'{"as_tensor": ' * DEEP + b"1" + b"}" * DEEP + b', "old": ' + text[at:]


def deep_graphs(program, rng):
    """300 graphs, each the argument of a node of the one around it"""
    inner = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}}
    for level in range(300):
        argument = {"name": "", "arg": {"as_graph": {"name": f"g{level}", "graph": inner}}, "kind": 1}
        node = {"target": "torch.ops.higher_order.cond", "inputs": [argument], "outputs": [], "metadata": {}}
        inner = {**inner, "nodes": [node]}
    graph(program)["nodes"] = inner["nodes"]


def twice_defined(text):
    """one tensor described twice, once otherwise"""
    at = text.index(b'"tensor_values": {') + len(b'"tensor_values": {')
    end = text.index(b'"', at + 1)
    return text[:at] + text[at : end + 1] + b': {"dtype": 1, "sizes": [], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [], "storage_offset": {"as_int": 0}, "layout": 7}, ' + text[at:]


def long_trace(program, rng):
    some_node(program, rng)["metadata"]["stack_trace"] = 'File "a.py", line 1, in forward\n' * 300_000


def dangling(program, rng):
    for node in graph(program)["nodes"]:
        for argument in node["inputs"]:
            if "as_tensor" in argument["arg"]:
                argument["arg"]["as_tensor"]["name"] = "nobody_makes_this"


def versions(major, minor):
    return edit(lambda p, rng: p["schema_version"].update(major=major, minor=minor))


MUTATIONS = [
    Mutation("major_9", versions(9, 0), BAD, r"9"),
    Mutation("major_0", versions(0, 0), EITHER, r"0"),
    Mutation("minor_999", versions(8, 999), (0,), SHAPE),
    Mutation("version_text", versions("eight", []), BAD, SHAPE),
    Mutation("no_version", remove("schema_version"), BAD, r"schema_version"),
    Mutation("no_guards", remove("guards_code"), (0,), SHAPE),
    Mutation("no_ranges", remove("range_constraints"), (0,), SHAPE),
    Mutation("no_verifiers", remove("verifiers"), (0,), SHAPE),
    Mutation("no_torch_version", remove("torch_version"), (0,), SHAPE),
    Mutation("no_call_graph", remove("graph_module", "module_call_graph"), (0,), SHAPE),
    Mutation("no_sym_floats", remove("graph_module", "graph", "sym_float_values"), (0,), SHAPE),
    Mutation("no_graph_module", remove("graph_module"), BAD, r"graph_module"),
    Mutation("no_graph", remove("graph_module", "graph"), BAD, r"graph"),
    Mutation("no_nodes", remove("graph_module", "graph", "nodes"), BAD, r"nodes"),
    Mutation("no_signature", remove("graph_module", "signature"), EITHER, r"signature"),
    Mutation("null_graph", null("graph_module", "graph"), BAD, r"graph"),
    Mutation("null_nodes", null("graph_module", "graph", "nodes"), BAD, r"nodes"),
    Mutation("null_tensor_values", null("graph_module", "graph", "tensor_values"), EITHER, r"tensor_values|tensor"),
    Mutation("null_signature", null("graph_module", "signature"), EITHER, r"signature"),
    Mutation("null_ranges", null("range_constraints"), EITHER, r"range_constraints"),
    Mutation("null_metadata", set_node("metadata", None), EITHER, r"metadata"),
    Mutation("null_inputs", set_node("inputs", None), BAD, r"inputs"),
    Mutation("null_target", set_node("target", None), BAD, r"target"),
    Mutation("empty_target", set_node("target", ""), EITHER, r"target"),
    Mutation("odd_target", set_node("target", "torch.ops.....aten"), EITHER, r"target|torch\.ops"),
    Mutation("shell_target", set_node("target", "torch.ops.$(touch pwned).`id`"), EITHER, r"target|torch\.ops"),
    Mutation("escape_in_name", set_node("name", "\x1b[31mred\x1b[0m\r\n\x00\x07"), EITHER, r"name"),
    Mutation("lone_surrogate", retext(lambda t: t.replace(b'"target": "torch.ops.', b'"target": "torch.ops.\\ud800', 1)), EITHER, r"json|utf|target|surrogate"),
    Mutation("negative_sizes", set_sizes(-5, -(2**63)), EITHER, r"size|negative"),
    Mutation("size_beyond_int64", set_sizes(2**70), EITHER, r"size|integer|number|json|range|int"),
    Mutation("size_overflow", set_sizes(*[2**62] * 6), EITHER, r"size|large|overflow"),
    Mutation("size_float", set_sizes(1.5), EITHER, r"size|int"),
    Mutation("rank_100000", set_sizes(*[1] * 100_000), EITHER, r"size|rank|dimension"),
    Mutation("fewer_strides", set_meta("strides", []), EITHER, r"stride"),
    Mutation("unknown_dtype", set_meta("dtype", 99), EITHER, r"dtype|type"),
    Mutation("dtype_text", set_meta("dtype", "float"), EITHER, r"dtype|type"),
    Mutation("null_device", set_meta("device", None), EITHER, r"device"),
    Mutation("unknown_member", set_argument({"as_newest_thing": {"a": [1]}}), EITHER, r"as_newest_thing|member|argument"),
    Mutation("two_members", set_argument({"as_int": 1, "as_float": 2.0}), EITHER, r"member|argument|one"),
    Mutation("no_member", set_argument({}), EITHER, r"member|argument|empty"),
    Mutation("argument_null", set_argument(None), EITHER, r"arg"),
    Mutation("argument_wrong_type", set_argument({"as_int": "three"}), EITHER, r"as_int|int|arg"),
    Mutation("dangling", edit(dangling), EITHER, r"nobody_makes_this|name"),
    Mutation("twice_defined", retext(twice_defined), EITHER, r"twice|duplicate|name"),
    Mutation("deep_value", retext(deep_value), EITHER, r"deep|depth|nest"),
    Mutation("deep_argument", retext(deep_argument), BAD, r"deep|depth|nest"),
    Mutation("deep_graphs", edit(deep_graphs), (0, 2, 5), r"deep|depth|nest"),
    Mutation("expr_deep", expression("Add(" * 50_000 + "Integer(1)" + ")" * 50_000), EITHER, r"expr|deep|depth|nest|symbol"),
    Mutation("expr_code", expression("__import__('os').system('touch pwned')"), EITHER, r"expr|symbol"),
    Mutation("expr_power", expression("Pow(Integer(10), Integer(1000000000))"), EITHER, r"expr|symbol|large"),
    Mutation("expr_huge_integer", expression("Integer(" + "9" * 100_000 + ")"), EITHER, r"expr|symbol|integer|int"),
    Mutation("expr_open", expression("Symbol('s0'"), EITHER, r"expr|symbol"),
    Mutation("expr_empty", expression(""), EITHER, r"expr|symbol|empty"),
    Mutation("long_trace", edit(long_trace), EITHER, r"trace|long|large"),
    Mutation("json_cut", retext(lambda t: t[: len(t) // 2]), BAD, r"json"),
    Mutation("json_empty", retext(lambda t: b""), BAD, r"json|empty"),
    Mutation("json_array", retext(lambda t: b"[" + t + b"]"), BAD, r"json|object"),
    Mutation("json_number", retext(lambda t: b"7"), BAD, r"json|object"),
    Mutation("json_bad_utf8", retext(lambda t: t.replace(b"torch.ops", b"torch\xff\xfe.ops", 1)), EITHER, r"json|utf"),
    Mutation("json_trailing", retext(lambda t: t + b"}}}"), BAD, r"json"),
    Mutation("json_bom", retext(lambda t: b"\xef\xbb\xbf" + t), EITHER, r"json"),
    Mutation("json_nul", retext(lambda t: t[:200] + b"\0" + t[200:]), BAD, r"json"),
]
