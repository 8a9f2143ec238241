# SPDX-License-Identifier: Apache-2.0
"""Sizes that depend on values: item, nonzero, masked_select, a boolean index, unique."""
import torch
from torch import nn


class DataDependent(nn.Module):
    def forward(self, x, mask, n):
        k = n.item()
        torch._check(k >= 1)
        torch._check(k <= 16)
        ramp = torch.arange(k) * 2
        where = torch.nonzero(x > 0)
        picked = torch.masked_select(x, mask)
        rows = x[mask[:, 0]]
        values, counts = torch.unique(n, return_counts=True)
        total = x.sum().item()
        return ramp, where, picked.sum(), rows.exp(), values, counts, x * total


class MaskedFlip(nn.Module):
    """An in-place assignment through a mask: index, flip and index_put_ in a row."""

    def forward(self, x, mask):
        y = x.clone()
        y[mask] = y[mask].flip(-1)
        return y


def masks():
    x = torch.arange(24.0).view(4, 6) - 10
    return x, x > 0


CASES = {
    "data_dependent": lambda: dict(model=DataDependent(), args=(*masks(), torch.tensor(5))),
    "masked_flip": lambda: dict(model=MaskedFlip(), args=(masks()[0], torch.tensor([True, False, True, False]))),
}
