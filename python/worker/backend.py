# SPDX-License-Identifier: Apache-2.0
"""The backend that a module registers when it is imported: found, looked at, and driven. Runs in a child only."""
import importlib
import importlib.metadata
import importlib.util
import os
import pathlib
import sys

OLDEST_TORCH = (2, 10)
UNNAMED = "privateuseone"  # what torch calls the key as long as nobody has renamed it


class Unavailable(Exception):
    """What is missing, in words for the user."""


def is_file(module):
    return module.endswith(".py") or "/" in module


def look(module):
    """What can be known without importing anything."""
    if importlib.util.find_spec("torch") is None:
        raise Unavailable(f"{sys.executable} has no torch")
    if is_file(module):
        if not os.path.isfile(module):
            raise Unavailable(f"{module}: no such file")
    elif importlib.util.find_spec(module.split(".")[0]) is None:
        raise Unavailable(f"{sys.executable} has no module {module.split('.')[0]}: install it there, or name another interpreter with --python")


def import_torch():
    try:
        import torch
    except Exception as error:  # noqa: BLE001: whatever a broken installation raises
        raise Unavailable(f"importing torch raised {words(error)}") from error
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST_TORCH:
        raise Unavailable(f"{sys.executable} has torch {torch.__version__}; 2.10 or later is needed")
    return torch


def import_module(name):
    try:
        if not is_file(name):
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(pathlib.Path(name).stem, name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    except Exception as error:  # noqa: BLE001: code of the user
        raise Unavailable(f"importing {name} raised {words(error)}") from error


def words(error):
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class Backend:
    """`stage` is told what is about to be done: what hangs is named by it."""

    def __init__(self, module_name, stage):
        look(module_name)
        stage("importing torch")
        self.torch = torch = import_torch()
        stage(f"importing {module_name}")
        self.module = import_module(module_name)
        self.module_name = module_name
        self.name = torch._C._get_privateuse1_backend_name()
        self.devices = getattr(torch, self.name, None)
        if self.name == UNNAMED and self.devices is None:
            raise Unavailable(f"{module_name} registers no PrivateUse1 backend: after its import torch knows no name for one")
        if self.devices is None:
            raise Unavailable(f"{module_name} registers the backend {self.name} without a device module: there is no torch.{self.name}")
        stage(f"asking torch.{self.name} for devices")
        self.count = self._count()
        self.device = torch.device(self.name, 0)

    def _count(self):
        try:
            count = int(self.devices.device_count()) if hasattr(self.devices, "device_count") else 1
            there = self.devices.is_available() if hasattr(self.devices, "is_available") else count > 0
        except Exception as error:  # noqa: BLE001: code of the user
            raise Unavailable(f"torch.{self.name} cannot say how many devices there are: {words(error)}") from error
        if count < 1 or not there:
            raise Unavailable(f"torch.{self.name} sees no device (device_count() is {count}, is_available() is {bool(there)})")
        return count

    def synchronize(self):
        if hasattr(self.devices, "synchronize"):
            self.devices.synchronize()

    def _hook(self, name):
        return getattr(self.module, name, None) or getattr(self.devices, name, None)

    def clear_log(self):
        clear = self._hook("clear_op_tracking")
        if clear:
            clear()

    def take_log(self):
        """The backend's own lists, {"executed": {name: count or None}, ...}; None when it keeps none."""
        out = {}
        for key, hook in (("executed", "get_executed_ops"), ("fallback", "get_fallback_ops")):
            names = self._hook(hook)
            if names:
                found = names()
                counts = found if isinstance(found, dict) else dict.fromkeys(found)
                out[key] = {full_name(name): counts[name] for name in sorted(counts)}
        return out or None

    def facts(self):
        """What the handshake says of it."""
        return {
            "torch": self.torch.__version__,
            "python": sys.version.split()[0],
            "module": self.module_name,
            "module_version": version_of(self.module),
            "backend": self.name,
            "chip": self._chip(),
            "device_count": self.count,
            "fork_safe": bool(getattr(self.module, "fork_safe", False)),
            "simulated": bool(getattr(self.module, "simulated", False)),
            **component_versions(),
        }

    def _chip(self):
        for folder in sorted(pathlib.Path("/sys/devices/virtual/neuron_device").glob("neuron*/info/architecture")):
            for name in ("device_name", "arch_type"):
                if text := first_line(folder / name):
                    return text
        try:
            return str(self.devices.get_device_name(0))
        except Exception:  # noqa: BLE001: not every backend has it
            return "unknown"


def full_name(name):
    """Backends write "add", "aten::add" and "aten::add.Tensor"."""
    name = str(name)
    return name if "::" in name else "aten::" + name


def first_line(path):
    try:
        return pathlib.Path(path).read_text(errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


def version_of(module):
    try:
        top = module.__name__.split(".")[0]
        names = importlib.metadata.packages_distributions().get(top, [])
        return importlib.metadata.version(names[0]) if names else str(module.__version__)
    except Exception:  # noqa: BLE001: a module need not have one
        return "unknown"


def component_versions():
    """Compiler, runtime and driver where they can be found without starting anything."""
    try:
        compiler = "neuronx-cc " + importlib.metadata.version("neuronx-cc")
    except importlib.metadata.PackageNotFoundError:
        compiler = "unknown"
    libraries = [pathlib.Path(folder, "libnrt.so.1") for folder in ("/opt/aws/neuron/lib", "/usr/lib/x86_64-linux-gnu")]
    runtime = next((f"libnrt {path.resolve().name.partition('.so.')[2]}" for path in libraries if path.exists()), "unknown")
    driver = first_line("/sys/module/neuron/version")
    return {"compiler": compiler, "runtime": runtime, "driver": driver or "unknown"}
