# SPDX-License-Identifier: Apache-2.0
"""Brings an oracle (what torch found) and an inventory (what the program found) into one form, and lists how they differ.

Differences of writing that are taken as equal, and no others:
- keys the oracle does not have (strides, device, module, defaults, ...) are not compared;
- an argument list of fixed and symbolic numbers: the oracle keeps its symbolic elements as inputs, so an attribute that
  repeats such an argument is left out;
- a node without a result: `[null]` or `[]`;
- an absent text: null, "" or no key;
- an input that torch folded to a plain number while loading has no dtype and no expression in the oracle: only the argument
  name is compared;
- an input that is a constant: torch loads it as USER_INPUT without a value, the file and the program say CONSTANT_INPUT;
- a node without a name and without a result: torch gives it a name while loading, so names of such nodes are not compared
  for schemas that had no node names (before 8.9); others have the name of their first result;
- symbolic sizes are compared as arithmetic.
"""
import symbolic

FIRST_MINOR_WITH_NODE_NAMES = 9  # 8.8 (torch 2.8.0) has none


def text(value):
    return value or None


def shape(value):
    return value if value is None else list(value)


def value(item):
    """tensor or symbolic scalar, without what the oracle does not say"""
    if item is None:
        return None
    if "dtype" in item:
        return {"dtype": item["dtype"], "shape": shape(item.get("shape"))}
    if "sym" in item:
        constant = item.get("value")
        return {"sym": item["sym"], "expr": item["expr"] if item.get("expr") is not None else constant}
    return {}


def node(raw, named):
    inputs = [{"arg": item.get("arg"), **value(item)} for item in raw["inputs"]]
    listed = {item["arg"] for item in inputs}
    outputs = [value(item) for item in raw["outputs"]]
    return {
        "name": raw["name"] if named or outputs not in ([], [None]) else None,
        "graph": text(raw.get("graph")),
        "inputs": inputs,
        "attrs": {k: v for k, v in raw["attrs"].items() if k not in listed},
        "outputs": [] if outputs == [None] else outputs,
        "source": text(raw.get("source")),
        "last_frame": text(raw.get("last_frame")),
    }


def operators(entries, named):
    """target -> count and, per graph, the nodes in order"""
    found = {}
    for entry in entries:
        graphs = {}
        for one in (node(n, named) for n in entry["nodes"]):
            graphs.setdefault(one["graph"] or "top graph", []).append(one)
        if entry["target"] in found:
            raise ValueError(f"{entry['target']} is listed twice")
        found[entry["target"]] = {"count": entry["count"], "nodes": graphs}
    return found


def bounds(constraints):
    return {
        symbol: {"min": b.get("min_val", b.get("min")), "max": b.get("max_val", b.get("max"))} for symbol, b in constraints.items()
    }


def port(raw):
    """one input or output of the graph"""
    constant = raw["kind"] == "USER_INPUT" and "value" in raw and raw["value"] is None
    found = {"name": raw["name"], "kind": "CONSTANT_INPUT" if constant else raw["kind"], "target": text(raw.get("target"))}
    if "persistent" in raw:
        found["persistent"] = raw["persistent"]
    return found


def model(raw):
    producer = raw.get("producer", raw)
    version = producer["schema_version"]
    named = (version["major"], version["minor"]) >= (8, FIRST_MINOR_WITH_NODE_NAMES)
    return {
        "torch_version": producer["torch_version"],
        "schema_version": producer["schema_version"],
        "verifiers": producer["verifiers"],
        "opset_version": producer["opset_version"],
        "nodes": raw["nodes"],
        "ops": operators(raw["ops"], named),
        "custom_ops": operators(raw["custom_ops"], named),
        "higher_order_ops": raw["higher_order_ops"],
        "scalar_ops": raw["scalar_ops"],
        "subgraphs": sorted(raw["subgraphs"]),
        "inputs": [{**port(p), "value": value(p.get("value"))} for p in raw["inputs"]],
        "outputs": [port(p) for p in raw["outputs"]],
        "range_constraints": bounds(raw.get("range_constraints_in_file", raw.get("range_constraints"))),
        "guards": raw.get("guards_code", raw.get("guards")),
        "parameters": {k: raw["parameters"][k] for k in ("count", "bytes", "elements")},
        "buffers": {k: raw["buffers"][k] for k in ("count", "bytes")},
        "constants": sorted(raw["constants"]),
    }


def same_leaf(expected, actual, key):
    if isinstance(expected, bool) != isinstance(actual, bool) or isinstance(expected, float) != isinstance(actual, float):
        return False
    if expected == actual:
        return True
    return key in ("shape", "expr") and isinstance(expected, str) and isinstance(actual, str) and symbolic.equal(expected, actual)


def differences(expected, actual, where="", key=""):
    """yields one line for each place where two normalised values differ"""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if where.endswith("]") and set(expected) == {"arg"} and expected["arg"] == actual.get("arg"):
            return  # folded by torch while loading
        for name in dict.fromkeys([*expected, *actual]):
            place = f"{where}.{name}" if where else name
            if name not in actual:
                yield f"{place}: missing, should be {brief(expected[name])}"
            elif name not in expected:
                yield f"{place}: should not be there: {brief(actual[name])}"
            else:
                yield from differences(expected[name], actual[name], place, name)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where}: {len(expected)} expected, {len(actual)} found: {brief(expected)} / {brief(actual)}"
        for index, (e, a) in enumerate(zip(expected, actual)):
            yield from differences(e, a, f"{where}[{index}]", key)
    elif not same_leaf(expected, actual, key):
        yield f"{where}: should be {brief(expected)}, is {brief(actual)}"


def brief(thing, limit=120):
    shown = repr(thing)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def target_counts(raw):
    """node targets as the file spells them -> count, from an inventory's model"""
    counts = {}
    for entry in raw["ops"] + raw["custom_ops"]:
        name = entry["target"].replace("::", ".", 1)
        overload = "" if "." in entry["target"].split("::", 1)[1] else ".default"
        counts[f"torch.ops.{name}{overload}"] = entry["count"]
    counts.update({f"torch.ops.higher_order.{k}": v for k, v in raw["higher_order_ops"].items()})
    counts.update(raw["scalar_ops"])
    return counts
