# SPDX-License-Identifier: Apache-2.0
"""Compares what neuron-check reads of a checkpoint with what torch found in it."""
import json
import os


def oracle_of(path, oracle):
    """The oracle that lists tensors: FILE.tensors.oracle.json, or FILE's own where it does; None for neither."""
    own = path + ".tensors.oracle.json"
    if os.path.exists(own):
        with open(own) as f:
            return json.load(f)
    # torch names any pickle it refuses "torch_save": only of real checkpoints it lists the tensors.
    return oracle if "tensors" in oracle else None


def differences(expected, entry):
    """lines; every field the oracle has is compared, and no tensor or name may come on top"""
    tensors = entry.get("tensors", {})
    for name, wanted in expected["tensors"].items():
        if name not in tensors:
            yield f"tensor {name} is missing"
            continue
        for field, value in wanted.items():
            if tensors[name].get(field) != value:
                yield f"tensor {name}: {field} should be {value}, is {tensors[name].get(field)}"
    for name in tensors.keys() - expected["tensors"].keys():
        yield f"tensor {name} is not in the file"
    if "globals" in expected:
        names = [entry_["name"] for entry_ in entry.get("globals", [])]
        if names != expected["globals"]:
            yield f"globals differ: {sorted(set(names) ^ set(expected['globals']))}"
    for field in ("top", "modules", "metadata", "weights_only_loadable"):
        if expected.get(field) is not None and entry.get(field) != expected[field]:
            yield f"{field} should be {expected[field]}, is {entry.get(field)}"
