# SPDX-License-Identifier: Apache-2.0
"""The Python reader of cases agrees with the C++ one: on the tables of its test, the examples of the grammar, and random cases."""
import ast
import pathlib
import random
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import case_text  # noqa: E402

ROOT = HERE.parents[2]
CPP_TEST = (ROOT / "core" / "tests" / "case_spec_test.cpp").read_text()
LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


def text_of(literals):
    """Adjacent string literals of C++ are those of Python where only plain escapes are used."""
    return ast.literal_eval("(" + literals + ")")


def pairs(head):
    return [(text_of(a), text_of(b)) for a, b in re.findall(head + LITERALS + r"[),]+\s*" + LITERALS + r"[)}]", CPP_TEST)]


def printed(text):
    try:
        return str(case_text.parse(text))
    except case_text.CaseError as error:
        return str(error)


class Tables(unittest.TestCase):
    def test_what_is_read_is_printed(self):
        table = re.search(r"for \(const char\* text : \{(.*?)\}\) \{", CPP_TEST, re.S)[1]
        texts = ast.literal_eval("(" + table + ")")
        self.assertGreater(len(texts), 10)
        for text in texts:
            self.assertEqual(printed(text), text)

    def test_other_spellings(self):
        table = pairs(r"EXPECT_EQ\(canonical\(")
        self.assertGreater(len(table), 4)
        for text, expected in table:
            self.assertEqual(printed(text), expected)

    def test_errors_have_the_same_words(self):
        table = pairs(r"BadCase\{")
        self.assertGreater(len(table), 20)
        for text, expected in table:
            with self.subTest(text=text), self.assertRaises(case_text.CaseError) as caught:
                case_text.parse(text)
            self.assertIn(expected, str(caught.exception))

    def test_examples_of_the_grammar(self):
        page = (ROOT / "docs" / "case-grammar.md").read_text()
        examples = [line for line in page.split("```")[1].splitlines() if line]
        self.assertGreater(len(examples), 4)
        for text in examples:
            self.assertEqual(printed(text), text)

    def test_dtypes_are_those_of_core(self):
        rows = re.findall(r'\{DType::\w+, "(\w+)", "(\w+)", "(\w*)", (\d+),', (ROOT / "core" / "dtype.cpp").read_text())
        ours = {(name, short, alias, str(size)) for short, (name, alias, size) in case_text.DTYPES.items()}
        self.assertEqual(ours, {row for row in rows if row[0] != "unknown"})


class Values(unittest.TestCase):
    def test_parts(self):
        case = case_text.parse("aten::a([f32[2]^, None], %0:f32[1]+1={2})")
        first, second = case_text.tensors_of(case.steps[0])
        self.assertTrue(first.grad)
        self.assertEqual((second.alias, second.offset, second.literal), (0, 1, [2.0]))
        self.assertFalse(case.grad)
        case = case_text.parse('aten::a(f32[2]) ;; aten::b($0, 1, 1.0, True) !grad !error="no \\"way\\""')
        self.assertEqual((case.grad, case.error), (True, 'no "way"'))
        values = [value for _, value in case.steps[1].args]
        self.assertEqual(values, [case_text.Result(0), 1, 1.0, True])
        self.assertEqual([type(value) for value in values[1:]], [int, float, bool])

    def test_bounds(self):
        for text in ("aten::relu(" + "[" * 500_000, 'aten::relu("' + "x" * 2_000_000 + '")', " ;; ".join(["aten::a()"] * 100)):
            with self.assertRaises(case_text.CaseError):
                case_text.parse(text)


class Property(unittest.TestCase):
    """parse(str(case)) is the case, for random ones."""

    def tensor(self, operands):
        pick = random.choice
        sizes = [random.randrange(5) for _ in range(random.randrange(4))]
        strides = [2] * len(sizes) if sizes and pick((True, False)) else None
        out = case_text.Tensor(pick(list(case_text.DTYPES)), sizes, strides, random.randrange(3))
        if operands and pick((True, False)):
            out.alias = random.randrange(operands)
        if random.randrange(4) == 0:
            out.literal = [pick((0.0, 1.0, -0.5, 1e18, 1e-300, float("inf"))) for _ in range(case_text.elements(sizes))]
        out.grad = pick((True, False))
        return out

    def value(self, step, count, depth=0):
        pick = random.choice
        kind = random.randrange(9 if depth > 2 else 10)
        if kind == 0:
            count[0] += 1
            return self.tensor(count[0] - 1)
        if kind == 1 and step:
            return case_text.Result(random.randrange(step), random.randrange(3))
        if kind == 9:
            return [self.value(step, count, depth + 1) for _ in range(random.randrange(4))]
        return pick(
            (None, True, 3, -(2**63), 2**63 - 1, 0.1, -2.5e-9, 1e300, float("-inf"), 'q"\\\n\x01;;é', complex(1, -0.5))
            + (case_text.Word("dtype", "bf16"), case_text.Word("layout", "strided"), case_text.Device("neuron", 1), case_text.Device("cpu"))
        )

    def test_round_trip(self):
        random.seed(7)
        for _ in range(500):
            steps = []
            for step in range(random.randrange(1, 4)):
                count = [0]
                args = [("", self.value(step, count)) for _ in range(random.randrange(4))]
                args += [(name, self.value(step, count)) for name in ("alpha", "out")[: random.randrange(3)]]
                steps.append(case_text.Step("aten::op.Tensor", args))
            case = case_text.Case(steps, random.random() < 0.3, random.choice((None, "must fail")))
            again = case_text.parse(str(case))
            self.assertEqual(str(again), str(case))
            self.assertEqual(again, case)


if __name__ == "__main__":
    unittest.main()
