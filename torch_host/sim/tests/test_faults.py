# SPDX-License-Identifier: Apache-2.0
"""Each fault kind does what README.md says, on two operators at least. Run by test_sim.py."""
import resource
import signal
import tempfile

import torch
from sim_client import SIM, Case, configure, fault, in_child, move

NAN, INF = float("nan"), float("inf")
# As operators arrive: two ways to get a float result of 4 x 4 from one.
OPS = (("aten::mm", lambda t: torch.mm(t, t)), ("aten::tanh", torch.tanh), ("aten::mul", lambda t: t * 2))


def far_off(right):
    return (right * -1.5).masked_fill(right == 0, 1)


class Values(Case):
    def check(self, kind, expected, x=None, ops=OPS, **more):
        x = torch.randn(4, 4) if x is None else x
        for op, call in ops:
            with self.subTest(kind=kind, op=op):
                fault(kind, op, **more)
                right = call(x)
                got = call(*move(x)).cpu()
                torch.testing.assert_close(got, expected(right), rtol=0, atol=0, equal_nan=True)
                self.assertFalse(torch.equal(got, right))
                other = torch.sigmoid(*move(x))
                self.equal(other, torch.sigmoid(x), rtol=0, atol=0, equal_nan=True)

    def test_wrong_value(self):
        self.check("wrong-value", far_off)
        self.check("wrong-value", far_off, torch.tensor([[0.0, -0.5], [1e30, 2.0]]), OPS[2:])
        self.check("wrong-value", lambda r: (r.view(torch.int32) + 3).view(torch.float32), ulps=3)
        self.check("wrong-value", lambda r: r + 1, torch.arange(16).reshape(4, 4), OPS[2:])

    def test_wrong_one_element(self):
        def expected(place):
            def change(r):
                r = r.clone(memory_format=torch.contiguous_format)
                r.view(-1)[place] = far_off(r.view(-1)[place])
                return r

            return change

        self.check("wrong-one-element", expected(8))
        self.check("wrong-one-element", expected(3), element=3)
        self.check("wrong-one-element", expected(6), torch.randn(4, 3).t(), OPS[1:], element=6)

    def test_nan_inf_zeros(self):
        self.check("nan", lambda r: torch.full_like(r, NAN))
        self.check("inf", lambda r: torch.full_like(r, INF))
        self.check("zeros", torch.zeros_like)

    def test_inf_to_max(self):
        x = torch.tensor([[INF, 1.0], [-INF, NAN]])
        ops = (("aten::mul", lambda t: t * 2), ("aten::exp", torch.exp))
        self.check("inf-to-max", lambda r: r.clamp(-3.4028234663852886e38, 3.4028234663852886e38), x, ops)

    def test_nan_spread(self):
        x = torch.eye(4)
        x[1, 2] = INF
        ops = (("aten::mul", lambda t: t * 2), ("aten::exp", torch.exp))
        self.check("nan-spread", lambda r: torch.cat([r[:1], torch.full_like(r[:1], NAN), r[2:]]), x, ops)

    def test_rounded_output(self):
        for kind, dtype in (("bf16-output", torch.bfloat16), ("fp16-output", torch.float16)):
            self.check(kind, lambda r, dtype=dtype: r.to(dtype).float())
        for op, call in OPS:
            fault("tf32-output", op)
            x = torch.randn(4, 4)
            got, right = call(*move(x)).cpu(), call(x)
            self.assertTrue(((got.view(torch.int32) & 0x1FFF) == 0).all())
            self.assertLessEqual(((got - right).abs() / right.abs()).max().item(), 2**-11)

    def test_flush(self):
        x = torch.tensor([[1e-39, 1.0], [-1e-40, 2.0]])
        ops = (("aten::mul", lambda t: t * 1.5), ("aten::neg", torch.neg))
        self.check("ftz", lambda r: torch.where(r.abs() < 1e-38, 0.0, r), x, ops)
        self.check("ftz-inputs", lambda r: torch.where(r.abs() < 1e-38, 0.0, r), x, ops)

    def test_uninitialised(self):
        for op, call in OPS:
            fault("uninitialised", op)
            (x,) = move(torch.randn(4, 4))
            first, second = call(x).cpu(), call(x).cpu()
            self.assertFalse(torch.equal(first, call(x.cpu())))
            self.assertFalse(torch.equal(first, second))

    def test_stale_output(self):
        for op, call in OPS:
            fault("stale-output", op)
            x, y = torch.randn(4, 4), torch.randn(4, 4)
            self.equal(call(*move(x)), call(x))
            self.equal(call(*move(y)), call(x))
            self.equal(call(*move(x)), call(y))

    def test_mutates_input(self):
        for op, call in OPS:
            fault("mutates-input", op)
            x = torch.randn(4, 4)
            (y,) = move(x)
            self.equal(call(y), call(x))
            self.equal(y.view(-1)[1:], x.view(-1)[1:])
            self.assertNotEqual(y[0, 0].item(), x[0, 0].item())


    def test_numbers_that_operators_give(self):
        x = torch.tensor(2.0)
        for kind, expected in (("wrong-value", -3.0), ("zeros", 0.0), ("inf", INF)):
            fault(kind, "aten::_local_scalar_dense")
            self.assertEqual(x.to("neuron").item(), expected)
        fault("wrong-value", "aten::_local_scalar_dense")
        self.assertEqual(torch.tensor(7).to("neuron").item(), 8)
        fault("wrong-value", "aten::equal")
        self.assertFalse(torch.equal(*move(x, x)))


class Arithmetic(Case):
    def test_rounded_inputs(self):
        x = torch.randn(8, 8)
        for kind, dtype in (("bf16-inputs", torch.bfloat16), ("fp16-inputs", torch.float16)):
            for op, call in OPS:
                fault(kind, op)
                self.equal(call(*move(x)), call(x.to(dtype).float()))
        for op, call in OPS:
            fault("tf32-inputs", op)
            got = call(*move(x))
            self.differs(got, call(x))
            self.equal(got, call(x), rtol=2e-2, atol=1e-2)
        self.equal(x, x.clone())

    def test_truncation(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            x = torch.randn(8, 8).to(dtype)
            for op, call in OPS[:2]:
                fault("truncation", op)
                got = call(*move(x)).cpu()
                self.assertEqual(got.dtype, dtype)
                exact = call(x.double())
                self.assertTrue((got.double().abs() <= exact.abs()).all())
                self.equal(got.double(), exact, rtol=2**-6, atol=1e-6)
                self.assertFalse(torch.equal(got, exact.to(dtype)))

    def test_stochastic_rounding(self):
        x = torch.full((64, 64), 0.3).bfloat16()
        for op, call in (("aten::tanh", torch.tanh), ("aten::sin", torch.sin)):
            fault("stochastic-rounding", op)
            got = call(*move(x)).cpu()
            self.assertEqual(len(got.unique()), 2)
            self.assertAlmostEqual(got.double().mean().item(), call(x.double()).mean().item(), delta=1e-4)

    def test_integers_through_float(self):
        x = torch.tensor([2**24 + 1, 5, -(2**24) - 1])
        for op, call in (("aten::mul", lambda t: t * 1), ("aten::maximum", lambda t: torch.maximum(t, t - 7))):
            fault("int-through-float", op)
            got = call(*move(x))
            self.assertEqual(got.tolist(), [2**24, 5, -(2**24)])
            self.assertEqual(got.dtype, torch.int64)

    def test_int64_as_int32(self):
        x = torch.tensor([2**31, 2**32 + 5])
        for op, call in (("aten::mul", lambda t: t * 1), ("aten::add", lambda t: t + 0)):
            fault("int64-as-int32", op)
            self.assertEqual(call(*move(x)).tolist(), [-(2**31), 5])

    def test_coarse_accumulation(self):
        x = torch.rand(4, 300)
        for kind, dtype, tile in (
            ("bf16-accumulation", torch.bfloat16, 1),
            ("bf16-tile-accumulation", torch.bfloat16, 128),
            ("fp16-accumulation", torch.float16, 1),
        ):
            total = torch.zeros(4)
            square = torch.zeros(4, 4)
            for k in range(0, 300, tile):
                part = x[:, k : k + tile]
                total = (total + part @ torch.ones(part.shape[1])).to(dtype).float()
                square = (square + part @ part.t()).to(dtype).float()
            for op, call, expected in (
                ("aten::sum", lambda t: t.sum(1), total),
                ("aten::sum", lambda t: t.sum(-1, keepdim=True), total.unsqueeze(1)),
                ("aten::mm", lambda t: t @ t.t(), square),
                ("aten::addmm", lambda t: torch.addmm(t[:, :4], t, t.t(), beta=2), square + 2 * x[:, :4]),
            ):
                with self.subTest(kind=kind, op=op):
                    fault(kind, op)
                    self.equal(call(*move(x)), expected)
                    self.differs(call(*move(x)), call(x))
        fault("bf16-accumulation", "aten::tanh")
        with self.assertRaisesRegex(RuntimeError, "not possible in aten::tanh"):
            torch.tanh(*move(x))


class Geometry(Case):
    def test_shapes(self):
        x = torch.randn(4, 4)
        for kind, size in (("shape0", (0,)), ("empty-output", (0, 4)), ("wrong-shape", (1, 4, 4))):
            for op, call in OPS:
                with self.subTest(kind=kind, op=op):
                    fault(kind, op)
                    got = call(*move(x))
                    self.assertEqual(tuple(got.shape), size)
                    if kind == "wrong-shape":
                        self.equal(got[0], call(x))

    def test_dtype(self):
        x = torch.randn(4, 4)
        for op, call in OPS:
            fault("wrong-dtype", op)
            self.equal(call(*move(x)), call(x).double())
        fault("wrong-dtype", "aten::mul")
        self.assertEqual((torch.arange(3).to("neuron") * 2).dtype, torch.int32)

    def test_strides(self):
        for x in (torch.randn(4, 4), torch.randn(5)):
            for op, call in OPS[1:]:
                fault("wrong-strides", op)
                got = call(*move(x))
                self.assertNotEqual(got.stride(), call(x).stride())
                self.equal(got, call(x))

    def test_ignore_strides(self):
        x = torch.arange(12.0).reshape(3, 4)
        for op, call in (("aten::neg", torch.neg), ("aten::exp", torch.exp)):
            fault("ignore-strides", op, operands="read")
            self.equal(call(x.to("neuron").t()), call(x.reshape(4, 3)))
            self.equal(call(*move(x)), call(x))
        fault("ignore-strides", "aten::addcdiv")
        a, b = x.clone(), x.to("neuron")
        for t in (a.view(4, 3), b.t()):
            one = torch.ones_like(t, memory_format=torch.contiguous_format)
            t.addcdiv_(one, one * 2)
        self.equal(b, a)
        fault("ignore-strides", "aten::relu_")
        y = (-x).to("neuron")
        y[:, :2].relu_()  # the first six elements instead of the first two columns
        self.equal(y.view(-1), torch.cat([torch.zeros(6), -torch.arange(6.0, 12.0)]))

    def test_noop_inplace(self):
        x = torch.randn(3)
        for op, call in (("aten::relu_", torch.relu_), ("aten::add", lambda t: t.add_(1)), ("aten::fill_", lambda t: t.fill_(7))):
            fault("noop-inplace", op)
            (y,) = move(x)
            call(y)
            self.equal(y, x)
        fault("noop-inplace", "aten::mm")
        out = torch.full((2, 2), 5.0, device="neuron")
        torch.mm(*move(torch.eye(2), torch.eye(2)), out=out)
        self.equal(out, torch.full((2, 2), 5.0))

    def test_alias_lost(self):
        for op, view in (
            ("aten::as_strided", lambda t: t.t()),
            ("aten::view", lambda t: t.view(-1)),
            ("aten::unfold", lambda t: t.unfold(0, 2, 1)),
        ):
            fault("alias-lost", op)
            x = torch.randn(3, 3)
            (y,) = move(x)
            v = view(y)
            self.equal(v, view(x))
            v.fill_(9)
            self.equal(y, x)

    def test_alias_output(self):
        for op, call in OPS:
            fault("alias-output", op)
            x = torch.randn(4, 4)
            (y,) = move(x)
            out = call(y)
            self.equal(out, call(x))
            self.assertEqual(out.data_ptr(), y.data_ptr())
            self.equal(y, call(x))


class Fallbacks(Case):
    def test_silent_cpu_is_in_no_list(self):
        for op, call in OPS:
            configure(arithmetic="wide", faults=[{"kind": "silent-cpu", "op": op}])
            x = torch.randn(64, 64)
            y = torch.sigmoid(*move(x))
            self.equal(call(y), call(y.cpu()))
            self.assertEqual(list(SIM.take_log()["executed"]), ["aten::sigmoid.out"])

    def test_fallback_raises(self):
        for op, call in OPS:
            configure(native=[], faults=[{"kind": "fallback-raises", "op": op, "message": "the fallback failed"}])
            with self.assertRaisesRegex(RuntimeError, "^the fallback failed$"):
                call(*move(torch.randn(4, 4)))


class Errors(Case):
    def test_error_with_given_text(self):
        for op, call in OPS:
            for word, kind in (("runtime", RuntimeError), ("not-implemented", NotImplementedError), ("index", IndexError),
                               ("value", ValueError), ("type", TypeError), ("linalg", torch.linalg.LinAlgError),
                               ("out-of-memory", torch.OutOfMemoryError)):  # fmt: skip
                fault("error", op, message="exactly this", error=word)
                with self.assertRaises(kind) as raised:
                    torch.mul(*move(torch.ones(2)), 2) if op == "aten::mul" else call(*move(torch.randn(4, 4)))
                self.assertEqual(str(raised.exception), "exactly this")

    def test_late_error(self):
        for op, call in OPS:
            fault("late-error", op, message="three operators ago")
            x = torch.randn(4, 4)
            y = torch.sigmoid(call(*move(x)) + 1)
            with self.assertRaisesRegex(RuntimeError, "three operators ago"):
                y.cpu()
            self.equal(y, torch.sigmoid(call(x) + 1))

    def test_poison(self):
        for op, call in OPS:
            (x,) = move(torch.randn(4, 4))
            fault("poison", op, message="dead")
            torch.sigmoid(x).cpu()
            for later in (call, torch.sigmoid, lambda t: t.cpu()):
                with self.assertRaisesRegex(RuntimeError, "dead"):
                    later(x)
            fault("poison", op, then="garbage")
            self.assertRaises(RuntimeError, call, x)
            self.assertFalse(torch.equal(torch.sigmoid(x).cpu(), torch.sigmoid(x).cpu()))
            configure()
            self.equal(torch.sigmoid(x), torch.sigmoid(x.cpu()))


class Selection(Case):
    def fired(self, profile, calls):
        self.assertEqual(SIM.configure({"native": ["*"], **profile}), "")
        return [not torch.equal(call(*move(x)).cpu(), call(x)) for call, x in calls]

    def test_overload_dtype_and_shape(self):
        x = torch.randn(4, 4)
        mean = lambda t: t.mean(0)
        for more, calls, expected in (
            ({"op": "aten::add.out"}, [(lambda t: t + t, x), (torch.neg, x)], [True, False]),
            ({"op": "aten::all", "overload": "dim"}, [(lambda t: t.all(), x), (lambda t: t.all(0), x)], [False, False]),
            ({"op": "aten::neg", "dtype": "bfloat16"}, [(torch.neg, x), (torch.neg, x.bfloat16())], [False, True]),
            ({"op": "aten::neg", "shape": [2, 8]}, [(torch.neg, x), (torch.neg, x.reshape(2, 8))], [False, True]),
            ({"op": "aten::mean", "min_rank": 2}, [(mean, x), (mean, x[0])], [True, False]),
            ({"op": "aten::neg", "strides": "noncontiguous"}, [(torch.neg, x), (lambda t: torch.neg(t.t()), x)], [False, True]),
        ):
            with self.subTest(more=more):
                if "overload" in more:
                    self.assertIn("never reaches", SIM.configure({"faults": [{"kind": "nan", **more}]}))
                    continue
                self.assertEqual(self.fired({"faults": [{"kind": "nan", **more}]}, calls), expected)

    def test_what_fired_is_counted(self):
        configure(faults=[{"kind": "inf-to-max", "op": "aten::neg"}, {"kind": "nan", "op": "aten::exp", "nth": 2}])
        (x,) = move(torch.randn(3))
        torch.neg(x), torch.exp(torch.exp(x))
        self.assertEqual(SIM.take_fired(), [1, 1])
        self.assertEqual(SIM.take_fired(), [0, 0])

    def test_nth_and_flaky(self):
        calls = [(torch.neg, torch.randn(3))] * 8
        for op, call in OPS[:2]:
            calls = [(call, torch.randn(4, 4))] * 8
            for more, expected in (
                ({"kind": "nan", "nth": 3}, "00100000"),
                ({"kind": "flaky", "probability": 0.5}, "01010101"),
                ({"kind": "flaky", "probability": 0.25, "as": "zeros"}, "00010001"),
                ({"kind": "flaky", "probability": 0}, "00000000"),
                ({"kind": "flaky", "probability": 1}, "11111111"),
                ({"kind": "flaky", "probability": 0.5, "per": "process"}, "00000000"),
            ):
                got = self.fired({"faults": [{"op": op, **more}]}, calls)
                self.assertEqual("".join("01"[g] for g in got), expected, more)
        got = self.fired({"seed": 1, "faults": [{"op": OPS[1][0], "kind": "flaky", "probability": 0.5}]}, calls)
        self.assertEqual(got[:2], [True, False])

    def test_a_counter_file_makes_fresh_processes_differ(self):
        with tempfile.NamedTemporaryFile() as counter:
            for op, call in OPS[:2]:
                with open(counter.name, "w"):
                    pass
                flaky = {"kind": "flaky", "op": op, "probability": 0.5, "per": "process"}
                configure(counter_file=counter.name, faults=[flaky])
                x = torch.randn(4, 4)

                def work(call=call, x=x):
                    results = [torch.equal(call(*move(x)).cpu(), call(x)) for _ in range(2)]
                    raise SystemExit({(True, True): 3, (False, False): 4}.get(tuple(results), 5))

                seen = ["right" if "SystemExit: 3" in in_child(work)[2] else "wrong" for _ in range(4)]
                self.assertEqual(seen, ["right", "wrong", "right", "wrong"])

    def test_order_dependent(self):
        for op, call in OPS[:2]:
            fault("order-dependent", op, after="aten::sigmoid")
            x = torch.randn(4, 4)
            self.equal(call(*move(x)), call(x))
            torch.sigmoid(*move(x))
            self.differs(call(*move(x)), call(x))

    def test_wrong_gradient_and_phase(self):
        def work(op, more, forward, call):
            configure(faults=[{"op": op, **more}])
            x = torch.randn(4, 4)
            a, b = x.clone().requires_grad_(), x.to("neuron").requires_grad_()
            one, two = call(a), call(b)
            self.assertEqual(torch.equal(one.detach(), two.detach().cpu()), not forward)
            one.sum().backward()
            two.sum().backward()
            self.assertEqual(torch.allclose(a.grad, b.grad.cpu()), forward)

        mm = lambda t: torch.mm(t, t)
        for op, more, forward, call in (
            ("aten::mm", {"kind": "wrong-gradient"}, False, mm),
            ("aten::tanh_backward", {"kind": "wrong-gradient"}, False, torch.tanh),
            ("aten::gelu_backward", {"kind": "zeros"}, False, torch.nn.functional.gelu),
            ("aten::mm", {"kind": "nan", "phase": "backward"}, False, mm),
            ("aten::mm", {"kind": "wrong-value", "phase": "forward"}, True, mm),
        ):
            with self.subTest(op=op, more=more):
                self.child(lambda: work(op, more, forward, call))  # noqa: B023  it runs at once


class Processes(Case):
    def run_on(self, kind, op, call, seconds=60, limit=None, **more):
        fault(kind, op, **more)
        (x,) = move(torch.randn(4, 4))

        def work():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            call(x)

        return in_child(work, seconds)

    def test_deaths(self):
        for op, call in OPS[:2]:
            for kind, killed, code, more in (
                ("segv", signal.SIGSEGV, None, {}),
                ("abort", signal.SIGABRT, None, {}),
                ("sigkill", signal.SIGKILL, None, {}),
                ("stack-overflow", signal.SIGSEGV, None, {}),
                ("exit", 0, 7, {}),
                ("exit", 0, 3, {"code": 3}),
            ):
                with self.subTest(kind=kind, op=op):
                    self.assertEqual(self.run_on(kind, op, call, **more)[:2], (killed, code))

    def test_hangs(self):
        for op, call in OPS[:2]:
            for kind, noisy in (("hang", False), ("hang-with-output", True)):
                killed, _, text, late = self.run_on(kind, op, call, seconds=1)
                self.assertTrue(late)
                self.assertEqual(killed, signal.SIGKILL)
                self.assertEqual(text.count(".") > 5, noisy, text)

    def test_slow(self):
        for op, call in OPS[:2]:
            self.assertTrue(self.run_on("slow", op, call, seconds=0.3, milliseconds=5000)[3])
            self.assertEqual(self.run_on("slow", op, call, milliseconds=1)[1], 0)

    def test_memory(self):
        with open("/proc/self/statm") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        for op, call in OPS[:2]:
            _, code, text, _ = self.run_on("oom", op, call, mebibytes=8)
            self.assertEqual(code, 99)
            self.assertIn("OutOfMemoryError: neuron_sim: out of memory after 8 MiB", text)
            _, _, text, _ = self.run_on("oom", op, call, limit=now + (64 << 20), mebibytes=4096)
            taken = int(text.split("out of memory after ")[1].split()[0])
            self.assertLessEqual(taken, 64)

    def test_leak(self):
        def resident():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * resource.getpagesize()

        for op, call in OPS[:2]:
            fault("leak", op, mebibytes=16)
            (x,) = move(torch.randn(4, 4))

            def work(call=call, x=x):
                before = resident()
                self.equal(call(x), call(x.cpu()))
                grown = (resident() - before) >> 20
                self.assertTrue(16 <= grown < 32, grown)

            self.child(work)
