# SPDX-License-Identifier: Apache-2.0
"""Checks of libneuron_recorder.so against the CPU: test_recorder.py LIBRARY (needs torch)."""
import copy
import pathlib
import sys
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "datasets" / "catalogue"))
import recorder_client

LIBRARY = sys.argv.pop(1)
RECORDER = recorder_client.Recorder(LIBRARY)


def tree(calls):
    return [(c["d"], c["op"].removeprefix("aten::")) for c in calls]


def record(call):
    result, error, calls = RECORDER.record(call)
    if error is not None:
        raise error
    return result, calls


class Recording(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.assertEqual(RECORDER.set_native(recorder_client.MINIMAL_SET), [])

    def test_tree_of_linear(self):
        x, w, b = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5)
        y, calls = record(lambda: torch.nn.functional.linear(x.to("neuron"), w.to("neuron"), b.to("neuron")))
        start = [c["op"] for c in calls].index("aten::linear")
        self.assertEqual(
            tree(calls[start:]),
            [(0, "linear"), (1, "t"), (2, "transpose.int"), (3, "as_strided"), (1, "addmm"),
             (2, "empty.memory_format"), (2, "addmm.out")],
        )  # fmt: skip
        torch.testing.assert_close(y.cpu(), torch.nn.functional.linear(x, w, b))

    def test_arguments_are_the_same_objects(self):
        x = torch.randn(3, 4, dtype=torch.bfloat16).to("neuron")
        _, calls = record(lambda: torch.softmax(x, -1))
        outer, inner = (next(c for c in calls if c["op"] == n) for n in ("aten::softmax.int", "aten::_softmax"))
        self.assertEqual(outer["in"][0]["t"], inner["in"][0]["t"])
        self.assertEqual(outer["in"][0]["dtype"], "bfloat16")
        self.assertEqual(outer["in"][0]["size"], [3, 4])
        self.assertEqual(inner["in"][1:], [-1, False])

    def test_arrivals(self):
        x = torch.randn(3).to("neuron")
        _, calls = record(lambda: torch.relu(x))
        self.assertEqual([(c["op"], c["arrived"]) for c in calls], [("aten::relu", True)])

    def test_a_missing_kernel_raises(self):
        RECORDER.set_native([])
        x = torch.randn(1, 3, 4, 4).to("neuron")
        _, error, calls = RECORDER.record(lambda: torch.nn.functional.conv2d(x, x))
        self.assertIsInstance(error, RuntimeError)
        self.assertTrue(calls[0]["raised"])

    def test_views_share_memory(self):
        x = torch.arange(6.0).reshape(2, 3)
        y = x.to("neuron")
        for t in (x, y):
            t.t()[1].mul_(10)
            t.diagonal().add_(1)
            t.view(torch.int32)[0, 0] = 7
            t[:, 1:].unfold(1, 2, 1).fill_(3)
        torch.testing.assert_close(y.cpu(), x, rtol=0, atol=0)

    def test_complex_views_and_conjugates(self):
        x = torch.randn(3, dtype=torch.complex64)
        y = x.to("neuron")
        for t in (x, y):
            torch.view_as_real(t)[:, 0] = 2
        torch.testing.assert_close((y.conj() * 2).cpu(), x.conj() * 2)

    def test_out_is_resized(self):
        x = torch.randn(3, 3)
        out = torch.empty(0, device="neuron")
        torch.mm(x.to("neuron"), x.to("neuron"), out=out)
        torch.testing.assert_close(out.cpu(), x @ x)

    def test_foreach_in_place(self):
        values = [torch.randn(3), torch.randn(2)]
        moved = [v.to("neuron") for v in values]
        torch._foreach_add_(values, 2)
        torch._foreach_add_(moved, 2)
        for a, b in zip(values, moved):
            torch.testing.assert_close(b.cpu(), a)

    def check_module(self, module, *inputs):
        twin = copy.deepcopy(module).to("neuron")
        here = [i.clone().requires_grad_() for i in inputs]
        there = [i.to("neuron").requires_grad_() for i in inputs]
        first = module(*here)
        second, calls = record(lambda: twin(*there))
        first, second = (r[0] if isinstance(r, tuple) else r for r in (first, second))
        torch.testing.assert_close(second.cpu(), first)
        gradient = torch.randn_like(first)
        first.backward(gradient)
        second.backward(gradient.to("neuron"))
        for a, b in [*zip(module.parameters(), twin.parameters()), *zip(here, there)]:
            torch.testing.assert_close(b.grad.cpu(), a.grad, rtol=1e-4, atol=1e-5)
        return [c["op"] for c in calls]

    def test_modules_agree_with_the_cpu(self):
        for module, size in (
            (torch.nn.Conv2d(3, 4, 3), (2, 3, 8, 8)),
            (torch.nn.ConvTranspose2d(3, 4, 3, stride=2), (2, 3, 4, 4)),
            (torch.nn.Conv1d(3, 6, 3, groups=3), (2, 3, 8)),
            (torch.nn.BatchNorm2d(3), (2, 3, 8, 8)),
            (torch.nn.LayerNorm(8), (2, 8)),
            (torch.nn.MaxPool2d(2), (2, 3, 8, 8)),
        ):
            with self.subTest(module=module):
                self.check_module(module, torch.randn(size))

    def test_recurrent_cells_agree_with_the_cpu(self):
        for kind, cell in ((torch.nn.LSTM, "_thnn_fused_lstm_cell"), (torch.nn.GRU, "_thnn_fused_gru_cell")):
            for bias in (True, False):
                with self.subTest(kind=kind, bias=bias):
                    called = self.check_module(kind(4, 5, bias=bias), torch.randn(3, 2, 4))
                    self.assertIn("aten::" + cell, called)

    def test_attention(self):
        class Attention(torch.nn.Module):
            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

        for size, kernel in (
            ((2, 4, 8, 16), "aten::_scaled_dot_product_fused_attention_overrideable"),
            ((4, 8, 16), "aten::_scaled_dot_product_attention_math"),
        ):
            with self.subTest(size=size):
                called = self.check_module(Attention(), *(torch.randn(size) for _ in range(3)))
                self.assertIn(kernel, called)

    def test_attention_without_its_kernel_takes_the_math_path(self):
        RECORDER.set_native([])
        q = torch.randn(2, 4, 8, 16).to("neuron")
        _, calls = record(lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q))
        self.assertIn((1, "_scaled_dot_product_attention_math"), tree(calls))

    def test_backward_is_recorded(self):
        x = torch.randn(3, 4).to("neuron").requires_grad_()
        y = torch.nn.functional.gelu(x).sum()
        _, calls = record(y.backward)
        self.assertIn((0, "gelu_backward"), tree(calls))
        self.assertIn((1, "gelu_backward.grad_input"), tree(calls))

    def test_native_set_stops_the_expansion(self):
        x, w = torch.randn(3, 4).to("neuron"), torch.randn(5, 4).to("neuron")
        self.assertEqual(RECORDER.set_native(["aten::linear", "aten::nonsense", "nothing"]), ["aten::nonsense", "nothing"])
        y, calls = record(lambda: torch.nn.functional.linear(x, w))
        self.assertEqual(tree(calls), [(0, "linear")])
        torch.testing.assert_close(y.cpu(), x.cpu() @ w.cpu().t())
        RECORDER.set_native([])
        _, calls = record(lambda: torch.nn.functional.linear(x, w))
        self.assertIn((1, "matmul"), tree(calls))


if __name__ == "__main__":
    unittest.main()
