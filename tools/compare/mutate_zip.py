# SPDX-License-Identifier: Apache-2.0
"""Mutations of the bytes and of the zip container."""
import struct
import zlib

import rawzip
from mutate import Mutation
from rawzip import Record

BAD = (2,)
EITHER = (0, 2)
RANGE = r"size|beyond|outside|past|large|range|length|offset|header|overlap|runs into"
ANY_WORD = r"\w"
CUT = r"empty|end record|central directory|truncat|cut|damaged|corrupt|unknown|no zip|not a zip|kind"


def truncate(sixteenths):
    return lambda sample, rng: sample.data[: len(sample.data) * sixteenths // 16]


def flip_directory(sample, rng):
    """one to four bits of the central directory"""
    data, (start, end) = bytearray(sample.data), sample.directory()
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(start, end)] ^= 1 << rng.randrange(8)
    return bytes(data)


def flip_anywhere(sample, rng):
    data = bytearray(sample.data)
    for _ in range(rng.randint(1, 16)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def zeroed(sample, rng):
    data = bytearray(sample.data)
    start = rng.randrange(len(data) // 2)
    data[start : start + len(data) // 4] = bytes(len(data) // 4)
    return bytes(data)


def lie(**central):
    """the graph's entry in the central directory says something else than its local header"""
    return lambda sample, rng: sample.records(central=central)


def both_huge(sample, rng):
    """local and central header agree on a size that the file has not"""
    records = sample.records()
    for record in records:
        if record.name == sample.graph:
            record.central = {"size": 2**40, "packed": 2**40}
            record.zip64 = True
    return records


def end_lie(**end):
    return lambda sample, rng: (sample.records(), {"end": end})


def zip64_lie(**end):
    return lambda sample, rng: (sample.records(zip64=True), {"zip64": True, "end": end})


def duplicate(sample, rng):
    return sample.records() + [Record(sample.graph, sample.parts[sample.graph])]


def added(name, data=b"x"):
    return lambda sample, rng: sample.records() + [Record(name, data)]


def overlap(sample, rng):
    """every entry points at the same bytes"""
    records = sample.records()
    for record in records[1:]:
        record.central = {"offset": 0}
    return records


def bomb(sample, rng):
    """a graph that unpacks to 600 MB of blanks, with honest sizes and checksum"""
    packer, block, crc, data = zlib.compressobj(9, zlib.DEFLATED, -15), b" " * 2**20, 0, b""
    for _ in range(600):
        data += packer.compress(block)
        crc = zlib.crc32(block, crc)
    data += packer.flush()
    record = Record(sample.graph, data, method=rawzip.DEFLATED, unpacked=(crc, 600 * 2**20))
    return [record if n == sample.graph else Record(n, d) for n, d in sample.parts.items()]


def many_entries(sample, rng):
    return sample.records() + [Record(f"x/{i}") for i in range(70000)]


def bad_extra(sample, rng):
    """an extra block whose length runs past its end"""
    return sample.records(central={"extra": struct.pack("<HH", 1, 60000)})


def self_locator(sample, rng):
    """the ZIP64 locator points at the end of the file"""
    return sample.records(zip64=True), {"zip64": True, "end": {"locator": len(sample.data) * 2}}


def prepended(sample, rng):
    return b"#!/bin/sh\nexit 0\n" + sample.data


def appended(sample, rng):
    return sample.data + bytes(rng.randrange(256) for _ in range(3000))


MUTATIONS = [Mutation(f"truncate_{i:02}", truncate(i), BAD, CUT) for i in range(16)]
MUTATIONS += [Mutation(f"flip_directory_{i}", flip_directory, EITHER, ANY_WORD) for i in range(8)]
MUTATIONS += [Mutation(f"flip_anywhere_{i}", flip_anywhere, EITHER, ANY_WORD) for i in range(8)]
MUTATIONS += [
    Mutation("zeroed", zeroed, EITHER, ANY_WORD),
    Mutation("no_end_record", lambda s, rng: (s.records(), {"end": False}), BAD, CUT),
    Mutation("claims_4_gib", lie(size=2**32 - 2, packed=2**32 - 2), BAD, RANGE),
    Mutation("claims_1_tib", both_huge, BAD, RANGE),
    Mutation("packed_less", lie(packed=16), BAD, r"size|length|agree|differ|mismatch"),
    Mutation("wrong_crc", lie(crc=0x12345678), EITHER, r"crc|checksum", noted=True),
    Mutation("method_99", lie(method=99), BAD, r"method|compress"),
    Mutation("encrypted", lambda s, rng: s.records(flags=1), BAD, r"encrypt"),
    Mutation("descriptor", lambda s, rng: s.records(descriptor=True), EITHER, r"descriptor|header|size"),
    Mutation("offset_past_end", lie(offset=2**31), BAD, RANGE),
    Mutation("offset_elsewhere", lie(offset=7), BAD, RANGE),
    Mutation("other_local_name", lambda s, rng: s.records(central={"name": s.graph.replace("model", "other").encode()}), EITHER, r"name|header|model"),
    Mutation("bad_extra", bad_extra, BAD, r"extra|zip64"),
    Mutation("duplicate", duplicate, EITHER, r"twice|duplicate|2 records", noted=True),
    Mutation("dotdot_name", added("../../evil.json"), EITHER, r"\.\./|name|outside", noted=True),
    Mutation("absolute_name", added("/etc/evil"), EITHER, r"/etc/evil|name|outside"),
    Mutation("empty_name", added(""), EITHER, r"name|empty"),
    Mutation("nul_in_name", added("a\0b"), EITHER, r"name"),
    Mutation("bad_utf8_name", added("a\udcff\udcfe"), EITHER, r"name|utf"),
    Mutation("long_name", added("n" * 65000), EITHER, r"name|long"),
    Mutation("overlap", overlap, BAD, RANGE),
    Mutation("bomb", bomb, BAD, r"size|large|limit|ratio|inflate|unpack|crc|empty|json"),
    Mutation("many_entries", many_entries, EITHER, r"entr|record|many|root"),
    Mutation("count_huge", end_lie(count=60000), BAD, r"entr|count|directory"),
    Mutation("count_small", end_lie(count=1), BAD, r"entr|count|directory|model"),
    Mutation("directory_past_end", end_lie(start=2**31), BAD, r"directory|offset|beyond|outside|past"),
    Mutation("directory_too_long", end_lie(length=2**31), BAD, r"directory|beyond|outside|size|past"),
    Mutation("zip64_locator_far", self_locator, BAD, r"zip64|locator|end record|directory"),
    Mutation("zip64_count_huge", zip64_lie(count=2**50), BAD, r"entr|count|directory"),
    Mutation("zip64_start_huge", zip64_lie(start=2**63), BAD, r"directory|offset|beyond|outside|past"),
    Mutation("comment_with_end", end_lie(comment=b"PK\5\6" + bytes(18) + b"tail"), EITHER, ANY_WORD),
    Mutation("prepended", prepended, EITHER, ANY_WORD),
    Mutation("appended", appended, EITHER, CUT),
]
