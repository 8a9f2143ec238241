# SPDX-License-Identifier: Apache-2.0
"""cond, while_loop with a cond inside, and map: the same node names come back in every subgraph."""
import torch
from torch import nn
from torch._higher_order_ops.map import map as hop_map
from torch._higher_order_ops.while_loop import while_loop


class Control(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.register_buffer("steps", torch.tensor(2))

    def forward(self, x):
        def warm(a):
            return torch.exp(self.proj(a))

        def cold(a):
            return self.proj(a) - 1

        y = torch.cond(x.mean() > 0, warm, cold, (x,))

        def shrink(t):
            return t * 0.5

        def grow(t):
            return torch.erf(t) + t

        def more(i, acc):
            return i < self.steps

        def step(i, acc):
            return i + 1, torch.cond(acc.max() > 1.0, shrink, grow, (acc,))

        _, z = while_loop(more, step, (torch.zeros((), dtype=torch.int64), y))
        return torch.relu(z)


class Mapped(nn.Module):
    def forward(self, rows, offset):
        def each(row, shift):
            return torch.sin(row) + shift

        return hop_map(each, rows, offset)


CASES = {
    "control": lambda: dict(model=Control().eval(), args=(torch.randn(4, 4),)),
    "control_map": lambda: dict(model=Mapped().eval(), args=(torch.randn(3, 4), torch.ones(4))),
}
