# SPDX-License-Identifier: Apache-2.0
"""Calls that torch's own sample databases leave out. One function a group; `call` runs one operator by name."""
import torch

GROUPS = {}


def group(function):
    GROUPS[function.__name__] = function
    return function


def overload(name):
    base, _, word = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), word or "default")


def f(*size, dtype=torch.float32):
    return (torch.arange(1, 1 + int(torch.Size(size).numel()), dtype=torch.float32).reshape(size) / 7).to(
        "neuron", dtype
    )


def i(*size, high=3):
    return (torch.arange(int(torch.Size(size).numel())).reshape(size) % high).to("neuron")


def b(*size):
    return (torch.arange(int(torch.Size(size).numel())).reshape(size) % 2 == 0).to("neuron")


def caller(record):
    def call(name, *args, **kwargs):
        with torch.no_grad():
            return record(lambda: overload(name)(*args, **kwargs), False)

    return call


@group
def dunder_and_scalar_overloads(record):
    call = caller(record)
    for name in ("__and__", "__or__", "__xor__", "__lshift__", "__rshift__"):
        call(f"{name}.Tensor", i(2, 3), i(2, 3))
        call(f"{name}.Scalar", i(2, 3), 1)
        for in_place in (name.replace("__", "__i", 1),):
            call(f"{in_place}.Tensor", i(2, 3), i(2, 3))
            call(f"{in_place}.Scalar", i(2, 3), 1)
    for args in ((b(3), f(3), 2.0), (b(3), 2.0, f(3)), (b(3), 2.0, 3.0)):
        names = {(False, True): "where.ScalarOther", (True, False): "where.ScalarSelf", (True, True): "where.Scalar"}
        call(names[tuple(not isinstance(a, torch.Tensor) for a in args[1:])], *args)
    call("where.self", b(3), f(3), f(3, dtype=torch.float64))
    call("where", b(2, 3))


@group
def copies_and_conversions(record):
    call = caller(record)
    for source in (f(2, 3), i(2, 3), f(2, 3).t()):
        call("lift_fresh_copy", source)
        call("lift_fresh", source)
        call("lift", source)
        call("copy", source, f(*source.shape))
        call("copy_", f(*source.shape), source)
        call("clone", source)
        call("contiguous", source)
        call("_to_copy", source, dtype=torch.float32)
        for dtype in (torch.float32, torch.bfloat16, torch.int64):
            call("to.dtype", source, dtype)
            call("to.dtype", source, dtype, copy=True)
            call("to.dtype_layout", source, dtype=dtype)
            call("to.device", source, torch.device("neuron"), dtype)
            call("type_as", source, f(1, dtype=dtype))
            call("to.other", source, f(1, dtype=dtype))
            call("_assert_tensor_metadata", source, dtype=source.dtype)
        call("alias", source)
        call("detach", source)
        call("detach_", source.clone())
        call("view_as", source.contiguous(), source.contiguous())
        call("resolve_conj", source)
        call("resolve_neg", source)
        call("numpy_T", source)
        call("is_floating_point", source)
    call("resolve_conj", f(3, dtype=torch.complex64).conj())
    call("resolve_conj", f(2, 3, dtype=torch.complex64).conj())
    call("view.dtype", f(4), torch.int32)


@group
def convolutions(record):
    call = caller(record)
    shapes = {1: (2, 4, 9), 2: (2, 4, 9, 9), 3: (1, 4, 5, 5, 5)}
    for dims, shape in shapes.items():
        ones, zeros = [1] * dims, [0] * dims
        for bias in (None, f(6)):
            for transposed in (False, True):
                weight = f(*((4, 6) if transposed else (6, 4)), *([3] * dims))
                args = (f(*shape), weight, bias, ones, zeros, ones, transposed, zeros, 1)
                call("convolution", *args)
                call("_convolution", *args, False, False, True, True)
                call("_convolution.deprecated", *args, False, False, True)
                name = f"conv_transpose{dims}d" + (".input" if dims > 1 else "") if transposed else f"conv{dims}d"
                call(name, f(*shape), weight, bias)
                call(name, f(*shape[1:]), weight, bias)
        depthwise = f(4, 1, *([3] * dims))
        call(f"conv{dims}d", f(*shape), depthwise, None, ones, zeros, ones, 4)
        call(f"conv{dims}d.padding", f(*shape), f(6, 4, *([3] * dims)), None, ones, "same")
        call(f"conv{dims}d.padding", f(*shape), f(6, 4, *([3] * dims)), None, ones, "valid")
        for kernel in (2, 4):
            for dilation in (1, 2):
                weight = f(6, 4, *([3] * (dims - 1)), kernel)
                call(f"conv{dims}d.padding", f(*shape), weight, None, ones, "same", [dilation] * dims)
                call(f"conv{dims}d.padding", f(*shape), weight, None, ones, "valid", ones)


@group
def attention(record):
    for shape in ((2, 4, 8, 16), (4, 8, 16), (1, 2, 4, 8, 16)):
        for mask in (None, b(8, 8), f(8, 8)):
            for causal in (False, True) if mask is None else (False,):
                for dropout in (0.0, 0.5):
                    for grad in (False, True):
                        q, k, v = (f(*shape).requires_grad_(grad) for _ in range(3))
                        with torch.set_grad_enabled(grad):
                            out = record(
                                lambda: torch.nn.functional.scaled_dot_product_attention(
                                    q, k, v, mask, dropout, causal
                                ),
                                grad,
                            )
                        if grad and out is not None:
                            record(lambda: out.backward(torch.ones_like(out)), False, "backward")
    q, kv = f(2, 4, 8, 16), f(2, 2, 8, 16)
    with torch.no_grad():
        record(lambda: torch.nn.functional.scaled_dot_product_attention(q, kv, kv, enable_gqa=True), False)
    call = caller(record)
    call("_scaled_dot_product_attention_math", q, q, q)
    call("_safe_softmax", q, -1)


@group
def recurrent(record):
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        for layers, both, first, bias in ((1, False, False, True), (2, True, True, True), (1, False, True, False)):
            module = kind(4, 5, layers, bidirectional=both, batch_first=first, bias=bias).to("neuron")
            for grad in (False, True):
                module.train(grad)
                with torch.set_grad_enabled(grad):
                    out = record(lambda: module(f(3, 2, 4))[0], grad)
                if grad and out is not None:
                    record(lambda: out.sum().backward(), False, "backward")
            with torch.no_grad():
                packed = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(3, 2, 4), [3, 2])
                data = packed.data.to("neuron")
                moved = torch.nn.utils.rnn.PackedSequence(data, packed.batch_sizes)
                if not first:
                    record(lambda: module(moved), False)
    for cell in (torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell):
        for bias in (True, False):
            module = cell(4, 5, bias=bias).to("neuron")
            with torch.no_grad():
                record(lambda: module(f(2, 4)), False)


@group
def normalisation_and_dropout(record):
    call = caller(record)
    x = f(2, 4, 5, 5)
    for source in (x, f(2, 4), f(2, 4, 5), f(1, 4, 3, 3, 3)):
        n = source.shape[1]
        for train in (False, True):
            for weight, bias in ((f(n), f(n)), (None, None)):
                call("batch_norm", source, weight, bias, f(n), f(n), train, 0.1, 1e-5, False)
                call("_batch_norm_impl_index", source, weight, bias, f(n), f(n), train, 0.1, 1e-5, False)
                call("_native_batch_norm_legit", source, weight, bias, f(n), f(n), train, 0.1, 1e-5)
                call("_native_batch_norm_legit_functional", source, weight, bias, f(n), f(n), train, 0.1, 1e-5)
                call("group_norm", source, 2, weight, bias)
        if source.dim() > 2:
            call("instance_norm", source, None, None, None, None, True, 0.1, 1e-5, False)
        for shape in ([source.shape[-1]], list(source.shape[1:])):
            call("layer_norm", source, shape, f(*shape), f(*shape))
            call("layer_norm", source, shape)
            call("rms_norm", source, shape, f(*shape))
            call("rms_norm", source, shape)
        for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
            for train in (False, True):
                for p in (0.0, 0.5, 1.0):
                    call(name, source, p, train)
                    call(name + "_", source.clone(), p, train)
        call("native_dropout", source, 0.5, True)
        call("native_dropout", source, 0.5, False)
    call("batch_norm", x.contiguous(memory_format=torch.channels_last), f(4), f(4), f(4), f(4), False, 0.1, 1e-5, False)
    call("batch_norm", x, f(4), f(4), None, None, True, 0.1, 1e-5, False)


@group
def optimizers(record):
    for kind in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "NAdam", "RAdam", "Adamax", "ASGD"):
        for foreach in (False, True):
            weights = [f(3, 4).requires_grad_(), f(4).requires_grad_()]
            settings = {"lr": 0.1, "foreach": foreach}
            if kind == "SGD":
                settings.update(momentum=0.9, weight_decay=0.1)
            optimizer = getattr(torch.optim, kind)(weights, **settings)
            for _ in range(2):
                for weight in weights:
                    weight.grad = torch.ones_like(weight)
                record(optimizer.step, False)
    weights = [f(3, 4).requires_grad_()]
    weights[0].grad = torch.ones_like(weights[0])
    record(lambda: torch.nn.utils.clip_grad_norm_(weights, 1.0), False)


@group
def losses_and_embeddings(record):
    functional = torch.nn.functional
    with torch.no_grad():
        for reduction in ("none", "mean", "sum"):
            for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 4)):
                logits, target = f(*shape), i(shape[0], *shape[2:])
                record(lambda: functional.cross_entropy(logits, target, reduction=reduction), False)
                record(lambda: functional.cross_entropy(logits, f(*shape), reduction=reduction), False)
                record(
                    lambda: functional.cross_entropy(logits, target, reduction=reduction, label_smoothing=0.1), False
                )
        for mode in ("sum", "mean", "max"):
            record(lambda: functional.embedding_bag(i(2, 3), f(4, 5), mode=mode), False)
            record(lambda: functional.embedding_bag(i(6), f(4, 5), i(2, high=2), mode=mode), False)
        record(lambda: functional.one_hot(i(4), 5), False)
        record(lambda: functional.one_hot(i(4)), False)
    call = caller(record)
    call("affine_grid_generator", f(2, 2, 3), [2, 3, 4, 4], False)
    call("affine_grid_generator", f(2, 3, 4), [2, 3, 4, 4, 4], False)
    call("_embedding_bag", f(4, 5), i(6), i(2, high=2))


@group
def sizes_checks_and_factories(record):
    call = caller(record)
    x = f(2, 3)
    for name, args in (
        ("size.int", (x, 0)), ("sym_size.int", (x, 0)), ("sym_numel", (x,)), ("stride.int", (x, 0)),
        ("item", (f(1),)), ("is_nonzero", (f(1),)), ("_assert_async", (b(1),)), ("_assert_async.msg", (b(1), "m")),
        ("sym_stride.int", (x, 0)), ("sym_storage_offset", (x,)), ("dim", (x,)), ("numel", (x,)),
        ("masked_select", (x, b(2, 3))), ("nonzero", (x,)), ("nonzero_numpy", (x,)), ("unique_dim", (x, 0)),
        ("_unique2", (x,)), ("argwhere", (x,)), ("bincount", (i(4),)), ("index.Tensor", (x, [i(2, high=2)])),
        ("index.Tensor", (x, [b(2, 3)])), ("_unsafe_index.Tensor", (x, [None, i(2)])),
        ("view_as_complex", (f(3, 2),)), ("view_as_real", (f(3, dtype=torch.complex64),)), ("select_backward",
        (f(3), [2, 3], 0, 1)), ("slice_backward", (f(1, 3), [2, 3], 0, 0, 1, 1)), ("trilinear", ()),
        ("unsafe_split.Tensor", (x, 1)), ("_reshape_alias", (x, [3, 2], [2, 1])), ("_unsafe_view", (x, [6])),
        ("index_put", (x, [i(2, high=2)], f(2, 3))), ("index_put_", (x.clone(), [b(2, 3)], f(1))),
        ("_index_put_impl_", (x.clone(), [i(2, high=2)], f(2, 3))), ("masked_fill.Scalar", (x, b(2, 3), 1.0)),
        ("masked_fill.Tensor", (x, b(2, 3), f())), ("masked_fill_.Tensor", (x.clone(), b(2, 3), f())),
        ("bernoulli.p", (x, 0.5)), ("bernoulli", (x.clamp(0, 1),)), ("bernoulli_.float", (x.clone(), 0.5)),
        ("resize_as_", (f(2), x)), ("fill.Scalar", (x, 1)), ("fill_.Tensor", (x.clone(), f())), ("zero", (x,)),
        ("new_zeros", (x, [2])), ("new_ones", (x, [2])), ("new_full", (x, [2], 3)), ("new_empty", (x, [2])),
        ("new_empty_strided", (x, [2], [1])), ("zeros_like", (x,)), ("ones_like", (x,)), ("full_like", (x, 2)),
        ("rand_like", (x,)), ("randn_like", (x,)), ("randint_like", (x, 5)), ("empty_like", (x,)),
    ):  # fmt: skip
        if args:
            call(name, *args)
    on = {"device": torch.device("neuron")}
    for dtype in (torch.float32, torch.int64):
        kind = {**on, "dtype": dtype}
        call("arange", 4, **kind)
        call("arange.start", 1, 4, **kind)
        call("arange.start_step", 1, 9, 2, **kind)
        call("zeros", [2], **kind)
        call("ones", [2], **kind)
        call("full", [2], 1, **kind)
        call("eye", 3, **kind)
        call("scalar_tensor", 1, **kind)
        call("tril_indices", 3, 3, **on)
        call("triu_indices", 3, 3, **on)
        call("linspace", 0, 1, 4, **on)
        call("logspace", 0, 1, 4, **on)
        call("randint", 4, [2], **on)
        call("randperm", 4, **on)
    for name in ("rand", "randn", "empty.memory_format"):
        call(name, [2, 2], **on)
    for name in ("hann_window", "hamming_window", "bartlett_window", "blackman_window", "kaiser_window"):
        call(name, 8, **on)
        call(f"{name}.periodic", 8, False, **on)


@group
def matrix_products(record):
    call = caller(record)
    sides = [f(4), f(3, 4), f(2, 3, 4), f(2, 2, 3, 4)]
    rights = [f(4), f(4, 5), f(2, 4, 5), f(2, 2, 4, 5)]
    for left in sides:
        for right in rights:
            call("matmul", left, right)
    call("matmul", f(2, 4, 3).transpose(1, 2), f(4, 5))
    call("matmul", f(2, 4, 3).transpose(1, 2), f(4))
    for left in sides:
        for bias in (None, f(5)):
            call("linear", left, f(5, 4), bias)
            call("linear", left.to(torch.bfloat16), f(5, 4, dtype=torch.bfloat16), bias if bias is None else bias.to(torch.bfloat16))
    for equation, args in (
        ("ij,jk->ik", (f(2, 3), f(3, 4))), ("bij,bjk->bik", (f(2, 2, 3), f(2, 3, 4))), ("ij->ji", (f(2, 3),)),
        ("ij->i", (f(2, 3),)), ("i,j->ij", (f(2), f(3))), ("bhqd,bhkd->bhqk", (f(1, 2, 3, 4), f(1, 2, 5, 4))),
        ("ii->i", (f(3, 3),)), ("ij,ij->ij", (f(2, 3), f(2, 3))), ("ij,jk->k", (f(2, 3), f(3, 4))),
        ("iij,jk->ik", (f(3, 3, 4), f(4, 5))), ("ij,jk,kl->il", (f(2, 3), f(3, 4), f(4, 5))),
        ("i,i,i->i", (f(3), f(3), f(3))), ("i,i->", (f(3), f(3))), ("bi,bj->bij", (f(2, 3), f(2, 4))),
        ("...d,hd->...h", (f(2, 3, 4), f(5, 4))), ("ijk->", (f(2, 3, 4),)),
    ):  # fmt: skip
        call("einsum", equation, list(args))


@group
def pooling_and_resampling(record):
    call = caller(record)
    x = f(2, 4, 8, 8)
    for source in (x, x.contiguous(memory_format=torch.channels_last), f(4, 8, 8)):
        for size in ([1, 1], [2, 2], [4, 3]):
            call("adaptive_avg_pool2d", source, size)
            call("adaptive_max_pool2d", source, size)
        call("max_pool2d", source, [2, 2])
        call("max_pool2d", source, [3, 3], [2, 2], [1, 1])
        call("avg_pool2d", source, [2, 2])
    for size in ([1, 1, 1], [2, 2, 2]):
        call("adaptive_avg_pool3d", f(2, 4, 6, 6, 6), size)
    for size in ([1], [2]):
        call("adaptive_avg_pool1d", f(2, 4, 6), size)
    call("max_pool1d", f(2, 4, 6), [2])
    call("avg_pool1d", f(2, 4, 6), [2])
    call("upsample_nearest2d.vec", x, None, [2.0, 2.0])
    call("upsample_nearest2d.vec", x, [16, 16], None)
    call("upsample_nearest1d.vec", f(2, 4, 8), [16], None)
    for name in ("upsample_bilinear2d.vec", "upsample_bicubic2d.vec", "_upsample_bilinear2d_aa.vec"):
        call(name, x, [16, 16], False, None)
        call(name, x, None, True, [2.0, 2.0])
    for mode in ("constant", "reflect", "replicate", "circular"):
        call("pad", x, [1, 1, 1, 1], mode)
    call("pixel_shuffle", x, 2)
    call("pixel_unshuffle", x, 2)
    call("channel_shuffle", x, 2)
