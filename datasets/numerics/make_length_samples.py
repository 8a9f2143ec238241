# SPDX-License-Identifier: Apache-2.0
"""Write length_samples.tsv: sizes of real calls, and how many terms the longest sum behind an element has.

    python3 datasets/numerics/make_length_samples.py [-o datasets/numerics/length_samples.tsv]

`terms` is counted, not computed from sizes: each element of an operand is changed in turn, and the output elements that change are
noted. `k` equals it, or is by hand where length_calls.py says so. Needs torch 2.13.0 (CPU); half a minute.
"""
import argparse
import pathlib

import torch

import length_calls


def overload(name):
    base, _, word = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), word or "default")


def bind(function, args, kwargs):
    bound = {}
    for index, argument in enumerate(function._schema.arguments):
        if argument.name in kwargs:
            bound[argument.name] = kwargs[argument.name]
        elif index < len(args):
            bound[argument.name] = args[index]
        else:
            bound[argument.name] = argument.default_value
    return bound


def sizes(tensor):
    return "[" + ",".join(map(str, tensor.shape)) + "]"


def written(value):
    if value is None:
        return "none"
    if isinstance(value, torch.Tensor):
        return sizes(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace(" ", "") + '"'
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], torch.Tensor):
            return "[" + ",".join(sizes(t) for t in value) + "]"
        return "{" + ",".join(str(int(v)) for v in value) + "}"
    return None


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def outputs(result):
    return [t for t in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(t, torch.Tensor)]


def terms(function, bound, output, names):
    """The largest number of changed elements that one element of the output sees."""
    run = lambda: outputs(function(**bound))[output]
    before = run().clone()
    seen = torch.zeros(before.shape, dtype=torch.int64)
    for name in names.split():
        base, _, place = name.partition(".")
        for tensor in [bound[base][int(place)]] if place else leaves(bound[base]):
            flat = tensor.view(-1)
            for index in range(flat.numel()):
                kept = flat[index].item()
                flat[index] = kept * 1.0625 + 0.03125
                seen += run() != before
                flat[index] = kept
    return int(seen.max())


def lines_of(name, args, kwargs, wanted):
    function = overload(name)
    bound = bind(function, args, kwargs)
    results = outputs(function(**bound))
    texts = {key: written(value) for key, value in bound.items()}
    texts |= {f"out{i}": sizes(t) for i, t in enumerate(results)}
    operands = " ".join(f"{key}={text}" for key, text in texts.items() if text is not None)
    for index, entry in enumerate(wanted):
        names, k = entry if isinstance(entry, tuple) else (entry, None)
        counted = terms(function, bound, index, names) if names else None
        if k is not None and counted is not None and counted > k:
            raise SystemExit(f"{name} output {index}: {counted} terms, more than {k}")
        yield f"aten::{name}\t{index}\t{operands}\t{counted if k is None else k}\t{'-' if counted is None else counted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent / "length_samples.tsv")
    output = parser.parse_args().output
    torch.set_num_threads(1)
    lines = ["op\toutput\toperands\tk\tterms"]
    with torch.no_grad():
        for name, args, kwargs, wanted in length_calls.calls():
            try:
                lines.extend(lines_of(name, args, kwargs, wanted))
            except (RuntimeError, AttributeError, NotImplementedError) as error:
                raise SystemExit(f"{name}: {error}") from error
    for line in length_calls.BY_HAND.split("\n"):
        if line:
            op, index, *operands, k = line.split(" ")
            lines.append(f"{op}\t{index}\t{' '.join(operands)}\t{k}\t-")
    output.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} samples of {len({line.split(chr(9))[0] for line in lines[1:]})} operators")


if __name__ == "__main__":
    main()
