#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes damaged and hostile files from a good exported program, always the same ones for the same seed.

usage: mutate.py FILE.pt2 --out FOLDER [--seed 0] [--list] [NAME...]

Three families: changes of the bytes, of the zip records, and of the graph's JSON. Each mutation says which exit codes are
right for it and which words an error about it must hold; check_hostile.py runs the program on all of them.
"""
import argparse
import dataclasses
import json
import os
import random
import re
import struct
import sys
import zipfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import rawzip


@dataclasses.dataclass
class Mutation:
    name: str
    make: object  # (Sample, Random) -> bytes, or a list of rawzip.Record, or (list, options of rawzip.write)
    exits: tuple  # exit codes that are right
    says: str  # regular expression for the error text when the exit code is 2
    noted: bool = False  # when the file is read all the same, the notes of the inventory must match `says`


@dataclasses.dataclass
class Sample:
    """a good file, taken apart"""

    data: bytes
    parts: dict  # record name -> bytes
    graph: str  # name of the record with the graph

    @classmethod
    def read(cls, path):
        with open(path, "rb") as f:
            data = f.read()
        with zipfile.ZipFile(path) as z:
            parts = {i.filename: z.read(i) for i in z.infolist()}
        graph = next(n for n in parts if re.search(r"(^|/)models/[^/]+\.json$|^serialized_exported_program\.json$", n))
        return cls(data, parts, graph)

    def records(self, **of_graph):
        """the records as they are, the graph's with these fields of rawzip.Record changed"""
        return [rawzip.Record(n, d, **(of_graph if n == self.graph else {})) for n, d in self.parts.items()]

    def with_graph(self, text):
        return [rawzip.Record(n, text if n == self.graph else d) for n, d in self.parts.items()]

    def program(self):
        return json.loads(self.parts[self.graph])

    def directory(self):
        """(start, end) of the central directory, from the end record"""
        end = self.data.rindex(b"PK\5\6")
        size, start = struct.unpack_from("<II", self.data, end + 12)
        if start == rawzip.MAX32:  # the true ones are in the ZIP64 end record
            size, start = struct.unpack_from("<QQ", self.data, self.data.rindex(b"PK\6\6") + 40)
        return start, start + size


def all_mutations():
    import mutate_json
    import mutate_zip

    return [*mutate_zip.MUTATIONS, *mutate_json.MUTATIONS]


def write(sample, mutation, path, seed):
    made = mutation.make(sample, random.Random(f"{mutation.name}/{seed}"))
    if isinstance(made, bytes):
        with open(path, "wb") as f:
            f.write(made)
        return
    records, options = made if isinstance(made, tuple) else (made, {})
    rawzip.write(path, records, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default=".")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--list", action="store_true", help="only list the mutations")
    options = parser.parse_intermixed_args()
    chosen = [m for m in all_mutations() if not options.names or m.name in options.names]
    if options.list:
        for mutation in chosen:
            print(f"{mutation.name:28} exits {mutation.exits}")
        return
    sample = Sample.read(options.file)
    stem = os.path.splitext(os.path.basename(options.file))[0]
    os.makedirs(options.out, exist_ok=True)
    for mutation in chosen:
        write(sample, mutation, os.path.join(options.out, f"{stem}.{mutation.name}.pt2"), options.seed)


if __name__ == "__main__":
    main()
