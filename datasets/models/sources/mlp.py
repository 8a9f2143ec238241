# SPDX-License-Identifier: Apache-2.0
"""A LayerNorm MLP with static shapes: the plainest file, in four forms."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.act = nn.GELU(approximate="tanh")
        self.drop = nn.Dropout(0.1)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(self.drop(self.act(self.up(self.norm(x)))))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.head(self.blocks(x)), dim=-1)


def base(**options):
    extra = {"notes.txt": "a note", "deep/er/info.json": "{\"k\": 1}"}
    return dict(model=Mlp().eval(), args=(torch.randn(4, 8),), extra=extra, **options)


CASES = {
    "mlp": base,
    "mlp_decomp_none": lambda: base(decompose="none"),
    "mlp_core": lambda: base(decompose="core"),
    "mlp_train": lambda: dict(model=Mlp().train(), args=(torch.randn(4, 8),)),
}
