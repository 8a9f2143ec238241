# SPDX-License-Identifier: Apache-2.0
"""What the worker answers of cases that run: values, aliases, writes, gradients, and where they were computed."""
import os
import unittest

import torch
from worker_client import FAKE, Worker


def setUpModule():
    global WORKER
    WORKER = Worker().__enter__()


def tearDownModule():
    WORKER.__exit__()


class Handshake(unittest.TestCase):
    def test_members(self):
        hello = WORKER.hello
        self.assertNotIn("unavailable", hello)
        self.assertEqual((hello["protocol"], hello["backend"], hello["module_version"]), (1, "neuron", "2.14.3.0"))
        self.assertEqual((hello["torch"], hello["device_count"], hello["chip"]), (torch.__version__, 1, "simulated"))
        self.assertEqual((hello["fork_safe"], hello["simulated"]), (False, True))
        for name in ("compiler", "runtime", "driver"):
            self.assertIsInstance(hello[name], str)
        self.assertEqual(hello["environment"]["TORCH_NEURONX_FALLBACK_ONLY_FOR_UNIMPLEMENTED_OPS"], "1")
        self.assertEqual(hello["environment"]["NEURON_LAUNCH_BLOCKING"], "1")

    def test_settings_of_the_user_are_replaced_and_told(self):
        with Worker(environment={"NEURON_LAUNCH_BLOCKING": "0", "NEURON_CC_FLAGS": "-O1"}) as worker:
            self.assertEqual(worker.hello["environment_replaced"], {"NEURON_LAUNCH_BLOCKING": "0"})
            self.assertEqual(worker.hello["environment"]["NEURON_CC_FLAGS"], "-O1")
        self.assertEqual(worker.code, 0)


class Requests(unittest.TestCase):
    def test_nonsense_is_answered(self):
        for request, words in (
            ({"do": "run_cases"}, "makes no sense"),
            ({"do": "run_cases", "arena": "/nowhere/at/all", "begin": 0, "end": 0, "cases": []}, "No such file"),
            ({"do": "reference"}, "knows no 'reference'"),
            ([], "knows no 'None'"),
        ):
            self.assertIn(words, WORKER.ask(request)["error"])
        self.assertIn("not the memory", WORKER.run("aten::relu(f32[1])", end=1 << 40)["error"])
        self.assertEqual(WORKER.run()["cases"], [])

    def test_quit_ends_it(self):
        with Worker() as worker:
            worker._process.stdin.write(b"\x0d\x00\x00\x00" + b'{"do":"quit"}')
            worker._process.stdin.flush()
            self.assertEqual(worker._process.wait(20), 0)

    def test_dispatch_table(self):
        answer = WORKER.ask({"do": "dispatch_table", "device": "python:fake"})
        table = answer["dispatch"]
        self.assertGreater(len(table), 3000)
        for name, expected in (
            ("aten::silu", "direct"),
            ("aten::mm", "direct"),
            ("aten::add.out", "direct"),
            ("aten::add.Tensor", "direct"),  # by its out= twin
            ("aten::add_.Tensor", "direct"),
            ("aten::tanh", "fallback"),
            ("aten::linear", "composite"),
        ):
            self.assertEqual(table[name], expected, name)
        self.assertTrue(answer["simulated"])


    def test_both_workers_agree(self):
        """On classes and on fallbacks, where the device is the same; ours has some kernels more."""
        program = os.environ.get("NEURON_CHECK_TORCH", "")
        if not program:
            self.skipTest("NEURON_CHECK_TORCH names no neuron-check-torch")
        device = {"device": "sim", "profile": FAKE.with_name("fake_profile.json").read_text()}
        texts = ("aten::tanh(f32[4])", "aten::softmax.int(f32[2,3], 1)", "aten::mul.Tensor(f32[4]^, 2.0) !grad", "aten::sort(f32[4])")
        with Worker(command=[program, "worker"]) as other:
            theirs, ours = (worker.ask({"do": "dispatch_table", **device})["dispatch"] for worker in (other, WORKER))
            cases = [worker.run(*texts, **device)["cases"] for worker in (other, WORKER)]
        own = {"aten::silu", "aten::gelu", "aten::hardswish", "aten::erf", "aten::_linalg_det", "aten::cumsum"}
        own.add("aten::get_gradients")  # registered when Python loads torch.distributed
        common = set(theirs) & set(ours)
        self.assertGreater(len(common), 3000)
        different = {name: (theirs[name], ours[name]) for name in common if theirs[name] != ours[name]}
        self.assertLessEqual(set(different), own)
        for one, two in zip(*cases, strict=True):
            for member in ("fell_back", "changed"):
                self.assertEqual(one[member], two[member])
            for first, second in zip(one["outputs"] + one["gradients"], two["outputs"] + two["gradients"], strict=True):
                self.assertEqual({**first, "offset": 0}, {**second, "offset": 0})


class RunCases(unittest.TestCase):
    def run_all(self, *cases):
        """Answers to cases of one request, in its order."""
        answer = WORKER.run(*cases)
        self.assertNotIn("ended", answer, answer)
        self.assertEqual([case["id"] for case in answer["cases"]], list(range(len(cases))))
        return answer["cases"]

    def result(self, case, output=0):
        self.assertNotIn("raised", case)
        self.assertGreater(case["seconds"], 0)
        return WORKER.tensor(case["outputs"][output])

    def check(self, *expected):
        """(case, what its first output must be)"""
        for case, (_, right) in zip(self.run_all(*(case for case, _ in expected)), expected, strict=True):
            torch.testing.assert_close(self.result(case), right, rtol=1e-6, atol=1e-6)


class Cases(RunCases):
    def test_values_and_arguments(self):
        a, b, x, flat = torch.randn(4, 3), torch.randn(3, 5), torch.randn(2, 3), torch.arange(14.0)
        self.check(
            (("aten::mm(f32[4,3], f32[3,5])", a, b), a @ b),
            (("aten::mul.Tensor(f32[4,3], 2.5)", a), a * 2.5),
            (("aten::add.Tensor(f32[4,3], f32[3]; alpha=2)", a, b[:, 0]), a + 2 * b[:, 0]),
            (("aten::mul.Tensor(f32[3,4]@(1,3)+2, 1.0)", flat), flat[2:].as_strided((3, 4), (1, 3))),
            (("aten::cat([f32[2,3], f32[2,3]], 1)", x, x), torch.cat([x, x], 1)),
            (("aten::sum.dim_IntList(f32[2,3], [1], True)", x), x.sum(1, True)),
            (("aten::to.dtype(f32[2,3], bf16, False, False, contiguous_format)", x), x.bfloat16()),
            # int[2] of one number
            (("aten::avg_pool2d(f32[1,4,4], 2)", flat.new_ones(16)), flat.new_ones(1, 2, 2)),
            (("aten::index.Tensor(f32[3], [i64[2]={0,2}])", x[0], torch.tensor([0, 2])), x[0][[0, 2]]),
            (("aten::zeros([2, 3])"), torch.zeros(2, 3)),
            (("aten::add.Scalar(f32[2,3], 1)", x), x + 1),
            (("aten::mul.Tensor(f32[4,3], 2.0) ;; aten::add.Tensor($0, f32[4,3])", a, a), a * 3),
        )

    def test_layout_of_results(self):
        view, det = self.run_all(("aten::t(f32[2,3])", torch.arange(6.0)), ("aten::_linalg_det(f32[2,2])", torch.tensor([[2.0, 1], [0, 3]])))
        self.assertEqual((view["outputs"][0]["strides"], view["outputs"][0]["alias"]), ([1, 3], 0))
        self.assertTrue(torch.equal(self.result(view), torch.arange(6.0).reshape(2, 3).t()))  # row-major in memory
        offsets = [out["offset"] for out in view["outputs"] + det["outputs"]]
        self.assertEqual(sorted(set(offsets)), offsets)
        self.assertTrue(all(offset % 64 == 0 and offset >= 1 << 23 for offset in offsets))
        self.assertEqual(self.result(det).item(), 6.0)

    def test_dtypes(self):
        kinds = [("bf16", torch.bfloat16), ("f16", torch.float16), ("i64", torch.int64), ("b8", torch.bool), ("c64", torch.complex64)]
        kinds += [("f8e5m2", torch.float8_e5m2), ("u16", torch.uint16)]
        values = [torch.tensor([0, 1, 1, 0]).to(dtype) for _, dtype in kinds]
        cases = [(f"aten::clone({short}[4])", value) for (short, _), value in zip(kinds, values, strict=True)]
        *answers, quantised = self.run_all(*cases, "aten::clone(qi8[4])")
        for case, (_, dtype), value in zip(answers, kinds, values, strict=True):
            self.assertEqual(case["outputs"][0]["dtype"], str(dtype)[6:])
            self.assertTrue(torch.equal(self.result(case).view(torch.uint8), value.view(torch.uint8)))
        self.assertEqual((quantised["raised"]["kind"], quantised["raised"]["stage"]), ("argument", "forward"))

    def test_arguments_that_cannot_be_made(self):
        expected = (
            ("aten::nothing(f32[1])", "has no operator"),
            ("aten::relu(f32[1], 2)", "fewer arguments"),
            ("aten::relu(; x=f32[1])", "no argument 'x'"),
            ("aten::mm(f32[1,1])", "gives no 'mat2'"),
            ("aten::cat(f32[1])", "not a list"),
            ('aten::sum.dim_IntList(f32[1], ["a"])', "argument 'dim': not an integer"),
            ("aten::relu(", "cannot be read"),
        )
        *answers, after = self.run_all(*(text for text, _ in expected), "aten::silu(f32[2])")
        for case, (_, words) in zip(answers, expected, strict=True):
            self.assertEqual(case["raised"]["kind"], "argument")
            self.assertIn(words, case["raised"]["message"])
        self.assertEqual(answers[-1]["raised"]["stage"], "arguments")
        self.assertIn("outputs", after)

    def test_writes_and_aliases(self):
        inplace, out, each, view, same = self.run_all(
            "aten::add_.Tensor(f32[4], f32[4])",
            "aten::add.out(f32[4], %0; out=f32[4])",
            "aten::_foreach_add_.Scalar([f32[2], f32[3]], 1.0)",
            "aten::mul_.Tensor(f32[8], %0:f32[8]+0)",
            "aten::mul.Tensor(f32[4], %0)",
        )
        self.assertEqual((inplace["changed"], inplace["outputs"][0]["alias"]), ([0], 0))
        self.assertEqual((out["changed"], len(out["outputs"]), out["outputs"][0]["alias"]), ([2], 1, 2))
        self.assertEqual((each["changed"], [one["written"] for one in each["outputs"]]), ([0, 1], [True, True]))
        self.assertEqual([one["alias"] for one in each["outputs"]], [0, 1])
        self.assertEqual((view["changed"], same["changed"]), ([0], []))
        self.assertTrue(all(one["on_device"] for case in (inplace, out, each) for one in case["outputs"]))

    def test_gradients(self):
        a, b = torch.randn(4), torch.randn(4)
        product, tanh, none = self.run_all(
            ("aten::mul.Tensor(f32[4]^, f32[4]^) !grad", a, b), ("aten::tanh(f32[4]^) !grad", a), "aten::mul.Tensor(f32[4], f32[4]) !grad"
        )
        self.assertEqual([grad["operand"] for grad in product["gradients"]], [0, 1])
        torch.testing.assert_close(WORKER.tensor(product["gradients"][0]), b)
        torch.testing.assert_close(WORKER.tensor(product["gradients"][1]), a)
        torch.testing.assert_close(WORKER.tensor(tanh["gradients"][0]), 1 - a.tanh() ** 2)
        self.assertEqual((product["fell_back"], tanh["fell_back"]), ([], ["aten::tanh", "aten::tanh_backward"]))
        self.assertEqual((none["raised"]["kind"], none["raised"]["stage"]), ("argument", "backward"))


class Fallbacks(RunCases):
    def test_native_and_not(self):
        silu, linear, tanh, softmax, gelu, det, after = self.run_all(
            "aten::silu(f32[4])",
            "aten::linear(f32[2,3], f32[4,3])",
            "aten::tanh(f32[4])",
            "aten::softmax.int(f32[2,3], 1)",
            "aten::gelu(f32[4])",
            ("aten::_linalg_det(f32[2,2])", torch.eye(2)),
            "aten::silu(f32[4])",
        )
        for native in (silu, linear, after):  # the lists are of one case, whatever ran before
            self.assertEqual((native["fell_back"], native["on_cpu"], native["log"]["fallback"]), ([], [], {}))
        self.assertIn("aten::silu", silu["log"]["executed"])
        self.assertEqual((tanh["fell_back"], list(tanh["log"]["fallback"])), (["aten::tanh"], ["aten::tanh.out"]))
        self.assertEqual(softmax["fell_back"], ["aten::_softmax"])  # found within a composite
        self.assertTrue(softmax["outputs"][0]["on_device"])
        # Within its own kernel, which says so; and in no list.
        self.assertEqual((gelu["fell_back"], gelu["log"]["fallback"]), ([], {"aten::gelu": None}))
        self.assertEqual((det["fell_back"], det["log"]["fallback"], det["on_cpu"]), ([], {}, ["aten::_linalg_det"]))


if __name__ == "__main__":
    unittest.main()
