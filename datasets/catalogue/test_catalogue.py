# SPDX-License-Identifier: Apache-2.0
"""Checks of the committed catalogue. Needs no torch: python3 datasets/catalogue/test_catalogue.py"""
import collections
import contextlib
import io
import json
import pathlib
import unittest

import conditions
import mapping
import reduce_rows
from predicates import Predicate

FOLDER = pathlib.Path(__file__).resolve().parent / "torch-2.13.0"


def read_lines(name):
    with (FOLDER / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split_arguments(text):
    """The arguments of a schema, split at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def argument_names(schema):
    """"aten::f(Tensor self, int[2] size=[1, 1], *, float p) -> Tensor" -> [self, size, p]"""
    depth, begin = 0, schema.index("(")
    for end in range(begin, len(schema)):
        depth += (schema[end] == "(") - (schema[end] == ")")
        if depth == 0:
            break
    return [a.split("=")[0].split()[-1] for a in split_arguments(schema[begin + 1 : end]) if a != "*"]


class Catalogue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.op_list = read_lines("ops.jsonl")
        cls.rows = read_lines("expansions.jsonl")
        cls.ops = {op["name"]: op for op in cls.op_list}
        cls.names = {name: argument_names(op["schema"]) for name, op in cls.ops.items()}
        cls.by_op = collections.defaultdict(dict)
        for row in cls.rows:
            cls.by_op[row["op"]][row["child"]] = row

    def test_operators_are_sorted_and_unique(self):
        names = [op["name"] for op in self.op_list]
        self.assertEqual(names, sorted(set(names)))
        self.assertGreater(len(names), 3000)

    def test_operator_fields(self):
        for op in self.op_list:
            self.assertIn(op["dispatch_class"], ("direct", "ceanf", "cea", "cia", "kernel"), op["name"])
            self.assertIn(op["view"], ("", "view", "view_or_copy", "kernel_view"), op["name"])
            self.assertTrue(op["schema"].startswith(op["name"] + "("), op["name"])
            if op["structured_twin"] is not None:
                self.assertEqual(self.ops[op["structured_twin"]]["dispatch_class"], "kernel", op["name"])

    def test_dispatch_classes_of_torch(self):
        """Counted once more, independently, in C++ (kernel and cia differ by what Python adds on import)."""
        counts = collections.Counter(o["dispatch_class"] for o in self.op_list if o["name"].startswith("aten::"))
        self.assertEqual(counts["ceanf"], 442)
        self.assertEqual(counts["cea"], 1059)
        self.assertEqual(sum(op["structured_twin"] is not None for op in self.op_list), 384)

    def test_known_operators(self):
        self.assertEqual(self.ops["aten::mm"]["structured_twin"], "aten::mm.out")
        self.assertEqual(self.ops["aten::add_.Tensor"]["structured_twin"], "aten::add.out")
        self.assertEqual(self.ops["aten::linear"]["dispatch_class"], "cia")
        self.assertEqual(self.ops["aten::view"]["view"], "view")
        self.assertEqual(self.ops["aten::reshape"]["view"], "view_or_copy")
        self.assertEqual(self.ops["aten::view_as_real"]["view"], "kernel_view")
        self.assertTrue(self.ops["aten::relu_"]["mutates"])
        self.assertFalse(self.ops["aten::_thnn_fused_lstm_cell"]["cpu_kernel"])
        self.assertTrue(self.ops["aten::convolution_overrideable"]["throws_only"])
        self.assertIn("core", self.ops["aten::relu"]["tags"])

    def test_rows_name_known_operators_and_are_sorted(self):
        keys = [(row["op"], row["child"] or "") for row in self.rows]
        self.assertEqual(keys, sorted(set(keys)))
        for row in self.rows:
            self.assertTrue(row["op"] in self.ops, row["op"])
            self.assertTrue(row["child"] is None or row["child"] in self.ops, row["child"])
            self.assertIn(row["mode"], ("always", "sometimes"))
            self.assertTrue(row["mode"] == "sometimes" or row["condition"] is None, row["op"])
            self.assertGreater(row["samples"], 0)
            self.assertRegex(row["times"], r"^\d+(\.\.\d+)?$")

    def test_a_row_without_child_stands_alone(self):
        for op, rows in self.by_op.items():
            self.assertTrue(None not in rows or len(rows) == 1, op)

    def test_samples_that_were_refused_are_no_row_of_nothing(self):
        for op, rows in self.by_op.items():
            self.assertFalse(None in rows and rows[None].get("truncated"), op)
        for op in ("aten::conv_tbc", "aten::_upsample_bicubic2d_aa.vec", "aten::float_power_.Scalar", "aten::scatter_.value_reduce"):
            self.assertNotIn(None, self.by_op.get(op, {}), op)

    def test_only_composites_expand(self):
        for op in self.by_op:
            self.assertIn(self.ops.get(op, {}).get("dispatch_class"), ("ceanf", "cea", "cia"), op)
            self.assertFalse(self.ops[op]["throws_only"], op)

    def test_arguments_exist(self):
        for row in self.rows:
            for name, mapped in row["args"].items():
                self.assertIn(name, self.names[row["child"]], row)
                self.assertEqual(1, len(mapped.keys() & {"parent", "const", "derived"}), row)
                if "parent" in mapped:
                    self.assertIn(mapped["parent"], self.names[row["op"]], row)
                self.assertTrue(all(type(n) is int for n in mapped.get("before", [])), row)
                self.assertTrue("before" not in mapped or mapped["before"] and "parent" in mapped, row)
                for value in mapped.get("derived", {}).values():
                    if isinstance(value, str) and value.startswith("same:"):
                        self.assertIn(value.removeprefix("same:"), self.names[row["op"]], row)

    def test_conditions_parse(self):
        parsed = 0
        for row in self.rows:
            for text in filter(None, (row["condition"], row.get("only_if"))):
                Predicate(text, self.names[row["op"]])
                parsed += 1
        self.assertGreater(parsed, 100)

    def test_the_condition_parser_refuses(self):
        for text in ("rank(nothing) == 1", "rank(self) ==", "shape(self) == 1", "rank(self) == 1 &&", "rank(self"):
            with self.assertRaises((ValueError, IndexError), msg=text):
                Predicate(text, ["self"])

    def test_predicates_evaluate(self):
        matrix = ["T", "float32", [2, 1], True, False]
        given = {"self": matrix, "bias": ["N"], "dims": ["V", [1, 2]], "flag": ["V", True], "mode": ["V", "sum"]}
        given.update({"low": ["V", "-Infinity"], "list": ["L", [matrix, ["N"]]]})
        for text, truth in (
            ("rank(self) == 2", True), ("rank(self) < 2", False), ("dtype(self) in {float32,bool}", True),
            ("dtype(self) == bool", False), ("size(self,1) == 1 && contiguous(self)", True), ("is_none(bias)", True),
            ("!is_none(bias) || any_gt(dims,1)", True), ("any_gt(dims,2)", False), ("flag == true", True),
            ("flag == 1", False), ("mode == 'sum'", True), ("(mode != 'sum' || flag) && rank(self) >= 2", True),
            ("itemsize(self) > 4", False), ("len(dims) == 2", True), ("len(dims) != 2 || len(list) == 1", False),
            ("len(bias) == 7", True), ("low == -inf", True), ("low < 0 && low != inf", True), ("dims % 2 == 0", False),
            ("size(self,-1) % 2 == 1", True), ("dtype(self) in floats && !(dtype(self) in ints)", True),
        ):  # fmt: skip
            self.assertEqual(Predicate(text, list(given)).holds(given), truth, text)

    def test_lengths_of_lists_make_conditions(self):
        def padded(mode, *pad):
            return {"pad": ["V", list(pad)], "mode": ["V", mode]}

        def lists(*counts):
            return [{"tensors": ["L", [["T", "float32", [2, 1], True, False]] * n]} for n in counts]

        two = [padded("reflect", 1, n) for n in (1, 2, 3, 4)]
        other = [padded("reflect", 1, n, 1, 1) for n in (1, 2)] + [padded("constant", n, n) for n in (1, 2, 3)]
        self.assertEqual(conditions.find_condition(two, other), "mode == 'reflect' && len(pad) == 2")
        self.assertEqual(conditions.find_condition(lists(1), lists(2, 3)), "len(tensors) == 1")
        self.assertIsNone(conditions.find_condition(lists(2), lists(1, 3)), "two of three tensors are chance")

    def test_necessary_conditions(self):
        def ranks(*found, **others):
            return [{"self": ["T", "float32", [2] * rank, True, False], **others} for rank in found]

        self.assertEqual(conditions.only_if(ranks(2, 2, 2, 2), ranks(2, 3)), "rank(self) != 3")
        self.assertIsNone(conditions.only_if(ranks(2, 2, 2), ranks(2, 3)), "three samples of the child are too few")
        self.assertIsNone(conditions.only_if(ranks(2, 2, 2, 3), ranks(2, 3)))
        dims = [ranks(2, dim=["V", n]) * 2 for n in (1, 0, 1)]
        self.assertIsNone(conditions.only_if(dims[0] + dims[2], dims[1]), "which dimension is asked for is chance")

    def test_conditions_by_hand(self):
        given = [{"k": ["V", k]} for k in (1, 2, 3, 4)]
        hand = {"odd": "k % 2 == 1", "small": "only if k < 4", "wrong": "k == 1", "not needed": "only if k == 1"}
        reduce_rows.shared["hand_conditions"] = {("op", child): text for child, text in hand.items()}

        def judged(child):
            with contextlib.redirect_stdout(io.StringIO()):
                return reduce_rows.hand_condition("op", child, given[0::2], given[1::2])

        self.assertEqual(judged("odd"), ("k % 2 == 1", None))
        self.assertEqual(judged("small"), (None, "k < 4"))
        for child in ("wrong", "not needed", "nothing"):
            self.assertEqual(judged(child), (None, None), child)

    def test_copies_always_copy(self):
        self.assertEqual(self.by_op["aten::copy_"]["aten::_copy_from"]["mode"], "always")

    def test_infinities_are_numbers(self):
        def norm(ord):
            return {"ord": ["V", ord]}

        self.assertEqual(conditions.find_condition([norm("Infinity")], [norm(-1), norm(2.0)]), "ord == inf")
        self.assertEqual(conditions.find_condition([norm("-Infinity")], [norm(-1), norm("Infinity")]), "ord == -inf")
        self.assertEqual(conditions.find_condition([norm("Infinity"), norm(1)], [norm("-Infinity")]), "ord > 0")

    def test_a_list_behind_constants(self):
        def size(*pairs, argument="size"):
            return mapping.map_arguments([({"size": ["V", child]}, {argument: ["V", parent]}) for child, parent in pairs])

        behind = {"size": {"parent": "size", "before": [1]}}
        self.assertEqual(size(([1, 2], [2]), ([1, 3], [3])), behind)
        self.assertEqual(size(([1, 0, 2], [2]), ([1, 0, 3], [3]))["size"]["before"], [1, 0])
        self.assertEqual(size(([1, 2], [2]), ([1, 3], [3]), argument="length")["size"]["parent"], "length")
        for pairs in (
            (([2, 2], [2]), ([3, 3], [3])),  # One number for both dimensions.
            (([1, 1], [1]), ([1, 1], [1])),  # The same, as far as can be seen: a constant.
            (([1, 2], [2]), ([0, 3], [3])),
            (([7, 2], [2]), ([7, 3], [3])),  # A size of the samples.
            (([1, 2], [2]), ([3, 1], [3])),
            (([1, 2], 2), ([1, 3], 3)),
        ):
            self.assertNotIn("before", size(*pairs).get("size", {}), pairs)

    def test_pooling_of_one_dimension_reaches_that_of_two(self):
        for name in ("avg", "max"):
            row = self.by_op[f"aten::adaptive_{name}_pool1d"][f"aten::adaptive_{name}_pool2d"]
            self.assertEqual(row["args"]["output_size"], {"parent": "output_size", "before": [1]})

    def test_padding(self):
        for kind, mode in (("reflection", "reflect"), ("replication", "replicate")):
            for dims in (1, 2, 3):
                row = self.by_op["aten::pad"][f"aten::{kind}_pad{dims}d"]
                self.assertEqual(row["condition"], f"mode == '{mode}' && len(pad) == {2 * dims}")

    def test_loss_of_class_indices_without_smoothing(self):
        target = ["T", "int64", [2], True, False]
        logits = ["T", "float32", [2, 3], True, False]
        given = {"self": logits, "target": target, "weight": ["N"], "reduction": ["V", 1], "label_smoothing": ["V", 0.0]}
        given["ignore_index"] = ["V", -100]
        names = self.names["aten::cross_entropy_loss"]
        rows = {child: row for child, row in self.by_op["aten::cross_entropy_loss"].items() if not row.get("plumbing")}
        called = {
            child
            for child, row in rows.items()
            if row["mode"] == "always" or Predicate(row["condition"], names).holds(given)
        }
        self.assertEqual(called, {"aten::log_softmax.int", "aten::nll_loss_nd"})

    def children(self, op, mode=None):
        return {
            child
            for child, row in self.by_op[op].items()
            if child is not None and not row.get("plumbing") and mode in (None, row["mode"])
        }

    def test_layers(self):
        self.assertEqual(self.children("aten::conv2d", "always"), {"aten::convolution"})
        self.assertEqual(self.children("aten::layer_norm", "always"), {"aten::native_layer_norm"})
        self.assertEqual(self.children("aten::batch_norm", "always"), {"aten::_batch_norm_impl_index"})
        self.assertEqual(self.children("aten::softmax.int", "always"), {"aten::_softmax"})
        self.assertEqual(self.children("aten::embedding", "always"), {"aten::index_select"})
        self.assertLessEqual({"aten::addmm", "aten::matmul"}, self.children("aten::linear"))
        self.assertLessEqual({"aten::mm", "aten::bmm", "aten::mv", "aten::dot"}, self.children("aten::matmul"))
        self.assertIn("aten::_thnn_fused_lstm_cell", self.children("aten::lstm.input", "always"))
        self.assertIn("aten::_thnn_fused_gru_cell", self.children("aten::gru.input", "always"))

    def test_structured_operators_call_their_twin(self):
        for op in ("aten::mm", "aten::add.Tensor", "aten::gelu", "aten::_softmax", "aten::cat"):
            self.assertIn(self.ops[op]["structured_twin"], self.children(op, "always"), op)

    def test_dropout(self):
        row = self.by_op["aten::dropout"]["aten::native_dropout"]
        self.assertEqual(row["mode"], "sometimes")
        self.assertIn("train == true", row["condition"])
        self.assertEqual(row["args"]["input"], {"parent": "input"})

    def test_attention(self):
        rows = self.by_op["aten::scaled_dot_product_attention"]
        self.assertEqual(rows["aten::_scaled_dot_product_fused_attention_overrideable"]["condition"], "rank(query) == 4")
        self.assertEqual(rows["aten::_scaled_dot_product_attention_math"]["condition"], "rank(query) != 4")

    def test_arguments_reach_through(self):
        convolution = self.by_op["aten::conv2d"]["aten::convolution"]["args"]
        self.assertEqual(convolution["weight"], {"parent": "weight"})
        self.assertEqual(convolution["transposed"], {"const": False})
        addmm = self.by_op["aten::linear"]["aten::addmm"]["args"]
        self.assertEqual(addmm["self"], {"parent": "bias"})
        self.assertEqual(addmm["mat2"]["derived"]["dtype"], "same:weight")
        self.assertEqual(addmm["mat2"]["derived"]["rank"], "2")

    def test_size(self):
        total = sum((FOLDER / name).stat().st_size for name in ("ops.jsonl", "expansions.jsonl"))
        self.assertLess(total, 6 * 1024 * 1024)


if __name__ == "__main__":
    unittest.main()
