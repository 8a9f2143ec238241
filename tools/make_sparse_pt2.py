#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a valid exported program with one huge weight, which takes no room on disk: the record is a hole.

usage: make_sparse_pt2.py OUT.pt2 [--gib 20]

The graph is that of datasets/models/native_mlp.pt2 with one parameter more that no node reads. Needs no torch. The file
system must know sparse files. The record's CRC is that of its zeros, so a reader that checks it finds it right, late.
"""
import argparse
import json
import os
import zipfile

import rawzip

BASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "datasets", "models", "native_mlp.pt2")
NAME = "hole.weight"


def tensor_meta(elements):
    return {
        "dtype": 7,
        "sizes": [{"as_int": elements}],
        "requires_grad": True,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def with_parameter(text, elements):
    program = json.loads(text)
    module = program["graph_module"]
    module["graph"]["inputs"].insert(0, {"as_tensor": {"name": "p_hole_weight"}})
    module["graph"]["tensor_values"]["p_hole_weight"] = tensor_meta(elements)
    spec = {"parameter": {"arg": {"name": "p_hole_weight"}, "parameter_name": NAME}}
    module["signature"]["input_specs"].insert(0, spec)
    return json.dumps(program).encode()


def with_payload(text, elements):
    config = json.loads(text)
    entry = {"path_name": "weight_hole", "is_param": True, "use_pickle": False, "tensor_meta": tensor_meta(elements)}
    config["config"][NAME] = entry
    return json.dumps(config).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--gib", type=float, default=20)
    options = parser.parse_args()
    elements = int(options.gib * 2**28)
    records = []
    with zipfile.ZipFile(BASE) as z:
        for info in z.infolist():
            inner, data = info.filename.split("/", 1)[1], z.read(info)
            if inner == "models/model.json":
                data = with_parameter(data, elements)
            elif inner == "data/weights/model_weights_config.json":
                records.append(rawzip.Record("sparse/data/weights/weight_hole", hole=elements * 4, zip64=True))
                data = with_payload(data, elements)
            records.append(rawzip.Record(f"sparse/{inner}", data))
    rawzip.write(options.out, records, zip64=True)
    size = os.stat(options.out)
    print(f"{options.out}: {size.st_size} bytes, {size.st_blocks * 512} on disk")


if __name__ == "__main__":
    main()
