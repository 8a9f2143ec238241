# SPDX-License-Identifier: Apache-2.0
"""Pickles that run something when they are loaded, by every opcode that can, in every place where a pickle may lie."""
import io
import struct
import tarfile

import rawzip
from rawzip import Record
from trick import MODELS, Trick, plain, saved_zip

PROTO = b"\x80\x02"
LEGACY_MAGIC = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."


def text(words):
    data = words.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def short(words):
    return b"\x8c" + bytes([len(words)]) + words.encode()


def one(words):
    """a tuple of one text"""
    return text(words) + b"\x85"


def system(canary):
    return b"cos\nsystem\n" + one(canary.command) + b"R"


def python(canary):
    return f"__import__('os').system('{canary.command}')"


def connects(canary):
    """socket.create_connection(("127.0.0.1", port))"""
    return b"csocket\ncreate_connection\n" + text("127.0.0.1") + b"M" + struct.pack("<H", canary.port) + b"\x86\x85R"


def mapped(canary, new):
    """tuple(map(os.system, [command])), both made by `new`"""
    return b"cbuiltins\ntuple\ncbuiltins\nmap\ncos\nsystem\n]" + text(canary.command) + b"a\x86" + new + b"\x85" + new


# How a pickle calls something, as (opcode, what it names, its bytes without STOP).
CALLS = [
    ("REDUCE of a GLOBAL", "os.system", system),
    ("REDUCE of a STACK_GLOBAL", "os.system", lambda c: b"\x80\x04" + short("os") + short("system") + b"\x93" + one(c.command) + b"R"),
    ("STACK_GLOBAL from the memo", "os.system", lambda c: short("os") + b"q\x000" + short("system") + b"q\x010h\x00h\x01\x93" + one(c.command) + b"R"),
    ("INST", "os.system", lambda c: b"(" + text(c.command) + b"ios\nsystem\n"),
    ("OBJ", "os.system", lambda c: b"(cos\nsystem\n" + text(c.command) + b"o"),
    ("NEWOBJ", "os.system", lambda c: mapped(c, b"\x81")),
    ("NEWOBJ_EX", "os.system", lambda c: mapped(c, b"}\x92")),
    ("builtins.eval", "builtins.eval", lambda c: b"cbuiltins\neval\n" + one(python(c)) + b"R"),
    ("eval as Python 2 names it", "__builtin__.eval", lambda c: b"c__builtin__\neval\n(S\"" + python(c).encode() + b"\"\ntR"),
    ("getattr of a module", "builtins.getattr", lambda c: b"cbuiltins\ngetattr\ncbuiltins\n__import__\n" + one("os") + b"R" + text("system") + b"\x86R" + one(c.command) + b"R"),
    ("an argument of a harmless call", "os.system", lambda c: b"ccollections\nOrderedDict\n]" + system(c) + b"0\x85R"),
    ("a key of a dict", "os.system", lambda c: b"}" + system(c) + b"Ns"),
    ("an object that is thrown away", "os.system", lambda c: system(c) + b"0]"),
    ("a connection", "socket.create_connection", connects),
]


def legacy(place, call, canary):
    """the stream of torch.save before 1.6, with the call in one of its five pickles"""
    parts = [PROTO + LEGACY_MAGIC, PROTO + b"M\xe9\x03.", PROTO + b"}.", PROTO + b"}.", PROTO + b"]."]
    if place > 0:
        parts[place] = PROTO + call(canary) + b"0" + parts[place][2:]
    return b"".join(parts)


def tar(place, call, *more):
    """the tar of torch.save before 0.1.10, with the call in one of its members; `more` members behind"""

    def make(path, canary):
        members = {"sys_info": PROTO + b"}.", "pickle": PROTO + b"}.", "storages": PROTO + b"K\0.", "tensors": PROTO + b"K\0."}
        if place:
            members[place] = PROTO + call(canary) + b"0" + members[place][2:]
        with tarfile.open(path, "w:", format=tarfile.USTAR_FORMAT) as out:
            for name, data in [*members.items(), *((n, d(canary)) for n, d in more)]:
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                out.addfile(entry, io.BytesIO(data))

    return make


def edited(fixture, change):
    """a fixture with records replaced or added: change(canary) -> {ending of the name: bytes}"""

    def make(path, canary):
        import zipfile

        wanted = change(canary)
        with zipfile.ZipFile(MODELS / fixture) as z:
            parts = {n: z.read(n) for n in z.namelist()}
        root = next(iter(parts)).split("/")[0]
        for ending, data in wanted.items():
            found = [n for n in parts if n == ending or n.endswith("/" + ending)]
            parts[found[0] if found else f"{root}/{ending}"] = data
        rawzip.write(path, [Record(n, d) for n, d in parts.items()])

    return make


def zipped(call):
    """a torch.save zip with the call, as bytes"""

    def make(canary):
        import pathlib
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            saved_zip(PROTO + call(canary) + b".")(pathlib.Path(folder, "x"), canary)
            return pathlib.Path(folder, "x").read_bytes()

    return make


def pickled_weight(canary):
    """mlp.pt2 whose first weight is a pickle, as torch.export.save writes subclasses of tensors"""
    import json
    import zipfile

    with zipfile.ZipFile(MODELS / "mlp.pt2") as z:
        name = next(n for n in z.namelist() if n.endswith("_weights_config.json"))
        config = json.loads(z.read(name))
    first = next(iter(config["config"].values()))
    first["use_pickle"] = True
    return {name.split("/", 1)[1]: json.dumps(config).encode(), f"data/weights/{first['path_name']}": zipped(system)(canary)}


def runs(name):
    return (name.replace(".", r"\."), r"loading it would run that")


ROW_CALL = "a pickle that calls a command: {}"
BARE = [
    Trick(ROW_CALL.format(opcode), f"call{i}.pkl", plain(lambda c, call=call: PROTO + call(c) + b"."), runs(name), rule="NC112", control=True)
    for i, (opcode, name, call) in enumerate(CALLS)
]
IN_ZIP = [
    Trick("the same in data.pkl of a torch.save zip", f"zip{i}.pt", saved_zip(lambda c, call=call: PROTO + call(c) + b"."), runs(name), rule="NC112")
    for i, (_, name, call) in enumerate(CALLS[::3])
]
IN_LEGACY = [
    Trick("in any of the five pickles of a legacy stream", f"legacy{i}.pt", plain(lambda c, i=i: legacy(i, system, c)), runs("os.system"), rule="NC112")
    for i in range(1, 5)
]
IN_TAR = [
    Trick("in any member of a legacy tar", f"{place}.tar", tar(place, system), runs("os.system"), rule="NC112")
    for place in ("sys_info", "pickle", "storages", "tensors")
]
ELSEWHERE = [
    Trick("a second member of the same name in a tar", "twice.tar", tar("", None, ("pickle", lambda c: PROTO + system(c) + b".")), runs("os.system"), rule="NC112"),
    Trick("two records data.pkl in one zip, either of them hostile", "first.pt", lambda p, c: rawzip.write(p, [Record("a/data.pkl", PROTO + system(c) + b"."), Record("a/data.pkl", PROTO + b"}.")]), (*runs("os.system"), r"2 records of this name"), rule="NC101"),
    Trick("two records data.pkl in one zip, either of them hostile", "last.pt", lambda p, c: rawzip.write(p, [Record("a/data.pkl", PROTO + b"}."), Record("a/data.pkl", PROTO + system(c) + b".")]), (*runs("os.system"), r"2 records of this name"), rule="NC112"),
    Trick("a printable pickle with bytes behind it", "behind.pkl", plain(lambda c: b"cos\nsystem\n(S'" + c.command.encode() + b"'\ntR.\nand so on\n"), runs("os.system"), rule="NC112", control=True),
    Trick("a printable pickle that starts with something else", "starts.pkl", plain(lambda c: b"I1\n0cos\nsystem\n(S'" + c.command.encode() + b"'\ntR."), runs("os.system"), rule="NC112", control=True),
    Trick("a pickle that claims protocol 0", "proto0.pkl", plain(lambda c: b"\x80\x00" + system(c) + b"."), runs("os.system"), rule="NC112", control=True),
    Trick("a class of code that is not in the file", "foreign.pt", saved_zip(PROTO + b"cmodels.net\nNet\n)\x81}b."), (r"models\.net\.Net", r"code that is not in the file"), rule="NC114"),
    Trick("an extension code (EXT1, EXT2, EXT4)", "ext1.pt", saved_zip(PROTO + b"\x82\x07)R."), (r"copyreg extension 7: code that is not in the file",), rule="NC114"),
    Trick("an extension code (EXT1, EXT2, EXT4)", "ext2.pt", saved_zip(PROTO + b"\x83\x07\x01)R."), (r"copyreg extension 263",), rule="NC114"),
    Trick("an extension code (EXT1, EXT2, EXT4)", "ext4.pt", saved_zip(PROTO + b"\x84\x07\x00\x01\x00)R."), (r"copyreg extension 65543",), rule="NC114"),
    Trick("a persistent id that is a call", "persid.pt", saved_zip(lambda c: PROTO + system(c) + b"Q."), runs("os.system"), rule="NC112"),
    Trick("BUILD with a state that is a call", "build.pt", saved_zip(lambda c: PROTO + b"ccollections\nOrderedDict\n)R" + system(c) + b"b."), runs("os.system"), rule="NC112"),
    Trick("a name made while the pickle runs", "computed.pt", saved_zip(PROTO + b"c_codecs\nencode\n" + one("os") + b"R" + text("system") + b"\x93."), (r"a global is named by something that is no text",)),
    Trick("constants.pkl of a TorchScript archive", "constants.pt", edited("ts_script.pt", lambda c: {"constants.pkl": PROTO + system(c) + b"."}), (r"The record constants\.pkl asks for os\.system",), exit=1, rule="NC112", weights=False, most_mb=300),
    Trick("a pickle of a torch.package archive", "package.pt", edited("torch_package.pt", lambda c: {"weights/state.pkl": PROTO + system(c) + b"."}), (r"The record weights/state\.pkl asks for os\.system", r"Python sources, which run")),
    Trick("sample inputs of an exported program", "inputs.pt2", edited("mlp.pt2", lambda c: {"data/sample_inputs/model.pt": zipped(system)(c)}), (r"The record data/sample_inputs/model\.pt asks for os\.system", "BLOCKED"), exit=1, rule="NC112", weights=False),
    Trick("a pickled weight of an exported program", "weight.pt2", edited("mlp.pt2", pickled_weight), (r"The record data/weights/weight_\d+ asks for os\.system", "BLOCKED"), exit=1, rule="NC112", weights=False),
    Trick("an opaque constant of an exported program", "opaque.pt2", edited("mlp.pt2", lambda c: {"data/constants/opaque_obj_0": PROTO + system(c) + b"."}), (r"The record data/constants/opaque_obj_0 asks for os\.system",), exit=1, rule="NC112", weights=False),
    Trick("the state of an exported program of torch 2.6", "flat.pt2", edited("torch_2_6_native_mlp.pt2", lambda c: {"serialized_state_dict.pt": zipped(system)(c)}), (r"The record serialized_state_dict\.pt asks for os\.system",), exit=1, rule="NC112", weights=False),
]
TRICKS = [*BARE, *IN_ZIP, *IN_LEGACY, *IN_TAR, *ELSEWHERE]
