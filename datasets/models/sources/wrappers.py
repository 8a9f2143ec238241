# SPDX-License-Identifier: Apache-2.0
"""no_grad around a part of the graph, and autocast inside autocast."""
import torch
from torch import nn


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            scale = torch.sqrt(self.a(x).abs() + 1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.b(x)
            with torch.autocast("cpu", enabled=False):
                z = self.c(x.float())
        return y.float() * scale + z


CASES = {"wrappers": lambda: dict(model=Wrapped().train(), args=(torch.randn(2, 4),))}
