# SPDX-License-Identifier: Apache-2.0
"""The calls make_cpu_legs.py measures: operator, inputs, length, and the companions of its rule.

Inputs come from a counter: element i of operand s is a function of (s, i) in whole numbers, so that they are the same everywhere
and need not be kept.
"""
import dataclasses
import math
import typing

import numpy
import torch

import companion_formulas as c

A = torch.ops.aten
EPSILON = 1e-5


@dataclasses.dataclass
class Case:
    name: str
    op: str  # of op_rules.tsv
    inputs: str
    k: int
    function: typing.Callable
    args: list  # fp64 tensors, quantised by the caller, and what is no tensor
    magnitude: typing.Callable = c.value
    unstable: typing.Callable | None = None
    stored: typing.Callable | None = None


def counter(seed, n):
    """n numbers of 32 bits: the mixing function of SplitMix64 over a counter."""
    z = numpy.arange(n, dtype=numpy.uint64) + numpy.uint64((seed << 40) & (2**64 - 1))
    with numpy.errstate(over="ignore"):
        z = (z + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> numpy.uint64(31))) >> numpy.uint64(32)).astype(numpy.int64)


def uniform(seed, *sizes):
    return torch.from_numpy(counter(seed, math.prod(sizes)) * 2.0**-32).reshape(sizes)


def normal(seed, *sizes):
    """Twelve uniform numbers less six: near enough to N(0, 1), and exact whatever the libraries."""
    n = math.prod(sizes)
    twelve = counter(seed, 12 * n).reshape(n, 12).sum(1)
    return torch.from_numpy(twelve * 2.0**-32 - 6).reshape(sizes)


def absolute(function):
    """The companion "operands": the operator on absolute values."""
    return lambda H, a, k: function(*[t.abs() if isinstance(t, torch.Tensor) else t for t in a])


def contractions(k):
    yield Case("mm", "aten::mm", "normal", k, torch.mm, [normal(1, 12, k), normal(2, k, 16)], c.product_abs)
    yield Case("mm", "aten::mm", "positive", k, torch.mm, [uniform(3, 12, k), uniform(4, k, 16)], c.product_abs)
    dot = lambda x, w, b: A.addmm(b, x, w)
    args = [normal(5, 12, k), normal(6, k, 16), normal(7, 16)]
    yield Case("addmm", "aten::addmm", "normal", k, dot, args, absolute(dot))


def convolutions():
    x, w, b = normal(8, 1, 16, 12, 12), normal(9, 8, 16, 3, 3), normal(10, 8)
    yield Case("conv2d", "aten::conv2d", "normal", 144, A.conv2d, [x, w, b], absolute(A.conv2d))


def rows(seed, draw, k, offset=0):
    """64 rows, the last twice as large as the first: the results of narrow dtypes differ."""
    return (draw(seed, 64, k) + offset) * (1 + torch.arange(64, dtype=torch.float64)[:, None] / 64)


def reductions(k):
    for inputs, x in (("normal", normal(20, 64, k)), ("positive", rows(21, uniform, k)), ("mean 4", rows(22, normal, k, 4))):
        yield Case("sum", "aten::sum", inputs, k, lambda t: t.sum(-1), [x], c.terms_abs)
        yield Case("mean", "aten::mean", inputs, k, lambda t: t.mean(-1), [x], c.mean_abs)
        prefix = lambda H, a, n: c.prefix_abs(H, [a[0][:8]], n)
        yield Case("cumsum", "aten::cumsum", inputs, k, lambda t: t[:8].cumsum(-1), [x], prefix)
        yield Case("logsumexp", "aten::logsumexp", inputs, k, lambda t: t.logsumexp(-1), [x], c.logsumexp)
    log_softmax = lambda t: t[:8].log_softmax(-1)
    squares = lambda t: (t * t).mean(-1) - t.mean(-1) ** 2
    for inputs, x in (("normal", normal(23, 64, k)), ("positive", rows(24, uniform, k)), ("mean 1000", normal(25, 64, k) + 1000)):
        yield Case("var", "aten::var", inputs, k, lambda t: t.var(-1), [x], c.variance_of(False), c.variance_of(True))
        yield Case("std", "aten::std", inputs, k, lambda t: t.std(-1), [x], c.deviation_of(False), c.deviation_of(True))
        formula = lambda naive: lambda H, a, n: c.variance(a[0], n, 0, naive)
        yield Case("mean(x^2) - mean(x)^2", "aten::var", inputs, k, squares, [x], formula(False), formula(True))
        yield Case("softmax", "aten::softmax", inputs, k, lambda t: t[:8].softmax(-1), [x], on_rows(c.softmax))
        yield Case("log_softmax", "aten::_log_softmax", inputs, k, log_softmax, [x], on_rows(c.log_softmax), on_rows(log_softmax_naive))


def log_softmax_naive(H, a, k):
    """x - logsumexp(x), both at full size."""
    x = a[0]
    return 1 + c.spread(x, torch.exp(H)) + (x.abs() + x.logsumexp(-1, True).abs()) / math.sqrt(k)


def on_rows(formula):
    return lambda H, a, k: formula(H, [a[0][:8]], k)


def norms(k):
    norm2 = lambda t: torch.linalg.vector_norm(t, 2, -1)
    for inputs, x in (("normal", normal(30, 64, k)), ("times 100", normal(31, 64, k) * 100), ("times 2^-12", normal(32, 64, k) * 2.0**-12)):
        yield Case("norm2", "aten::linalg_vector_norm", inputs, k, norm2, [x])
    yield Case("norm1", "aten::linalg_vector_norm", "normal", k, lambda t: torch.linalg.vector_norm(t, 1, -1), [normal(33, 64, k)])


def reported():
    """pytorch issue 92164: the norm of 5,120 ones in bf16 was 256."""
    yield Case("norm2", "aten::linalg_vector_norm", "ones", 5120, lambda t: torch.linalg.vector_norm(t, 2, -1), [torch.ones(2, 5120, dtype=torch.float64)])


def normalisations(k):
    for mean in (0, 10, 1000):
        inputs = f"mean {mean}"
        layer = lambda t, w, b: torch.nn.functional.layer_norm(t, (t.shape[-1],), w, b, EPSILON)
        args = [normal(40 + mean, 8, k) + mean, normal(41, k), normal(42, k)]
        shape = lambda naive: lambda H, a, n: c.normalise(naive)(H, [a[0], None, a[1], a[2], EPSILON], n)
        yield Case("layer_norm", "aten::layer_norm", inputs, k, layer, args, shape(False), shape(True))
        # As many elements behind each moment: 4 channels of a group, or 16 samples of a channel.
        side = int(math.sqrt(k // 4))
        group = lambda t, w, b: torch.nn.functional.group_norm(t, 2, w, b, EPSILON)
        args = [normal(43 + mean, 2, 8, side, side) + mean, normal(44, 8), normal(45, 8)]
        yield Case("group_norm", "aten::group_norm", inputs, k, group, args, grouped(False, 2), grouped(True, 2))
        side = int(math.sqrt(k // 16))
        batch = lambda t, w, b: torch.nn.functional.batch_norm(t, None, None, w, b, True, 0.1, EPSILON)
        args = [normal(46 + mean, 16, 4, side, side) + mean, normal(47, 4), normal(48, 4)]
        yield Case("batch_norm", "aten::batch_norm", inputs, k, batch, args, batched(False), batched(True))
    rms = lambda t, w: torch.nn.functional.rms_norm(t, (t.shape[-1],), w, EPSILON)
    yield Case("rms_norm", "aten::rms_norm", "mean 10", k, rms, [normal(49, 8, k) + 10, normal(50, k)], stored=c.value)


def grouped(naive, groups):
    def formula(H, a, k):
        x, weight, bias = a
        rows = lambda t: t.reshape(x.shape[0] * groups, -1)
        spread = lambda t: rows(t.view(1, -1, 1, 1).expand(x.shape))
        return c.normalise(naive)(rows(H), [rows(x), None, spread(weight), spread(bias), EPSILON], k).reshape(x.shape)

    return formula


def batched(naive):
    def formula(H, a, k):
        x, weight, bias = a
        rows = lambda t: t.transpose(0, 1).reshape(x.shape[1], -1)
        spread = lambda t: rows(t.view(1, -1, 1, 1).expand(x.shape))
        S = c.normalise(naive)(rows(H), [rows(x), None, spread(weight), spread(bias), EPSILON], k)
        return S.reshape(x.shape[1], x.shape[0], *x.shape[2:]).transpose(0, 1)

    return formula


def attention(k):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    args = [normal(60, 1, 2, 16, 64), normal(61, 1, 2, k, 64), uniform(62, 1, 2, k, 64)]
    yield Case("sdpa", "aten::scaled_dot_product_attention", "normal, values positive", max(k, 64), sdpa, args, c.attention, stored=attention_stored)


def attention_stored(H, a, k):
    q, key, v = a
    s = q @ key.mT / math.sqrt(q.shape[-1])
    p = torch.softmax(s, -1)
    return (p * (1 + s.abs() + (p * s.abs()).sum(-1, True))) @ v.abs()


UNARY = {
    "exp": (torch.exp, "aten::exp", c.value, None),
    "expm1": (torch.expm1, "aten::expm1", c.value, None),
    "log": (torch.log, "aten::log", c.value, None),
    "sin": (torch.sin, "aten::sin", c.value, None),
    "tanh": (torch.tanh, "aten::tanh", c.value, None),
    "erf": (torch.erf, "aten::erf", c.value, None),
    "rsqrt": (torch.rsqrt, "aten::rsqrt", c.value, None),
    "sqrt": (torch.sqrt, "aten::sqrt", c.value, None),
    "gelu": (A.gelu, "aten::gelu", c.gelu("none"), None),
    "gelu, tanh": (lambda t: A.gelu(t, approximate="tanh"), "aten::gelu", c.gelu("tanh"), None),
    "silu": (A.silu, "aten::silu", c.value, absolute(A.silu)),
    "sigmoid": (torch.sigmoid, "aten::sigmoid", c.value, lambda H, a, k: torch.ones_like(H)),
    "softplus": (A.softplus, "aten::softplus", c.conditioned(A.softplus), None),
}


def elementwise(dtype):
    """Every number of a 16-bit format from 2^-10 to 8, 65,536 of fp32; for sin every larger one too, to 30,000."""
    if dtype == torch.float32:
        x, large = normal(70, 65536) * 4, normal(71, 65536) * 8000
    else:
        every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype).double()
        x = every[(every.abs() >= 2.0**-10) & (every.abs() <= 8)]
        large = every[(every.abs() > 8) & (every.abs() < 30000)]
    for name, (function, op, magnitude, unstable) in UNARY.items():
        taken = x[x > 0] if name in ("log", "rsqrt", "sqrt") else x
        yield Case(name, op, "to 8", 1, function, [taken], magnitude, unstable)
    yield Case("sin", "aten::sin", "8 to 30000", 1, torch.sin, [large])


def all_cases(dtype):
    for k in (256, 4096):
        yield from contractions(k)
        yield from reductions(k)
        yield from norms(k)
        yield from normalisations(k)
        yield from attention(k)
    yield from convolutions()
    yield from reported()
    yield from elementwise(dtype)
