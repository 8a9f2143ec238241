# SPDX-License-Identifier: Apache-2.0
"""State that changes: a KV cache written by index_copy_, a step counter, an input changed in place, views changed in place."""
import torch
from torch import nn


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.value = nn.Linear(4, 4), nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("keys", torch.zeros(2, 8, 4))
        self.register_buffer("values", torch.zeros(2, 8, 4), persistent=False)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x, place, log):
        self.keys.index_copy_(1, place, self.key(x))
        self.values.index_copy_(1, place, self.value(x))
        self.steps += 1
        log.add_(self.steps)
        weight = torch.softmax(x @ self.keys.transpose(1, 2), -1)
        return self.norm((weight @ self.values).flatten(0, 1))


class Views(nn.Module):
    def forward(self, x):
        y = x * 2
        y[:, 0] = 0
        y[1:].mul_(3)
        y.t().add_(1.0)
        y.view(-1)[::3].relu_()
        return y


def cached(**options):
    args = (torch.randn(2, 3, 4), torch.tensor([0, 1, 2]), torch.zeros(2))
    return dict(model=Cached().train(), args=args, **options)


CASES = {
    "mutation": cached,
    "mutation_core": lambda: cached(decompose="core"),
    "inplace_views": lambda: dict(model=Views(), args=(torch.randn(4, 6),)),
    "inplace_views_core": lambda: dict(model=Views(), args=(torch.randn(4, 6),), decompose="core"),
}
