# SPDX-License-Identifier: Apache-2.0
"""How far the CPU's own kernels are from the truth, measured and kept: cpu_legs.tsv and cpu_legs.safetensors.

    python3 datasets/numerics/cpu_legs/make_cpu_legs.py

Truth is the operator in fp64 on the quantised inputs. The native leg is what torch's CPU kernel returns in the dtype; the emulated
leg of a narrower dtype is the fp32 kernel on the same inputs, rounded once to nearest even. Calls whose truth is beyond the dtype's
range are left out. Errors are given in units of B_exp (docs/verdicts.md), with
the companion of the operator's rule. The bounds are written out here once more, apart from the library: numerics/tests judges the
kept elements and must come to the same numbers and words. Of each call some 160 elements are kept, the worst of either leg and
others evenly spaced; the worst is measured over all of them. Needs torch 2.13.0 (CPU) and safetensors; two runs on one kind of
processor give the same bytes.
"""
import argparse
import datetime
import math
import pathlib
import platform
import sys

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cases  # noqa: E402

KEPT = 160
U_ACC, ETA_ACC = 2.0**-24, 2.0**-150
FORMATS = {  # significand bits, half the smallest subnormal
    torch.float32: ("fp32", 24, 2.0**-150),
    torch.bfloat16: ("bf16", 8, 2.0**-134),
    torch.float16: ("fp16", 11, 2.0**-25),
}
COLUMNS = ["case", "op", "inputs", "dtype", "k", "elements", "native", "emulated", "plain", "native_state", "emulated_state"]


def rules():
    table = {}
    for line in (HERE.parent / "op_rules.tsv").read_text().splitlines()[1:]:
        op, output, letter, _, _, _, _, coefficient, roundings, *_ = line.split("\t")
        if output in "*0":
            table[op] = letter, float(coefficient), int(roundings)
    return table


class Bounds:
    """B_exp and B_max of rule 2."""

    def __init__(self, rule, k, dtype):
        self.letter, self.c, self.r = rule
        self.k, (_, p, self.eta) = k, FORMATS[dtype]
        self.u, self.narrow = 2.0**-p, p < 24
        self.sums = self.letter in "EFGH" and k > 1

    def __call__(self, H, S, stored):
        value = H.abs() * (2.0**-51 + (2 * U_ACC if self.narrow else 0))
        value = value + self.r * (self.u * H.abs() + self.eta)
        if stored is not None:
            value = value + (self.r - 1) * self.u * stored
        lam, worst = 4 * math.sqrt(self.k), 2 * U_ACC * self.k
        if self.letter == "C":
            binade = torch.where(H == 0, torch.zeros_like(H), 2.0 ** torch.floor(torch.log2(H.abs())))
            expected = value + self.c * (2 * U_ACC * binade + ETA_ACC)
            return expected, expected + self.c * (2 * U_ACC * binade + ETA_ACC) + (4 * self.u * binade if self.narrow else 0)
        expected = value + self.c * (U_ACC * S + ETA_ACC)
        maximal = expected + self.c * (U_ACC * S + ETA_ACC)
        if self.sums:
            expected = expected + lam * (U_ACC * S + ETA_ACC)
            maximal = maximal + worst / (1 - min(worst, 0.5)) * (1 + self.u) * S + max(2 * self.k, lam) * ETA_ACC
        return expected, torch.maximum(expected, maximal)


def worst(D, H, bound):
    """The largest |D - H| / bound and where; a result of another kind than the truth is infinitely far."""
    error = torch.where(D == H, torch.zeros_like(H), (D - H).abs())
    ratio = error / bound
    ratio = torch.where(torch.isfinite(D) == torch.isfinite(H), ratio, torch.full_like(ratio, math.inf))
    return ratio.max().item(), int(ratio.argmax())


def state(D, H, bounds, S, unstable, stored):
    expected, maximal = bounds(H, S, stored)
    if not torch.equal(torch.isfinite(D), torch.isfinite(H)):
        return "nan-inf"
    if worst(D, H, expected)[0] <= 1:
        return "pass"
    if worst(D, H, maximal)[0] <= 1:
        return "pass-weak"
    wrong = D[(D - H).abs() > expected].unique()
    weak = unstable is not None and worst(D, H, bounds(H, unstable, stored)[0])[0] <= 1 and len(wrong) > 1
    return "pass-weak" if weak else "beyond"


def run(function, args, dtype):
    quantised = [t.to(dtype) if isinstance(t, torch.Tensor) else t for t in args]
    try:
        return function(*quantised), ""
    except RuntimeError as error:  # what torch raises for a dtype without a kernel
        return None, "throws: " + str(error).splitlines()[0]


def measure(case, dtype, rule):
    """The row of the table and the tensors to keep; None where the truth is beyond the dtype."""
    wide = [t.to(dtype).double() if isinstance(t, torch.Tensor) else t for t in case.args]
    flat = lambda t: None if t is None else t.double().flatten()
    truth = case.function(*wide)
    if truth.abs().max() > torch.finfo(dtype).max:
        return None
    formula = lambda f: None if f is None else flat(f(truth, wide, case.k))
    H, S, unstable, stored = flat(truth), formula(case.magnitude), formula(case.unstable), formula(case.stored)
    native, refusal = run(case.function, case.args, dtype)
    legs = {} if native is None else {"native": native.flatten()}
    if dtype != torch.float32:
        narrow = [t.to(dtype).float() if isinstance(t, torch.Tensor) else t for t in case.args]
        legs["emulated"] = case.function(*narrow).to(dtype).flatten()
    bounds = Bounds(rule, case.k, dtype)
    expected, maximal = bounds(H, S, stored)
    row, places = {"elements": H.numel(), "native_state": refusal, "emulated_state": "-"}, set()
    for leg, D in legs.items():
        row[leg] = worst(D.double(), H, expected)
        row[leg + "_state"] = state(D.double(), H, bounds, S, unstable, stored)
        places |= {row[leg][1], worst(D.double(), H, maximal)[1]}
        if unstable is not None:
            places.add(worst(D.double(), H, bounds(H, unstable, stored)[0])[1])
    if native is not None:
        row["plain"] = worst(flat(native), H, bounds(H, H.abs(), stored)[0])
    kept = sorted(places | set(range(0, H.numel(), max(1, -(-H.numel() // (KEPT - 2))))))
    tensors = {"truth": H, **legs}
    for name, t in (("magnitude", S), ("unstable", unstable), ("stored", stored)):
        if t is not None and not (name == "magnitude" and torch.equal(t, H.abs())):
            tensors[name] = t
    return row, {name: t[kept].clone().contiguous() for name, t in tensors.items()}


def text(value):
    return "-" if value is None else f"{value[0]:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the measurement, as it is noted")
    parser.add_argument("--show", action="store_true", help="print the table only")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table, tensors = rules(), {}
    capability = torch.backends.cpu.get_cpu_capability()
    lines = [f"# torch {torch.__version__}, {platform.machine()} {capability}, one thread, {options.date}", "\t".join(COLUMNS)]
    with torch.no_grad():
        for dtype, (name, _, _) in FORMATS.items():
            for case in cases.all_cases(dtype):
                measured = measure(case, dtype, table[case.op])
                if measured is None:
                    continue
                row, own = measured
                fixed = [case.name, case.op, case.inputs, name, str(case.k), str(row["elements"])]
                ratios = [text(row.get(column)) for column in ("native", "emulated", "plain")]
                lines.append("\t".join([*fixed, *ratios, row["native_state"], row["emulated_state"]]))
                tensors |= {f"{case.name}|{case.inputs}|{name}|{case.k}|{part}": t for part, t in own.items()}
    if options.show:
        print("\n".join(lines))
        return
    (HERE / "cpu_legs.tsv").write_text("\n".join(lines) + "\n")
    save_file(tensors, HERE / "cpu_legs.safetensors", {"made with": f"torch {torch.__version__}, {options.date}"})


if __name__ == "__main__":
    main()
