# SPDX-License-Identifier: Apache-2.0
"""Talks to the worker as neuron-check does, and lays out operands for it."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
WORKER = HERE.parent
FAKE = HERE / "fake_neuron.py"


def load_package():
    """The worker's own modules, under the name that __main__.py gives them."""
    spec = importlib.util.spec_from_file_location("neuron_check_worker", WORKER / "__init__.py", submodule_search_locations=[str(WORKER)])
    sys.modules["neuron_check_worker"] = importlib.util.module_from_spec(spec)


load_package()
from neuron_check_worker import case_text, frames, operands  # noqa: E402

ARENA = 1 << 24
BEGIN = 1 << 23


class Worker:
    def __init__(self, module=FAKE, environment=None, start_seconds=60, command=None):
        command = command or [sys.executable, "-B", str(WORKER / "__main__.py"), str(module)]
        began = time.monotonic()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}
        )
        self.hello = frames.read(self._process.stdout.fileno(), time.monotonic() + start_seconds)
        self.seconds = time.monotonic() - began
        self._file = tempfile.NamedTemporaryFile()  # noqa: SIM115: as long as the worker
        self._file.truncate(ARENA)
        self.memory = operands.Arena(self._file.name, 0, ARENA)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self.code = self._process.wait(20)
        self._process.stdout.close()
        self._process.stderr.close()

    def ask(self, request, seconds=120):
        frames.write(self._process.stdin.fileno(), request)
        return frames.read(self._process.stdout.fileno(), time.monotonic() + seconds)

    def place(self, text, values):
        """Puts the values into the memory; a tensor without any is filled with 0.5, 1.5, ... or, where it is of integers, 0, 1, ..."""
        steps, values = [], iter(values)
        for step in case_text.parse(text).steps:
            specs, offsets = case_text.tensors_of(step), []
            roots, sizes = operands.layout_of(specs)
            for i, spec in enumerate(specs):
                offsets.append(self.memory.next if roots[i] == i else 0)
                if roots[i] != i:
                    continue
                if spec.dtype.startswith("q"):
                    continue  # the worker makes none of those
                dtype = getattr(torch, case_text.DTYPES[spec.dtype][0])
                count = sizes[i] // spec.itemsize()
                flat = next(values, None)
                if flat is None:
                    flat = torch.arange(count) + (0.5 if dtype.is_floating_point or dtype.is_complex else 0)
                self.memory.put(torch.as_tensor(flat).to(dtype).reshape(-1))
            steps.append(offsets)
        return steps

    def run(self, *cases, seconds=20, **more):
        """The answer to "run_cases" for these cases: texts, or a text with the values of its operands."""
        self.memory.next = 64
        cotangents = [self.memory.put(torch.ones(64)) for _ in range(4)]
        entries = []
        for i, case in enumerate(cases):
            text, *values = (case,) if isinstance(case, str) else case
            try:
                places = self.place(text, values)
            except case_text.CaseError:
                places = []
            entries.append({"id": i, "case": text, "operands": places, "cotangents": cotangents})
        request = {"do": "run_cases", "arena": self._file.name, "begin": BEGIN, "end": ARENA, "case_seconds": seconds, "cases": entries}
        return self.ask({**request, **more})

    def tensor(self, stored):
        """What the worker put at the offset of an answer."""
        dtype = getattr(torch, stored["dtype"])
        count = case_text.elements(stored["sizes"])
        return self.memory.view(stored["offset"], count * dtype.itemsize, dtype).reshape(stored["sizes"]).clone()
