#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpora of the fuzzers from exported models.

usage: make_seeds.py MODELS_FOLDER OUT_FOLDER    makes OUT_FOLDER/archive, /checkpoint, /graph and /script
"""
import os
import shutil
import sys
import zipfile

MAX_ARCHIVE = 48 << 10
MAX_JSON = 32 << 10
INVENTORY = (
    '{"path":"m.pt","kind":"torchscript","size":0,"layout":null,"producer":null,"notes":[],"compiled_models":[],"methods":'
    '{"forward":{"ops":[{"target":"aten::relu","group":"compute","count":1,"nodes":[{"name":"x","id":0,"inputs":[{"arg":"self",'
    '"name":"a","dtype":"float32","shape":[2],"strides":[1],"device":"","layout":"strided"}],"attrs":{},"defaults":{},"outputs":'
    '[null],"source":"m.py:3","last_frame":null,"module":"","module_type":"","graph":"","conditional":false,"in_loop":false,'
    '"unused":false,"in_catalogue":true}]}],"custom_ops":[],"higher_order_ops":{},"higher_order_nodes":[],"scalar_ops":{},'
    '"subgraphs":[],"inputs":[],"outputs":[],"dynamic_dims":[],"range_constraints":{},"guards":[],"parameters":{},"buffers":{},'
    '"constants":[],"stored":[],"producer":{"torch_version":"","schema_version":{"major":0,"minor":0},"verifiers":[],'
    '"opset_version":{},"made_on":[]},"dialect":"torchscript","shapes":"unknown","approximate":false,"interpreter_ops":{},'
    '"prim":{},"nodes":1,"json_bytes":0,"notes":[]}}}'
)


def main(models, out):
    for name in ("archive", "checkpoint", "graph", "script"):
        os.makedirs(os.path.join(out, name), exist_ok=True)
    count = {"archive": 0, "checkpoint": 0, "graph": 0, "script": 0}
    for file in sorted(os.listdir(models)):
        path = os.path.join(models, file)
        if not os.path.isfile(path) or file.endswith(".json"):
            continue
        if os.path.getsize(path) <= MAX_ARCHIVE:
            with open(path, "rb") as source, open(os.path.join(out, "archive", file), "wb") as seed:
                seed.write(source.read())
            count["archive"] += 1
        if not zipfile.is_zipfile(path):
            if file.endswith((".pt", ".pkl", ".safetensors")):
                shutil.copyfile(path, os.path.join(out, "checkpoint", file))
                count["checkpoint"] += 1
            continue
        with zipfile.ZipFile(path) as archive:
            for record in archive.infolist():
                if record.filename.endswith("data.pkl") and record.file_size <= MAX_JSON:
                    with open(os.path.join(out, "checkpoint", file + ".pkl"), "wb") as target:
                        target.write(archive.read(record))
                    count["checkpoint"] += 1
                if "/code/" in record.filename and record.filename.endswith(".py") and record.file_size <= MAX_JSON:
                    seed = file + "_" + record.filename.replace("/", "_")
                    with open(os.path.join(out, "script", seed), "wb") as target:
                        target.write(archive.read(record))
                    count["script"] += 1
                if record.filename.endswith(".json") and record.file_size <= MAX_JSON:
                    seed = file + "_" + record.filename.replace("/", "_")
                    with open(os.path.join(out, "graph", seed), "wb") as target:
                        target.write(archive.read(record))
                    count["graph"] += 1
    # An inventory as a worker writes one, by the parts the reader insists on.
    with open(os.path.join(out, "script", "inventory.json"), "w", encoding="utf-8") as seed:
        seed.write(INVENTORY)
    count["script"] += 1
    print(", ".join(f"{number} of {name}" for name, number in count.items()))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
