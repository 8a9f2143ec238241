#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpora of the fuzzers from exported models.

usage: make_seeds.py MODELS_FOLDER OUT_FOLDER    makes OUT_FOLDER/archive, /checkpoint and /graph
"""
import os
import shutil
import sys
import zipfile

MAX_ARCHIVE = 48 << 10
MAX_JSON = 32 << 10


def main(models, out):
    for name in ("archive", "checkpoint", "graph"):
        os.makedirs(os.path.join(out, name), exist_ok=True)
    count = {"archive": 0, "checkpoint": 0, "graph": 0}
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
                if record.filename.endswith(".json") and record.file_size <= MAX_JSON:
                    seed = file + "_" + record.filename.replace("/", "_")
                    with open(os.path.join(out, "graph", seed), "wb") as target:
                        target.write(archive.read(record))
                    count["graph"] += 1
    print(", ".join(f"{number} of {name}" for name, number in count.items()))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
