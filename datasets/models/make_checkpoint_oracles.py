#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FILE.tensors.oracle.json beside each checkpoint fixture: the tensors torch finds in it, and the names its pickle asks for.

usage: make_checkpoint_oracles.py [--dir FOLDER] [NAME...]

Loads with weights_only=True where torch allows it, and fixtures of our own whole; never give it a file of somebody else.
"""
import argparse
import json
import os
import pickletools
import sys
import tempfile
import zipfile

import maker  # first: it quiets torch
import torch

LEGACY = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."


def plain(word):
    return str(word).replace("torch.", "")


def entry(tensor):
    found = {"dtype": plain(tensor.dtype), "shape": list(tensor.shape), "device": tensor.device.type}
    if tensor.layout == torch.strided and not tensor.is_quantized and tensor.device.type != "meta":
        found.update(stride=list(tensor.stride()), offset=tensor.storage_offset())
    if tensor.layout != torch.strided:
        found["layout"] = plain(tensor.layout)
    if isinstance(tensor, torch.nn.Parameter):
        found["parameter"] = True
    return found


def named(value, path=""):
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from named(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from named(inner, f"{path}[{index}]")


def names_in(pickled):
    """every module.name of one pickle, and where it ends"""
    found, texts, end = set(), [], 0
    for opcode, argument, place in pickletools.genops(pickled):
        if opcode.name in ("GLOBAL", "INST"):
            found.add(argument.replace(" ", "."))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(texts[-2:]))
        elif isinstance(argument, str):
            texts.append(argument)
        end = place + 1
    return found, end


def globals_of(path):
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            (record,) = [n for n in archive.namelist() if n.endswith("/data.pkl")]
            return sorted(names_in(archive.read(record))[0])
    with open(path, "rb") as f:
        data = f.read()
    skipped = 0
    for _ in range(3 if data.startswith(LEGACY) else 0):  # the magic number, the protocol, the machine
        skipped += names_in(data[skipped:])[1]
    return sorted(names_in(data[skipped:])[0])


def oracle(path):
    if path.endswith(".safetensors"):
        from safetensors import safe_open

        with safe_open(path, "pt") as f:
            tensors = {key: {"dtype": plain(f.get_tensor(key).dtype), "shape": list(f.get_tensor(key).shape)} for key in f.keys()}
            return {"metadata": f.metadata(), "tensors": tensors}
    found = {"globals": globals_of(path)}
    try:
        value = torch.load(path, weights_only=True)
        found.update(weights_only_loadable=True, top=type(value).__name__)
    except Exception:  # a module: ours, so it may be loaded
        value = torch.load(path, weights_only=False)
        found.update(weights_only_loadable=False, top=f"{type(value).__module__}.{type(value).__qualname__}")
    if isinstance(value, torch.nn.Module):
        found["modules"] = {name: f"{type(m).__module__}.{type(m).__qualname__}" for name, m in value.named_modules()}
        value = value.state_dict()
    found["tensors"] = {name: entry(tensor) for name, tensor in named(value)}
    return found


def write(path):
    with open(path + ".tensors.oracle.json", "w") as f:
        json.dump(oracle(path), f, indent=1)
        f.write("\n")


DEFAULT = (
    "checkpoint.pt", "module_legacy.pt", "module_pickle.pt", "saved_forms.pt", "state_dict.pt", "state_dict_legacy.pt",
    "weights.safetensors",
)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default=maker.HERE)
    parser.add_argument("names", nargs="*", help="file names; nothing means every checkpoint of the fixtures")
    options = parser.parse_args()
    folder = os.path.abspath(options.dir)
    with tempfile.TemporaryDirectory() as scratch:
        maker.prepare_scratch(scratch)
        maker.load_source("plain_modules")
        bad = [n for n in options.names or DEFAULT if not maker.in_child(n, write, os.path.join(folder, n))]
        os.chdir(folder)
    sys.exit(f"failed: {' '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
