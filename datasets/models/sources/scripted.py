# SPDX-License-Identifier: Apache-2.0
"""Modules for TorchScript fixtures: one trap each."""
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn


class Steps(nn.Module):
    """two methods, a while loop, a branch on a value, fork and wait, an optional argument"""

    def __init__(self):
        super().__init__()
        self.rounds = 3
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.register_buffer("shift", torch.arange(4.0))

    def total(self, items: List[torch.Tensor]) -> torch.Tensor:
        out = torch.zeros_like(items[0])
        for item in items:
            out += item
        return out

    def forward(self, x: torch.Tensor, scale: Optional[float], table: Dict[str, int]) -> Tuple[torch.Tensor, int]:
        kept: List[torch.Tensor] = []
        count = 0
        for layer in self.layers:
            i = 0
            while i < self.rounds:
                x = torch.tanh(layer(x))
                i += 1
                if bool(x.sum() > 0):
                    count += int(x.size(0))
                else:
                    x = x.neg()
            kept.append(x)
        future = torch.jit.fork(self.total, kept)
        y = torch.jit.wait(future) + self.shift
        if scale is not None:
            y = y * scale
        if "double" in table:
            y = torch.add(y, y, alpha=2)
        return y, count + len(kept)

    @torch.jit.export
    def outer(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ij,kj->ik", x, x)


class Devices(nn.Module):
    """device literals: written, taken from a tensor, and as a default"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fixed = torch.zeros(2, device="cuda:0")
        own = torch.ones(2, device=x.device)
        return x + fixed.to(x.device) + own.to("cpu")


class Restored(nn.Module):
    """state that a method of the file computes while it is loaded"""

    def __init__(self):
        super().__init__()
        self.table = torch.zeros(3)

    @torch.jit.export
    def __getstate__(self):
        return self.table, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        self.table = torch.relu(state[0]) + 1
        self.training = state[1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x) * self.table


class Counted(nn.Module):
    """sizes that follow from sizes, and one that follows from values"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.size(0) * 2
        y = x.repeat(2, 1).view(rows, -1)
        picked = y[y[:, 0] > 0]
        return torch.cat([picked, y], dim=0)


class Custom(nn.Module):
    """operators nobody registers: one result, two, a list, a number"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = torch.ops.scriptlib.halves(x, 2)
        parts = torch.ops.scriptlib.pieces(a, dim=1)
        factor = torch.ops.scriptlib.factor(b)
        return torch.relu(parts[0]) * factor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.conv(x)))
        return self.head(y.mean([2, 3]))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(x)


class Cast(nn.Module):
    """a region of autocast, which casts operands without a node"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.mm(x, x)
        return y * 2


class InPlace(nn.Module):
    """a branch that changes a shape in place, through a dictionary too"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        if bool(y.sum() < 0):
            y.unsqueeze_(0)
        kept = {"a": y}
        kept["a"].squeeze_(0)
        return y.neg()


class Stateful(nn.Module):
    """an attribute that another method replaces"""

    def __init__(self):
        super().__init__()
        self.k = torch.zeros(4, 4)

    @torch.jit.export
    def prepare(self):
        self.k = torch.zeros(8, 8, dtype=torch.int64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mm(self.k, self.k)


class Writes(nn.Module):
    """makes a file while it is loaded"""

    def __init__(self):
        super().__init__()
        self.n = 1

    @torch.jit.export
    def __getstate__(self):
        return self.n, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        made = torch.from_file("neuron_check_was_here", True, 4)
        self.n = state[0] + int(made.size(0))
        self.training = state[1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.n


class Endless(nn.Module):
    """never finishes loading"""

    def __init__(self):
        super().__init__()
        self.n = 1

    @torch.jit.export
    def __getstate__(self):
        return self.n, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        self.n = state[0]
        self.training = state[1]
        while self.n > 0:
            self.n = 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.n


class Hungry(nn.Module):
    """takes memory without end while it is loaded"""

    def __init__(self):
        super().__init__()
        self.n = 1

    @torch.jit.export
    def __getstate__(self):
        return self.n, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        self.training = state[1]
        kept: List[torch.Tensor] = []
        while state[0] > 0:
            kept.append(torch.ones([1 << 24], device="cpu"))
        self.n = len(kept)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.n


class Helpers(nn.Module):
    """methods without any operator beside forward"""

    def __init__(self):
        super().__init__()
        self.table = torch.zeros(3)
        self.names = ["a", "b"]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)

    @torch.jit.export
    def __len__(self) -> int:
        return 3

    @torch.jit.export
    def label(self, index: int) -> str:
        return self.names[index % len(self.names)]

    @torch.jit.export
    def __getstate__(self):
        return self.table, self.names, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, List[str], bool]):
        self.table = state[0]
        self.names = state[1]
        self.training = state[2]


class Hollow(nn.Module):
    """no method has any operator"""

    def __init__(self):
        super().__init__()
        self.table = torch.zeros(3)

    @torch.jit.export
    def __len__(self) -> int:
        return 3

    @torch.jit.export
    def same(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Hidden(nn.Module):
    """a method whose only tensor is made by a builtin of the interpreter"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)

    @torch.jit.export
    def made(self, n: int) -> torch.Tensor:
        return torch.tensor([n, 2])


class Defaults(nn.Module):
    """arguments that are no tensors, all with defaults that decide shapes"""

    def forward(
        self,
        x: torch.Tensor,
        times: int = 2,
        scale: float = 0.5,
        flat: bool = True,
        how: str = "mean",
        mask: Optional[torch.Tensor] = None,
        size: Tuple[int, int] = (4, 4),
    ) -> torch.Tensor:
        y = x.repeat(times, 1).view(size) * scale
        if mask is not None:
            y = y.unsqueeze(0) + mask
        if flat:
            y = y.reshape(-1)
        if how == "sum":
            return y.sum()
        return torch.neg(y)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.gate = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())

    def part(self, x: torch.Tensor) -> torch.Tensor:
        return self.gate(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        future = torch.jit.fork(self.part, x)
        return self.lin(x) * torch.jit.wait(future)


class Nested(nn.Module):
    """module paths through lists, dictionaries and sequences of modules, and through forks"""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Cell(), Cell()])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Sequential(nn.ReLU(), nn.Linear(4, 4))})
        rows = [nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)]) for _ in range(2)]
        self.grid = nn.ModuleList(rows)
        self.tail = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Linear(4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for cell in self.cells:
            x = cell(x)
        for head in self.heads.values():
            x = x + head(x)
        for row in self.grid:
            for linear in row:
                x = linear(x)
        part = torch.jit.fork(self.cells[1].part, x)
        tail = torch.jit.fork(self.tail, x)
        if bool(x.sum() > 0):
            x = self.cells[0].gate[0](x)
        return torch.jit.wait(tail).sum() + torch.jit.wait(part) + self.heads["a"](x)


class Doubling(nn.Module):
    """loops that make lists and texts of 2 to the power of 60 items, and a list of a billion"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        items = [1]
        text = "ab"
        for _ in range(60):
            items = items + items
            text = text + text
        zeros = [0] * 1000000000
        return torch.relu(x) + (len(items) + len(text) + len(zeros))
