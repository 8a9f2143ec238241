# SPDX-License-Identifier: Apache-2.0
"""Operators of a library that is not there when the file is read: mutating, list-returning, with awkward strings."""
import torch
from torch import nn


@torch.library.custom_op("demolib::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float = 2.0, label: str = "plain") -> torch.Tensor:
    return x * factor


@scale.register_fake
def _(x, factor=2.0, label="plain"):
    return torch.empty_like(x)


@torch.library.custom_op("demolib::push_", mutates_args={"store"})
def push_(store: torch.Tensor, x: torch.Tensor) -> None:
    store.add_(x)


LIBRARY = torch.library.Library("demolib", "FRAGMENT")
LIBRARY.define("halves.axis(Tensor x, int axis=0) -> (Tensor, Tensor[])")


@torch.library.impl(LIBRARY, "halves.axis", "CompositeExplicitAutograd")
def _halves(x, axis=0):
    return x.clone(), [part.clone() for part in x.chunk(2, axis)]


@torch.library.register_fake("demolib::halves.axis", lib=LIBRARY)
def _halves_fake(x, axis=0):
    return torch.empty_like(x), [torch.empty_like(part) for part in x.chunk(2, axis)]


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.register_buffer("store", torch.zeros(2, 4))

    def forward(self, x):
        y = torch.ops.demolib.scale(self.proj(x), 0.5, "it's \"quoted\"\\n, [x];")
        torch.ops.demolib.push_(self.store, y)
        whole, parts = torch.ops.demolib.halves.axis(y)
        return whole + parts[1], self.store + 1


CASES = {
    "custom_op": lambda: dict(model=Custom().eval(), args=(torch.randn(2, 4),)),
    "custom_op_core": lambda: dict(model=Custom().eval(), args=(torch.randn(2, 4),), decompose="core"),
}
