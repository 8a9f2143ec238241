#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpora of the fuzzers from exported models.

usage: make_seeds.py MODELS_FOLDER OUT_FOLDER    makes OUT_FOLDER/archive and OUT_FOLDER/graph
"""
import os
import sys
import zipfile

MAX_ARCHIVE = 48 << 10
MAX_JSON = 32 << 10


def main(models, out):
    for name in ("archive", "graph"):
        os.makedirs(os.path.join(out, name), exist_ok=True)
    count = {"archive": 0, "graph": 0}
    for file in sorted(os.listdir(models)):
        path = os.path.join(models, file)
        if not os.path.isfile(path) or file.endswith(".json"):
            continue
        if os.path.getsize(path) <= MAX_ARCHIVE:
            with open(path, "rb") as source, open(os.path.join(out, "archive", file), "wb") as seed:
                seed.write(source.read())
            count["archive"] += 1
        if not zipfile.is_zipfile(path):
            continue
        with zipfile.ZipFile(path) as archive:
            for record in archive.infolist():
                if record.filename.endswith(".json") and record.file_size <= MAX_JSON:
                    seed = file + "_" + record.filename.replace("/", "_")
                    with open(os.path.join(out, "graph", seed), "wb") as target:
                        target.write(archive.read(record))
                    count["graph"] += 1
    print(f"{count['archive']} archives, {count['graph']} graphs")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
