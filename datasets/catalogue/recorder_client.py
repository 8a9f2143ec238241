# SPDX-License-Identifier: Apache-2.0
"""Builds, loads and drives torch_host/recorder from Python.

The library can be built with g++ and the torch of the running interpreter alone:

    T=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
    g++ -std=c++20 -O1 -fPIC -shared -I. -isystem $T/include torch_host/{backend,recorder}/*.cpp \
        -o libneuron_recorder.so -L$T/lib -Wl,-rpath,$T/lib -ltorch_cpu -lc10
"""
import ctypes
import json
import os
import pathlib
import subprocess
import types

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "torch_host" / folder for folder in ("backend", "recorder")]

# What the minimal backend registers besides its plumbing: operators whose default kernel only throws, and the fused
# recurrent cells, which have no CPU kernel a fallback could use.
MINIMAL_SET = (
    "aten::convolution_overrideable",
    "aten::convolution_backward_overrideable",
    "aten::_scaled_dot_product_fused_attention_overrideable",
    "aten::_scaled_dot_product_fused_attention_overrideable_backward",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_lstm_cell_backward_impl",
    "aten::_thnn_fused_gru_cell",
    "aten::_thnn_fused_gru_cell_backward",
)


def build(folder, jobs=2):
    """Compiles what is newer than its object file; returns the path of the library."""
    folder.mkdir(parents=True, exist_ok=True)
    torch_root = pathlib.Path(torch.__file__).parent
    library = folder / "libneuron_recorder.so"
    sources = sorted(p for folder in SOURCES for p in folder.glob("*.cpp"))
    newest = max(p.stat().st_mtime for p in [*sources, *(p for folder in SOURCES for p in folder.glob("*.h"))])
    if library.exists() and library.stat().st_mtime > newest:
        return library
    objects, running = [], []
    for source in sources:
        objects.append(folder / (source.stem + ".o"))
        command = ["g++", "-std=c++20", "-O1", "-fPIC", f"-I{ROOT}", "-isystem", str(torch_root / "include")]
        running.append(subprocess.Popen([*command, "-c", str(source), "-o", str(objects[-1])]))
        if len(running) == jobs:
            wait_all(running)
    wait_all(running)
    lib = torch_root / "lib"
    link = ["g++", "-shared", "-o", str(library), *map(str, objects), f"-L{lib}", f"-Wl,-rpath,{lib}"]
    subprocess.run([*link, "-ltorch_cpu", "-lc10"], check=True)
    return library


def wait_all(running):
    for process in running:
        if process.wait() != 0:
            raise SystemExit(f"failed: {' '.join(process.args)}")
    running.clear()


class Recorder:
    """The backend `neuron` in this process."""

    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))
        self._library.neuron_recorder_set_native.restype = ctypes.c_char_p
        self._library.neuron_recorder_stop.restype = ctypes.c_char_p
        module = types.ModuleType("torch.neuron")
        module.is_available = lambda: True
        module.device_count = lambda: 1
        module.current_device = lambda: 0
        module._is_in_bad_fork = lambda: False
        module.manual_seed_all = lambda seed: None
        module.get_rng_state = lambda *device: torch.get_rng_state()
        module.set_rng_state = lambda state, *device: torch.set_rng_state(state)
        torch._register_device_module("neuron", module)

    def set_native(self, names):
        """Registers kernels for exactly these operators; returns the names that have no schema."""
        refused = self._library.neuron_recorder_set_native("\n".join(names).encode())
        return refused.decode().split()

    def record(self, call):
        """Runs call(); returns (result, exception, calls)."""
        result = error = None
        self._library.neuron_recorder_start()
        try:
            result = call()
        except Exception as caught:  # Samples may be wrong for the device; the tree up to there is still good.
            error = caught
        finally:
            text = self._library.neuron_recorder_stop()
        return result, error, json.loads(text)


def to_device(tensor, memo):
    """The same values, sizes, strides and offset on the device; `memo` keeps one object one object."""
    if id(tensor) in memo:
        return memo[id(tensor)][1]
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise TypeError("not a plain CPU tensor")
    plain = tensor.detach()
    if plain.is_contiguous() or plain.numel() == 0 or plain.is_conj() or plain.is_neg():
        moved = plain.to("neuron")
    else:
        span = 1 + sum((n - 1) * s for n, s in zip(plain.shape, plain.stride()))
        flat = torch.as_strided(plain, (span,), (1,), plain.storage_offset()).to("neuron")
        moved = torch.as_strided(flat, plain.shape, plain.stride())
    memo[id(tensor)] = (tensor, moved)  # The first keeps the id from being used again.
    return moved.requires_grad_(tensor.requires_grad)


def default_build_folder():
    return pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "neuron_recorder_build"
