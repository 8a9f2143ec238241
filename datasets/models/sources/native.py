# SPDX-License-Identifier: Apache-2.0
"""Models that use only operators a plain accelerator has: concrete shapes, one dtype, no views of interest."""
import torch
from torch import nn


class NativeMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32)
        self.second = nn.Linear(32, 16)

    def forward(self, x):
        h = torch.relu(self.norm(self.first(x)))
        return torch.sigmoid(self.second(h)) + x


class NativeEncoder(nn.Module):
    """One attention head written out in matmuls, so that no fused kernel is asked for."""

    def __init__(self, width=16):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        scores = torch.bmm(self.query(x), self.key(x).transpose(1, 2)) * 0.25
        mixed = torch.bmm(torch.softmax(scores, -1), self.value(x))
        return self.norm(x + torch.tanh(self.out(mixed)))


class Gelu(nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x)


CASES = {
    "gelu": lambda: dict(model=Gelu(), args=(torch.randn(2, 4),)),
    "native_mlp": lambda: dict(model=NativeMlp().eval(), args=(torch.randn(8, 16),)),
    "native_encoder": lambda: dict(model=NativeEncoder().eval(), args=(torch.randn(2, 6, 16),)),
}
