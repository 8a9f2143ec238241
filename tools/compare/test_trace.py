#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of compare_trace.py and case_text.py that need no torch: what they write, and that they can see a difference."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case_text
import compare_trace

OPS = compare_trace.ROOT / "datasets/catalogue/torch-2.13.0/ops.jsonl"


def tensor(name, shape, arg="self", **more):
    return {"arg": arg, "name": name, "dtype": "float32", "shape": shape, "layout": "strided", "strides": None, **more}


def node(inputs, attrs=None, **more):
    return {"inputs": inputs, "attrs": attrs or {}, **more}


class CaseText(unittest.TestCase):
    def test_tensors_and_attributes(self):
        n = node([tensor("x", ["2*s0", 3], strides=[3, 1], offset=4)], {"p": 0.5, "dtype": "torch.bfloat16", "device": "cpu"})
        self.assertEqual(case_text.case_of("aten::f", n, {"s0": 5}), "aten::f(; self=f32[10,3]@(3,1)+4, p=0.5, dtype=bf16)")

    def test_one_tensor_twice_is_an_alias(self):
        n = node([tensor("x", [2]), tensor("y", [2], "b"), tensor("x", [2], "c")])
        self.assertEqual(case_text.case_of("aten::f", n, {}), "aten::f(; self=f32[2], b=f32[2], c=%0)")

    def test_exact_arguments(self):
        n = node([tensor("x", [2]), {"arg": "shape", "name": "m", "sym": "SymInt", "expr": "s0//2"}])
        n["args_full"] = ["self", {"arg": "shape", "value": {"ints": [{"ref": 1}, 8]}}, {"arg": "z", "value": 1, "default": True}]
        self.assertEqual(case_text.case_of("aten::f", n, {"s0": 9}), "aten::f(; self=f32[2], shape=[4, 8])")

    def test_what_has_no_text(self):
        with self.assertRaises(case_text.NoText):
            case_text.case_of("aten::f", node([tensor("x", None)]), {})
        with self.assertRaises(case_text.NoText):
            case_text.evaluate("open('x')", {})

    def test_expressions(self):
        self.assertEqual(case_text.evaluate("Min(8, 8*s21) + Mod(s77, 3) - -1", {"s21": 10, "s77": 5}), 11)
        self.assertIs(case_text.evaluate("u0 >= 3", {}), False)


class Agreement(unittest.TestCase):
    def setUp(self):
        self.catalogue = compare_trace.Catalogue(OPS)

    def agrees(self, target, expected, seen, **more):
        answer = {"arrivals": [{"target": t} for t in seen], **more}
        return compare_trace.agrees(self.catalogue, target, expected, answer)

    def test_forms_of_one_operator(self):
        self.assertTrue(self.agrees("aten::add.Tensor", ["aten::add.Tensor"], ["aten::add.out"]))
        self.assertFalse(self.agrees("aten::add.Tensor", ["aten::add.Tensor"], ["aten::sub.out"]))

    def test_allocations_count_for_factories_alone(self):
        empty = "aten::empty.memory_format"
        self.assertTrue(self.agrees("aten::gt.Scalar", [empty, "aten::gt.Scalar_out"], ["aten::gt.Scalar_out"]))
        self.assertFalse(self.agrees("aten::arange", [empty, "aten::arange.out"], ["aten::arange.out"]))

    def test_order_and_number(self):
        self.assertFalse(self.agrees("aten::matmul", ["aten::view", "aten::bmm"], ["aten::bmm", "aten::view"]))
        self.assertFalse(self.agrees("aten::matmul", ["aten::bmm"], ["aten::bmm", "aten::bmm"]))

    def test_raising(self):
        self.assertTrue(self.agrees("(stopped)", None, [], raised="x"))
        self.assertFalse(self.agrees("(stopped)", None, [], not_traced="x"))
        self.assertFalse(self.agrees("(stopped)", None, ["aten::mm"]))
        self.assertFalse(self.agrees("aten::mm", [], [], raised="x"))


if __name__ == "__main__":
    unittest.main()
