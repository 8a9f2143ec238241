# SPDX-License-Identifier: Apache-2.0
"""Formulas of companions.tsv in torch, for the operators check_companions.py runs. Everything is float64.

A formula is called with H (the truth), a (the arguments by position) and k, and returns S with the shape of H.
"""
import math

import torch

U = 2.0**-24
TINY = 2.0**-126 / U  # What an exponential that underflows in the accumulator loses, in units of u_acc.
erf_of = lambda x: torch.erf(x / math.sqrt(2))
tanh_of = lambda x: torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
sigmoid, log1p, exp = torch.sigmoid, torch.log1p, torch.exp


def value(H, a, k):
    return H.abs()


def one_plus_value(H, a, k):
    return 1 + H.abs()


def gelu(approximate):
    e = tanh_of if approximate == "tanh" else erf_of
    return lambda H, a, k: a[0].abs() / 2 * (1 + e(a[0]).abs())


def gelu_backward(approximate):
    def formula(H, a, k):
        g, x = a[0].abs(), a[1]
        if approximate == "none":
            phi = exp(-x * x / 2) / math.sqrt(2 * math.pi)
            return g * ((1 + erf_of(x).abs()) / 2 + x.abs() * phi * (1 + x * x / 2))
        e = tanh_of(x)
        slope = math.sqrt(2 / math.pi) * (1 + 0.134145 * x * x)
        return g * ((1 + e.abs()) / 2 + x.abs() / 2 * (1 + e * e) * slope)

    return formula


def conditioned(function):
    def formula(H, a, k):
        with torch.enable_grad():
            inputs = [t.clone().requires_grad_() if isinstance(t, torch.Tensor) else t for t in a]
            tensors = [t for t in inputs if isinstance(t, torch.Tensor)]
            grads = torch.autograd.grad(function(*inputs).sum(), tensors)
        return H.abs() + sum((t * g).abs() for t, g in zip(tensors, grads)).detach()

    return formula


def silu_backward(H, a, k):
    return a[0].abs() * sigmoid(a[1]) * (1 + a[1].abs())


def mish_backward(H, a, k):
    t = torch.tanh(log1p(exp(a[1])))
    return a[0].abs() * (t + a[1].abs() * sigmoid(a[1]) * (1 + t * t))


def tanh_backward(H, a, k):
    return a[0].abs() * (1 + a[1] ** 2)


def lerp(H, a, k):
    return a[0].abs() + abs(a[2]) * (a[1].abs() + a[0].abs())


def elu_naive(H, a, k):
    return torch.where(a[0] <= 0, exp(a[0]) + 1, H.abs())


def lgamma(H, a, k):
    x = a[0]
    reflected = torch.log(torch.sin(math.pi * x).abs()).abs() + torch.lgamma(1 - x).abs()
    return 1 + H.abs() + torch.where(x < 0.5, reflected, torch.zeros_like(x))


def digamma(H, a, k):
    x = a[0]
    reflected = math.pi / torch.tan(math.pi * x).abs() + torch.digamma(1 - x).abs()
    return 1 + H.abs() + torch.where(x < 0, reflected, torch.zeros_like(x))


def terms_abs(H, a, k):
    return a[0].abs().sum(-1)


def mean_abs(H, a, k):
    return a[0].abs().mean(-1)


def prefix_abs(H, a, k):
    return a[0].abs().cumsum(-1)


def spread(x, p):
    return (p * (x - x.amax(-1, True)).abs()).sum(-1, True)


def softmax(H, a, k):
    x = a[0]
    return H * (1 + spread(x, H) + (x - x.amax(-1, True)).abs() / math.sqrt(k))


def log_softmax(H, a, k):
    x = a[0]
    shifted = x - x.amax(-1, True)
    s = exp(shifted).sum(-1, True)
    return 1 + spread(x, exp(H)) + (shifted.abs() + torch.log(s)) / math.sqrt(k)


def logsumexp(H, a, k):
    x, m = a[0], a[0].amax(-1)
    return 1 + spread(x, exp(x - H[..., None]))[..., 0] + (m.abs() + (H - m).abs()) / math.sqrt(k)


def logcumsumexp(H, a, k):
    x = a[0]
    out = torch.empty_like(x)
    for i in range(x.shape[-1]):
        head = x[..., : i + 1]
        p = exp(head - H[..., i : i + 1])
        out[..., i] = 1 + H[..., : i + 1].abs().amax(-1) + spread(head, p)[..., 0]
    return out


def softmax_backward(H, a, k):
    g, y = a[0].abs(), a[1].abs()
    return y * (g / math.sqrt(k) + (g * y).sum(-1, True))


def log_softmax_backward(H, a, k):
    g = a[0].abs()
    return g / math.sqrt(k) + exp(a[1]) * g.sum(-1, True)


def variance(x, k, correction, naive=False):
    n, q = x.shape[-1], (x * x).mean(-1)
    v = x.var(-1, correction=0)
    stable = v + (v * q).sqrt() / k + 4 * math.sqrt(k) * U * q
    return n / (n - correction) * (q + x.mean(-1) ** 2 if naive else stable)


def variance_of(naive):
    return lambda H, a, k: variance(a[0], k, 1, naive)


def deviation_of(naive):
    def formula(H, a, k):
        V = variance(a[0], k, 1, naive)
        return torch.minimum(V / (2 * H), (V / (4 * math.sqrt(k) * U)).sqrt()) + H.abs() / math.sqrt(k)

    return formula


def normalise(naive):
    def formula(H, a, k):
        x, weight, bias, eps = a[0], a[2], a[3], a[4]
        v = x.var(-1, correction=0)[..., None]
        V = variance(x, k, 0, naive)[..., None]
        r = (v + eps) ** -0.5
        centred = (x - x.mean(-1, True)).abs() * (1 + V / (2 * (v + eps)))
        return (x.abs().mean(-1, True) + centred) * r * weight.abs() + bias.abs() / math.sqrt(k)

    return formula


def norm_backward(naive):
    def formula(H, a, k):
        g, x, mean, rstd, weight = a[0], a[1], a[3], a[4], a[5]
        g = (g * weight).abs()
        y = (x.abs() + mean.abs()) * rstd if naive else ((x - mean) * rstd).abs()
        return rstd * (g / math.sqrt(k) + g.mean(-1, True) + y * (g * y).mean(-1, True))

    return formula


def norm_backward_weight(naive):
    def formula(H, a, k):
        g, x, mean, rstd = a[0].abs(), a[1], a[3], a[4]
        y = (x.abs() + mean.abs()) * rstd if naive else ((x - mean) * rstd).abs()
        return (g * y).sum(0)

    return formula


def attention_parts(q, key, mask, k):
    scale = 1 / math.sqrt(q.shape[-1])
    logits = q @ key.mT * scale + (0 if mask is None else mask)
    p = torch.softmax(logits, -1)
    D = scale * q.abs() @ key.abs().mT + (logits - logits.amax(-1, True)).abs() / math.sqrt(k)
    if mask is not None:
        D = D + mask.abs()
    return scale, p, (p + TINY) * (1 + D + (p * D).sum(-1, True))


def attention(H, a, k):
    _, _, P = attention_parts(a[0], a[1], None, k)
    return P @ a[2].abs()


def attention_backward(output):
    def formula(H, a, k):
        g, q, key, v = a[0].abs(), a[1], a[2], a[3].abs()
        scale, p, P = attention_parts(q, key, None, k)
        # First order in the error of the logits: where that error is no longer small, nothing is bounded.
        D = scale * q.abs() @ key.abs().mT
        P = P.masked_fill(D * math.sqrt(k) * U > 1 / 16, math.inf)
        G = P * (g @ v.mT + (g * (p @ v)).sum(-1, True))
        return (scale * G @ key.abs(), scale * G.mT @ q.abs(), P.mT @ g)[output]

    return formula


def cdist_naive(H, a, k):
    Q = ((a[0].abs()[:, None] + a[1].abs()[None]) ** 2).sum(-1)
    return torch.minimum(Q / (2 * H), (Q / (4 * math.sqrt(k) * U)).sqrt())


def interpolate_linear(H, a, k):
    """upsample_linear1d: |dH/dc| is the difference of the two neighbours."""
    x, n_out = a[0], a[1][0]
    n = x.shape[-1]
    c = ((torch.arange(n_out, dtype=torch.float64) + 0.5) * n / n_out - 0.5).clamp(min=0)
    low = c.floor().long()
    high = (low + 1).clamp(max=n - 1)
    w = c - low
    taps = (1 - w) * x[..., low].abs() + w * x[..., high].abs()
    return taps + n * (x[..., high] - x[..., low]).abs()


def fft_modulus(H, a, k):
    return a[0].norm(dim=-1, keepdim=True) + H.abs()


def bce_logits(H, a, k):
    x, t = a[0], a[1]
    return (x.abs() * (1 + t.abs()) + log1p(exp(-x.abs()))).mean()


def cross_entropy(H, a, k):
    x, t = a[0], a[1]
    shifted = x - x.amax(-1, True)
    s = exp(shifted).sum(-1)
    own = shifted.gather(-1, t[:, None])[:, 0].abs()
    return (1 + spread(x, torch.softmax(x, -1))[:, 0] + own + torch.log(s)).mean()


def product_abs(H, a, k):
    return a[0].abs() @ a[1].abs()
