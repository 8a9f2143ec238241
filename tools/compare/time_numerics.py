#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the verdicts of numerics/ beside torch's own comparisons, in turns, on data of the same kind and size.

usage: time_numerics.py --python PYTHON [--bench build/bench/numerics/numerics_bench] [--rounds 5]

PYTHON is an interpreter with torch 2.13. The peers are `torch.equal` and `torch.testing.assert_close` on one thread, on 2^23 numbers
of N(0,1) that differ by a last bit in every third place. Prints GB/s of the result (medians over the rounds) and the ratios. Rates are by processor time on
both sides, so that a busy machine does not favour one; those of two threads are by the clock and need a free machine.
"""
import argparse
import json
import statistics
import subprocess
import sys

PEER = """
import time, torch
torch.set_num_threads(1); torch.manual_seed(1)
for dtype in (torch.float32, torch.bfloat16):
    a = torch.randn(1 << 23).to(dtype); b = a.clone(); size = a.numel() * a.element_size()
    c = a.clone(); c[::3] = torch.nextafter(c[::3].float(), torch.tensor(9.)).to(dtype)
    for name, run in (("equal", lambda: torch.equal(a, b)), ("assert_close", lambda: torch.testing.assert_close(c, a))):
        run(); start = time.process_time(); run(); print(f"{name}_{str(dtype)[6:]}", size / (time.process_time() - start) / 1e9)
"""


def peer(python):
    out = subprocess.run([python, "-c", PEER], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}


def ours(bench):
    out = subprocess.run([bench, "--benchmark_format=json", "--benchmark_min_time=0.2"], check=True, capture_output=True, text=True).stdout
    return {b["name"].removesuffix("/real_time").split("/")[-1]: b["bytes_per_second"] / 1e9 for b in json.loads(out)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--bench", default="build/bench/numerics/numerics_bench")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = {}
    for _ in range(options.rounds):
        for name, speed in {**peer(options.python), **ours(options.bench)}.items():
            found.setdefault(name, []).append(speed)
    speeds = {name: statistics.median(all_of) for name, all_of in found.items()}
    for name, speed in speeds.items():
        print(f"{name:24} {speed:8.3f} GB/s  ({min(found[name]):.3f} to {max(found[name]):.3f})")
    for mine, theirs in (("exact_f32", "compareBytes"), ("exact_f32", "equal_float32"), ("full_f32", "assert_close_float32"),
                         ("full_f32_two_threads", "full_f32"), ("full_bf16_truth_f64", "assert_close_bfloat16")):
        print(f"{mine} / {theirs}: {speeds[mine] / speeds[theirs]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
