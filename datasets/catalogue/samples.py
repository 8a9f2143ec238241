# SPDX-License-Identifier: Apache-2.0
"""The calls that are recorded: torch's own sample inputs, moved to the device.

A unit is one entry of one of torch's databases, or one group of hand-written calls. `run_unit(unit, record)` calls
record(thunk, grad) for each call; grad says that the call was made to be differentiated.
"""
import functools
import itertools

import torch
from torch.testing._internal import common_methods_invocations as cmi
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map

import auto_calls
import hand_calls
from recorder_client import to_device

MAIN_DTYPE = torch.float32
OTHER_DTYPES = (torch.bfloat16, torch.int64, torch.bool, torch.float64, torch.complex64, torch.int32)
OTHER_SAMPLES = 10  # Samples of each other dtype.
VARIANT_SAMPLES = 6  # Samples for aliases, methods, in-place forms.
GRAD_SAMPLES = 10


def databases():
    foreach = itertools.chain(
        cmi.foreach_unary_op_db, cmi.foreach_binary_op_db, cmi.foreach_pointwise_op_db,
        cmi.foreach_reduce_op_db, cmi.foreach_other_op_db,
    )  # fmt: skip
    return {"opinfo": cmi.op_db, "foreach": list(foreach), "moduleinfo": module_db}


@functools.cache
def cached_databases():
    return databases()


def all_units():
    units = [(source, i) for source, entries in cached_databases().items() for i in range(len(entries))]
    return units + [("hand", name) for name in hand_calls.GROUPS]


def unit_name(unit):
    source, key = unit
    if source == "hand":
        return f"hand:{key}"
    entry = cached_databases()[source][key]
    variant = getattr(entry, "variant_test_name", "")
    return f"{source}:{entry.name}{'.' + variant if variant else ''}"


def spread(items, limit):
    """At most `limit` items, evenly spread: the last samples of a list are often the odd ones."""
    items = list(items)
    if len(items) <= limit:
        return items
    return [items[i * len(items) // limit] for i in range(limit)]


def moved(values, requires_grad=False):
    memo = {}

    def move(value):
        if not isinstance(value, torch.Tensor):
            return value
        out = to_device(value, memo)
        return out if requires_grad else out.detach_() if out.requires_grad else out

    return tree_map(move, values)


def sample_values(sample):
    return [sample.input, list(sample.args), dict(sample.kwargs)]


def samples_of(info, dtype, requires_grad=False):
    try:
        return list(info.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    except Exception:  # Some entries need a library or a device that is not here.
        return []


def call_sample(function, values, record, grad=False):
    try:
        head, args, kwargs = moved(values, grad)
    except TypeError:
        return None  # Sparse, quantised or nested.
    return record(lambda: function(head, *args, **kwargs), grad)


def with_gaps(sample):
    try:
        return sample.noncontiguous()
    except Exception:
        return None


def channels_last(values):
    def convert(value):
        if isinstance(value, torch.Tensor) and value.dim() == 4 and value.layout == torch.strided:
            return value.contiguous(memory_format=torch.channels_last)
        return value

    converted = tree_map(convert, values)
    changed = any(a is not b for a, b in zip(tree_leaves(values), tree_leaves(converted)))
    return converted if changed else None


def run_out_variant(info, sample, record):
    try:
        head, args, kwargs = moved(sample_values(sample))
        result = info.op(head, *args, **kwargs)
    except Exception:
        return
    if "out" in kwargs:
        return
    if isinstance(result, torch.Tensor):
        out = torch.empty_like(result)
    elif isinstance(result, tuple) and all(isinstance(r, torch.Tensor) for r in result):
        out = tuple(torch.empty_like(r) for r in result)
    else:
        return
    record(lambda: info.op(head, *args, out=out, **kwargs), False)


def run_variants(info, samples, record):
    functions = [info.method_variant, info.inplace_variant, info.operator_variant, info.inplace_operator_variant]
    for alias in info.aliases:
        functions += [alias.op, alias.method_variant, alias.inplace_variant]
    for function in functions:
        if function is not None and function is not info.op:
            for sample in samples:
                call_sample(function, sample_values(sample), record)
    if info.supports_out:
        for sample in samples:
            run_out_variant(info, sample, record)


def differentiate(result, record):
    """Backward operators are calls of their own."""
    wanted = [r for r in tree_leaves(result) if isinstance(r, torch.Tensor) and r.requires_grad]
    if not wanted:
        return
    gradients = [torch.ones_like(r) for r in wanted]
    record(lambda: torch.autograd.backward(wanted, gradients), False, "backward")


def run_opinfo(info, record):
    supported = info.supported_dtypes("cpu")
    with torch.no_grad():
        main = samples_of(info, MAIN_DTYPE) if MAIN_DTYPE in supported else []
        for sample in main:
            call_sample(info.op, sample_values(sample), record)
        for sample in spread(main, VARIANT_SAMPLES):
            gaps = with_gaps(sample)
            if gaps is not None:
                call_sample(info.op, sample_values(gaps), record)
            last = channels_last(sample_values(sample))
            if last is not None:
                call_sample(info.op, last, record)
        others = []
        for dtype in OTHER_DTYPES:
            if dtype in supported:
                found = spread(samples_of(info, dtype), OTHER_SAMPLES)
                others += found[:1]
                for sample in found:
                    call_sample(info.op, sample_values(sample), record)
        run_variants(info, spread(main, VARIANT_SAMPLES) + others, record)
    if not info.supports_autograd or MAIN_DTYPE not in supported:
        return
    for sample in spread(samples_of(info, MAIN_DTYPE, True), GRAD_SAMPLES):
        result = call_sample(info.op, sample_values(sample), record, grad=True)
        if result is not None:
            differentiate(result, record)


def run_foreach(info, record):
    with torch.no_grad():
        for dtype in (MAIN_DTYPE, torch.bfloat16, torch.int64):
            if dtype not in info.supported_dtypes("cpu"):
                continue
            for sample in spread(samples_of(info, dtype), OTHER_SAMPLES):
                kwargs = {k: v for k, v in sample.kwargs.items() if not callable(v)}
                values = [sample.input, list(sample.args), kwargs]
                for function in (info.op, info.method_variant, info.inplace_variant):
                    if function is not None:
                        call_sample(function, values, record)


def run_module(info, record):
    dtypes = [d for d in (MAIN_DTYPE, torch.bfloat16) if d in info.dtypes] or [torch.float32]
    for dtype, training in itertools.product(dtypes, (False, True)):
        try:
            inputs = info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=training)
        except Exception:
            continue
        for sample in inputs:
            if sample.forward_input is None:
                continue
            try:
                built = sample.constructor_input
                module = info.module_cls(*built.args, **{"dtype": dtype, **built.kwargs})
            except TypeError:
                module = info.module_cls(*built.args, **built.kwargs)
            try:
                module = module.to("neuron").train(training)
                args, kwargs = moved([list(sample.forward_input.args), dict(sample.forward_input.kwargs)])
            except Exception:
                continue
            with torch.no_grad():
                record(lambda: module(*args, **kwargs), False)
            if training and dtype == MAIN_DTYPE:
                result = record(lambda: module(*args, **kwargs), True)
                if result is not None:
                    differentiate(result, record)


def run_unit(unit, record):
    torch.manual_seed(0)
    source, key = unit
    if source == "hand":
        hand_calls.GROUPS[key](record)
        return
    if source == "auto":
        auto_calls.run(key, record)
        return
    runner = {"opinfo": run_opinfo, "foreach": run_foreach, "moduleinfo": run_module}[source]
    runner(cached_databases()[source][key], record)
