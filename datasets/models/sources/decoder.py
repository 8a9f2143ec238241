# SPDX-License-Identifier: Apache-2.0
"""A bf16 decoder block: RMS norm, rotary embedding under no_grad, grouped-query causal attention, gated MLP, tied head."""
import torch
import torch.nn.functional as F
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, dim, 2).float() / dim), persistent=False)

    @torch.no_grad()
    def forward(self, length, dtype):
        steps = torch.arange(length, device=self.inv_freq.device).float()
        angles = torch.outer(steps, self.inv_freq)
        table = torch.cat([angles, angles], dim=-1)
        return table.cos().to(dtype), table.sin().to(dtype)


def rotate(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.dim = heads, groups, width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, groups * self.dim, bias=False)
        self.v = nn.Linear(width, groups * self.dim, bias=False)
        self.o = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        q = self.q(x).view(batch, length, self.heads, self.dim).transpose(1, 2)
        k = self.k(x).view(batch, length, self.groups, self.dim).transpose(1, 2)
        v = self.v(x).view(batch, length, self.groups, self.dim).transpose(1, 2)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.attention = Attention(width, heads, groups)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, width=16, layers=1, vocabulary=32, heads=4, groups=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rotary = Rotary(width // heads)
        self.layers = nn.ModuleList([Layer(width, heads, groups) for _ in range(layers)])
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        cos, sin = self.rotary(tokens.shape[1], x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x))


def base(**options):
    torch.set_default_dtype(torch.bfloat16)
    model = Decoder().eval()
    return dict(model=model, args=(torch.arange(12).view(2, 6) % 32,), **options)


CASES = {
    "decoder": base,
    "decoder_core": lambda: base(decompose="core"),
    "decoder_weightless": lambda: dict(build=base, weightless="fake"),
}
