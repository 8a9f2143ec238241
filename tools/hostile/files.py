# SPDX-License-Identifier: Apache-2.0
"""Hostile safetensors headers, folders with links, and paths that are no files."""
import json
import os
import struct

from pickles import PROTO, system
from trick import MODELS, Trick, plain


def header(text, data=b"", length=None):
    raw = text.encode() if isinstance(text, str) else text
    return plain(struct.pack("<Q", len(raw) if length is None else length) + raw + data)


def entry(begin, end, shape="[2]", name="a", dtype="F32"):
    return f'"{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}'


def tensors(*entries, data=b"", **options):
    return header("{" + ",".join(entries) + "}", data, **options)


SAFE = "safetensors: {}"
SAFETENSORS = [
    Trick(SAFE.format("overlapping data"), "overlap.safetensors", tensors(entry(0, 8), entry(4, 12, name="b"), data=bytes(12)), (r"'b' \(its data starts at byte 4, within that of another\)",), rule="NC113"),
    Trick(SAFE.format("bytes that are of no tensor"), "before.safetensors", tensors(entry(8, 16), data=bytes(16)), (r"'a' \(8 bytes before its data are of no tensor\)",), rule="NC113"),
    Trick(SAFE.format("bytes that are of no tensor"), "after.safetensors", tensors(entry(0, 8), data=bytes(16)), (r"'a' \(8 bytes behind its data are of no tensor\)",), rule="NC113"),
    Trick(SAFE.format("data beyond the file"), "beyond.safetensors", tensors(entry(0, 8), data=bytes(4)), (r"'a' \(its data ends at byte 8, the file holds 4\)",), rule="NC113"),
    Trick(SAFE.format("offsets that go back"), "back.safetensors", tensors(entry(8, 0), data=bytes(8)), (r"data_offsets are no two ascending numbers",), rule="NC113"),
    Trick(SAFE.format("two tensors of one name"), "twice.safetensors", tensors(entry(0, 8), entry(0, 4, shape="[1]"), data=bytes(8)), (r"'a' \(its name occurs twice\)",), rule="NC113"),
    Trick(SAFE.format("one field twice"), "field.safetensors", header('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"shape":[1]}}', bytes(8)), (r"tensor 'a': field 'shape' of the entry occurs twice",)),
    Trick(SAFE.format("sizes whose product is beyond 64 bits"), "product.safetensors", tensors(entry(0, 0, shape="[4294967296,4294967296]")), (r"its shape needs more than 2\^63 bytes",), rule="NC113"),
    Trick(SAFE.format("a negative size"), "negative.safetensors", tensors(entry(0, 8, shape="[-2]"), data=bytes(8)), (r"a size is negative: -2",)),
    Trick(SAFE.format("thousands of dimensions"), "rank.safetensors", tensors(entry(0, 4, shape="[" + "1," * 9999 + "1]"), data=bytes(4)), (r"more than 1024 dimensions",)),
    Trick(SAFE.format("a header longer than the file"), "length.safetensors", header("{}", length=5000), (r"the header claims 5000 bytes of a file of 10",)),
    Trick(SAFE.format("a header of 2^63 bytes"), "huge.safetensors", header("{}", length=2**63), (r"the header claims 9223372036854775808 bytes of a file of 10",)),
    Trick(SAFE.format("a header of values without end"), "values.safetensors", lambda p, c: header('{"a":[' + "0," * 20_000_000 + "0]}")(p, c), (r"its 40000009 bytes of JSON with 20000003 values would take \d+ MB",), most_mb=100),
    Trick(SAFE.format("nesting of 100,000"), "deep.safetensors", header('{"a":' + "[" * 100_000 + "]" * 100_000 + "}"), (r"nested too deeply",)),
    Trick(SAFE.format("a name with control characters"), "escape.safetensors", tensors(entry(0, 8, name="\\u001b[31mred"), data=bytes(4)), (r"\\x1b\[31mred",), rule="NC113"),
]


def folder(files, links=(), sub=None):
    """(path, canary) -> None: a Hugging Face folder; links are (name, target), {out} is beside the folder"""

    def make(path, canary):
        out = path.parent / "outside"
        os.makedirs(out, exist_ok=True)
        (out / "secret.json").write_text('{"token": "hunter2"}')
        (out / "model.safetensors").write_bytes((MODELS / "hf_folder/model.safetensors").read_bytes())
        where = path / sub if sub else path
        os.makedirs(where)
        for name, data in files.items():
            raw = data(canary) if callable(data) else data
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_bytes(raw if isinstance(raw, bytes) else json.dumps(raw).encode())
        for name, target in links:
            os.symlink(target.format(out=out), where / name)

    return make


CONFIG = {"config.json": {"architectures": ["X"], "hidden_size": 4}}
GOOD = {"model.safetensors": (MODELS / "hf_folder/model.safetensors").read_bytes()}


def index(*shards):
    return {"model.safetensors.index.json": {"weight_map": {f"w{i}": shard for i, shard in enumerate(shards)}}}


HF = "Hugging Face folder: {}"
OUTSIDE = r"is a link to a file outside the folder"
FOLDERS = [
    Trick(HF.format("an index that names files outside"), "outside1", folder(CONFIG | index("../outside/model.safetensors")), (r"the index names a file outside the folder",), rule="NC113"),
    Trick(HF.format("an index that names files outside"), "outside2", folder(CONFIG | index("/etc/passwd")), (r"'/etc/passwd': the index names a file outside the folder",), rule="NC113"),
    Trick(HF.format("an index that names files outside"), "outside3", folder(CONFIG | index("..", ".")), (r"the index names a file outside the folder",), rule="NC113"),
    Trick(HF.format("an index that names a folder or itself"), "itself", folder(CONFIG | index("model.safetensors.index.json", "sub.safetensors") | {"sub.safetensors/x": b""}), (r"'model\.safetensors\.index\.json': ", r"'sub\.safetensors': is not a regular file"), rule="NC113"),
    Trick(HF.format("an index that names what is not there"), "absent", folder(CONFIG | index("none.safetensors")), (r"'none\.safetensors': cannot be opened",), rule="NC113"),
    Trick(HF.format("weights that are a link to a file outside"), "link1", folder(CONFIG, [("model.safetensors", "{out}/model.safetensors")]), (r"'model\.safetensors' " + OUTSIDE,), rule="NC113"),
    Trick(HF.format("weights that are a link to a file outside"), "link2", folder(CONFIG | index("a.safetensors"), [("a.safetensors", "/etc/passwd")]), (r"'a\.safetensors' " + OUTSIDE,), rule="NC113"),
    Trick(HF.format("a configuration that is a link to a file outside"), "config", folder(GOOD, [("config.json", "{out}/secret.json")]), (r"config\.json: 'config\.json' " + OUTSIDE,)),
    Trick(HF.format("a link to itself"), "loop1", folder(CONFIG, [("model.safetensors", "model.safetensors")]), (r"'model\.safetensors' is a link that leads nowhere: Too many levels",), rule="NC113"),
    Trick(HF.format("a link to itself"), "loop2", folder(GOOD, [("config.json", "config.json")]), (r"'config\.json' is a link that leads nowhere",)),
    Trick(HF.format("a link to its own folder"), "loop3", folder(CONFIG, [("model.safetensors", ".")]), (r"'model\.safetensors' " + OUTSIDE + "|is not a regular file",), rule="NC113"),
    Trick(HF.format("weights that no index names"), "unnamed", folder(CONFIG | {"part-7.safetensors": b"\xff" * 9}), (r"\(part-7\.safetensors\)",), rule="NC113"),
    Trick(HF.format("pickled weights that run commands"), "pickled", folder(CONFIG | {"pytorch_model.bin": lambda c: PROTO + system(c) + b"."}), (r"asks for os\.system", r"loading it would run that"), rule="NC112"),
    Trick(HF.format("links as a cache keeps them are read"), "cache/snapshots/abc", lambda p, c: cache(p.parents[1], c), (r"Tensors: 1 float32, 1 bfloat16",)),
]


def cache(path, canary):
    folder(CONFIG, [("model.safetensors", "../../blobs/0123")], sub="snapshots/abc")(path, canary)
    (path / "blobs").mkdir()
    (path / "blobs/0123").write_bytes(GOOD["model.safetensors"])


def linked(target):
    return lambda path, canary: os.symlink(target, path)


PATHS = [
    Trick("a pipe that nobody writes to, as the input", "pipe.pt2", lambda p, c: os.mkfifo(p), (r"is not a regular file",)),
    Trick("a device as the input", "device.pt2", linked("/dev/zero"), (r"is not a regular file",)),
    Trick("an empty folder as the input", "folder.pt2", lambda p, c: os.mkdir(p), (r"folder of 0 entries",)),
    Trick("a link to itself as the input", "loop.pt2", linked("loop.pt2"), (r"cannot be opened: Too many levels of symbolic links",)),
    Trick("a link that leads nowhere as the input", "nowhere.pt2", linked("absent"), (r"cannot be opened: No such file",)),
    Trick("a file of the kernel as the input", "kernel.pt2", linked("/proc/self/status"), (r"empty file",)),
]
TRICKS = [*SAFETENSORS, *FOLDERS, *PATHS]
