#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages files of any kind byte by byte and checks that neuron-check answers well.

usage: check_damaged.py FILE... [--program ./neuron-check] [--seed 0] [--flips 40] [--max-seconds 60] [--max-rss-mb 300]

Each FILE is cut at every sixteenth, and gets single bits flipped, numbers in its directory made huge, and record names made to leave the folder.
`neuron-check` must end by itself with exit code 0, 1, 2 or 5, in time and memory, say a reason where the code is 2, and leave
nothing behind in its working folder. Exit code 0 when all is well, else 1.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_hostile

RIGHT_CODES = (0, 1, 2, 5)


def variants(data, seed, flips):
    """(name, bytes)"""
    for part in range(16):
        yield f"cut-{part}-16", data[: len(data) * part // 16]
    pick = random.Random(seed)
    for index in range(flips):
        # Half of the flips near the end, where a zip has its directory.
        low = 0 if index % 2 else max(0, len(data) - 2000)
        place = pick.randrange(low, len(data))
        changed = bytearray(data)
        changed[place] ^= 1 << pick.randrange(8)
        yield f"flip-{place}", bytes(changed)
    directory = data.find(b"PK\x01\x02")
    if directory >= 0:
        for name, offset in (("compressed", 20), ("size", 24), ("name-length", 28), ("header", 42)):
            changed = bytearray(data)
            changed[directory + offset : directory + offset + 2] = b"\xff\xff"
            yield f"huge-{name}", bytes(changed)
        for old, new in ((b"/code/__torch__", b"/../../../../x1"), (b"/data.pkl", b"/../pkl\0x")):
            if old in data:
                yield f"name-{new[:6]!r}", data.replace(old, new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--program", default="./neuron-check")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--flips", type=int, default=40)
    parser.add_argument("--max-seconds", type=float, default=60)
    parser.add_argument("--max-rss-mb", type=float, default=300)
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    runs = bad = 0
    for file in options.files:
        for name, data in variants(file.read_bytes(), options.seed, options.flips):
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as work:
                path = pathlib.Path(folder, "damaged" + file.suffix)
                path.write_bytes(data)
                code, out, err, seconds, memory = check_hostile.limited_run(
                    [program, str(path), "--format", "json"], work, options.max_seconds
                )
                left = [p.name for p in pathlib.Path(work).iterdir() if p.name not in ("stdout", "stderr")]
            problems = [f"exit code {code}"] if code not in RIGHT_CODES else []
            problems += [f"{seconds:.1f} s"] if seconds > options.max_seconds else []
            problems += [f"{memory:.0f} MB"] if memory > options.max_rss_mb else []
            problems += [f"left {left}"] if left else []
            problems += ["no reason"] if code == 2 and not (err.strip() or b'"error"' in out) else []
            runs, bad = runs + 1, bad + bool(problems)
            if problems:
                print(f"{file.name} {name}: {', '.join(problems)}: {err[-200:]!r}")
    print(f"{runs} damaged files, {bad} answered badly")
    return 2 if not runs else int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
