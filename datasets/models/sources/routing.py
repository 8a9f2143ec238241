# SPDX-License-Identifier: Apache-2.0
"""Sparse layers: top-k routing to experts, an embedding bag, and sorts."""
import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, width=8, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.weight = nn.Parameter(torch.randn(experts, width, width))

    def forward(self, x):
        scores, chosen = torch.topk(torch.softmax(self.gate(x), -1), 2, dim=-1)
        scores = scores / scores.sum(-1, keepdim=True)
        order = torch.argsort(chosen.flatten())
        load = torch.nn.functional.one_hot(chosen, 4).sum((0, 1))
        picked = torch.einsum("td,tkde->tke", x, self.weight[chosen])
        mixed = (picked * scores.unsqueeze(-1)).sum(1)
        return mixed.index_add(0, order[:2], x[:2]), load, torch.sort(load, descending=True)[1]


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(16, 4, mode="mean")

    def forward(self, words, offsets):
        return self.bag(words, offsets)


CASES = {
    "routing": lambda: dict(model=Router().eval(), args=(torch.randn(6, 8),)),
    "embedding_bag": lambda: dict(model=Bag().eval(), args=(torch.arange(8), torch.tensor([0, 3, 5]))),
}
