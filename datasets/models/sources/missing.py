# SPDX-License-Identifier: Apache-2.0
"""Several operators that few accelerators have, one of them used twice; and attention with a mask."""
import torch
import torch.nn.functional as F
from torch import nn


class Missing(nn.Module):
    def forward(self, x):
        a = torch.linalg.cholesky(x @ x.t() + torch.eye(4))
        b = torch.digamma(a.diagonal() + 2)
        return torch.logcumsumexp(b, 0), torch.digamma(b + 1)


class Masked(nn.Module):
    def forward(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.5)


def masked():
    q = torch.randn(1, 2, 4, 8)
    return dict(model=Masked(), args=(q, q + 1, q - 1, torch.ones(1, 1, 4, 4).tril().bool()))


CASES = {
    "missing": lambda: dict(model=Missing(), args=(torch.randn(4, 4),)),
    "masked_attention": masked,
}
