# SPDX-License-Identifier: Apache-2.0
"""Checks of libneuron_sim.so: test_sim.py LIBRARY (needs torch)."""
import os
import json
import pathlib
import unittest
import warnings

import torch
from sim_client import SIM, Case, configure, move

class Profiles(Case):
    def test_refused_with_the_field(self):
        for profile, word in (
            ("{", "not JSON"),
            ({"natives": []}, "natives"),
            ({"native": [1]}, "native"),
            ({"async": 1}, "async"),
            ({"fallback": "maybe"}, "fallback"),
            ({"lists": "all"}, "lists"),
            ({"faults": [{"op": "aten::mm"}]}, "faults[0].kind"),
            ({"faults": [{"kind": "wobbly", "op": "aten::mm"}]}, "wobbly"),
            ({"faults": [{"kind": "nan", "op": "mm"}]}, "faults[0].op"),
            ({"faults": [{"kind": "nan", "op": "aten::no_such"}]}, "faults[0].op"),
            ({"faults": [{"kind": "nan", "op": "aten::linear"}]}, "never reaches"),
            ({"faults": [{"kind": "noop-inplace", "op": "aten::bincount"}]}, "in place"),
            ({"faults": [{"kind": "nan", "op": "aten::mm", "dtype": "float31"}]}, "float31"),
            ({"faults": [{"kind": "nan", "op": "aten::mm", "shape": "big"}]}, "shape"),
            ({"faults": [{"kind": "flaky", "op": "aten::mm"}]}, "probability"),
            ({"faults": [{"kind": "order-dependent", "op": "aten::mm"}]}, "after"),
            ({"refuse": [{"op": "aten::mm"}]}, "refuse[0].message"),
            ({"refuse": [{"op": "aten::mm", "message": "no", "strides": "any"}]}, "strides"),
            ({"counter_file": "/no/such/folder/file"}, "counter_file"),
        ):
            with self.subTest(profile=profile):
                self.assertIn(word, SIM.configure(profile))

    def test_a_refused_profile_changes_nothing(self):
        configure(native=["aten::relu"])
        self.assertNotEqual(SIM.configure({"native": ["aten::mm"], "faults": [{"kind": "x", "op": "y"}]}), "")
        (x,) = move(torch.randn(3, 3))
        torch.relu(x), torch.mm(x, x)
        self.assertEqual(SIM.take_log(), {"executed": {"aten::relu": 1}, "fallback": {"aten::mm.out": 1}})

    def test_the_schema_knows_what_is_taken(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        schema = json.loads((root / "docs/schemas/sim-profile-1.schema.json").read_text())
        fault = schema["$defs"]["fault"]["properties"]
        for kind in fault["kind"]["enum"]:
            more = {"probability": 1, "after": "aten::mm"} if kind in ("flaky", "order-dependent") else {}
            self.assertEqual(SIM.configure({"faults": [{"kind": kind, "op": "aten::relu_", **more}]}), "")
        refuse, special = (schema["properties"][key]["items"]["properties"] for key in ("refuse", "special_values"))
        for key, fields, least in (
            ("faults", fault, {"kind": "nan", "op": "aten::relu"}),
            ("refuse", refuse, {"op": "aten::relu", "message": "no"}),
            ("special_values", special, {"op": "aten::relu", "when": "nan", "becomes": 0}),
            (None, schema["properties"], {}),
        ):
            for field, meaning in fields.items():
                values = meaning.get("enum", [meaning["const"]] if "const" in meaning else [])
                for value in values or [None]:  # absent, or null, is always taken; another name never
                    with self.subTest(key=key, field=field, value=value):
                        one = {**least, **({field: value} if value is not None else {field: least.get(field)})}
                        if field == "as" or (field == "kind" and value in ("flaky", "order-dependent", "noop-inplace")):
                            continue
                        self.assertEqual(SIM.configure({key: [one]} if key else one), "")
            self.assertIn("colour", SIM.configure({key: [{**least, "colour": 1}]} if key else {"colour": 1}))

    def test_names_without_effect(self):
        configure(native=["aten::no_such", "aten::mm"], unsupported=["x::y"],
                  refuse=[{"op": "aten::softmax", "overload": "int", "message": "no"}])  # fmt: skip
        self.assertEqual(SIM.unused(), {"native": ["aten::no_such"], "unsupported": ["x::y"], "refuse": ["aten::softmax.int"]})


class Classes(Case):
    def test_native_fallback_and_unsupported_are_told_apart(self):
        configure(native=["aten::mm", "aten::add.out"], unsupported=["aten::relu", "aten::softmax.int"])
        x = torch.randn(3, 3)
        (d,) = move(x)
        self.equal(d @ d + 1, x @ x + 1)
        self.equal(torch.tanh(torch.sin(d)), torch.tanh(torch.sin(x)))
        for raising in (torch.relu, lambda t: torch.softmax(t, 0)):
            with self.assertRaisesRegex(NotImplementedError, "unsupported"):
                raising(d)
        self.assertEqual(
            SIM.take_log(),
            {"executed": {"aten::add.out": 1, "aten::mm": 1}, "fallback": {"aten::sin.out": 1, "aten::tanh.out": 1}},
        )
        self.assertEqual(SIM.take_log(), {"executed": {}, "fallback": {}})

    def test_lists(self):
        for lists, expected in (("sets", {"executed": ["aten::relu"], "fallback": ["aten::sin.out"]}), ("none", {})):
            configure(native=["aten::relu"], lists=lists)
            (x,) = move(torch.randn(3))
            torch.relu(torch.relu(torch.sin(x)))
            self.assertEqual(SIM.take_log(), expected)

    def test_fallback_raises(self):
        configure(native=[], fallback="raise")
        (x,) = move(torch.randn(3))
        for op in (torch.relu, torch.sin):
            with self.assertRaisesRegex(NotImplementedError, "forbids the CPU"):
                op(x)

    def test_fallback_warns(self):
        for policy, count in (("warn", 1), ("warn-always", 3), ("silent", 0)):
            configure(native=[], fallback=policy)
            (x,) = move(torch.randn(3))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(3):
                    torch.relu(x)
            self.assertEqual(sum("aten::relu" in str(w.message) for w in caught), count)

    def test_a_fallback_may_copy(self):
        for copies in (False, True):
            configure(native=[], fallback_copies=copies, **{"async": True})
            x = torch.randn(2, 2)
            (y,) = move(x)
            for t in (x, y):
                t.t()[0].add_(1)
                t.mul_(2)
            self.equal(torch.mm(y + 1, y), torch.mm(x + 1, x))
            torch.manual_seed(3)
            here = torch.nn.functional.dropout(torch.ones(64), 0.5)
            torch.manual_seed(3)
            self.equal(torch.nn.functional.dropout(torch.ones(64, device="neuron"), 0.5), here)
            self.assertEqual(SIM.take_log()["executed"], {})

    def test_a_fallback_by_copies_loses_views(self):
        library = torch.library.Library("simviews", "DEF")
        library.define("row(Tensor(a) x) -> Tensor(a)")
        library.impl("row", lambda x: x[0], "CPU")
        for copies in (False, True):
            configure(native=[], fallback_copies=copies)
            (x,) = move(torch.zeros(2, 2))
            torch.ops.simviews.row(x).fill_(1)
            self.assertEqual(x.sum().item(), 0 if copies else 2)

    def test_custom_operators(self):
        library = torch.library.Library("simtest", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        for native in ([], ["simtest::twice"]):
            configure(native=native)
            self.equal(torch.ops.simtest.twice(*move(torch.ones(2))), torch.full((2,), 2.0))
            log = SIM.take_log()
            self.assertEqual(log["executed" if native else "fallback"], {"simtest::twice": 1})

    def test_no_cpu_kernel_raises_from_the_fallback(self):
        configure(native=[])
        with self.assertRaisesRegex(RuntimeError, "_thnn_fused_lstm_cell"):
            torch.nn.LSTMCell(3, 4).to("neuron")(torch.randn(2, 3).to("neuron"))

    def test_composite_natives_stop_and_still_have_gradients(self):
        configure(native=["aten::linear", "aten::softmax.int"])
        x, w = torch.randn(2, 3), torch.randn(4, 3)
        with torch.no_grad():
            self.equal(torch.softmax(torch.nn.functional.linear(*move(x, w)), -1),
                       torch.softmax(torch.nn.functional.linear(x, w), -1))  # fmt: skip
        self.assertEqual(SIM.take_log()["executed"], {"aten::linear": 1, "aten::softmax.int": 1})

        def backward():
            a, b = x.clone().requires_grad_(), x.to("neuron").requires_grad_()
            torch.nn.functional.linear(a, w).sum().backward()
            torch.nn.functional.linear(b, w.to("neuron")).sum().backward()
            self.equal(b.grad, a.grad, rtol=1e-5, atol=1e-6)

        self.child(backward)


class Moves(Case):
    """Operators that carry tensors from device to device, registered as a backend may."""

    MOVES = ["aten::_to_copy", "aten::copy_", "aten::contiguous", "aten::clone", "aten::new_empty", "aten::to", "aten::empty_like"]

    def test_they_arrive_where_they_should(self):
        for native in (self.MOVES, torch._C._dispatch_get_all_op_names()):
            configure(native=native, narrow_int64=True)
            x = torch.tensor([[3_000_000_000, 1], [2, 3]])
            (y,) = move(x)
            for back in (y.cpu(), y.to("cpu"), y.to("cpu", torch.float64), torch.empty_like(x).copy_(y), y.t().cpu().t()):
                self.assertEqual(back.device.type, "cpu")
                self.equal(back.long(), x)
            self.assertEqual(y.to("cpu").data_ptr() == y.data_ptr(), False)
            for there in (y.to(torch.float64), y.clone(), y.t().contiguous(), y.new_empty(2), torch.empty_like(y)):
                self.assertEqual(there.device.type, "neuron")
            self.assertEqual(torch.empty_like(y, device="cpu").device.type, "cpu")
            self.assertIs(y.contiguous(), y)
            self.assertEqual(y[1, 1].item(), 3)

    def test_they_wait(self):
        waits = (lambda t: t.cpu(), lambda t: torch.empty(3).copy_(t), lambda t: t.to("cpu", torch.float64))
        for wait in waits:
            configure(native=[*self.MOVES, "aten::relu"], refuse=[{"op": "aten::relu", "message": "late"}], **{"async": True})
            y = torch.relu(*move(torch.randn(3))).clone()
            with self.assertRaisesRegex(RuntimeError, "^late$"):
                wait(y)


class Refusals(Case):
    def test_conditions(self):
        message = "[NCC_X001] this exact text, and no other"
        x = torch.ones(4, 4)
        for condition, refused, taken in (
            ({"dtype": "float16"}, x.half(), x),
            ({"min_rank": 3}, x.reshape(2, 2, 4), x),
            ({"dim_at_least": [0, 5]}, torch.ones(5, 1), x),
            ({"dim_at_least": [-1, 5]}, torch.ones(1, 5), x),
            ({"strides": "noncontiguous"}, x[:, ::2], x),
            ({"shape": [2, 8]}, x.reshape(2, 8), x),
        ):
            for op, call in (("aten::relu", torch.relu), ("aten::sin", torch.sin)):
                with self.subTest(condition=condition, op=op):
                    configure(refuse=[{"op": op, "message": message, **condition}])
                    base = torch.empty_strided(refused.size(), refused.stride(), dtype=refused.dtype, device="neuron")
                    with self.assertRaises(RuntimeError) as raised:
                        call(base)
                    self.assertEqual(str(raised.exception), message)
                    self.equal(call(*move(taken)), call(taken))

    def test_recovery_on_the_cpu_is_listed(self):
        configure(refuse=[{"op": "aten::relu", "message": "no"}], on_failure="cpu")
        x = torch.randn(3)
        self.equal(torch.relu(*move(x)), torch.relu(x))
        self.assertEqual(SIM.take_log(), {"executed": {}, "fallback": {"aten::relu": 1}})

    def test_latch_after_a_compile_error(self):
        for latch in (False, True):
            configure(refuse=[{"op": "aten::relu", "message": "[NCC_X] cannot compile"}], latch_after_compile_error=latch)
            (x,) = move(torch.randn(3))
            for call in (torch.relu, torch.sin, torch.relu) if latch else (torch.relu,):
                with self.assertRaisesRegex(RuntimeError, "NCC_X"):
                    call(x)
            if not latch:
                torch.sin(x).cpu()
        configure(refuse=[{"op": "aten::relu", "message": "runtime"}], latch_after_compile_error=True)
        self.assertRaises(RuntimeError, torch.relu, x)
        torch.sin(x).cpu()

    def test_async_errors_come_at_the_next_wait(self):
        waits = (lambda t: t.cpu(), lambda t: t.sum().item(), torch.nonzero, lambda t: torch.accelerator.synchronize())
        for wait in waits:
            configure(refuse=[{"op": "aten::relu", "message": "late"}], **{"async": True})
            (x,) = move(torch.randn(3))
            y = torch.relu(x).add(1)
            with self.assertRaisesRegex(RuntimeError, "^late$"):
                wait(y)
            wait(y)
        torch.relu(x)
        self.assertEqual(SIM.synchronize(), "late")
        self.assertIsNone(SIM.synchronize())


class Device(Case):
    def test_views_alias(self):
        x = torch.arange(12.0).reshape(3, 4)
        (y,) = move(x)
        for t in (x, y):
            t.t()[1].mul_(10)
            t[:, 1:3].add_(1)
            t.view(torch.int32)[0, 0] = 7
            t.diagonal().fill_(3)
            torch.add(t[0], t[1], out=t[2])
        self.equal(y, x)

    def test_out_is_resized(self):
        x = torch.randn(3, 3)
        out = torch.empty(0, device="neuron")
        torch.mm(*move(x, x), out=out)
        self.equal(out, x @ x)

    def test_conjugates(self):
        x = torch.randn(3, dtype=torch.complex64)
        (y,) = move(x)
        self.equal(y.conj().cpu(), x.conj())
        self.equal(y.conj() * 2, x.conj() * 2)
        self.equal(y.conj().imag.clone(), x.conj().imag.clone())

    def test_data_and_modules_move(self):
        module = torch.nn.Linear(3, 2)
        x = torch.randn(4, 3)
        expected = module(x).detach()
        self.equal(module.to("neuron")(x.to("neuron")).detach(), expected, rtol=1e-6, atol=1e-6)
        p = torch.nn.Parameter(torch.zeros(2, device="neuron"))
        p.data = torch.ones(2, device="neuron")
        self.equal(p.detach(), torch.ones(2))
        self.equal(x.to("neuron", torch.float16).to("neuron", torch.float32), x.half().float())

    def test_backward(self):
        def work():
            net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(8, 3))
            x = torch.randn(2, 1, 4, 4)
            net(x).sum().backward()
            expected = [p.grad.clone() for p in net.parameters()]
            net.zero_grad(set_to_none=True)
            net.to("neuron")(x.to("neuron")).sum().backward()
            for p, e in zip(net.parameters(), expected):
                self.equal(p.grad, e, rtol=1e-4, atol=1e-5)
            self.assertIn("aten::gelu_backward.grad_input", SIM.take_log()["executed"])

        self.child(work)


class SpecialValues(Case):
    def test_documented_differences_of_element_wise_operators(self):
        inf, nan = float("inf"), float("nan")
        x = torch.tensor([nan, inf, -inf, 0.0, 1.5])
        configure(
            special_values=[
                {"op": "aten::relu", "when": "nan", "becomes": 0},
                {"op": "aten::relu_", "when": "nan", "becomes": 0},
                {"op": "aten::ceil", "when": "inf", "becomes": -2147483648},
                {"op": "aten::ceil", "when": "-inf", "becomes": "NaN"},
                {"op": "aten::rsqrt", "when": "zero", "becomes": "NaN"},
            ]
        )
        for call, expected in (
            (torch.relu, [0.0, inf, 0.0, 0.0, 1.5]),
            (lambda t: t.clone().relu_(), [0.0, inf, 0.0, 0.0, 1.5]),
            (torch.ceil, [nan, -2147483648.0, nan, 0.0, 2.0]),
            (lambda t: torch.rsqrt(t[3:]), [nan, 1.5**-0.5]),
        ):
            self.equal(call(*move(x)), torch.tensor(expected), rtol=1e-6, atol=0, equal_nan=True)
        self.assertIn("never reaches", SIM.configure({"special_values": [{"op": "aten::linear", "when": "nan", "becomes": 0}]}))


class Narrowing(Case):
    def test_int64_wraps_and_keeps_its_label(self):
        configure(narrow_int64=True)
        x = torch.tensor([2**31 - 1, 2**31, 3_000_000_000])
        for call, expected in (
            (lambda t: t + 1, [-(2**31), -(2**31) + 1, 3_000_000_001 - 2**32]),
            (lambda t: t * 2, [-2, 0, 6_000_000_000 - 2**32]),
            (lambda t: t.clone().add_(1), [-(2**31), -(2**31) + 1, 3_000_000_001 - 2**32]),
        ):
            got = call(*move(x))
            self.assertEqual(got.dtype, torch.int64)
            self.assertEqual(got.tolist(), expected)
        self.assertEqual((x.to("neuron") > 0).tolist(), [True, False, False])
        self.assertEqual(torch.arange(0, 6_000_000_000, 3_000_000_000, device="neuron").tolist(), [0, 3_000_000_000 - 2**32])

    def test_float64_is_computed_in_fp32(self):
        configure(narrow_float64=True)
        x = torch.rand(4, 4, dtype=torch.float64)
        for call in (torch.sin, lambda t: t @ t, lambda t: torch.sum(t, 0), lambda t: torch.ones_like(t).div(3)):
            got = call(*move(x))
            self.assertEqual(got.dtype, torch.float64)
            self.equal(got, call(x.float()).double())
            self.differs(got, call(x))
        self.equal(torch.sin(*move(x.float())), torch.sin(x.float()))
        z = torch.randn(4, dtype=torch.complex128)
        self.equal((z.to("neuron").conj() * 3).cpu(), (z.to(torch.complex64).conj() * 3).to(torch.complex128))

    def test_random_operators_are_not_narrowed(self):
        configure(narrow_float64=True)
        torch.manual_seed(3)
        here = torch.nn.functional.dropout(torch.ones(64, dtype=torch.float64), 0.3)
        torch.manual_seed(3)
        self.equal(torch.nn.functional.dropout(torch.ones(64, dtype=torch.float64, device="neuron"), 0.3), here)

    def test_wide_arithmetic_is_right_and_not_the_bits_of_the_cpu(self):
        configure(arithmetic="wide")
        x = torch.randn(64, 512)
        self.equal(torch.sum(*move(x)), x.double().sum().float())
        self.equal(torch.mm(*move(x, x.t())), (x.double() @ x.t().double()).float())
        self.differs(torch.mm(*move(x, x.t())), x @ x.t())


if __name__ == "__main__":
    from test_faults import *  # noqa: F403  unittest runs the cases of both files

    unittest.main()
