#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pair of tensor files that `neuron-check compare` is shown on: compare_truth and compare_result.

Matrix products of bf16 operands, k = 256, in fp64 and as a device would give them: right, with a row nobody wrote, with one
element 5 % off, truncated, and stored in fp32 after a detour through bf16; integers above 2^31, right and narrowed; a mask; and what
cannot be compared. Needs torch and safetensors; two runs give the same bytes.
"""
import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent


def truncated(values):
    """fp32 values cut to bf16, toward zero."""
    return ((values.view(torch.int32) >> 16) << 16).view(torch.float32).bfloat16()


def main():
    torch.manual_seed(1)
    a = torch.randn(16, 256).bfloat16()
    b = torch.randn(256, 8).bfloat16()
    truth = a.double() @ b.double()
    right = truth.float().bfloat16()
    unwritten = right.clone()
    unwritten[5] = 0
    wrong = right.clone()
    wrong[8, 4] *= 1.05
    big = torch.arange(1, 9) * 400_000_000
    save_file(
        {"right": truth, "unwritten": truth.clone(), "wrong": truth.clone(), "truncated": truth.clone(),
         "through_bf16": truth.clone(), "big": big, "narrowed": big.clone(), "mask": truth > 0,
         "constant": torch.full((3, 4), 4.0), "none": torch.zeros(0, 3), "shape": torch.zeros(2, 3),
         "coarse": right.clone(), "named": truth.clone(), "absent": truth.clone()},
        HERE / "compare_truth.safetensors")
    save_file(
        {"right": right, "unwritten": unwritten, "wrong": wrong, "truncated": truncated(truth.float()),
         "through_bf16": right.float(), "big": big, "narrowed": big.int().long(), "mask": truth > 0,
         "constant": torch.full((3, 4), 4.0), "none": torch.zeros(0, 3), "shape": torch.zeros(3, 2),
         "coarse": truth.float(), "other_name": right.clone(), "more": right.clone()},
        HERE / "compare_result.safetensors")
    save_file({"right": right}, HERE / "compare_right.safetensors")
    save_file({}, HERE / "compare_empty.safetensors")


if __name__ == "__main__":
    main()
