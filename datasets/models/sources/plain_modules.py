# SPDX-License-Identifier: Apache-2.0
"""Modules for the files that are not exported programs: scripted, traced, pickled. There are no CASES here."""
import torch
from torch import nn


class Looping(nn.Module):
    """Branches, a loop and a second exported method, for scripting."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x, rounds: int):
        for _ in range(rounds):
            if bool(x.sum() > 0):
                x = torch.relu(self.proj(x))
            else:
                x = torch.tanh(x)
        return x

    @torch.jit.export
    def encode(self, x):
        return torch.sigmoid(self.proj(x))


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return torch.relu(self.conv(x)).mean((2, 3))


class CallsCustom(nn.Module):
    def forward(self, x):
        return torch.ops.scriptlib.nms_like(x, x, 0.5) + 1


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 2)

    def forward(self, x):
        return self.proj(x)
