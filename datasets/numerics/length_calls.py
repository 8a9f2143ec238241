# SPDX-License-Identifier: Apache-2.0
"""The calls of make_length_samples.py: operator, arguments, and per output what to count.

An output's entry is a string of argument names: the sum's length is the number of their elements that the output depends on, and
the rule's length must equal it ("tensors.0": of the first of a list). (names, k) is for a rule whose length is an upper bound or a
composed one: k by hand, at least the count; names empty: not counted.
"""
import torch

G = torch.Generator().manual_seed(0)


def f(*size):
    """Away from 0 and 1, from ties and from the edges of the functions called."""
    return torch.rand(size, generator=G, dtype=torch.float64) + 0.25


def ix(*values):
    return torch.tensor(values, dtype=torch.int64)


def spd(n):
    a = f(n, n)
    return a @ a.T + n * torch.eye(n, dtype=torch.float64)


def reductions():
    yield "sum", [f(3, 4)], {}, ["self"]
    yield "sum.dim_IntList", [f(3, 4, 5), [0, -1]], {}, ["self"]
    yield "mean.dim", [f(3, 4, 5), [1], True], {}, ["self"]
    yield "nansum", [f(7)], {}, ["self"]
    yield "prod.dim_int", [f(3, 4), 1], {}, ["self"]
    yield "cumsum", [f(3, 6), -1], {}, ["self"]
    yield "cumsum", [f()[()], 0], {}, ["self"]
    yield "cumprod", [f(5, 2), 0], {}, ["self"]
    yield "cumprod_backward", [f(2, 5), f(2, 5), -1, f(2, 5)], {}, ["grad"]
    yield "logsumexp", [f(2, 3, 4), [1, 2]], {}, ["self"]
    yield "logcumsumexp", [f(2, 5), 1], {}, ["self"]
    yield "var.correction", [f(4, 6), [1]], {"correction": 1}, ["self"]
    yield "std.correction", [f(4, 6), None], {"correction": 0}, ["self"]
    yield "var_mean.correction", [f(4, 6), [0]], {"correction": 1}, ["self", "self"]
    yield "linalg_vector_norm", [f(3, 5), 2, [-1]], {}, ["self"]
    yield "norm.Scalar", [f(3, 5), 3], {}, ["self"]
    yield "dist", [f(6), f(6), 2], {}, ["self"]
    yield "trace", [f(4, 6)], {}, ["self"]
    yield "_cdist_forward", [f(3, 5), f(4, 5), 2.0, None], {}, ["x1"]
    yield "_cdist_backward", [f(3, 4), f(3, 5), f(4, 5), 2.0, f(3, 4)], {}, ["grad"]
    yield "_pdist_forward", [f(4, 5), 2.0], {}, [("", 5)]
    yield "_pdist_backward", [f(6), f(4, 5), 2.0, f(6)], {}, [("grad", 4)]
    yield "mse_loss", [f(3, 4), f(3, 4), 1], {}, ["self"]
    yield "smooth_l1_loss", [f(3, 4), f(3, 4), 0], {}, ["self"]
    yield "binary_cross_entropy", [f(6) / 2, f(6) / 2], {}, ["self"]
    yield "soft_margin_loss", [f(6), f(6)], {}, ["self"]
    yield "nll_loss_forward", [f(5, 3), ix(0, 1, 2, 0, 1), f(3), 1, -100], {}, [("self", 5), ("", 5)]
    yield "cross_entropy_loss", [f(4, 9), ix(0, 1, 2, 8)], {}, [("", 9)]
    yield "cross_entropy_loss", [f(12, 5), ix(*range(5), *range(5), 0, 1)], {}, [("", 12)]


def accumulations():
    yield "scatter_add", [f(3, 4), 0, ix([0, 0, 0, 0], [0, 1, 0, 1]), f(2, 4)], {}, ["self src"]
    yield "scatter.reduce", [f(3, 4), 0, ix([0, 0, 0, 0], [0, 1, 0, 1]), f(2, 4)], {"reduce": "add"}, ["self src"]
    yield "index_add", [f(3, 2), 0, ix(1, 1, 1, 1), f(4, 2)], {}, ["self source"]
    yield "index_put", [f(5), [ix(2, 2, 2)], f(3), True], {}, ["self values"]
    yield "index_put", [f(5), [ix(0, 1, 2)], f(3), False], {}, ["self values"]
    yield "_unsafe_masked_index_put_accumulate", [f(4), torch.ones(3, dtype=torch.bool), [ix(1, 1, 1)], f(3)], {}, ["self values"]
    yield "put", [f(5), ix(2, 2, 2), f(3), True], {}, ["self source"]
    yield "bincount", [ix(1, 1, 1), f(3)], {}, ["weights"]
    yield "embedding_dense_backward", [f(4, 3), ix(1, 1, 1, 1), 5, -1, False], {}, ["grad_output"]
    yield "gather_backward", [f(2, 3), f(5, 3), 0, ix([4, 4, 4], [4, 4, 4]), False], {}, ["grad"]
    yield "index_select_backward", [f(3, 2), [5, 2], 0, ix(4, 4, 4)], {}, ["grad"]
    yield "unfold_backward", [f(4, 3), [6], 0, 3, 1], {}, ["grad_in"]
    yield "col2im", [f(1, 9, 9), [5, 5], [3, 3], [1, 1], [0, 0], [1, 1]], {}, ["self"]
    peak = torch.zeros(1, 1, 5, 5, dtype=torch.float64)
    peak[0, 0, 2, 2] = 9
    where = torch.full((1, 1, 3, 3), 12)
    yield "max_pool2d_with_indices_backward", [f(1, 1, 3, 3), peak, [3], [1], [0], [1], False, where], {}, ["grad_output"]
    cube = torch.zeros(1, 1, 3, 3, 3, dtype=torch.float64)
    inner = torch.full((1, 1, 2, 2, 2), 13)
    call = [f(1, 1, 2, 2, 2), cube, [2, 2, 2], [1], [0], [1], False, inner]
    yield "max_pool3d_with_indices_backward", call, {}, ["grad_output"]
    call = [f(1, 2, 5, 7), f(1, 2, 3, 4), torch.zeros(1, 2, 5, 7, dtype=torch.int64)]
    yield "adaptive_max_pool2d_backward", call, {}, [("", 9)]
    yield "replication_pad1d_backward", [f(1, 1, 7), f(1, 1, 3), [2, 2]], {}, [("grad_output", 7)]
    yield "embedding_bag", [f(6, 3), ix(0, 1, 2, 3), ix(0)], {}, [("weight", 4)]
    yield "_embedding_bag_per_sample_weights_backward", [f(1, 3), f(6, 3), ix(0, 1), ix(0), ix(0, 0), 0], {}, ["grad"]


def windows():
    yield "avg_pool1d", [f(1, 2, 8), [3]], {}, ["self"]
    yield "avg_pool2d", [f(1, 2, 6, 6), [3]], {}, ["self"]
    yield "avg_pool2d", [f(1, 2, 6, 6), [3, 2]], {}, ["self"]
    yield "avg_pool3d", [f(1, 1, 4, 4, 4), [2]], {}, ["self"]
    yield "avg_pool2d_backward", [f(1, 1, 3, 3), f(1, 1, 5, 5), [3, 3], [1, 1], [0, 0], False, True, None], {}, ["grad_output"]
    yield "adaptive_avg_pool1d", [f(1, 2, 7), [3]], {}, [("self", 4)]
    yield "_adaptive_avg_pool2d", [f(1, 2, 7, 5), [3, 5]], {}, [("self", 8)]
    yield "_adaptive_avg_pool3d", [f(1, 1, 4, 4, 4), [2, 2, 2]], {}, [("self", 27)]
    yield "_adaptive_avg_pool2d_backward", [f(1, 1, 3, 3), f(1, 1, 7, 7)], {}, [("grad_output", 4)]
    yield "_adaptive_avg_pool3d_backward", [f(1, 1, 2, 2, 2), f(1, 1, 4, 4, 4)], {}, [("grad_output", 8)]
    yield "upsample_nearest1d_backward", [f(1, 1, 9), [9], [1, 1, 3]], {}, [("grad_output", 4)]
    yield "upsample_nearest2d_backward", [f(1, 1, 4, 6), [4, 6], [1, 1, 2, 2]], {}, [("grad_output", 12)]
    yield "upsample_nearest3d_backward", [f(1, 1, 2, 2, 2), [2, 2, 2], [1, 1, 1, 1, 1]], {}, [("grad_output", 27)]
    yield "upsample_linear1d_backward", [f(1, 1, 8), [8], [1, 1, 4], False], {}, [("grad_output", 6)]
    yield "upsample_bilinear2d_backward", [f(1, 1, 8, 8), [8, 8], [1, 1, 4, 4], False], {}, [("grad_output", 36)]
    yield "upsample_trilinear3d_backward", [f(1, 1, 4, 4, 4), [4, 4, 4], [1, 1, 2, 2, 2], False], {}, [("grad_output", 216)]
    yield "upsample_bicubic2d_backward", [f(1, 1, 8, 8), [8, 8], [1, 1, 4, 4], False], {}, [("grad_output", 144)]
    yield "_upsample_bilinear2d_aa", [f(1, 1, 9, 9), [3, 3], False], {}, [("self", 49)]
    yield "_upsample_bilinear2d_aa.vec", [f(1, 1, 9, 9), [3, 3], False, None], {}, [("input", 49)]
    yield "_upsample_bicubic2d_aa", [f(1, 1, 9, 9), [3, 3], False], {}, [("self", 169)]
    yield "_upsample_bicubic2d_aa.vec", [f(1, 1, 9, 9), [3, 3], False, None], {}, [("input", 169)]
    yield "_upsample_lanczos2d_aa", [f(1, 1, 9, 9), [3, 3], False], {}, [("self", 361)]
    yield "_upsample_lanczos2d_aa.vec", [f(1, 1, 9, 9), [3, 3], False, None], {}, [("input", 361)]
    yield "_upsample_bilinear2d_aa_backward", [f(1, 1, 3, 3), [3, 3], [1, 1, 9, 9], False], {}, [("grad_output", 16)]
    yield "_upsample_bicubic2d_aa_backward", [f(1, 1, 3, 3), [3, 3], [1, 1, 9, 9], False], {}, [("grad_output", 64)]
    yield "_upsample_lanczos2d_aa_backward", [f(1, 1, 3, 3), [3, 3], [1, 1, 9, 9], False], {}, [("grad_output", 144)]
    grid = f(1, 2, 2, 2) / 2
    call = [f(1, 3, 2, 2), f(1, 3, 5, 5), grid, 0, 0, False, [True, True]]
    yield "grid_sampler_2d_backward", call, {}, [("grad_output", 8), ("input", 12)]
    call = [f(1, 3, 2, 2, 2), f(1, 3, 4, 4, 4), f(1, 2, 2, 2, 3) / 2, 0, 0, False, [True, True]]
    yield "grid_sampler_3d_backward", call, {}, [("grad_output", 24), ("input", 24)]


def contractions():
    yield "mm", [f(2, 5), f(5, 3)], {}, ["self"]
    yield "bmm", [f(2, 3, 4), f(2, 4, 5)], {}, ["mat2"]
    yield "mv", [f(3, 7), f(7)], {}, ["vec"]
    yield "dot", [f(9), f(9)], {}, ["tensor"]
    yield "matmul", [f(2, 3, 4), f(4, 5)], {}, ["self"]
    yield "inner", [f(3, 4), f(2, 4)], {}, ["self"]
    yield "addmm", [f(3), f(2, 5), f(5, 3)], {}, ["mat1"]
    yield "addmv", [f(3), f(3, 6), f(6)], {}, ["vec"]
    yield "baddbmm", [f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)], {}, ["batch2"]
    yield "addbmm", [f(3, 5), f(2, 3, 4), f(2, 4, 5)], {}, ["batch2"]
    yield "linear", [f(2, 6), f(3, 6), f(3)], {}, ["weight"]
    yield "bilinear", [f(2, 3), f(2, 4), f(5, 3, 4)], {}, ["weight"]
    yield "tensordot", [f(2, 3, 4), f(3, 4, 5), [1, 2], [0, 1]], {}, ["self"]
    yield "_trilinear", [f(2, 3), f(2, 3), f(2, 3), [], [], [], [1]], {}, [("", 6)]
    yield "einsum", ["ij,jk->ik", [f(2, 5), f(5, 3)]], {}, ["tensors.0"]
    yield "einsum", ["b...ij, b...jk -> b...ik", [f(2, 3, 2, 4), f(2, 3, 4, 2)]], {}, ["tensors.0"]
    yield "einsum", ["ii", [f(4, 4)]], {}, ["tensors"]
    yield "einsum", ["i,j", [f(3), f(4)]], {}, ["tensors.0"]
    yield "_sparse_mm", [f(2, 5).to_sparse(), f(5, 3)], {}, ["dense"]
    conv = [f(2, 4, 5, 5), f(6, 2, 3, 3), f(6), [1, 1], [1, 1], [1, 1], False, [0, 0], 2]
    yield "convolution", conv, {}, ["weight"]
    turned = [f(2, 4, 5, 5), f(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], True, [0, 0], 2]
    yield "convolution", turned, {}, ["weight"]
    yield "conv1d", [f(2, 3, 9), f(4, 3, 3)], {}, ["weight"]
    yield "conv2d", [f(2, 3, 6, 6), f(4, 3, 3, 3)], {}, ["weight"]
    yield "conv_transpose2d.input", [f(1, 4, 4, 4), f(4, 3, 2, 2)], {}, ["weight"]
    out = [f(2, 6, 5, 5), *conv[:2], [6], *conv[3:], [True, True, True]]
    yield "convolution_backward", out, {}, ["weight", ("grad_output", 50), "grad_output"]
    out = [f(2, 6, 7, 7), *turned[:2], [6], *turned[3:], [True, True, True]]
    yield "convolution_backward", out, {}, ["weight", ("", 50), "grad_output"]
    yield "_fft_r2c", [f(3, 8), [1], 0, True], {}, ["self"]
    yield "_fft_c2r", [torch.complex(f(3, 5), f(3, 5)), [1], 0, 8], {}, [("", 8)]


def normalisations():
    yield "_softmax", [f(3, 5), -1, False], {}, ["self"]
    yield "softmax.int", [f(3, 5), 0], {}, ["self"]
    yield "_log_softmax", [f(3, 5), 1, False], {}, ["self"]
    yield "_softmax_backward_data", [f(3, 5), f(3, 5), 1, torch.float64], {}, ["grad_output"]
    yield "_log_softmax_backward_data", [f(3, 5), f(3, 5), 0, torch.float64], {}, ["grad_output"]
    yield "native_layer_norm", [f(2, 3, 4), [3, 4], f(3, 4), None, 1e-5], {}, ["input", "input", "input"]
    yield "layer_norm", [f(2, 3, 4), [4]], {}, ["input"]
    yield "rms_norm", [f(2, 3, 4), [4]], {}, ["input"]
    call = [f(4, 5), f(4, 5), [5], f(4, 1), f(4, 1), f(5), f(5), [True, True, True]]
    yield "native_layer_norm_backward", call, {}, ["grad_out", "grad_out", "grad_out"]
    yield "native_group_norm", [f(2, 6, 5), None, None, 2, 6, 5, 3, 1e-5], {}, ["input", "input", "input"]
    yield "group_norm", [f(2, 6, 5), 3], {}, ["input"]
    call = [f(2, 6, 5), f(2, 6, 5), f(2, 3), f(2, 3), f(6), 2, 6, 5, 3, [True, True, True]]
    yield "native_group_norm_backward", call, {}, ["grad_out", "grad_out", "grad_out"]
    yield "native_batch_norm", [f(4, 3, 2), None, None, None, None, True, 0.1, 1e-5], {}, ["input", "input", "input"]
    yield "native_batch_norm", [f(4, 3, 2), None, None, f(3), f(3), False, 0.1, 1e-5], {}, ["input"]
    yield "instance_norm", [f(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False], {}, ["input"]
    call = [f(4, 3, 2), f(4, 3, 2), None, None, None, f(3), f(3), True, 1e-5, [True, True, True]]
    yield "native_batch_norm_backward", call, {}, ["grad_out", "grad_out", "grad_out"]


def composed():
    yield "scaled_dot_product_attention", [f(1, 2, 3, 4), f(1, 2, 6, 4), f(1, 2, 6, 4)], {}, [("", 6)]
    qkv = [f(1, 2, 3, 4), f(1, 2, 6, 4), f(1, 2, 6, 4)]
    call = [f(1, 2, 3, 4), *qkv, f(1, 2, 3, 4), f(1, 2, 3), 0.0, False]
    yield "_scaled_dot_product_flash_attention_for_cpu_backward", call, {}, [("", 6), ("", 6), ("", 6)]
    h = [f(1, 2, 5)]
    weights = [f(15, 4), f(15, 5), f(15), f(15)]
    yield "gru.input", [f(3, 2, 4), h[0], weights, True, 1, 0.0, False, False, False], {}, [("", 9), ("", 9)]
    yield "gru.data", [f(6, 4), ix(2, 2, 2), h[0], weights, True, 1, 0.0, False, False], {}, [("", 9), ("", 9)]
    yield "gru_cell", [f(2, 4), f(2, 5), *weights], {}, [("", 9)]
    yield "linalg_cholesky", [spd(4)], {}, [("", 4)]
    yield "linalg_qr", [f(5, 3)], {}, [("", 5), ("", 5)]
    yield "_linalg_svd", [f(5, 3)], {}, [("", 5), ("", 5), ("", 5)]
    yield "linalg_inv", [spd(4)], {}, [("", 4)]
    yield "linalg_pinv", [f(5, 3), 1e-9], {}, [("", 5)]
    yield "cholesky_solve", [f(4, 2), f(4, 4)], {}, [("", 4)]
    yield "linalg_lu_solve", [f(4, 4), torch.arange(1, 5, dtype=torch.int32), f(4, 2)], {}, [("", 4)]
    yield "ormqr", [f(4, 3), f(3), f(4, 2)], {}, [("", 4)]


def calls():
    for group in (reductions, accumulations, windows, contractions, normalisations, composed):
        yield from group()


# Operators without a CPU kernel, or whose operands are long: sizes and k by hand.
BY_HAND = """
aten::matmul_backward 0 grad=[2,3] self=[2,4] other=[4,3] 6
aten::_fused_rms_norm_backward 0 input=[4,5] normalized_shape={5} 5
aten::_fused_rms_norm_backward 1 input=[4,5] normalized_shape={5} 4
aten::linear_backward 0 self=[2,6] grad_output=[2,3] weight=[3,6] 3
aten::linear_backward 1 self=[4,6] grad_output=[4,3] weight=[3,6] 4
aten::conv3d 0 input=[1,2,4,4,4] weight=[3,2,2,2,2] 16
aten::_thnn_fused_lstm_cell_backward 0 workspace=[2,20] 2
aten::_native_multi_head_attention 0 key=[2,9,8] embed_dim=8 9
aten::_transformer_encoder_layer_fwd 0 src=[2,9,8] ffn_weight_1=[32,8] 32
aten::mkldnn_rnn_layer 0 input=[3,2,4] hidden_size=5 9
aten::mkldnn_rnn_layer_backward 0 input=[3,2,4] hidden_size=5 29
aten::_ctc_loss 0 log_probs=[7,2,5] 7
aten::batch_norm_backward 1 input=[4,3,2] 8
_c10d_functional::all_reduce 0 group_size=8 8
aten::fft_irfft 0 self=[3,5] n=none dim=-1 out0=[3,8] 8
aten::native_layer_norm 0 normalized_shape={} 1
aten::sum 0 self=[0,3] out0=[3] 0
aten::sum 0 self=[3,0] out0=[0] 0
aten::convolution 0 weight=[6,2,3,3] transposed=0 groups=1 18
"""
