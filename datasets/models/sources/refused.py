# SPDX-License-Identifier: Apache-2.0
"""Operators that documents say an accelerator refuses, a few in each model, each with a neighbour that is allowed."""
import torch
import torch.nn.functional as F
from torch import nn


class Integers(nn.Module):
    """Sorting, scattering, powers, shifts and products of integers; the float twin of each is fine."""

    def forward(self, x, f, index):
        sums = torch.zeros(8, dtype=torch.int64).scatter_add(0, index, x)
        floats = torch.zeros(8).scatter_add(0, index, f)
        table = x.view(2, 4)
        product = table @ table.t()
        shifted = torch.bitwise_right_shift(x, 2) + torch.bitwise_right_shift(x.int(), 2)
        put = torch.index_put(x, [index], x, accumulate=True)
        return sums, floats, product, shifted, put, x**2, f**2, torch.topk(x.int(), 2)[0], torch.topk(f, 2)[0], torch.sort(f)[0]


class Layers(nn.Module):
    """Dilated pooling, a strided transposed convolution with dilation, a triangular solve, a window, bicubic resizing."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 2, 3, stride=2, dilation=2)
        self.plain = nn.ConvTranspose2d(2, 2, 3)

    def forward(self, image, lower, right):
        pooled = F.max_pool2d(image, 2, stride=1, dilation=2) + F.max_pool2d(image, 3, stride=1)
        wide = self.up(image).sum() + self.plain(image).sum()
        solved = torch.linalg.solve_triangular(lower, right, upper=False)
        window = torch.hann_window(8)
        resized = F.interpolate(image, scale_factor=2.0, mode="bicubic", antialias=True)
        return pooled, wide, solved, window, resized


class Quantised(nn.Module):
    def forward(self, x, scale, zero):
        channels = torch.fake_quantize_per_channel_affine(x, scale, zero, 0, -128, 127)
        return channels + torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)


class Dtypes(nn.Module):
    """float8 of both families, complex and float64 arithmetic."""

    def __init__(self):
        super().__init__()
        self.register_buffer("fnuz", torch.ones(4).to(torch.float8_e4m3fnuz))
        self.register_buffer("e4", torch.ones(4).to(torch.float8_e4m3fn))

    def forward(self, x, z):
        return self.fnuz.float() + self.e4.float(), z * z.conj(), x.double() @ x.double().t()


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))

    def forward(self, x):
        return torch.sparse.mm(x.to_sparse(), self.weight)


def integers():
    return dict(model=Integers(), args=(torch.arange(8), torch.randn(8), torch.arange(8) % 3))


def layers():
    lower = torch.eye(3) + torch.ones(3, 3).tril()
    return dict(model=Layers().eval(), args=(torch.randn(1, 2, 6, 6), lower, torch.randn(3, 2)))


def quantised():
    return dict(model=Quantised(), args=(torch.randn(2, 3), torch.tensor([0.1, 0.2]), torch.tensor([0, 1], dtype=torch.int32)))


CASES = {
    "refused_integers": integers,
    "refused_layers": layers,
    "refused_quantised": quantised,
    "refused_dtypes": lambda: dict(model=Dtypes(), args=(torch.randn(2, 4), torch.randn(4, dtype=torch.complex64))),
    "refused_sparse": lambda: dict(model=Sparse(), args=(torch.eye(4),)),
}
