#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the *.cases files of this folder: the shapes, layouts and dtypes at which kernels go wrong, for each family of operators.

usage: make_cases.py [FOLDER]

Two runs give the same bytes. A case is one line of docs/case-grammar.md; which of them do not pass on the CPU, and why, is in
expected.tsv.
"""
import pathlib
import sys

# One shape of each kind: scalar, empty, single, prime, the edges of a tile of 128, empty within, three dimensions.
SHAPES = ["[]", "[0]", "[1]", "[7]", "[127]", "[128]", "[129]", "[3,0,2]", "[2,3,5]"]
# The same elements laid out otherwise: transposed, every second, rows repeated, an offset, channels last.
LAYOUTS = ["[5,4]@(1,5)", "[6]@(2)", "[4,5]@(0,1)", "[5]+3", "[2,3,4,5]@(60,1,15,3)"]
NARROW = ["bf16", "f16"]


def strip(geometry):
    """The sizes alone."""
    return geometry.split("@")[0].split("+")[0]


class Cases:
    def __init__(self):
        self.lines = []

    def add(self, *lines):
        self.lines.extend(lines)

    def unary(self, op, more="", shapes=SHAPES, layouts=LAYOUTS, dtypes=("f32",), grad=False, inplace=False, out=None, narrow=True):
        tail = f", {more}" if more and not more.startswith(";") else more
        call = f"aten::{op}"
        for geometry in [*shapes, *layouts]:
            self.add(f"{call}({dtypes[0]}{geometry}{tail})")
        for dtype in [*dtypes[1:], *(NARROW if narrow else [])]:
            for geometry in ("[7]", "[2,129]", "[5,4]@(1,5)"):
                self.add(f"{call}({dtype}{geometry}{tail})")
        if grad:
            self.add(f"{call}(f32[2,3,5]^{tail}) !grad", f"{call}(f32[5,4]@(1,5)^{tail}) !grad")
        if inplace:
            name = op if isinstance(inplace, bool) else inplace
            base, _, overload = name.partition(".")
            dot = f".{overload}" if overload else ""
            self.add(f"aten::{base}_{dot}({dtypes[0]}[13]{tail})", f"aten::{base}_{dot}({dtypes[0]}[5,4]@(1,5){tail})")
        if out:
            self.add(f"aten::{out}({dtypes[0]}[13]{tail}{';' if ';' not in tail else ','} out={dtypes[0]}[13])",
                     f"aten::{out}({dtypes[0]}[5,4]{tail}{';' if ';' not in tail else ','} out={dtypes[0]}[5,4]@(1,5))")

    def binary(self, op, dtypes=("f32",), grad=False, inplace=True, out=True, alias=True, more=""):
        base, _, overload = op.partition(".")
        pairs = [("[]", "[]"), ("[0]", "[0]"), ("[1]", "[7]"), ("[127]", "[127]"), ("[128]", "[]"), ("[129]", "[129]"),
                 ("[3,1]", "[1,5]"), ("[2,3,5]", "[5]"), ("[2,0,3]", "[3]"), ("[5,4]@(1,5)", "[5,4]"), ("[6]@(2)", "[6]+3"),
                 ("[4,5]@(0,1)", "[4,5]"), ("[2,3,4,5]@(60,1,15,3)", "[2,3,4,5]")]
        call = f"aten::{op}"
        for a, b in pairs:
            self.add(f"{call}({dtypes[0]}{a}, {dtypes[0]}{b}{more})")
        for dtype in dtypes[1:]:
            for a, b in (("[7]", "[7]"), ("[2,129]", "[129]"), ("[5,4]@(1,5)", "[5,4]")):
                self.add(f"{call}({dtype}{a}, {dtype}{b}{more})")
        if alias:
            self.add(f"{call}({dtypes[0]}[7], %0{more})")
        if inplace:
            self.add(f"aten::{base}_.{overload}({dtypes[0]}[5,4]@(1,5), {dtypes[0]}[4]{more})",
                     f"aten::{base}_.{overload}({dtypes[0]}[13], %0{more})")
        if out:
            name = "out" if isinstance(out, bool) else out
            joint = ";" if ";" not in more else ","
            result = dtypes[0] if op.split(".")[0] not in COMPARISONS else "bool"
            self.add(f"aten::{base}.{name}({dtypes[0]}[5,4], {dtypes[0]}[5,4]{more}{joint} out={result}[5,4]@(1,5))")
        if grad:
            self.add(f"{call}(f32[3,4]^, f32[3,4]^{more}) !grad", f"{call}(f32[3,1]^, f32[1,5]^{more}) !grad",
                     f"{call}(f32[4,5]@(0,1)^, f32[4,5]{more}) !grad")


COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]


def unary_functions():
    c = Cases()
    for op in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
               "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid", "rsqrt", "sqrt", "reciprocal", "square"):
        c.unary(op, grad=op in ("exp", "log", "tanh", "sigmoid", "sqrt", "rsqrt", "erf", "reciprocal", "sin", "cos", "log1p"),
                inplace=True, out=f"{op}.out")
    for op in ("abs", "neg", "sign", "ceil", "floor", "trunc", "frac", "round"):
        ints = () if op == "frac" else ("i64", "i32")
        c.unary(op, dtypes=("f32", *ints), inplace=True, out=f"{op}.out", grad=op in ("abs", "neg"))
    for op in ("isnan", "isinf", "isfinite", "logical_not", "signbit"):
        c.unary(op, dtypes=("f32", "i64", "bool"))
    c.unary("bitwise_not", dtypes=("i64", "i32", "bool"), narrow=False)
    c.unary("nan_to_num")
    c.unary("deg2rad")
    c.unary("sinc")
    c.unary("sgn")
    c.unary("digamma", shapes=["[7]", "[129]"], layouts=[])
    c.unary("lgamma", shapes=["[7]", "[129]"], layouts=[])
    c.unary("erfinv", shapes=["[7]", "[129]"], layouts=[])
    return c


def activations():
    c = Cases()
    for op, more in (("relu", ""), ("gelu", ""), ("silu", ""), ("mish", ""), ("softplus", ""), ("elu", ""), ("selu", ""), ("celu", ""),
                     ("hardtanh", ""), ("hardswish", ""), ("hardsigmoid", ""), ("relu6", ""), ("leaky_relu", "0.1"), ("log_sigmoid", ""),
                     ("softshrink", "0.5"), ("hardshrink", "0.5"), ("threshold", "0.1, 20.0")):
        c.unary(op, more, grad=True)
    c.unary("gelu", "; approximate=\"tanh\"", shapes=["[7]", "[129]"], layouts=["[5,4]@(1,5)"], grad=True)
    for op in ("relu", "silu", "elu", "hardtanh", "leaky_relu", "celu", "mish"):
        c.add(f"aten::{op}_(f32[13])", f"aten::{op}_(f32[5,4]@(1,5))", f"aten::{op}_(bf16[2,129])")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::prelu({dtype}[2,3,5], {dtype}[3])", f"aten::glu({dtype}[4,6], -1)", f"aten::glu({dtype}[4,6]@(1,4), 0)",
              f"aten::gelu_backward({dtype}[7], {dtype}[7])", f"aten::silu_backward({dtype}[7], {dtype}[7])",
              f"aten::threshold_backward({dtype}[7], {dtype}[7], 0)", f"aten::tanh_backward({dtype}[7], {dtype}[7])",
              f"aten::sigmoid_backward({dtype}[7], {dtype}[7])", f"aten::leaky_relu_backward({dtype}[7], {dtype}[7], 0.1, False)",
              f"aten::hardswish_backward({dtype}[7], {dtype}[7])", f"aten::softplus_backward({dtype}[7], {dtype}[7], 1, 20)")
    c.add("aten::prelu(f32[2,3,5]^, f32[3]^) !grad", "aten::glu(f32[4,6]^, -1) !grad")
    return c


def binary_functions():
    c = Cases()
    for op in ("add.Tensor", "sub.Tensor", "mul.Tensor"):
        c.binary(op, ("f32", "bf16", "f16", "i64", "i32"), grad=True)
    c.binary("div.Tensor", ("f32", "bf16", "f16"), grad=True)
    for mode in ("floor", "trunc"):
        c.binary("div.Tensor_mode", ("f32", "bf16", "i64", "i32"), out="out_mode", more=f'; rounding_mode="{mode}"')
    for op in ("maximum", "minimum", "fmax", "fmin"):
        for dtype in ("f32", "bf16", "i64"):
            for a, b in (("[7]", "[7]"), ("[3,1]", "[1,129]"), ("[5,4]@(1,5)", "[5,4]"), ("[]", "[]"), ("[0]", "[0]")):
                c.add(f"aten::{op}({dtype}{a}, {dtype}{b})")
    c.binary("pow.Tensor_Tensor", ("f32", "bf16"), out="Tensor_Tensor_out", inplace=False)
    for dtype in ("f32", "bf16", "i64"):
        c.add(f"aten::pow.Tensor_Scalar({dtype}[7], 2)", f"aten::pow.Tensor_Scalar({dtype}[5,4]@(1,5), 3)")
    c.add("aten::pow.Tensor_Scalar(f32[129], 0.5)", "aten::pow.Scalar(2, f32[129])", "aten::pow.Tensor_Scalar(f32[2,3]^, 2) !grad")
    c.binary("remainder.Tensor", ("f32", "bf16", "i64", "i32"), out="Tensor_out")
    c.binary("fmod.Tensor", ("f32", "bf16", "i64", "i32"), out="Tensor_out")
    for dtype in ("f32", "bf16", "i64", "i32"):
        c.add(f"aten::floor_divide({dtype}[7], {dtype}[7])", f"aten::floor_divide({dtype}[3,1], {dtype}[1,129])",
              f"aten::floor_divide.Scalar({dtype}[129], 3)")
    for op in ("atan2", "hypot", "copysign.Tensor", "logaddexp", "logaddexp2", "xlogy.Tensor", "nextafter", "heaviside"):
        for dtype in ("f32", "bf16"):
            for a, b in (("[7]", "[7]"), ("[3,1]", "[1,129]"), ("[5,4]@(1,5)", "[5,4]"), ("[]", "[]"), ("[0]", "[0]")):
                c.add(f"aten::{op}({dtype}{a}, {dtype}{b})")
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        c.binary(f"{op}.Tensor", ("f32", "bf16", "i64", "bool"), inplace=False, out="Tensor_out", alias=False)
        c.add(f"aten::{op}.Scalar(f32[129], 0)", f"aten::{op}.Scalar(i64[7], 1)")
    for op in ("logical_and", "logical_or", "logical_xor"):
        for dtype in ("bool", "f32", "i64"):
            c.add(f"aten::{op}({dtype}[7], {dtype}[7])", f"aten::{op}({dtype}[3,1], {dtype}[1,129])")
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        for dtype in ("bool", "i64", "i32"):
            c.add(f"aten::{op}.Tensor({dtype}[7], {dtype}[7])", f"aten::{op}.Tensor({dtype}[3,1], {dtype}[1,129])")
    for op in ("add", "mul", "sub", "div"):
        c.add(f"aten::{op}.Scalar(f32[129], 3)", f"aten::{op}.Scalar(bf16[5,4]@(1,5), 0.1)", f"aten::{op}.Tensor(f32[7], f64[])",
              f"aten::{op}.Tensor(i64[7], f32[7])", f"aten::{op}.Tensor(bf16[7], f32[])")
    c.add("aten::add.Tensor(f32[7], f32[7]; alpha=2)", "aten::add.Tensor(i64[7], i64[7]; alpha=-3)", "aten::sub.Tensor(f32[7], f32[7]; alpha=0.5)",
          "aten::rsub.Scalar(f32[7], 2)", "aten::add.out(f32[4]@(2)+1, %0; out=f32[4])", "aten::mul.out(f32[4], f32[4]; out=%0)",
          "aten::add_.Tensor(f32[8], %0:f32[8])", "aten::add_.Tensor(f32[4]+4, %0:f32[4])")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::addcmul({dtype}[3,4], {dtype}[3,4], {dtype}[3,4]; value=0.5)", f"aten::addcdiv({dtype}[3,4], {dtype}[3,4], {dtype}[3,4]; value=0.5)",
              f"aten::lerp.Scalar({dtype}[129], {dtype}[129], 0.3)", f"aten::lerp.Tensor({dtype}[3,4], {dtype}[3,4], {dtype}[4])",
              f"aten::clamp({dtype}[129], -0.5, 0.5)", f"aten::clamp.Tensor({dtype}[3,4], {dtype}[4], {dtype}[])",
              f"aten::where.self(bool[3,4], {dtype}[3,4], {dtype}[4])", f"aten::masked_fill.Scalar({dtype}[3,4], bool[4], -1.0)",
              f"aten::clamp_min({dtype}[5,4]@(1,5), 0)", f"aten::clamp_max({dtype}[7], 0)")
    c.add("aten::addcmul(f32[3,4]^, f32[3,4]^, f32[3,4]^; value=0.5) !grad", "aten::where.self(bool[3,4], f32[3,4]^, f32[4]^) !grad",
          "aten::lerp.Scalar(f32[7]^, f32[7]^, 0.3) !grad", "aten::clamp(f32[129]^, -0.5, 0.5) !grad", "aten::clamp(i64[7], 0, 5)",
          "aten::masked_fill_.Scalar(f32[5,4]@(1,5), bool[5,4], 0)", "aten::where.self(bool[0], f32[0], f32[0])")
    return c


def reductions():
    c = Cases()
    # Lengths around a tile, one element, none; over rows, columns, several dimensions and all.
    geometries = ["[1]", "[127]", "[128]", "[129]", "[3,5]", "[5,4]@(1,5)", "[4,5]@(0,1)", "[2,3,4,5]@(60,1,15,3)", "[6]@(2)", "[7]+3"]
    for op in ("sum", "mean"):
        for geometry in ["[]", "[0]", *geometries]:
            if not (op == "mean" and geometry == "[0]"):
                c.add(f"aten::{op}(f32{geometry})")
        for dtype in ("bf16", "f16"):
            c.add(f"aten::{op}({dtype}[129])", f"aten::{op}.dim({dtype}[3,1000], [1])")
        c.add(f"aten::{op}.dim(f32[2,3,5], [0,2], True)", f"aten::{op}.dim(f32[129,3], [0])", f"aten::{op}.dim(f32[3,129], [-1])",
              f"aten::{op}.dim(f32[5,4]@(1,5), [1])", f"aten::{op}(f32[3,5]^) !grad", f"aten::{op}.dim(f32[2,3,5]^, [1]) !grad")
    for dtype in ("i64", "i32", "bool"):
        c.add(f"aten::sum({dtype}[129])", f"aten::sum.dim_IntList({dtype}[3,5], [1])", f"aten::prod({dtype}[5])", f"aten::cumsum({dtype}[7], 0)")
    c.lines = [line.replace("aten::sum.dim(", "aten::sum.dim_IntList(") for line in c.lines]
    for op in ("amax", "amin"):
        for geometry in ["[]", *geometries]:
            c.add(f"aten::{op}(f32{geometry})")
        for dtype in ("bf16", "i64", "bool"):
            c.add(f"aten::{op}({dtype}[3,129], [1])", f"aten::{op}({dtype}[5,4]@(1,5), [0], True)")
        c.add(f"aten::{op}(f32[3,5]^, [1]) !grad")
    for op in ("argmax", "argmin"):
        for geometry in geometries:
            c.add(f"aten::{op}(f32{geometry})")
        for dtype in ("f32", "bf16", "i64"):
            c.add(f"aten::{op}({dtype}[3,129], 1)", f"aten::{op}({dtype}[5,4]@(1,5), 0, True)")
    for op in ("max.dim", "min.dim"):
        for dtype in ("f32", "bf16", "i64"):
            c.add(f"aten::{op}({dtype}[3,129], 1)", f"aten::{op}({dtype}[5,4]@(1,5), 0, True)", f"aten::{op}({dtype}[1,1], -1)")
        c.add(f"aten::{op}(f32[3,5]^, 1) !grad")
    for op in ("max", "min", "all", "any", "prod", "median", "std", "var", "logsumexp", "norm.Scalar", "count_nonzero", "nansum"):
        more = {"logsumexp": ", [0]", "norm.Scalar": ""}.get(op, "")
        for geometry in ("[1]", "[7]", "[129]", "[5,4]@(1,5)", "[4,5]@(0,1)"):
            c.add(f"aten::{op}(f32{geometry}{more})")
    for op in ("var.correction", "std.correction"):
        for dtype in ("f32", "bf16"):
            c.add(f"aten::{op}({dtype}[3,129], [1])", f"aten::{op}({dtype}[5,4]@(1,5), [0]; correction=0, keepdim=True)")
        c.add(f"aten::{op}(f32[3,129]^, [1]) !grad")
    c.add("aten::var_mean.correction(f32[3,129], [1])", "aten::std_mean.correction(bf16[3,129], [1])", "aten::all.dim(bool[3,129], 1)",
          "aten::any.dim(bool[3,129], 1)", "aten::all(bool[0])", "aten::any(bool[0])", "aten::logsumexp(f32[3,129], [1], True)",
          "aten::logsumexp(bf16[3,129], [1])", "aten::logsumexp(f32[3,5]^, [1]) !grad")
    for op in ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"):
        for dtype in ("f32", "bf16"):
            c.add(f"aten::{op}({dtype}[129], 0)", f"aten::{op}({dtype}[5,4]@(1,5), 1)", f"aten::{op}({dtype}[1], 0)", f"aten::{op}({dtype}[3,0], 1)")
    c.add("aten::cumsum(f32[3,5]^, 1) !grad")
    for dtype in ("f32", "bf16", "i64"):
        c.add(f"aten::topk({dtype}[129], 5)", f"aten::topk({dtype}[3,129], 7, -1, False)", f"aten::sort({dtype}[129])", f"aten::sort({dtype}[5,4]@(1,5), 0, True)",
              f"aten::argsort({dtype}[3,129])", f"aten::sort.stable({dtype}[3,129]; stable=True)", f"aten::kthvalue({dtype}[3,129], 4)",
              f"aten::median.dim({dtype}[3,7], 1)")
    c.add("aten::topk(f32[129], 1)", "aten::topk(f32[128], 128)", "aten::sort(f32[0])", "aten::sort(f32[1])", "aten::topk(f32[3,5]^, 2) !grad",
          "aten::linalg_vector_norm(f32[3,129])", "aten::linalg_vector_norm(f32[3,129], 1, [1])", "aten::linalg_vector_norm(bf16[3,129], 2, [1], True)",
          "aten::linalg_vector_norm(f32[3,5]^, 2, [1]) !grad", "aten::norm.ScalarOpt_dim(f32[3,129], 2, [1])", "aten::dist(f32[7], f32[7])")
    return c


def contractions():
    c = Cases()
    sizes = [(1, 1, 1), (2, 3, 5), (7, 13, 11), (4, 127, 3), (3, 128, 5), (5, 129, 2), (129, 4, 127), (0, 3, 5), (3, 0, 5)]
    for m, k, n in sizes:
        c.add(f"aten::mm(f32[{m},{k}], f32[{k},{n}])", f"aten::addmm(f32[{n}], f32[{m},{k}], f32[{k},{n}])", f"aten::linear(f32[2,{m},{k}], f32[{n},{k}], f32[{n}])",
              f"aten::bmm(f32[2,{m},{k}], f32[2,{k},{n}])")
    for dtype in ("bf16", "f16", "i64"):
        c.add(f"aten::mm({dtype}[7,129], {dtype}[129,5])", f"aten::mm({dtype}[7,4]@(1,7), {dtype}[4,5])", f"aten::bmm({dtype}[2,3,129], {dtype}[2,129,4])")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::mm({dtype}[3,4]@(1,3), {dtype}[4,5]@(1,4))", f"aten::mm({dtype}[3,4]@(0,1), {dtype}[4,5])", f"aten::mm({dtype}[3,4]@(8,2)+1, {dtype}[4,5])",
              f"aten::mv({dtype}[7,129], {dtype}[129])", f"aten::dot({dtype}[129], {dtype}[129])", f"aten::matmul({dtype}[2,1,3,4], {dtype}[5,4,2])",
              f"aten::matmul({dtype}[4], {dtype}[4,5])", f"aten::matmul({dtype}[4], {dtype}[4])", f"aten::addmm({dtype}[3,5], {dtype}[3,129], {dtype}[129,5]; beta=0.5, alpha=2)",
              f"aten::baddbmm({dtype}[2,3,5], {dtype}[2,3,129], {dtype}[2,129,5]; beta=0)", f"aten::addmv({dtype}[7], {dtype}[7,129], {dtype}[129])",
              f"aten::addbmm({dtype}[3,5], {dtype}[2,3,4], {dtype}[2,4,5])", f"aten::linear({dtype}[129], {dtype}[5,129])", f"aten::einsum(\"bij,bjk->bik\", [{dtype}[2,3,4], {dtype}[2,4,5]])",
              f"aten::outer({dtype}[7], {dtype}[129])", f"aten::ger({dtype}[3], {dtype}[5])", f"aten::mm({dtype}[7,7], %0)", f"aten::addr({dtype}[3,5], {dtype}[3], {dtype}[5])")
    c.add("aten::mm.out(f32[3,4], f32[4,5]; out=f32[3,5]@(1,3))", "aten::addmm_(f32[3,5], f32[3,4], f32[4,5])", "aten::bmm.out(f32[2,3,4], f32[2,4,5]; out=f32[2,3,5])",
          "aten::baddbmm_(f32[2,3,5], f32[2,3,4], f32[2,4,5])", "aten::mm(f32[7,13]^, f32[13,5]^) !grad", "aten::addmm(f32[5]^, f32[3,4]^, f32[4,5]^) !grad",
          "aten::linear(f32[2,7,13]^, f32[5,13]^, f32[5]^) !grad", "aten::bmm(f32[2,3,4]^, f32[2,4,5]^) !grad", "aten::mv(f32[7,13]^, f32[13]^) !grad",
          "aten::dot(f32[13]^, f32[13]^) !grad", "aten::matmul(f32[2,1,3,4]^, f32[5,4,2]^) !grad", "aten::linear(bf16[3,129]^, bf16[5,129]^) !grad")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::conv1d({dtype}[2,3,17], {dtype}[4,3,3])", f"aten::conv1d({dtype}[2,4,17], {dtype}[4,1,3], None, [2], [1], [1], 4)",
              f"aten::conv2d({dtype}[2,3,7,9], {dtype}[4,3,3,3], {dtype}[4])", f"aten::conv2d({dtype}[2,3,7,9]@(189,1,27,3), {dtype}[4,3,3,3])",
              f"aten::conv2d({dtype}[1,4,8,8], {dtype}[8,1,3,3], None, [2,1], [1,1], [1,1], 4)", f"aten::conv2d({dtype}[1,3,9,9], {dtype}[2,3,3,3], None, [1,1], [2,2], [2,2])",
              f"aten::conv2d({dtype}[1,129,3,3], {dtype}[2,129,1,1])", f"aten::conv3d({dtype}[1,2,4,5,6], {dtype}[3,2,2,2,2])",
              f"aten::conv_transpose2d.input({dtype}[1,3,4,4], {dtype}[3,2,3,3], None, [2,2], [1,1], [1,1])", f"aten::conv_transpose1d({dtype}[1,3,7], {dtype}[3,2,3])",
              f"aten::convolution({dtype}[2,3,7,9], {dtype}[4,3,3,3], None, [1,1], [0,0], [1,1], False, [0,0], 1)")
    c.add("aten::conv2d(f32[2,3,7,9]^, f32[4,3,3,3]^, f32[4]^) !grad", "aten::conv1d(f32[2,3,17]^, f32[4,3,3]^) !grad", "aten::conv_transpose2d.input(f32[1,3,4,4]^, f32[3,2,3,3]^) !grad",
          "aten::conv2d(f32[1,4,8,8]^, f32[8,1,3,3]^, None, [2,1], [1,1], [1,1], 4) !grad")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::scaled_dot_product_attention({dtype}[1,2,7,8], {dtype}[1,2,7,8], {dtype}[1,2,7,8])",
              f"aten::scaled_dot_product_attention({dtype}[2,2,5,16], {dtype}[2,2,129,16], {dtype}[2,2,129,16])",
              f"aten::scaled_dot_product_attention({dtype}[1,2,7,8], {dtype}[1,2,7,8], {dtype}[1,2,7,8], None, 0.0, True)",
              f"aten::scaled_dot_product_attention({dtype}[1,1,1,8], {dtype}[1,1,1,8], {dtype}[1,1,1,8])")
    c.add("aten::scaled_dot_product_attention(f32[1,2,7,8]^, f32[1,2,7,8]^, f32[1,2,7,8]^) !grad", "aten::scaled_dot_product_attention(f32[1,2,4,8], f32[1,2,4,8], f32[1,2,4,8], bool[4,4])")
    return c


def normalisations():
    c = Cases()
    for op in ("softmax.int", "log_softmax.int"):
        for geometry in ("[1]", "[7]", "[127]", "[128]", "[129]", "[]", "[6]@(2)", "[7]+3"):
            c.add(f"aten::{op}(f32{geometry}, 0)")
        for dtype in ("f32", "bf16", "f16"):
            c.add(f"aten::{op}({dtype}[3,129], -1)", f"aten::{op}({dtype}[5,4]@(1,5), 0)", f"aten::{op}({dtype}[2,3,4,5]@(60,1,15,3), 1)", f"aten::{op}({dtype}[3,0], 1)",
                  f"aten::{op}({dtype}[4,5]@(0,1), 1)")
        c.add(f"aten::{op}(f32[3,5]^, -1) !grad")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::_softmax({dtype}[3,129], 1, False)", f"aten::_log_softmax({dtype}[3,129], 1, False)", f"aten::_softmax_backward_data({dtype}[3,7], {dtype}[3,7], 1, {dtype})",
              f"aten::layer_norm({dtype}[3,129], [129], {dtype}[129], {dtype}[129])", f"aten::layer_norm({dtype}[2,3,5], [3,5])", f"aten::layer_norm({dtype}[1,1], [1])",
              f"aten::layer_norm({dtype}[5,4]@(1,5), [4])", f"aten::native_layer_norm({dtype}[3,128], [128], {dtype}[128], {dtype}[128], 1e-5)", f"aten::rms_norm({dtype}[3,129], [129], {dtype}[129])",
              f"aten::group_norm({dtype}[2,6,5], 3, {dtype}[6], {dtype}[6])", f"aten::instance_norm({dtype}[2,3,7], None, None, None, None, True, 0.1, 1e-5, False)",
              f"aten::batch_norm({dtype}[4,3,5], {dtype}[3], {dtype}[3], {dtype}[3], {dtype}[3], True, 0.1, 1e-5, False)",
              f"aten::batch_norm({dtype}[4,3,5], {dtype}[3], {dtype}[3], {dtype}[3], {dtype}[3], False, 0.1, 1e-5, False)",
              f"aten::batch_norm({dtype}[2,3,4,5]@(60,1,15,3), None, None, {dtype}[3], {dtype}[3], True, 0.1, 1e-5, False)",
              f"aten::native_group_norm({dtype}[2,6,5], {dtype}[6], {dtype}[6], 2, 6, 5, 3, 1e-5)")
    c.add("aten::layer_norm(f32[3,13]^, [13], f32[13]^, f32[13]^) !grad", "aten::group_norm(f32[2,6,5]^, 3, f32[6]^, f32[6]^) !grad", "aten::rms_norm(f32[3,13]^, [13], f32[13]^) !grad",
          "aten::batch_norm(f32[4,3,5]^, f32[3]^, f32[3]^, f32[3], f32[3], True, 0.1, 1e-5, False) !grad")
    return c


def movement():
    c = Cases()
    for dtype in ("f32", "bf16", "i64", "bool"):
        c.add(f"aten::cat([{dtype}[2,3], {dtype}[2,129]], 1)", f"aten::cat([{dtype}[0], {dtype}[3]])", f"aten::stack([{dtype}[3], {dtype}[3]], 1)", f"aten::clone({dtype}[5,4]@(1,5))",
              f"aten::t({dtype}[3,129])", f"aten::permute({dtype}[2,3,5], [2,0,1])", f"aten::transpose.int({dtype}[2,3,5], 0, -1)", f"aten::view({dtype}[6,4], [2,12])",
              f"aten::reshape({dtype}[5,4]@(1,5), [20])", f"aten::expand({dtype}[3,1], [3,7])", f"aten::slice.Tensor({dtype}[13], 0, 1, 12, 3)", f"aten::select.int({dtype}[3,5]@(1,3), 0, 1)",
              f"aten::narrow({dtype}[13,3], 0, 4, 5)", f"aten::flip({dtype}[3,5], [0,1])", f"aten::roll({dtype}[3,5], [1,-2], [0,1])", f"aten::repeat({dtype}[2,3], [2,1,2])",
              f"aten::tril({dtype}[5,7])", f"aten::triu({dtype}[5,7], 1)", f"aten::contiguous({dtype}[4,5]@(0,1))", f"aten::unbind.int({dtype}[3,5], 1)", f"aten::split.Tensor({dtype}[13], 5)",
              f"aten::chunk({dtype}[13], 4)", f"aten::squeeze({dtype}[1,3,1])", f"aten::unsqueeze({dtype}[3], 0)", f"aten::diagonal({dtype}[5,7], 1)", f"aten::unfold({dtype}[13], 0, 4, 3)",
              f"aten::as_strided({dtype}[20], [3,4], [5,1], 2)", f"aten::constant_pad_nd({dtype}[3,5], [1,2], 0)", f"aten::constant_pad_nd({dtype}[3,5], [-1,2,0,1], 1)", f"aten::copy_({dtype}[5,4]@(1,5), {dtype}[4])",
              f"aten::zeros_like({dtype}[5,4]@(1,5))", f"aten::ones_like({dtype}[3])", f"aten::full_like({dtype}[129], 1)", f"aten::fill_.Scalar({dtype}[5,4]@(1,5), 1)", f"aten::zero_({dtype}[7]+3)",
              f"aten::rot90({dtype}[3,5])", f"aten::movedim.int({dtype}[2,3,5], 0, 2)", f"aten::flatten.using_ints({dtype}[2,3,5], 1)", f"aten::expand({dtype}[], [3])", f"aten::repeat_interleave.self_int({dtype}[3,2], 2, 0)")
    for source in ("f32", "bf16", "f16", "i64", "i32", "bool"):
        for target in ("f32", "bf16", "f16", "i64", "i32", "bool"):
            if source != target:
                c.add(f"aten::_to_copy({source}[129]; dtype={target})")
    c.add("aten::_to_copy(f32[2,3,4,5]; memory_format=channels_last)", "aten::clone(f32[2,3,4,5]; memory_format=channels_last)", "aten::to.dtype(f64[7], f32)", "aten::copy_(f32[7], i64[7])",
          "aten::copy_(bf16[5,4], f32[5,4]@(1,5))", "aten::cat([f32[2,3]^, f32[2,5]^], 1) !grad", "aten::permute(f32[2,3,5]^, [2,0,1]) !grad", "aten::slice.Tensor(f32[13]^, 0, 1, 12, 3) !grad",
          "aten::constant_pad_nd(f32[3,5]^, [1,2], 0.5) !grad", "aten::expand(f32[3,1]^, [3,7]) !grad", "aten::cat.out([f32[2,3], f32[2,4]], 1; out=f32[2,7])")
    for dtype in ("f32", "i64", "bool"):
        c.add(f"aten::zeros([3,5]; dtype={dtype})", f"aten::ones([7]; dtype={dtype})", f"aten::full([129], 1; dtype={dtype})", f"aten::zeros([0]; dtype={dtype})")
    c.add("aten::arange(129)", "aten::arange.start_step(3, 20, 4)", "aten::arange.start_step(0.0, 1.0, 0.1)", "aten::eye(7)", "aten::eye.m(3, 5)", "aten::linspace(0, 1, 129)", "aten::scalar_tensor(3)", "aten::tril_indices(5, 7)")
    return c


def indexing():
    c = Cases()
    for dtype in ("f32", "bf16", "i64"):
        c.add(f"aten::index.Tensor({dtype}[13,5], [i64[7]])", f"aten::index.Tensor({dtype}[3,13], [None, i64[7]])", f"aten::index.Tensor({dtype}[5,4]@(1,5), [i64[3], i64[3]])", f"aten::index.Tensor({dtype}[4], [bool[4]={{1,0,1,0}}])",
              f"aten::index_select({dtype}[13,5], 0, i64[7])", f"aten::gather({dtype}[5,7], 1, i64[5,3])", f"aten::take_along_dim({dtype}[5,7], i64[5,3], 1)", f"aten::scatter.src({dtype}[5,7], 1, i64[5,3], {dtype}[5,3])",
              f"aten::scatter.value({dtype}[5,7], 1, i64[5,3], 2)", f"aten::scatter_add({dtype}[5,7], 0, i64[5,7], {dtype}[5,7])", f"aten::index_put({dtype}[13,5], [i64[7]], {dtype}[7,5])",
              f"aten::index_put({dtype}[13,5], [i64[7]], {dtype}[7,5], True)", f"aten::index_add({dtype}[13,5], 0, i64[7], {dtype}[7,5])", f"aten::index_copy({dtype}[13,5], 0, i64[3]={{1,4,12}}, {dtype}[3,5])",
              f"aten::index_fill.int_Scalar({dtype}[13,5], 0, i64[3], 2)", f"aten::masked_select({dtype}[4], bool[4]={{1,0,1,1}})", f"aten::masked_scatter({dtype}[4], bool[4]={{1,0,1,1}}, {dtype}[4])",
              f"aten::select_scatter({dtype}[3,5], {dtype}[5], 0, 1)", f"aten::slice_scatter({dtype}[13], {dtype}[4], 0, 1, 13, 3)", f"aten::index_select({dtype}[13], 0, i64[0])", f"aten::take({dtype}[3,5], i64[7])")
    for dtype in ("f32", "bf16"):
        c.add(f"aten::embedding({dtype}[129,16], i64[3,7])", f"aten::embedding({dtype}[1,1], i64[1])", f"aten::embedding({dtype}[13,4], i32[0])", f"aten::embedding_dense_backward({dtype}[7,4], i64[7], 13, -1, False)",
              f"aten::scatter_reduce.two({dtype}[5,7], 0, i64[5,7], {dtype}[5,7], \"amax\")", f"aten::scatter_reduce.two({dtype}[5,7], 0, i64[5,7], {dtype}[5,7], \"sum\")")
    c.add("aten::embedding(f32[13,4]^, i64[3,7]) !grad", "aten::index_select(f32[13,5]^, 0, i64[7]) !grad", "aten::gather(f32[5,7]^, 1, i64[5,3]) !grad", "aten::index.Tensor(f32[13,5]^, [i64[7]]) !grad",
          "aten::scatter_add(f32[5,7]^, 0, i64[5,7], f32[5,7]^) !grad", "aten::nonzero(bool[4]={1,0,1,1})", "aten::one_hot(i64[7], 5)", "aten::searchsorted.Tensor(f32[5]={0,1,2,3,4}, f32[129])", "aten::bucketize.Tensor(f32[129], f32[5]={-1,-0.5,0,0.5,1})",
          "aten::bincount(i64[7]={0,1,1,3,2,1,7})", "aten::unique_dim(i64[5,2], 0)", "aten::index_put_(f32[13,5], [i64[7]], f32[7,5])", "aten::scatter_.src(f32[5,7]@(1,5), 1, i64[5,3], f32[5,3])")
    return c


def windows():
    c = Cases()
    for dtype in ("f32", "bf16"):
        c.add(f"aten::max_pool2d({dtype}[1,2,7,9], [3,3], [2,2], [1,1])", f"aten::max_pool2d_with_indices({dtype}[1,2,8,8], [2,2])", f"aten::max_pool1d({dtype}[2,3,17], [3])", f"aten::avg_pool2d({dtype}[1,2,7,9], [3,3], [2,2], [1,1])",
              f"aten::avg_pool1d({dtype}[2,3,17], [4], [2])", f"aten::avg_pool2d({dtype}[1,2,7,9], [3,3], [2,2], [1,1], True, False)", f"aten::adaptive_avg_pool2d({dtype}[1,2,7,9], [1,1])", f"aten::adaptive_avg_pool2d({dtype}[1,2,7,9], [3,4])",
              f"aten::adaptive_max_pool2d({dtype}[1,2,7,9], [3,4])", f"aten::avg_pool2d({dtype}[1,3,6,6]@(108,1,18,3), [2,2])", f"aten::max_pool3d({dtype}[1,1,4,5,6], [2,2,2])",
              f"aten::upsample_nearest2d({dtype}[1,2,3,4], [6,7])", f"aten::upsample_bilinear2d({dtype}[1,2,3,4], [6,7], False)", f"aten::upsample_bilinear2d({dtype}[1,2,3,4], [6,7], True)", f"aten::upsample_nearest1d({dtype}[1,2,7], [13])",
              f"aten::upsample_bicubic2d({dtype}[1,2,5,4], [6,7], False)", f"aten::reflection_pad1d({dtype}[2,7], [2,3])", f"aten::reflection_pad2d({dtype}[1,5,5], [1,2,0,3])", f"aten::replication_pad2d({dtype}[1,3,5,5], [1,2,0,3])",
              f"aten::pixel_shuffle({dtype}[1,8,3,3], 2)", f"aten::im2col({dtype}[1,2,5,5], [2,2], [1,1], [0,0], [1,1])", f"aten::grid_sampler_2d({dtype}[1,2,5,5], {dtype}[1,3,3,2], 0, 0, False)", f"aten::pad({dtype}[1,2,5], [1,2], \"reflect\")")
    c.add("aten::max_pool2d(f32[1,2,7,9]^, [3,3], [2,2]) !grad", "aten::avg_pool2d(f32[1,2,7,9]^, [3,3]) !grad", "aten::adaptive_avg_pool2d(f32[1,2,7,9]^, [3,4]) !grad", "aten::upsample_bilinear2d(f32[1,2,3,4]^, [6,7], False) !grad",
          "aten::upsample_nearest2d(f32[1,2,3,4]^, [6,7]) !grad", "aten::reflection_pad1d(f32[2,7]^, [2,3]) !grad")
    return c


def losses():
    c = Cases()
    for dtype in ("f32", "bf16"):
        for reduction in (0, 1, 2):
            c.add(f"aten::mse_loss({dtype}[7,13], {dtype}[7,13], {reduction})", f"aten::l1_loss({dtype}[129], {dtype}[129], {reduction})", f"aten::smooth_l1_loss({dtype}[129], {dtype}[129], {reduction})",
                  f"aten::huber_loss({dtype}[129], {dtype}[129], {reduction}, 0.7)", f"aten::binary_cross_entropy_with_logits({dtype}[129], {dtype}[129], None, None, {reduction})", f"aten::nll_loss_nd({dtype}[7,13], i64[7], None, {reduction})",
                  f"aten::cross_entropy_loss({dtype}[7,13], i64[7], None, {reduction})", f"aten::binary_cross_entropy({dtype}[13], {dtype}[13], None, {reduction})", f"aten::kl_div({dtype}[7,13], {dtype}[7,13], {reduction})")
    c.add("aten::mse_loss(f32[7,13]^, f32[7,13]) !grad", "aten::cross_entropy_loss(f32[7,13]^, i64[7]) !grad", "aten::l1_loss(f32[7,13]^, f32[7,13]) !grad", "aten::binary_cross_entropy_with_logits(f32[7]^, f32[7]) !grad",
          "aten::cosine_similarity(f32[3,129], f32[3,129])", "aten::cdist(f32[5,7], f32[3,7])", "aten::pairwise_distance(f32[3,7], f32[3,7])", "aten::smooth_l1_loss(f32[7,13]^, f32[7,13]) !grad", "aten::nll_loss_nd(f32[7,13]^, i64[7]) !grad")
    return c


def factors():
    c = Cases()
    for n in (1, 3, 8):
        c.add(f"aten::linalg_qr(f32[{n + 2},{n}])", f"aten::linalg_qr(f32[2,{n},{n + 1}], \"complete\")", f"aten::linalg_svd(f32[{n + 1},{n}], False)", f"aten::linalg_svd(f32[2,{n},{n}])", f"aten::linalg_eigh(f32[{n},{n}])",
              f"aten::linalg_cholesky_ex(f32[2,{n},{n}])", f"aten::cholesky(f32[{n},{n}], True)", f"aten::linalg_lu(f32[{n},{n}])", f"aten::linalg_lu_factor_ex(f32[2,{n},{n}])", f"aten::linalg_solve_ex(f32[{n},{n}], f32[{n},2])",
              f"aten::linalg_inv_ex(f32[2,{n},{n}])", f"aten::linalg_solve_triangular(f32[{n},{n}], f32[{n},3]; upper=True)", f"aten::linalg_solve_triangular(f32[{n},{n}], f32[2,{n}]; upper=False, left=False)", f"aten::linalg_lstsq(f32[{n + 2},{n}], f32[{n + 2},2])",
              f"aten::linalg_svdvals(f32[{n},{n + 1}])", f"aten::linalg_eigvalsh(f32[{n},{n}])", f"aten::linalg_inv(f64[{n},{n}])", f"aten::linalg_solve(f64[{n},{n}], f64[{n}])", f"aten::cholesky_solve(f32[{n},2], f32[{n},{n}])", f"aten::cholesky_solve(f32[{n},2], f32[{n},{n}], True)", f"aten::linalg_eigh(f32[2,{n},{n}], \"U\")",
              f"aten::triangular_solve(f32[{n},2], f32[{n},{n}], False)", f"aten::linalg_svd(f32[{n},{n + 2}])", f"aten::linalg_solve(f32[2,{n},{n}], f32[2,{n}])",
              f"aten::linalg_det(f32[{n},{n}])", f"aten::linalg_cholesky(f32[{n},{n}]@(1,{n}))", f"aten::inverse(f32[{n},{n}])")
    return c


def random_numbers():
    c = Cases()
    c.add("aten::rand([3,5])", "aten::rand([129]; dtype=f16)", "aten::rand([7]; dtype=bf16)", "aten::randn([3,5])", "aten::randn([129]; dtype=bf16)", "aten::rand_like(f32[5,4]@(1,5))", "aten::randn_like(f16[7])", "aten::uniform_(f32[7], -1.0, 3.0)",
          "aten::normal_(f32[5,4]@(1,5), 1.0, 0.5)", "aten::exponential_(f32[7])", "aten::randint(10, [7])", "aten::randint.low(-5, 5, [3,5]; dtype=i32)", "aten::randint_like(f32[7], 100)", "aten::randperm(7)", "aten::randperm(129; dtype=i32)",
          "aten::multinomial(f32[3,7], 4)", "aten::multinomial(f32[7], 5, True)", "aten::bernoulli(f32[7])", "aten::bernoulli_.float(f32[5,4]@(1,5), 0.3)", "aten::bernoulli.p(bf16[7], 0.3)", "aten::native_dropout(f32[3,5], 0.3, True)",
          "aten::native_dropout(bf16[3,5], 0.3, True)", "aten::dropout(f32[3,5]^, 0.5, True) !grad", "aten::dropout(f32[129], 0.1, False)", "aten::dropout_(f32[7], 0.5, True)", "aten::alpha_dropout(f32[7], 0.5, True)", "aten::feature_dropout(f32[2,3,5], 0.5, True)",
          "aten::rrelu_with_noise(f32[7], f32[7], 0.125, 0.333, True)", "aten::poisson(f32[7])", "aten::geometric_(f32[7], 0.3)", "aten::log_normal_(f32[7])", "aten::cauchy_(f32[7])", "aten::random_.from(i64[7], 0, 1000)", "aten::rand([0])")
    return c


def sequences():
    c = Cases()
    c.add("aten::permute(f32[5,3], [1,0]) ;; aten::linalg_qr($0)", "aten::relu(f32[7]) ;; aten::neg($0)", "aten::transpose.int(f32[3,5], 0, 1) ;; aten::clone($0)", "aten::transpose.int(f32[3,5], 0, 1) ;; aten::add.Tensor($0, f32[5,3])",
          "aten::slice.Tensor(f32[13], 0, 1, 12, 3) ;; aten::fill_.Scalar($0, 2)", "aten::view(f32[6,4], [24]) ;; aten::zero_($0)", "aten::expand(f32[3,1], [3,7]) ;; aten::clone($0)", "aten::permute(i64[2,3,5], [2,0,1]) ;; aten::contiguous($0)",
          "aten::add.Tensor(f32[7], f32[7]) ;; aten::mul.Tensor($0, f32[7])", "aten::_to_copy(f32[129]; dtype=bf16) ;; aten::_to_copy($0; dtype=f32)", "aten::cat([f32[2,3], f32[2,4]], 1) ;; aten::split.Tensor($0, 3, 1)", "aten::abs(i64[7]) ;; aten::sum($0)",
          "aten::mm(f32[3,4], f32[4,5]) ;; aten::relu($0)", "aten::select.int(f32[3,5], 0, 1) ;; aten::copy_($0, f32[5])", "aten::t(f32[3,5]) ;; aten::relu_($0)", "aten::diagonal(f32[5,5]) ;; aten::fill_.Scalar($0, 1)", "aten::topk(f32[129], 5) ;; aten::neg($0.0)",
          "aten::unbind.int(f32[3,5], 0) ;; aten::add.Tensor($0.0, $0.1)", "aten::rand([4]) ;; aten::relu($0)", "aten::arange(13) ;; aten::mul.Tensor($0, i64[])", "aten::gt.Scalar(f32[129], 0) ;; aten::logical_not($0)",
          "aten::exp(f32[7]) ;; aten::transpose.int(f32[3,5], 0, 1) ;; aten::neg($1)", "aten::zeros([3,5]) ;; aten::index_put_($0, [i64[2]={0,2}], f32[2,5])")
    return c


FILES = {"unary": unary_functions, "activations": activations, "binary": binary_functions, "reductions": reductions, "contractions": contractions,
         "normalisations": normalisations, "movement": movement, "indexing": indexing, "windows": windows, "losses": losses, "factors": factors,
         "random": random_numbers, "sequences": sequences}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, make in FILES.items():
        lines = list(dict.fromkeys(make().lines))
        (folder / f"{name}.cases").write_text("# Made by make_cases.py\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
