# SPDX-License-Identifier: Apache-2.0
"""Compares what neuron-check reads of a TorchScript archive with what torch found in it."""


def nodes(method):
    """the operator nodes of one method of an inventory in execution order: (operator, source, innermost frame)"""
    found = []
    for entry in method["ops"] + method["custom_ops"]:
        for node in entry["nodes"]:
            found.append((node["id"], entry["target"], node["source"], node["last_frame"]))
    return [node[1:] for node in sorted(found)]


def is_torch(place):
    return place is not None and ("site-packages/torch/" in place or place.startswith("code/"))


def method_differences(expected, actual, where):
    """lines; counts exactly, and every operator node in order with its innermost frame.

    The oracle knows one frame of a scripted node. Where that lies in torch, ours names the caller in the user's own source,
    which is no difference.
    """
    found = nodes(actual)
    counts = {}
    for target, _, _ in found:
        counts[target] = counts.get(target, 0) + 1
    for field, ours in (("ops", counts), ("interpreter_ops", actual["interpreter_ops"]), ("prim", actual["prim"])):
        if expected[field] != ours:
            names = sorted(n for n in {*expected[field], *ours} if expected[field].get(n) != ours.get(n))
            for name in names:
                yield f"{where}: {field} {name}: should be {expected[field].get(name, 0)}, is {ours.get(name, 0)}"
    wanted = [n for n in expected["nodes"] if n["op"] in expected["ops"]]
    if len(wanted) != len(found):
        return
    for index, (node, (target, source, last)) in enumerate(zip(wanted, found)):
        if node["op"] != target:
            yield f"{where}: node {index} should be {node['op']}, is {target}"
        if node["last_frame"] != last:
            yield f"{where}: node {index} {target}: innermost frame should be {node['last_frame']}, is {last}"
        if not is_torch(node["source"]) and node["source"] != source:
            yield f"{where}: node {index} {target}: source should be {node['source']}, is {source}"


def module_differences(expected, actual, where):
    """lines; every operator is in a module that calls it, no more often than that module's own graph, and the class is right"""
    counts = {}
    for entry in actual["ops"] + actual["custom_ops"]:
        for node in entry["nodes"]:
            key = (node["module"], entry["target"])
            counts[key] = counts.get(key, 0) + 1
            wanted = expected.get(node["module"], {"class": None})["class"]
            if node["module_type"] not in (wanted, "") or (node["module"] and not node["module_type"]):
                yield f"{where}: {entry['target']} in '{node['module']}': class should be {wanted}, is {node['module_type']}"
    for (module, target), count in sorted(counts.items()):
        if module not in expected:
            yield f"{where}: {target} in '{module}', which calls nothing or is no module"
        elif count > expected[module]["ops"].get(target, 0) and not expected[module]["functions"]:
            yield f"{where}: {target} in '{module}' {count} times, its graph has {expected[module]['ops'].get(target, 0)}"


def approximate_differences(expected, actual):
    """lines; names only: every packet of the oracle must be among those found in the source"""
    packets = {e["target"].split(".")[0] for m in actual.values() for e in m["ops"] + m["custom_ops"]}
    for name, method in expected.items():
        for target in method["ops"]:
            # The printer of torch writes these as attributes and subscripts.
            if target.split(".")[0] not in packets:
                yield f"{name}: {target} is not among the names of the source"


def differences(oracle, entry):
    actual = entry.get("methods", {})
    if any(m.get("approximate") for m in actual.values()):
        yield from approximate_differences(oracle["methods"], actual)
        return
    for name in dict.fromkeys([*oracle["methods"], *actual]):
        if name not in actual or name not in oracle["methods"]:
            yield f"method {name}: only in the {'oracle' if name in oracle['methods'] else 'inventory'}"
            continue
        yield from method_differences(oracle["methods"][name], actual[name], name)
        if "modules" in oracle["methods"][name]:
            yield from module_differences(oracle["methods"][name]["modules"], actual[name], name)
        stored = {t["name"]: {"dtype": t["dtype"], "shape": t["shape"]} for t in actual[name]["stored"]}
        for tensor, wanted in oracle["state"].items():
            if stored.get(tensor) != wanted:
                yield f"{name}: tensor {tensor} should be {wanted}, is {stored.get(tensor)}"
