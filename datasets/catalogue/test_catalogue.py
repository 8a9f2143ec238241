# SPDX-License-Identifier: Apache-2.0
"""Checks of the committed catalogue. Needs no torch: python3 datasets/catalogue/test_catalogue.py"""
import collections
import json
import pathlib
import unittest

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
        for text, truth in (
            ("rank(self) == 2", True), ("rank(self) < 2", False), ("dtype(self) in {float32,bool}", True),
            ("dtype(self) == bool", False), ("size(self,1) == 1 && contiguous(self)", True), ("is_none(bias)", True),
            ("!is_none(bias) || any_gt(dims,1)", True), ("any_gt(dims,2)", False), ("flag == true", True),
            ("flag == 1", False), ("mode == 'sum'", True), ("(mode != 'sum' || flag) && rank(self) >= 2", True),
            ("itemsize(self) > 4", False),
        ):  # fmt: skip
            self.assertEqual(Predicate(text, list(given)).holds(given), truth, text)

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
