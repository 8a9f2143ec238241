# SPDX-License-Identifier: Apache-2.0
"""Runs one case on the device and puts what came back into the arena, as torch_host/casework does. Nothing is judged here."""
import contextlib
import time

import torch

from . import case_text
from .arguments import Absent, ArgumentFailure, ArgumentMaker, call, operator_of, short_name
from .case_text import Result
from .fallbacks import Watch
from .operands import OperandTensors

MOST_MESSAGE = 4000


class Output:
    """One tensor that a step gives back or writes; `tensor` is None for one that is absent."""

    def __init__(self, tensor, alias, written=False):
        self.tensor, self.alias, self.written = tensor, alias, written


def shortened(message):
    """torch's words, without what the dispatcher knows of every other backend."""
    if "Could not run '" in message:
        message = message.partition("\n\n")[0]
    return message if len(message) <= MOST_MESSAGE else message[:MOST_MESSAGE] + "..."


def raised(error, stage):
    if isinstance(error, ArgumentFailure):
        kind = "argument"
    elif isinstance(error, NotImplementedError):
        kind = "not-implemented"
    elif isinstance(error, MemoryError | getattr(torch, "OutOfMemoryError", MemoryError)):
        kind = "out-of-memory"
    else:
        kind = "error"
    return {"kind": kind, "message": shortened(str(error) or type(error).__name__), "stage": stage}


def tensors_in(value, kind):
    """Tensors of a result of this type; an undefined one of a plain Tensor type is there as None."""
    if isinstance(value, torch.Tensor) or (value is None and kind.kind() == "TensorType"):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            if item is None or isinstance(item, torch.Tensor):
                yield item


def outputs_of(op, values, results, operands):
    """Results of the call, then what it wrote and did not return."""
    schema, out = op._schema, []
    results = [results] if len(schema.returns) == 1 else list(results or ())
    for value, returned in zip(results, schema.returns, strict=False):
        out += [Output(tensor, operands.shared_with(tensor)) for tensor in tensors_in(value, returned.type)]
    for value, argument in zip(values, schema.arguments, strict=True):
        if value is Absent or not argument.alias_info or not argument.alias_info.is_write:
            continue
        for tensor in tensors_in(value, argument.type):
            if tensor is not None and not any(tensor is known.tensor for known in out):
                out.append(Output(tensor, operands.shared_with(tensor), written=True))
    return out


class DeviceCase:
    """Makes the operands at once, before anything is watched: copying them is not the case's doing."""

    def __init__(self, backend, dispatch, arena, entry):
        self._backend, self._arena, self._entry = backend, arena, entry
        self._watch = Watch(dispatch)
        self._logs = []

    def run(self):
        began = time.monotonic()
        answer = {}
        self._stage = "forward"
        try:
            self._run(answer)
        except Exception as error:  # noqa: BLE001: a failing operator is data
            answer["raised"] = raised(error, self._stage)
        answer["fell_back"] = sorted(self._watch.fell_back)
        answer["on_cpu"] = sorted(self._watch.on_cpu - self._watch.fell_back)
        log = merged(self._logs)
        if log is not None:
            answer["log"] = log
        answer["seconds"] = time.monotonic() - began
        return answer

    def _run(self, answer):
        case = case_text.parse(self._entry["case"])
        with torch.set_grad_enabled(case.grad):
            outputs, operands = self._forward(case)
            gradients = []
            if case.grad:
                self._stage = "backward"
                gradients = self._gradients(outputs)
        self._stage = "synchronize"
        self._backend.synchronize()
        self._note()
        self._stage = "copy"
        stored = [
            {**self._stored(out.tensor), "alias": out.alias, "written": out.written, "on_device": self._is_here(out.tensor)} for out in outputs
        ]
        answer["gradients"] = [{**self._stored(tensor), "operand": operand} for operand, tensor in gradients]
        answer["changed"] = operands.changed()
        answer["outputs"] = stored

    def _is_here(self, tensor):
        return tensor is None or tensor.device == self._backend.device

    def _note(self):
        self._logs.append(self._backend.take_log())

    def _watched(self, body):
        try:
            with self._watch:
                return body()
        except BaseException:
            with contextlib.suppress(Exception):  # what was raised first is what counts
                self._note()
            raise

    def _forward(self, case):
        made = []
        for i, step in enumerate(case.steps):
            if i >= len(self._entry["operands"]):
                raise ArgumentFailure("the operands of a step are missing")
            made.append(OperandTensors(step, self._arena, self._entry["operands"][i], self._backend.device))
        self._backend.synchronize()
        self._backend.clear_log()
        done = []
        for step, operands in zip(case.steps, made, strict=True):
            op = operator_of(step.op)
            values = ArgumentMaker(op, step, self._backend.device, tensor_maker(done, operands)).make()
            results = self._watched(lambda op=op, values=values: call(op, values))
            done.append(outputs_of(op, values, results, operands))
        self._last = made[-1]
        return done[-1], made[-1]

    def _gradients(self, outputs):
        """Of sum(outputs * cotangents) with respect to every operand of the last step that requires grad."""
        self._note()
        sources, along = [], []
        cotangents = self._entry.get("cotangents", [])
        for output in outputs:
            if output.tensor is None or not output.tensor.requires_grad:
                continue
            if len(sources) >= len(cotangents):
                raise ArgumentFailure("an output has no cotangent")
            flat = self._arena.view(cotangents[len(sources)], output.tensor.numel() * 4, torch.float32)
            sources.append(output.tensor)
            along.append(flat.to(output.tensor.dtype).reshape(output.tensor.shape).to(self._backend.device))
        wanted = self._last.requiring_grad()
        if not sources or not wanted:
            raise ArgumentFailure("nothing of it has a gradient")
        self._backend.synchronize()
        self._backend.clear_log()
        inputs = [tensor for _, tensor in wanted]
        found = self._watched(lambda: torch.autograd.grad(sources, inputs, along, allow_unused=True))
        return [(operand, tensor) for (operand, _), tensor in zip(wanted, found, strict=True)]

    def _stored(self, tensor):
        if tensor is None:
            return {"absent": True}
        out = {"dtype": short_name(tensor.dtype), "sizes": list(tensor.shape)}
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
            return {**out, "not_dense": True}
        return {**out, "strides": list(tensor.stride()), "offset": self._arena.put(tensor)}


def tensor_maker(done, operands):
    def make(value):
        if not isinstance(value, Result):
            return operands.tensor(value)
        if value.step >= len(done) or value.output >= len(done[value.step]):
            raise ArgumentFailure("an earlier step has no such output")
        return done[value.step][value.output].tensor

    return make


def merged(logs):
    """Lists of several takes as one; None when the backend keeps none."""
    out = None
    for log in logs:
        for key, names in (log or {}).items():
            out = out or {}
            known = out.setdefault(key, {})
            for name, count in names.items():
                known[name] = count if known.get(name) is None or count is None else known[name] + count
    return out


def canary(backend):
    """Whether the device still adds: 1 + 2 on a few elements."""
    try:
        one, two = (torch.full((5,), value).to(backend.device) for value in (1.0, 2.0))
        total = torch.ops.aten.add.Tensor(one, two)
        backend.synchronize()
        return total.cpu().tolist() == [3.0] * 5
    except Exception:  # noqa: BLE001: whatever it says, it does not add
        return False
