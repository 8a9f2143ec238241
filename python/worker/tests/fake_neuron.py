# SPDX-License-Identifier: Apache-2.0
"""Stands in for a module that registers the backend `neuron` when it is imported, as TorchNeuron does: device and copies from C++, which is
our simulated device (its library is named by NEURON_SIM), compute kernels from Python, and sets of names of what ran where.

What it does with which operator is fixed, see fake_profile.json and the kernels. Everything run on it is simulated.
"""
import ctypes
import json
import os
import pathlib
import types

import torch

simulated = True
__version__ = "2.14.3.0"

_library = ctypes.CDLL(os.environ["NEURON_SIM"])
for _name in ("configure", "take_log", "error"):
    getattr(_library, "neuron_sim_" + _name).restype = ctypes.c_char_p
_refused = _library.neuron_sim_configure(pathlib.Path(__file__).with_name("fake_profile.json").read_bytes()).decode()
if _refused:
    raise ImportError(_refused)
_executed, _fallback = set(), set()


def _synchronize():
    if _library.neuron_sim_synchronize():
        raise RuntimeError(_library.neuron_sim_error().decode())


def _device_module():
    module = types.ModuleType("torch.neuron")
    module.is_available = lambda: True
    module.device_count = lambda: int(os.environ.get("FAKE_NEURON_DEVICES", "1"))
    module.current_device = lambda: 0
    module._is_in_bad_fork = lambda: False
    module.manual_seed_all = lambda seed: None
    module.get_device_name = lambda index: "simulated"
    module.synchronize = _synchronize
    return module


torch.utils.rename_privateuse1_backend("neuron")
torch._register_device_module("neuron", _device_module())


def _take():
    log = json.loads(_library.neuron_sim_take_log())
    _executed.update(log["executed"])
    _fallback.update(log["fallback"])


def get_executed_ops():
    _take()
    return sorted(_executed)


def get_fallback_ops():
    _take()
    return sorted(_fallback)


def clear_op_tracking():
    _take()
    _executed.clear()
    _fallback.clear()


def _silu(x):
    """A kernel of its own, of other operators that are native."""
    _executed.add("aten::silu")
    return torch.mul(x, torch.sigmoid(x))


def _gelu(x, approximate="none"):
    """Refuses its own implementation and computes on the CPU, which it lists, in the short form."""
    _fallback.add("gelu")
    return torch.ops.aten.gelu(x.cpu(), approximate=approximate).to(x.device)


def _hardswish(x):
    _fallback.add("aten::hardswish")
    return torch.ops.aten.hardswish(x.cpu()).to(x.device)


def _erf(x):
    return torch.erf(x.cpu()).to(x.device)


def _linalg_det(x):
    """Registered for the device, computed on the CPU, in no list."""
    return tuple(out.to(x.device) for out in torch.ops.aten._linalg_det(x.cpu()))


def _cumsum(x, dim, dtype=None):
    raise NotImplementedError("Operation aten::cumsum is not implemented for Neuron")


_kernels = torch.library.Library("aten", "IMPL")
_own = {"silu": _silu, "gelu": _gelu, "hardswish": _hardswish, "erf": _erf, "_linalg_det": _linalg_det, "cumsum": _cumsum}
for _op, _kernel in _own.items():
    _kernels.impl(_op, _kernel, "PrivateUse1")
