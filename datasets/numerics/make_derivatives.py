# SPDX-License-Identifier: Apache-2.0
"""Write derivatives.tsv: what torch computes below autograd, forward and backward, for its own sample inputs.

    python3 datasets/numerics/make_derivatives.py [-o datasets/numerics/derivatives.tsv]

One line per entry of torch's OpInfo database that has a backward: its name, the packets of its forward, and those of its
backward. float32, at most 25 samples each, about ten seconds. Needs torch 2.13.0 (CPU), numpy, expecttest, hypothesis.
"""
import argparse
import itertools
import pathlib
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.testing._internal import common_methods_invocations as cmi
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

SAMPLES = 25


class Recorder(TorchDispatchMode):
    def __init__(self, found):
        super().__init__()
        self.found = found

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.found.add(function.name().partition(".")[0])
        return function(*args, **(kwargs or {}))


def run_sample(entry, sample, forward, backward):
    with Recorder(forward):
        result = entry(sample.input, *sample.args, **sample.kwargs)
    leaves = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
    dense = [t for t in leaves if t.layout == torch.strided]
    if dense:
        ones = [torch.ones_like(t) for t in dense]
        with Recorder(backward):
            torch.autograd.backward(dense, ones)


def operators_of(entry):
    forward, backward = set(), set()
    for sample in itertools.islice(entry.sample_inputs("cpu", torch.float32, requires_grad=True), SAMPLES):
        try:
            run_sample(entry, sample, forward, backward)
        except Exception:  # A sample torch itself cannot run says nothing.
            continue
    return forward, backward


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent / "derivatives.tsv")
    output = parser.parse_args().output
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lines = set()
    for entry in cmi.op_db:
        if not entry.supports_autograd or torch.float32 not in entry.supported_dtypes("cpu"):
            continue
        try:
            forward, backward = operators_of(entry)
        except Exception as error:  # Samples that need something this machine lacks.
            print(f"{entry.name}: {error}")
            continue
        own = {op for op in forward | backward if op.startswith("torch_nn::")}
        if backward and not own:
            lines.add(f"{entry.name}\t{' '.join(sorted(forward))}\t{' '.join(sorted(backward))}")
    output.write_text("entry\tforward\tbackward\n" + "\n".join(sorted(lines)) + "\n")
    print(f"{len(lines)} entries")


if __name__ == "__main__":
    main()
