# SPDX-License-Identifier: Apache-2.0
"""Two models in one archive, one of them with a dot in its name."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 8)

    def forward(self, x):
        return torch.tanh(self.proj(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 4)

    def forward(self, h):
        return torch.relu(self.proj(h))


CASES = {
    "pair": lambda: dict(
        several={
            "enc.v1": dict(model=Encoder().eval(), args=(torch.randn(2, 4),)),
            "dec": dict(model=Decoder().eval(), args=(torch.randn(2, 8),)),
        }
    )
}
