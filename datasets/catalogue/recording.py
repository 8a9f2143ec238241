# SPDX-License-Identifier: Apache-2.0
"""From a recorded call tree to observations: what one composite operator called directly, and with what.

An observation is {"op", "in": {arg: fact}, "calls": [{"op", "host", "args": {arg: fact}}], "grad", "raised"}. A fact
is one of

    ["N"]                                        None or an undefined tensor
    ["T", dtype, sizes, contiguous, wrapped, ref, origins]   a tensor
    ["L", [tensor facts]]                        a list of tensors
    ["V", value]                                 anything else; dtypes and the like by name

where ref and origins are there in calls only: ref lists the parent's arguments that are the same tensor ("self" or
["tensors", 2]), origins the names of those it was computed from.
"""
import functools

import torch

from recording_names import DTYPES, LAYOUTS, MEMORY_FORMATS

NAMED = {"ScalarType": DTYPES, "Layout": LAYOUTS, "MemoryFormat": MEMORY_FORMATS}


@functools.cache
def schema_of(name):
    base, _, overload = name.partition(".")
    return torch._C._get_schema(base, overload)


@functools.cache
def arguments_of(name):
    """[(name, enumeration table or None, is a tensor list)]"""
    rows = []
    for argument in schema_of(name).arguments:
        real = str(argument.real_type).replace("Optional[", "").rstrip("]").rstrip("?")
        rows.append((argument.name, NAMED.get(real), "List[" in str(argument.type) and "Tensor" in str(argument.type)))
    return rows


@functools.cache
def is_composite(name):
    keys = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in keys)


def is_tensor(value):
    return isinstance(value, dict) and "t" in value


def is_defined(value):
    return is_tensor(value) and value["t"] is not None


def tensors_in(values):
    for value in values:
        if is_defined(value):
            yield value
        elif isinstance(value, list):
            yield from tensors_in(value)


def fact(value, table, is_list, ref=None):
    if value is None or (is_tensor(value) and value["t"] is None):
        return ["N"]
    if is_tensor(value):
        out = ["T", value["dtype"], value["size"], value.get("contiguous", False), value.get("wrapped", False)]
        return out if ref is None else [*out, *ref(value["t"])]
    if isinstance(value, list) and (is_list or any(is_tensor(v) for v in value)):
        return ["L", [fact(v, None, False, ref) for v in value]]
    if table is not None and isinstance(value, int):
        return ["V", table.get(value, str(value))]
    return ["V", value]


def references(call):
    """tensor id -> places among the call's arguments."""
    places = {}
    for (name, _, _), value in zip(arguments_of(call["op"]), call["in"]):
        if is_defined(value):
            places.setdefault(value["t"], []).append(name)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if is_defined(item):
                    places.setdefault(item["t"], []).append([name, i])
    return places


TRANSFERS = frozenset("aten::to aten::_to_copy aten::copy_ aten::copy aten::clone".split())


def is_transfer(call):
    """Copies from or to the host happen around a model, not in it."""
    devices = {t["device"] for t in tensors_in([*call["in"], *call["out"]])}
    return call["op"].partition(".")[0] in TRANSFERS and len(devices) > 1


def is_copy_onto_itself(call):
    """Does nothing, which no argument shows."""
    if call["op"] != "aten::copy_":
        return False
    to, source = call["in"][:2]
    return is_defined(to) and is_defined(source) and to["t"] == source["t"]


def on_device(call):
    found = [t["device"] for t in tensors_in([*call["in"], *call["out"]])]
    return "neuron" in found or not found


def facts_of(call, ref=None):
    return {
        name: fact(value, table, is_list, ref)
        for (name, table, is_list), value in zip(arguments_of(call["op"]), call["in"])
    }


def observations(calls, grad):
    """Every composite call on the device whose arguments hold no empty tensor."""
    for index, call in enumerate(calls):
        if call["arrived"] or not is_composite(call["op"]) or not on_device(call) or is_transfer(call):
            continue
        if any(0 in t["size"] for t in tensors_in(call["in"])) or is_copy_onto_itself(call):
            continue
        places = references(call)
        origins = {t: {p if isinstance(p, str) else p[0] for p in found} for t, found in places.items()}
        children = []
        for child in calls[index + 1 :]:
            if child["d"] <= call["d"]:
                break
            if child["d"] == call["d"] + 1:
                args = facts_of(child, lambda t: (places.get(t, []), sorted(origins.get(t, ()))))
                children.append({"op": child["op"], "host": not on_device(child), "args": args})
                inherited = set().union(*(origins.get(t["t"], ()) for t in tensors_in(child["in"])))
                for made in tensors_in(child["out"]):
                    origins.setdefault(made["t"], inherited)
        yield {
            "op": call["op"],
            "in": facts_of(call),
            "calls": children,
            "grad": grad,
            "raised": call["raised"],
        }
