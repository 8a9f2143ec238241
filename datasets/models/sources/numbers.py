# SPDX-License-Identifier: Apache-2.0
"""Constants and dtypes at the edges: tied and overlapping storage, complex, float64, 2^62, float8, inf, nan, empty."""
import torch
from torch import nn


class Numbers(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 4, bias=False)
        self.two = nn.Linear(4, 4, bias=False)
        self.two.weight = self.one.weight
        store = torch.arange(16.0)
        self.register_buffer("whole", store)
        self.register_buffer("tail", store[8:].view(2, 4))
        self.register_buffer("wide", torch.tensor([1e300, -0.0], dtype=torch.float64))
        self.register_buffer("huge", torch.tensor([2**62, -(2**62)]))
        self.register_buffer("octets", torch.tensor([0, 255], dtype=torch.uint8))
        self.register_buffer("small", torch.tensor([65504.0], dtype=torch.float16))
        self.register_buffer("e4", torch.tensor([1.5, 448.0]).to(torch.float8_e4m3fn))
        self.register_buffer("e5", torch.tensor([1.5, 57344.0]).to(torch.float8_e5m2))
        self.register_buffer("empty", torch.zeros(0, 4))
        self.register_buffer("edge", torch.tensor([float("inf"), float("-inf"), float("nan")]))

    def forward(self, x):
        y = self.two(self.one(x)) + self.tail
        z = torch.fft.rfft(y, dim=-1)
        spectrum = z * torch.complex(torch.tensor(0.5), torch.tensor(-1.0))
        clipped = torch.nan_to_num(y, nan=0.0, posinf=float("inf"), neginf=float("-inf"))
        masked = clipped.masked_fill(clipped > 1, float("-inf")).fill_(float("nan"))
        ints = self.huge // 3 + 2**61
        return spectrum.abs(), self.wide * 2, ints, self.octets + 1, self.small, self.e4.float(), self.e5.float(), self.empty.sum(), self.edge, masked, self.whole


class BigIntegers(nn.Module):
    """int64 results that a 32-bit accelerator would cut."""

    def forward(self, x):
        ids = torch.arange(8) * 3_000_000_000
        return ids + x, torch.full((2,), 2**40), torch.cumsum(ids, 0)


class NonFinite(nn.Module):
    """Infinities and NaN as arguments: torch 2.6 wrote them into the JSON bare, as no JSON parser likes them."""

    def forward(self, x):
        y = x.masked_fill(x > 0, float("-inf"))
        return torch.nan_to_num(y, nan=0.0, posinf=float("inf"), neginf=-1.0) + float("nan")


class ThreeDtypes(nn.Module):
    """One operator in three forms that must stay three cases."""

    def forward(self, a, b, c, d):
        return torch.add(a, b), torch.add(c, d), torch.add(a, b, alpha=2)


def three():
    a, b = torch.ones(4, 4), torch.ones(4, 4)
    return dict(model=ThreeDtypes(), args=(a, b, a.bfloat16(), b.bfloat16()))


CASES = {
    "numbers": lambda: dict(model=Numbers(), args=(torch.randn(2, 4),)),
    "big_integers": lambda: dict(model=BigIntegers(), args=(torch.arange(8),)),
    "nonfinite": lambda: dict(model=NonFinite(), args=(torch.randn(4),)),
    "three_dtypes": three,
}
