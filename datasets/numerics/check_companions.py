# SPDX-License-Identifier: Apache-2.0
"""Do the companions keep torch's own float32 kernels within their bound, and how far from it?

    python3 datasets/numerics/check_companions.py

For each operator and several input families prints the worst error / B_exp, where the error is that of the CPU's float32 kernel
against float64 on the same numbers, and B_exp that of op_rules.tsv: above 1 is a false alarm, far below 0.01 a bound that sees
little. Operators with an unstable formula have a second number: above 1 in the first and below in the second is a weak pass.
Exit code 1 where neither holds. The last column is what S = |H| would give. Needs torch 2.13.0 (CPU).
"""
import collections
import math
import pathlib
import sys

import torch

import companion_formulas as c

A = torch.ops.aten
ROWS = 64
FAMILIES = {
    "normal": lambda *s: torch.randn(s),
    "positive": lambda *s: torch.rand(s),
    "wide": lambda *s: torch.randn(s) * 8,
    "mean 10": lambda *s: torch.randn(s) + 10,
    "mean 1000": lambda *s: torch.randn(s) + 1000,
    "small": lambda *s: torch.randn(s) * 2.0**-20,
}


def rules():
    table = {}
    for line in (pathlib.Path(__file__).parent / "op_rules.tsv").read_text().splitlines()[1:]:
        op, output, *rest = line.split("\t")
        table[op.removeprefix("aten::"), 0 if output == "*" else int(output)] = rest
    return table


def grad_like(x):
    return torch.randn(x.shape)


def pointwise(draw):
    x, y = draw(ROWS, 1000), draw(ROWS, 1000)
    g = grad_like(x)
    yield "gelu", 0, A.gelu, [x], 1, c.gelu("none")
    yield "gelu", 0, lambda t: A.gelu(t, approximate="tanh"), [x], 1, c.gelu("tanh")
    yield "gelu_backward", 0, A.gelu_backward, [g, x], 1, c.gelu_backward("none")
    yield "gelu_backward", 0, lambda a, b: A.gelu_backward(a, b, approximate="tanh"), [g, x], 1, c.gelu_backward("tanh")
    yield "silu", 0, A.silu, [x], 1, c.value
    yield "silu_backward", 0, A.silu_backward, [g, x], 1, c.silu_backward
    yield "sigmoid", 0, A.sigmoid, [x], 1, c.value
    yield "softplus", 0, lambda t: A.softplus(t, 0.7), [x], 1, c.conditioned(lambda t: torch.nn.functional.softplus(t, 0.7))
    yield "mish", 0, A.mish, [x], 1, c.value
    yield "mish_backward", 0, A.mish_backward, [g, x], 1, c.mish_backward
    yield "elu", 0, A.elu, [x], 1, c.value, c.elu_naive
    yield "tanh_backward", 0, A.tanh_backward, [g, torch.tanh(x)], 1, c.tanh_backward
    yield "lerp", 0, lambda a, b: A.lerp(a, b, 0.3), [x, y], 1, lambda H, a, k: c.lerp(H, [*a, 0.3], k)
    yield "logaddexp", 0, A.logaddexp, [x, y], 1, c.conditioned(torch.logaddexp)
    yield "sinc", 0, A.sinc, [x], 1, c.conditioned(torch.sinc)
    yield "logit", 0, A.logit, [torch.rand(ROWS, 1000)], 1, c.one_plus_value
    yield "lgamma", 0, A.lgamma, [x], 1, c.lgamma
    yield "digamma", 0, A.digamma, [x], 1, c.digamma
    yield "log_sigmoid_forward", 0, A.log_sigmoid_forward, [x], 1, c.value


def reductions(draw, k):
    x = draw(ROWS, k)
    yield "sum", 0, lambda t: A.sum(t, [-1]), [x], k, c.terms_abs
    yield "mean", 0, lambda t: A.mean(t, [-1]), [x], k, c.mean_abs
    yield "cumsum", 0, lambda t: A.cumsum(t, -1), [x], k, c.prefix_abs
    yield "linalg_vector_norm", 0, lambda t: A.linalg_vector_norm(t, 2, [-1]), [x], k, c.value
    yield "linalg_vector_norm", 0, lambda t: A.linalg_vector_norm(t, 3, [-1]), [x], k, c.value
    yield "logsumexp", 0, lambda t: A.logsumexp(t, [-1]), [x], k, c.logsumexp
    yield "logcumsumexp", 0, lambda t: A.logcumsumexp(t, -1), [x[:8, :256]], min(k, 256), c.logcumsumexp
    yield "var", 0, lambda t: A.var(t, [-1], correction=1), [x], k, c.variance_of(False), c.variance_of(True)
    yield "std", 0, lambda t: A.std(t, [-1], correction=1), [x], k, c.deviation_of(False), c.deviation_of(True)
    constant = x[:, :1].expand(x.shape).contiguous()
    yield "std", 0, lambda t: A.std(t, [-1], correction=1), [constant], k, c.deviation_of(False), c.deviation_of(True)
    yield "_fft_r2c", 0, lambda t: torch.view_as_real(torch.fft.rfft(t)), [x], k, fft
    yield "_softmax", 0, lambda t: A._softmax(t, -1, False), [x], k, c.softmax
    yield "_log_softmax", 0, lambda t: A._log_softmax(t, -1, False), [x], k, c.log_softmax
    y = torch.softmax(torch.randn(ROWS, k), -1)
    backward = lambda op: lambda a, b: op(a, b, -1, a.dtype)
    yield "_softmax_backward_data", 0, backward(A._softmax_backward_data), [x, y], k, c.softmax_backward
    yield "_log_softmax_backward_data", 0, backward(A._log_softmax_backward_data), [x, y.log()], k, c.log_softmax_backward
    yield from losses(draw, k)
    yield from normalisations(x, k)


def fft(H, a, k):
    modulus = torch.view_as_complex(H.contiguous())
    return c.fft_modulus(modulus, a, k)[..., None].expand(H.shape)


def losses(draw, k):
    x = draw(ROWS, k)
    t = torch.randint(0, k, (ROWS,))
    yield "cross_entropy_loss", 0, A.cross_entropy_loss, [x, t], max(k, ROWS), c.cross_entropy
    yield "binary_cross_entropy_with_logits", 0, A.binary_cross_entropy_with_logits, [x, torch.rand(ROWS, k)], x.numel(), c.bce_logits
    yield "mse_loss", 0, A.mse_loss, [x, draw(ROWS, k)], x.numel(), c.value


def normalisations(x, k):
    weight, bias = torch.randn(k), torch.randn(k)
    norm = lambda output: lambda t, s, w, b, e: A.native_layer_norm(t, s, w, b, e)[output]
    args = [x, [k], weight, bias, 1e-5]
    yield "native_layer_norm", 0, norm(0), args, k, c.normalise(False), c.normalise(True)
    mean, rstd = x.double().mean(-1, True).float(), (x.double().var(-1, correction=0, keepdim=True) + 1e-5).rsqrt().float()
    args = [grad_like(x), x, [k], mean, rstd, weight, bias, [True, True, True]]
    back = lambda output: lambda *a: A.native_layer_norm_backward(*a)[output]
    yield "native_layer_norm_backward", 0, back(0), args, k, c.norm_backward(False), c.norm_backward(True)
    yield "native_layer_norm_backward", 1, back(1), args, ROWS, c.norm_backward_weight(False), c.norm_backward_weight(True)


def fused(draw, k):
    q, key, v, g = draw(1, 2, 16, 64), draw(1, 2, k, 64), draw(1, 2, k, 64), torch.randn(1, 2, 16, 64)
    yield "scaled_dot_product_attention", 0, A.scaled_dot_product_attention, [q, key, v], max(k, 64), c.attention
    flash = A._scaled_dot_product_flash_attention_for_cpu
    out, lse = flash(q.double(), key.double(), v.double())
    for i in range(3):
        run = lambda *a, i=i: A._scaled_dot_product_flash_attention_for_cpu_backward(*a, 0.0, False)[i]
        args = [g, q, key, v, out.float(), lse.float()]
        yield "_scaled_dot_product_flash_attention_for_cpu_backward", i, run, args, max(k, 64), c.attention_backward(i)
    yield "_cdist_forward", 0, lambda a, b: A._cdist_forward(a, b, 2.0, None), [draw(32, k), draw(32, k)], k, c.value, c.cdist_naive
    yield "mm", 0, A.mm, [draw(64, k), draw(k, 64)], k, c.product_abs
    wide = draw(1, 2, k)
    yield "upsample_linear1d", 0, lambda t, n: A.upsample_linear1d(t, n, False), [wide, [2 * k + 1]], 2, c.interpolate_linear


def ratio(error, H, S, rule, k):
    letter, coefficient, roundings = rule[0], float(rule[5]), int(rule[6])
    summed = 4 * math.sqrt(k) if letter in "EFGH" and k > 1 else 0
    bound = roundings * c.U * H.abs() + (coefficient + summed) * c.U * S + 2.0**-149
    usable = torch.isfinite(bound) & torch.isfinite(error)
    return (error / bound)[usable].max().item() if usable.any() else 0.0


def measure(case, table, worst):
    op, output, function, args, k, *formulas = case
    rule = table[op, output]
    wide = [t.double() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in args]
    first = lambda t: t[0] if isinstance(t, tuple) else t
    H, D = first(function(*wide)), first(function(*args)).double()
    error = torch.where(D == H, torch.zeros_like(H), (D - H).abs())
    assert H.numel() and H.shape == D.shape, op
    for place, formula in enumerate([*formulas, c.value] if len(formulas) > 1 else [*formulas, None, c.value]):
        if formula:
            S = formula(H, wide, k)
            assert S.shape == H.shape and (S >= 0)[~S.isnan()].all(), op
            worst[op, output][place] = max(worst[op, output][place], ratio(error, H, S, rule, k))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table, worst = rules(), collections.defaultdict(lambda: [0.0, 0.0, 0.0])
    with torch.no_grad():
        for draw in FAMILIES.values():
            for case in pointwise(draw):
                measure(case, table, worst)
            for k in (16, 257, 4096):
                for case in reductions(draw, k):
                    measure(case, table, worst)
            for k in (16, 257):
                for case in fused(draw, k):
                    measure(case, table, worst)
    bad = 0
    print(f"{'operator':56} {'stable':>9} {'unstable':>9} {'S = |H|':>9}")
    for (op, output), (stable, unstable, plain) in sorted(worst.items()):
        has_two = table[op, output][3] != "-"
        beyond = stable > 1 and not (has_two and unstable <= 1)
        bad += beyond
        second = f"{unstable:9.3g}" if has_two else " " * 9
        print(f"{op + ' ' + str(output):56} {stable:9.3g} {second} {plain:9.3g}{'  FALSE ALARM' * beyond}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
