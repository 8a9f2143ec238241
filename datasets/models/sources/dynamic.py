# SPDX-License-Identifier: Apache-2.0
"""Dynamic batch and length with ranges, an automatic dim, nested inputs and outputs, constant inputs, None and int outputs."""
import collections

import torch
from torch import nn
from torch.export import Dim

Twin = collections.namedtuple("Twin", ["main", "aux"])
torch.utils._pytree._register_namedtuple(Twin, serialized_type_name="models.dynamic.Twin")


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(6, 4)

    def forward(self, x, side, power, flag=None, *, shift=None):
        batch, length, _ = x.shape
        y = self.proj(x.reshape(batch * length, 6)).view(batch, length, 4)
        z = torch.cat([y, side["m"][:, 1:]], dim=1)
        half = z[:, ::2]
        w = half.sum(1, keepdim=True) ** power
        if shift is not None:
            w = w - shift
        return {"z": z, "twin": Twin(w, side["l"][0] * 2.5), "nothing": None}, y.sum() / (batch * length), 2 * batch * length + 3


class SameSymbol(nn.Module):
    """Three inputs that must have one batch size, and a size that is a quotient of another."""

    def forward(self, a, b, c):
        pooled = torch.nn.functional.avg_pool1d(a.unsqueeze(1), 2).squeeze(1)
        return (a + b) * c.unsqueeze(1), pooled, torch.ones(a.shape[0] // 2 + a.shape[1] % 3)


def dynamic(**options):
    batch, length = Dim("batch", min=2, max=64), Dim("length", min=4, max=512)
    shapes = {
        "x": {0: batch, 1: length},
        "side": {"m": {0: batch, 1: length}, "l": [{0: Dim.AUTO}]},
        "power": None,
        "flag": None,
        "shift": None,
    }
    args = (torch.randn(3, 10, 6), {"m": torch.randn(3, 10, 4), "l": [torch.randn(5)]}, 2)
    return dict(model=Dynamic().eval(), args=args, kwargs=dict(flag=None, shift=torch.zeros(4)), export=dict(dynamic_shapes=shapes), **options)


def same_symbol():
    rows, columns = Dim("rows", min=2, max=128), Dim("columns", min=4)
    shapes = {"a": {0: rows, 1: columns}, "b": {0: rows, 1: columns}, "c": {0: rows}}
    return dict(model=SameSymbol(), args=(torch.randn(6, 8), torch.randn(6, 8), torch.randn(6)), export=dict(dynamic_shapes=shapes))


CASES = {
    "dynamic": dynamic,
    "dynamic_core": lambda: dynamic(decompose="core"),
    "dynamic_same_symbol": same_symbol,
}
