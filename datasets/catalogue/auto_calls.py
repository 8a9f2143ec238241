# SPDX-License-Identifier: Apache-2.0
"""Calls made from the schema alone, for composite operators that no sample database reaches.

Every tensor argument gets the same small tensor, in several forms one after the other; a form that raises says nothing.
"""
import torch

import hand_calls
from recording import arguments_of, schema_of

# (dtype, size, strings): tried in turn. Small values, none zero: the results are not looked at.
FORMS = (
    (torch.float32, (4, 4)),
    (torch.int64, (4, 4)),
    (torch.bool, (4, 4)),
    (torch.float32, (4,)),
    (torch.int64, (4,)),
    (torch.float32, ()),
    (torch.float32, (2, 4, 4)),
    (torch.float32, (2, 4, 4, 4)),
    (torch.complex64, (4, 4)),
)
INDEX_NAMES = ("index", "indices", "offsets", "target", "repeats", "batch_sizes", "lengths", "zero_point", "zero_points")
MASK_NAMES = ("mask", "condition")
STRINGS = {"reduction": "sum", "mode": "constant", "rounding_mode": "floor", "indexing": "ij", "ord": "fro"}
SKIPPED_TYPES = ("Dimname", "Storage", "Stream", "__torch__", "Dict", "Future")


def wanted(ops, found):
    """Composite aten operators without an observation."""
    for name, op in sorted(ops.items()):
        if name.startswith("aten::") and op["dispatch_class"] in ("ceanf", "cea", "cia") and not op["throws_only"]:
            if name not in found and not any(word in op["schema"] for word in SKIPPED_TYPES):
                yield name


def tensor(name, form):
    dtype, size = form
    if name in INDEX_NAMES:
        return hand_calls.i(*(size or (1,)))
    if name in MASK_NAMES:
        return hand_calls.b(*(size or (1,)))
    if dtype == torch.bool:
        return hand_calls.b(*size)
    if dtype == torch.int64:
        return hand_calls.i(*size) + 1
    return hand_calls.f(*size, dtype=dtype)


def scalar(name, kind):
    if kind in ("int", "SymInt"):
        return 0 if name.startswith("dim") or name == "padding_idx" else 1
    if kind in ("number", "Scalar"):
        return 2
    if kind == "float":
        return 0.5
    if kind == "bool":
        return False
    if kind == "str":
        return STRINGS.get(name, "")
    if kind == "ScalarType":
        return torch.float32
    if kind == "Device":
        return torch.device("neuron")
    if kind == "MemoryFormat":
        return torch.contiguous_format
    if kind == "Layout":
        return torch.strided
    raise ValueError(kind)


def value(argument, form):
    kind = str(argument.real_type)
    optional = kind.startswith("Optional[")
    kind = kind.removeprefix("Optional[").removesuffix("]") if optional else kind
    if argument.is_out:
        return [tensor("", form)] if kind.startswith("List") else tensor("", form)
    if argument.has_default_value() and argument.name not in ("device", "out_dtype"):
        return argument.default_value
    if argument.name == "device":
        return torch.device("neuron")
    if optional:
        return None
    if kind.startswith("List["):
        inner = kind.removeprefix("List[").removesuffix("]")
        if "Tensor" in inner:
            return [tensor(argument.name, form), tensor(argument.name, form)]
        count = argument.N or (len(form[1]) if argument.name in ("size", "repeats") else 2)
        if argument.name in ("size", "output_size", "shape"):
            return list(form[1])[:count] or [2] * count
        if argument.name in ("dim", "dims"):
            return [0]
        return [scalar(argument.name, inner)] * count
    return tensor(argument.name, form) if kind == "Tensor" else scalar(argument.name, kind)


def run(name, record):
    call = hand_calls.overload(name.removeprefix("aten::"))
    arguments = schema_of(name).arguments
    for form in FORMS:
        try:
            values = [(a, value(a, form)) for a in arguments]
        except (ValueError, RuntimeError):
            return
        positional = [v for a, v in values if not a.kwarg_only]
        keywords = {a.name: v for a, v in values if a.kwarg_only}
        with torch.no_grad():
            record(lambda: call(*positional, **keywords), False)
        if not any(row[2] or "Tensor" in str(a.type) for row, a in zip(arguments_of(name), arguments)):
            return  # The forms only differ in their tensors.
