# SPDX-License-Identifier: Apache-2.0
"""Functional collectives of a four-rank group that exists only in name."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import nn
from torch.testing._internal.distributed.fake_pg import FakeStore


class Reduce(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        total = funcol.all_reduce(self.proj(x), "sum", dist.group.WORLD)
        return funcol.all_gather_tensor(total, 0, dist.group.WORLD)


class ReduceIntegers(nn.Module):
    def forward(self, counts):
        return funcol.all_reduce(counts, "max", dist.group.WORLD), funcol.reduce_scatter_tensor(counts, "sum", 0, dist.group.WORLD)


def grouped(model, *args):
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    return dict(model=model.eval(), args=args)


CASES = {
    "collective": lambda: grouped(Reduce(), torch.randn(2, 4)),
    "collective_integers": lambda: grouped(ReduceIntegers(), torch.arange(8)),
}
