# SPDX-License-Identifier: Apache-2.0
"""Loads and drives libneuron_sim.so, whose path is the first argument of the program, for the tests."""
import ctypes
import json
import os
import signal
import sys
import time
import traceback
import types
import unittest

import torch


class Sim:
    """The simulated device `neuron` in this process."""

    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))
        for name in ("configure", "unused", "take_log", "take_fired", "error"):
            getattr(self._library, "neuron_sim_" + name).restype = ctypes.c_char_p
        module = types.ModuleType("torch.neuron")
        module.is_available = lambda: True
        module.device_count = lambda: 1
        module.current_device = lambda: 0
        module._is_in_bad_fork = lambda: False
        module.manual_seed_all = lambda seed: None
        torch._register_device_module("neuron", module)

    def configure(self, profile):
        """Returns the reason the profile is refused, empty when it is not."""
        text = profile if isinstance(profile, str) else json.dumps(profile)
        return self._library.neuron_sim_configure(text.encode()).decode()

    def unused(self):
        return json.loads(self._library.neuron_sim_unused())

    def take_log(self):
        return json.loads(self._library.neuron_sim_take_log())

    def take_fired(self):
        return json.loads(self._library.neuron_sim_take_fired())

    def synchronize(self):
        """The error that was waiting, or None."""
        if self._library.neuron_sim_synchronize() == 0:
            return None
        return self._library.neuron_sim_error().decode()


def in_child(work, seconds=60):
    """Runs work() in a forked process and waits. Returns (signal, exit code, stderr text, killed as late)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.dup2(writer, 2)
        code = 99
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    os.set_blocking(reader, False)
    deadline = time.monotonic() + seconds
    text, late, status = b"", False, None
    while status is None:
        try:
            text += os.read(reader, 1 << 16)
        except BlockingIOError:
            pass
        done, result = os.waitpid(pid, os.WNOHANG)
        if done:
            status = result
        elif time.monotonic() > deadline and not late:
            late = True
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    try:
        text += os.read(reader, 1 << 20)
    except BlockingIOError:
        pass
    os.close(reader)
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return killed, os.WEXITSTATUS(status) if not killed else None, text.decode(errors="replace"), late


torch.set_num_threads(1)  # before anything runs: children are forks
SIM = Sim(sys.argv.pop(1))
NATIVE = ["*"]


def configure(**profile):
    reason = SIM.configure({"native": NATIVE, **profile})
    assert reason == "", reason
    SIM.take_log()


def fault(kind, op, **more):
    configure(faults=[{"kind": kind, "op": op, **more}])


def move(*tensors):
    return [t.to("neuron") for t in tensors]


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        configure()

    def equal(self, actual, expected, **how):
        torch.testing.assert_close(actual.cpu(), expected, **(how or {"rtol": 0, "atol": 0}))

    def differs(self, actual, expected):
        self.assertEqual(actual.shape, expected.shape)
        self.assertFalse(torch.equal(actual.cpu(), expected))

    def child(self, work):
        """Runs work in a process of its own, which must succeed."""
        killed, code, text, late = in_child(work)
        self.assertEqual((killed, code, late), (0, 0, False), text)
        return text
