# SPDX-License-Identifier: Apache-2.0
"""Devices written into the code, tensors made from nothing, constants, and random numbers."""
import torch
from torch import nn


class Devices(nn.Module):
    def forward(self, x):
        grid = torch.arange(4, dtype=torch.float32, device="cpu")
        return x + torch.zeros(4, device=x.device) + grid, torch.ones(2, 3), x.to("cpu").new_full((2,), 7.0)


class Constants(nn.Module):
    """A constant tensor, detach and views: none of it is work for the device."""

    def __init__(self):
        super().__init__()
        self.table = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x):
        return x.detach().view(4, 2).t().unsqueeze(0) + self.table.expand(1, 2, 4), torch.tensor([5, 6])


class Random(nn.Module):
    def forward(self, x):
        noise = torch.rand_like(x) + torch.randn(2, 4)
        kept = torch.bernoulli(torch.full_like(x, 0.5))
        return nn.functional.dropout(x * kept + noise, 0.25, True), torch.randint(0, 9, (3,))


CASES = {
    "devices": lambda: dict(model=Devices(), args=(torch.randn(4),)),
    "constants": lambda: dict(model=Constants(), args=(torch.randn(8),)),
    "random_ops": lambda: dict(model=Random(), args=(torch.randn(2, 4),)),
}
