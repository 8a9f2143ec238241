# SPDX-License-Identifier: Apache-2.0
"""A small zip writer that can also write what a proper one refuses: lies about sizes, flags, names and directories.

An entry is written from a `Record`; every field of its headers can be overridden. `write` lays the records out in order,
with the central directory after them. Nothing here reads a zip.
"""
import dataclasses
import struct
import zlib

STORED, DEFLATED = 0, 8
MAX32 = 0xFFFFFFFF


@dataclasses.dataclass
class Record:
    name: str
    data: bytes = b""
    method: int = STORED
    zip64: bool = False  # sizes and offset in ZIP64 extra fields
    hole: int = 0  # bytes of zeros after `data` that are never written (STORED only)
    flags: int = 0  # 1 encrypted, 8 sizes in a data descriptor
    descriptor: bool = False  # local sizes are 0, the true ones follow the data
    unpacked: tuple = ()  # (crc, size) when `data` is already packed
    central: dict = dataclasses.field(default_factory=dict)  # overrides: crc, packed, size, offset, name, flags, method, made_by, external

    def packed(self):
        if self.method != DEFLATED or self.unpacked:
            return self.data
        worker = zlib.compressobj(9, zlib.DEFLATED, -15)
        return worker.compress(self.data) + worker.flush()


def _times(matrix, vector):
    total, i = 0, 0
    while vector:
        if vector & 1:
            total ^= matrix[i]
        vector >>= 1
        i += 1
    return total


def crc_with_zeros(crc, count):
    """CRC-32 of something with checksum `crc` after `count` zero bytes more, without touching them"""
    state = crc ^ MAX32
    step = [0xEDB88320] + [1 << i for i in range(31)]  # one zero bit
    for _ in range(3):
        step = [_times(step, column) for column in step]  # one zero byte
    while count:
        if count & 1:
            state = _times(step, state)
        step = [_times(step, column) for column in step]
        count >>= 1
    return state ^ MAX32


def _local(record, name, crc, packed, size):
    if record.descriptor:
        crc, packed, size = 0, 0, 0
    extra = b""
    if record.zip64:
        extra = struct.pack("<HHQQ", 1, 16, size, packed)
        packed = size = MAX32
    flags = record.flags | (8 if record.descriptor else 0)
    head = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, flags, record.method, 0, 0x21, crc, packed, size, len(name), len(extra))
    return head + name + extra


def _central(record, name, offset, crc, packed, size):
    lie = record.central
    name = lie.get("name", name)
    crc, packed, size = lie.get("crc", crc), lie.get("packed", packed), lie.get("size", size)
    offset, extra = lie.get("offset", offset), lie.get("extra", b"")
    if record.zip64 or max(packed, size, offset) > MAX32:
        extra += struct.pack("<HHQQQ", 1, 24, size, packed, offset)
        packed = size = offset = MAX32
    flags = lie.get("flags", record.flags | (8 if record.descriptor else 0))
    method = lie.get("method", record.method)
    head = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", lie.get("made_by", 45), 45, flags, method, 0, 0x21, crc, packed, size, len(name), len(extra), 0, 0, 0, lie.get("external", 0), offset)
    return head + name + extra


def _end(count, length, start, where, zip64, lie):
    count, length, start = lie.get("count", count), lie.get("length", length), lie.get("start", start)
    out = b""
    if zip64:
        record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, start)
        out = record + struct.pack("<4sIQI", b"PK\6\7", 0, lie.get("locator", where), 1)
    small = [min(v, limit) for v, limit in ((count, 0xFFFF), (count, 0xFFFF), (length, MAX32), (start, MAX32))]
    if zip64:
        small = [0xFFFF, 0xFFFF, MAX32, MAX32]
    comment = lie.get("comment", b"")
    return out + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, *small, len(comment)) + comment


def write(path, records, zip64=False, end=None):
    """writes the records; `end` overrides count, length, start, locator, comment of the end records, or is False for none"""
    entries, offset = [], 0
    with open(path, "wb") as f:
        for record in records:
            name = record.name.encode("utf-8", "surrogateescape")
            data = record.packed()
            crc = zlib.crc32(record.data)
            if record.hole:
                crc = crc_with_zeros(crc, record.hole)
            packed, size = len(data) + record.hole, len(record.data) + record.hole
            if record.unpacked:
                crc, size = record.unpacked
            body = _local(record, name, crc, packed, size) + data
            f.write(body)
            if record.hole:
                f.seek(record.hole, 1)
            if record.descriptor:
                f.write(struct.pack("<4sIII", b"PK\7\10", crc, packed, size))
            entries.append(_central(record, name, offset, crc, packed, size))
            offset += len(body) + record.hole + 16 * record.descriptor
        directory = b"".join(entries)
        f.write(directory)
        if end is not False:
            big = zip64 or offset > MAX32 or len(records) > 0xFFFE
            f.write(_end(len(records), len(directory), offset, offset + len(directory), big, end or {}))
