#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tensor files of this folder, and expected.json: what numpy and torch find in each.

usage: make_tensors.py [FOLDER]    needs numpy 2, ml_dtypes, torch 2.13 and safetensors
"""
import io
import json
import pathlib
import shutil
import sys
import warnings
import zipfile

import ml_dtypes
import numpy as np
import safetensors.torch
import torch

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
NUMPY = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
         "complex64", "complex128"]
TORCH = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
         "float64", "complex64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
EXPECTED = {}


def bits(count, seed):
    """Bytes that are the same everywhere."""
    return np.array([(seed * 37 + i * 101) % 251 for i in range(count)], dtype=np.uint8)


def array(dtype, shape, seed=1):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    data = bits(count, seed)
    return (data % 2 if dtype == bool else data).view(dtype).reshape(shape)


def tensor(dtype, shape, seed=1):
    dtype = getattr(torch, dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    data = bits(count, seed)
    return torch.from_numpy(data % 2 if dtype == torch.bool else data).view(dtype).reshape(shape)


def facts(value, dtype=None):
    """dtype, sizes, strides in elements and the bytes as they lie in the file."""
    if isinstance(value, torch.Tensor):
        data = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
        return {"dtype": str(value.dtype).removeprefix("torch."), "sizes": list(value.shape), "strides": list(value.stride()),
                "bytes": data.hex()}
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    strides = [1] * value.ndim
    dims = range(value.ndim) if fortran else reversed(range(value.ndim))
    step = 1
    for dim in dims:
        strides[dim] = step
        step *= max(value.shape[dim], 1)
    return {"dtype": dtype or str(value.dtype), "sizes": list(value.shape), "strides": strides,
            "bytes": value.tobytes("F" if fortran else "C").hex()}


def npy(name, value, dtype=None, version=None, error=None, opaque=None):
    with warnings.catch_warnings(), open(FOLDER / name, "wb") as out:
        warnings.simplefilter("ignore")
        np.lib.format.write_array(out, value, version=version)
    entry = {"kind": "npy", "tensors": {} if error else {"array": facts(value, dtype)}}
    if error:
        entry["error"] = error
    if opaque:
        entry["opaque"] = opaque
    EXPECTED[name] = entry


def write_npy():
    npy("matrix.npy", array("float32", (3, 4)))
    npy("fortran.npy", np.asfortranarray(array("float64", (2, 3, 2))))
    npy("scalar.npy", array("int64", ()))
    npy("empty.npy", array("float16", (0, 5)))
    npy("version2.npy", array("uint16", (4,)), version=(2, 0))
    npy("version3.npy", array("complex128", (2,)), version=(3, 0))
    for dtype, opaque in (("bfloat16", "bfloat16"), ("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e5m2")):
        value = array("uint8", (4 * np.dtype(getattr(ml_dtypes, dtype)).itemsize,)).view(getattr(ml_dtypes, dtype))
        npy(f"ml_{dtype}.npy", value, dtype=dtype, opaque=opaque)
    npy("objects.npy", np.array([1, "two", None], dtype=object), error="never unpickled")
    npy("structured.npy", np.zeros(2, dtype=[("a", "<f4"), ("ü", "<i2")]), error="structured")
    npy("big_endian.npy", array("float32", (3,)).astype(">f4"), error="big-endian")
    npy("text.npy", np.array(["a", "bc"]), error="is text")
    npy("dates.npy", np.array(["2026-01-01"], dtype="datetime64[D]"), error="is a date")
    npy("longdouble.npy", np.zeros(1, dtype=np.longdouble), error="no counterpart in torch")
    two = io.BytesIO()
    np.save(two, array("float32", (2,)))
    np.save(two, array("float32", (2,)))
    (FOLDER / "two_arrays.npy").write_bytes(two.getvalue())
    EXPECTED["two_arrays.npy"] = {"kind": "npy", "tensors": {}, "error": "several arrays"}


def write_npz():
    every = {dtype: array(dtype, (2, 3), seed) for seed, dtype in enumerate(NUMPY)}
    every["folder/name ü"] = array("float32", (1, 1))
    np.savez(FOLDER / "numpy_dtypes.npz", **every)
    EXPECTED["numpy_dtypes.npz"] = {"kind": "npz", "tensors": {name: facts(value) for name, value in every.items()}}
    packed = {"zeros": np.zeros((8, 64), dtype="float32"), "columns": np.asfortranarray(array("int16", (4, 5))),
              "nothing": array("float32", (0,))}
    np.savez_compressed(FOLDER / "compressed.npz", **packed)
    EXPECTED["compressed.npz"] = {"kind": "npz", "tensors": {name: facts(value) for name, value in packed.items()}}
    with zipfile.ZipFile(FOLDER / "no_arrays.npz", "w") as out:
        out.writestr(zipfile.ZipInfo("readme.txt"), "no array")
    EXPECTED["no_arrays.npz"] = {"kind": "npz", "tensors": {}, "error": "record readme.txt: it is no array"}


def write_safetensors():
    every = {dtype: tensor(dtype, (2, 3), seed) for seed, dtype in enumerate(TORCH)}
    every["float4_e2m1fn_x2"] = tensor("uint8", (2, 3), 40).view(torch.float4_e2m1fn_x2)
    every["scalar"] = tensor("float32", ())
    every["empty"] = torch.zeros(4, 0)
    every['quoted "name"\n ü'] = tensor("float16", (1,))
    safetensors.torch.save_file(every, FOLDER / "torch_dtypes.safetensors", metadata={"format": "pt"})
    found = {name: facts(value) for name, value in every.items()}
    EXPECTED["torch_dtypes.safetensors"] = {"kind": "safetensors", "tensors": found, "metadata": {"format": "pt"}}

    folder = FOLDER / "shards"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shards = {"model-00001-of-00002.safetensors": {"a": tensor("float32", (2,), 1), "b": tensor("bfloat16", (3,), 2)},
              "model-00002-of-00002.safetensors": {"c": tensor("int64", (1, 2), 3)}}
    for name, tensors in shards.items():
        safetensors.torch.save_file(tensors, folder / name)
    weights = {tensor: name for name, tensors in shards.items() for tensor in tensors}
    index = {"metadata": {"total_size": 30}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    entry = {"kind": "shards", "tensors": {name: facts(value) for tensors in shards.values() for name, value in tensors.items()}}
    EXPECTED["shards"] = entry
    EXPECTED["shards/model.safetensors.index.json"] = entry


if __name__ == "__main__":
    write_npy()
    write_npz()
    write_safetensors()
    (FOLDER / "expected.json").write_text(json.dumps(EXPECTED, indent=1, ensure_ascii=False) + "\n")
