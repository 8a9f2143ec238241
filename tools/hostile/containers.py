# SPDX-License-Identifier: Apache-2.0
"""Archives that are not what they seem, and pickles and headers that ask for more memory or time than they have bytes."""
import random
import struct

import rawzip
from pickles import PROTO, text
from rawzip import DEFLATED, Record
from trick import Trick, plain, saved_zip

EMPTY = PROTO + b"}."
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n(("  # up to the storage's own tuple
LINK = 0o120777 << 16
UNIX = 3 << 8 | 45


def zip_with(*records, **options):
    """(path, canary) -> None: the records of a small torch.save zip, and these"""
    base = [Record("a/data.pkl", EMPTY), Record("a/version", b"3\n")]
    return lambda path, canary: rawzip.write(path, [*base, *records], **options)


def around(before=b"", behind=b""):
    def make(path, canary):
        saved_zip(EMPTY)(path, canary)
        path.write_bytes(before + path.read_bytes() + behind)

    return make


def inflating(name, pattern, count):
    """a record that is packed to a thousandth"""
    return Record(name, pattern * count, method=DEFLATED)


def overlapping(path, canary):
    body = [Record("a/data.pkl", EMPTY), Record("a/data/0", b"x" * 64), Record("a/data/1", b"x" * 64)]
    body[2].central = {"offset": 30 + len("a/data.pkl") + len(EMPTY)}
    rawzip.write(path, body)


ZIPS = [
    Trick("two zip entries over the same bytes", "overlap.pt", overlapping, (r"runs into the next record",)),
    Trick("a zip entry name with ../", "dotdot.pt", zip_with(Record("a/../../x", b"x")), (r"leaves its folder: 'a/\.\./\.\./x'",)),
    Trick("an absolute zip entry name", "absolute.pt", zip_with(Record("/etc/cron.d/x", b"x")), (r"is absolute: '/etc/cron\.d/x'",)),
    Trick("an absolute zip entry name", "drive.pt", zip_with(Record("C:x", b"x")), (r"is absolute: 'C:x'",)),
    Trick("a zip entry name with a backslash", "backslash.pt", zip_with(Record("a\\..\\x", b"x")), (r"holds a backslash",)),
    Trick("a zip entry name with a NUL byte", "nul.pt", zip_with(Record("a/data.pkl\0.txt", b"x")), (r"holds a NUL byte: 'a/data\.pkl\\x00\.txt'",)),
    Trick("a zip entry that is a symbolic link", "link.pt", zip_with(Record("a/data/0", b"/etc/passwd", central={"made_by": UNIX, "external": LINK})), (r"is a symbolic link: 'a/data/0'",)),
    Trick("an encrypted zip entry", "encrypted.pt", saved_zip(EMPTY, flags=1), (r"record a/data\.pkl: it is encrypted",)),
    Trick("local and central header that differ: name", "other_name.pt", saved_zip(EMPTY, central={"name": b"b/data.pkl"}), (r"b/data\.pkl.*another name|outside the folder",)),
    Trick("local and central header that differ: size", "other_size.pt", saved_zip(EMPTY, central={"size": 3, "packed": 3}), (r"a/data\.pkl: its local header has other sizes",)),
    Trick("local and central header that differ: method", "other_method.pt", saved_zip(EMPTY * 9, central={"method": 8}), (r"a/data\.pkl: its local header has another method",)),
    Trick("ZIP64 fields that lie: directory", "zip64_start.pt", zip_with(zip64=True, end={"start": 2**63}), (r"zip: the directory does not lie directly before its end record",)),
    Trick("ZIP64 fields that lie: number of entries", "zip64_count.pt", zip_with(zip64=True, end={"count": 2**60}), (r"zip: a directory of 1152921504606846976 entries",)),
    Trick("ZIP64 fields that lie: a record of 2^62 bytes", "zip64_size.pt", saved_zip(EMPTY, central={"size": 2**62, "packed": 2**62}, zip64=True), (r"runs into the next record",)),
    Trick("a second end record in the archive comment", "comment.pt", zip_with(end={"comment": b"PK\5\6" + bytes(18)}), (r"zip: the directory does not lie directly before|entries",)),
    Trick("bytes before the archive", "prepended.pt", around(before=b"#!/bin/sh\ntouch canary\n"), (r"NOT READ", r"no PyTorch file|unknown")),
    Trick("bytes behind the archive", "appended.pt", around(behind=b"PK and so on"), (r"end record, at byte \d+, belongs to a file of \d+ bytes but this one has \d+",)),
    Trick("a record that inflates a thousandfold", "bomb.pt", saved_zip(lambda c: PROTO + b"]" + b"N0" * 20_000_000 + b".", method=DEFLATED), (r"record a/data\.pkl: its \d+ bytes unpack to 40000004",)),
    Trick("a record that inflates to more than it claims", "more.pt", saved_zip(EMPTY * 999, method=DEFLATED, central={"size": 100}), (r"record a/data\.pkl: its local header has other sizes",)),
]


def repeated(pattern, count, end=b"."):
    return saved_zip(lambda c: PROTO + pattern * count + end, method=DEFLATED)


def laughs(width, depth):
    level = b"0(" + b"h\0" * width + b"lq\0"
    return PROTO + b"]q\0" + level * depth + b"."


def storage(cls=b"FloatStorage", key="0", count=b"K\6"):
    return text("storage") + b"ctorch\n" + cls + b"\n" + text(key) + text("cpu") + count + b"tQ"


def tensor(sizes, strides, offset=b"K\0", **of_storage):
    return TENSOR + storage(**of_storage) + offset + sizes + strides + b"\x89NtR"


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def wide_state(entries, visits):
    """an object whose attributes are a large dict, referred to from many places"""
    pairs = b"K\x01N" * entries
    return PROTO + b"cmodels\nNet\n)\x81}(" + pairs + b"ubq\x000(" + b"h\0" * visits + b"l."


def long_names(visits):
    """one tensor below a key of a million letters, from many places"""
    return PROTO + tensor(b"K\2\x85", b"K\1\x85") + b"q\x000}(" + text("k" * 1_000_000) + b"(" + b"h\0" * visits + b"lu."


def big_shapes(count):
    """a shape of 900,000 numbers, used by many tensors"""
    one = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\nh\0h\0\x89tR"
    return PROTO + b"(" + b"K\1" * 900_000 + b"tq\x000(" + one * count + b"l."


def sparse(start, size):
    """a file whose claims are met, by a hole"""

    def make(path, canary):
        with open(path, "wb") as f:
            f.write(start)
            f.truncate(size)

    return make


def values_without_end(path, canary):
    """twenty million bytes, packed to a ninetieth: a tenth of a percent of them does not pack"""
    noise = random.Random(0).randbytes(170_000).hex().encode()
    graph = b'{"noise": "' + noise + b'", "schema_version": [' + b"0," * 10_000_000 + b"0]}"
    rawzip.write(path, [Record("m/archive_format", b"pt2"), Record("m/archive_version", b"0"), Record("m/models/model.json", graph, method=DEFLATED)])


GLOBAL_NAME = text("m" * 4_000) + b"q\0" + text("n" * 4_000) + b"q\x01"
MUCH = r"takes more than \d+ MB, far more than its own bytes"
OFTEN = r"refers to its own objects too often to be a checkpoint"
BOMBS = [
    Trick("objects without end", "lists.pt", repeated(b"]0", 8_000_000, b"]."), (r"record data\.pkl: what the pickle builds " + MUCH,), most_mb=300),
    Trick("memo entries without end", "memo.pt", saved_zip(lambda c: PROTO + b"]" + b"\x94" * 8_000_000 + b".", method=DEFLATED), (r"record data\.pkl: what the pickle builds " + MUCH,), most_mb=300),
    Trick("references without end", "references.pt", saved_zip(lambda c: PROTO + b"]" + (b"(" + b"N" * 900_000 + b"e") * 16 + b".", method=DEFLATED), (r"no program",), most_mb=300),
    Trick("names without end", "names.pt", saved_zip(lambda c: PROTO + b"".join(b"cm\nf%d\n0" % i for i in range(900_000)) + b"N.", method=DEFLATED), (MUCH,), most_mb=300),
    Trick("a name of thousands of letters", "name.pt", saved_zip(PROTO + GLOBAL_NAME + b"\x93."), (r"a global's name has 8000 bytes",)),
    Trick("the billion laughs: lists of lists of the same list", "laughs.pt", saved_zip(laughs(10, 60)), (OFTEN,)),
    Trick("the billion laughs: lists of lists of the same list", "laughs_wide.pt", saved_zip(lambda c: PROTO + b"(" + b"]" * 900_000 + b"lq\x010(" + b"h\1" * 70 + b"l.", method=DEFLATED), (OFTEN,), most_mb=300),
    Trick("one tensor from a million places", "places.pt", saved_zip(lambda c: PROTO + b"(" + tensor(b"K\2\x85", b"K\1\x85") + b"q\0" + b"h\0" * 900_000 + b"l.", method=DEFLATED), (r"takes far more memory than its own bytes",), most_mb=300),
    Trick("a key of a million letters above many tensors", "keys.pt", saved_zip(lambda c: long_names(9000), method=DEFLATED), (r"9000 tensors",)),
    Trick("a tensor of 900,000 dimensions", "rank.pt", saved_zip(lambda c: big_shapes(300), method=DEFLATED), (r"a tensor has 900000 dimensions",), rule="NC113"),
    Trick("an object with a wide state from many places", "wide.pt", saved_zip(lambda c: wide_state(400_000, 500_000), method=DEFLATED), (OFTEN,)),
    Trick("nesting of 100,000: tuples, lists, marks", "tuples.pt", saved_zip(PROTO + b")" + b"\x85" * 100_000 + b"."), (r"is nested more than 200 deep",)),
    Trick("nesting of 100,000: tuples, lists, marks", "lists_deep.pt", saved_zip(PROTO + b"]" * 100_000 + b"a" * 99_999 + b"."), (r"is nested more than 200 deep",)),
    Trick("nesting of 100,000: tuples, lists, marks", "marks.pt", repeated(b"(", 2_000_000), (r"nests more than 1000000 objects",)),
    Trick("a list that holds itself", "itself.pt", saved_zip(PROTO + b"]q\0h\0a."), (r"is nested more than 200 deep",)),
    Trick("a length of 2^62 (BINUNICODE8)", "unicode8.pt", saved_zip(b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x."), (r"the opcode at offset 2 claims 4611686018427387904 bytes, and 2 are left",)),
    Trick("a length of 2^31, or below 0 (LONG4)", "long4.pt", saved_zip(PROTO + b"\x8b\xff\xff\xff\x7fx."), (r"the opcode at offset 2 claims 2147483647 bytes",)),
    Trick("a length of 2^31, or below 0 (LONG4)", "long4_negative.pt", saved_zip(PROTO + b"\x8b\xfb\xff\xff\xffx."), (r"the opcode at offset 2 claims 4294967291 bytes",)),
    Trick("a FRAME that is longer than the pickle", "frame.pt", saved_zip(b"\x80\x04\x95" + struct.pack("<Q", 2**63) + b"N."), (r"the opcode at offset 2 claims 9223372036854775808 bytes",)),
    Trick("a pickle in a file with a hole of gigabytes", "hole.pkl", sparse(b"\x80\x04\x8d" + struct.pack("<Q", 3 << 30), 4 << 30), (r"the pickle at byte 0 does not end within \d+ bytes",), most_mb=300),
    Trick("a pickle in a file with a hole of gigabytes", "hole.pt", sparse(b"".join((PROTO, b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", PROTO, b"M\xe9\x03.", PROTO, b"}.", PROTO, b"X\xff\xff\xff\x7f")), 4 << 30), (r"the pickle at byte \d+ does not end within",), most_mb=300),
    Trick("a pickle in a file with a hole of gigabytes", "hole.tar", sparse(b"storages".ljust(124, b"\0") + b"%011o\0" % (3 << 30) + bytes(121) + b"ustar" + bytes(250) + PROTO + b"X\xff\xff\xff\x7f", 512 + (3 << 30)), (r"the pickle at byte 512 does not end within",)),
    Trick("an archive graph that inflates to values without end", "values.pt2", values_without_end, (r"model\.json: its \d+ bytes of JSON with \d+ values would take \d+ MB",), most_mb=100),
]


HUGE = number(1 << 62)
def one_tensor(sizes, strides, *more, record=b"", **of_tensor):
    """a zip of one tensor; `record` is what its storage 0 has, b"" for none"""
    records = [Record("a/data/0", record)] if record else []
    return saved_zip(PROTO + tensor(sizes, strides, *more, **of_tensor) + b".", *records)


TENSORS = [
    Trick("a storage larger than its record", "record.pt", one_tensor(b"K\2\x85", b"K\1\x85", record=b"1234567"), (r"its storage claims 24 bytes, the file has 7",), rule="NC113"),
    Trick("a storage without a record", "absent.pt", one_tensor(b"K\2\x85", b"K\1\x85", key="../../etc/passwd"), (r"has no record for its storage '\.\./\.\./etc/passwd'",), rule="NC113"),
    Trick("a tensor larger than its storage", "larger.pt", one_tensor(b"K\7\x85", b"K\1\x85", record=bytes(24)), (r"its last element is number 6 of a storage of 6",), rule="NC113"),
    Trick("a negative stride, offset or size", "stride.pt", one_tensor(b"K\2\x85", number(-1) + b"\x85", b"K\1", record=bytes(24)), (r"beyond 64 bits or below 0",), rule="NC113"),
    Trick("a negative stride, offset or size", "offset.pt", one_tensor(b"K\2\x85", b"K\1\x85", number(-3), record=bytes(24)), (r"its storage offset is negative: -3",), rule="NC113"),
    Trick("a negative stride, offset or size", "size.pt", one_tensor(number(-2) + b"\x85", b"K\1\x85", record=bytes(24)), (r"its size 0 is negative: -2",), rule="NC113"),
    Trick("sizes whose product is beyond 64 bits", "product.pt", one_tensor(HUGE + HUGE + b"\x86", HUGE + b"K\1\x86", record=bytes(24)), (r"reach beyond 64 bits",), rule="NC113"),
    Trick("a storage of 2^62 elements", "elements.pt", one_tensor(b"K\2\x85", b"K\1\x85", count=HUGE, record=bytes(24)), (r"its storage claims 4611686018427387904 elements",), rule="NC113"),
    Trick("a storage of an unknown class", "class.pt", one_tensor(b"K\2\x85", b"K\1\x85", cls=b"EvilStorage"), (r"torch\.EvilStorage",), rule="NC114"),
]
TRICKS = [*ZIPS, *BOMBS, *TENSORS]
