# SPDX-License-Identifier: Apache-2.0
"""Fixtures made from other fixtures: older archive layouts, other zip forms, compiled packages, damaged files."""
import io
import json
import os
import zipfile

import torch

import maker  # finds rawzip
import rawzip
from rawzip import Record


def records(path):
    """record name without the root folder -> bytes"""
    with zipfile.ZipFile(path) as z:
        return {i.filename.split("/", 1)[1]: z.read(i) for i in z.infolist()}


def pack(stem, parts, **options):
    """an archive with one root folder, as torch's own writer lays it out"""
    rawzip.write(f"{stem}.pt2", [Record(f"{stem}/{name}", data) for name, data in parts.items()], **options)


def without(value, *keys):
    """a copy of a JSON value with these object keys gone, at any depth"""
    if isinstance(value, dict):
        return {k: without(v, *keys) for k, v in value.items() if k not in keys}
    return [without(v, *keys) for v in value] if isinstance(value, list) else value


def without_nulls(value):
    """2.6 left out what is null"""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def drop_node_names(graph):
    """graph nodes had no name and no result flag before schema 8.1x; names of other things stay"""
    for node in graph["nodes"]:
        node.pop("name", None)
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                drop_node_names(argument["arg"]["as_graph"]["graph"])


def older(text, minor, torch_version):
    """the JSON of a graph as schema 8.<minor> had it (compared with files of torch 2.6.0 and 2.8.0)"""
    program = json.loads(text)
    drop_node_names(program["graph_module"]["graph"])
    program = without(program, "guards_code")
    if minor < 8:
        program = without(program, "kind", "is_hop_single_tensor_return", "treespec_namedtuple_fields")
        program["graph_module"] = without_nulls(program["graph_module"])
    program["schema_version"] = {"major": 8, "minor": minor}
    program["torch_version"] = torch_version
    return json.dumps(program).encode()


def saved(value):
    blob = io.BytesIO()
    torch.save(value, blob)
    return blob.getvalue()


def payloads(path, load_source):
    """(state, constants) of a program, as the dictionaries older writers saved"""
    for needed in ("custom_op", "dynamic"):  # torch must know operators and output classes
        load_source(needed)
    program = torch.export.load(path)
    return saved(dict(program.state_dict)), saved(dict(program.constants))


def layout_a(stem, path, load_source, suffix="pt"):
    """2.1 to 2.7: a flat zip without a root folder"""
    parts, (state, constants) = records(path), payloads(path, load_source)
    flat = {
        "serialized_exported_program.json": older(parts["models/model.json"], 2, "2.6.0+cpu"),
        f"serialized_state_dict.{suffix}": state,
        f"serialized_constants.{suffix}": constants,
        "serialized_example_inputs.pt": parts["data/sample_inputs/model.pt"],
        "version": b"8.2",
        "extra_files/notes.txt": b"a note",
    }
    rawzip.write(f"{stem}.pt2", [Record(name, data) for name, data in flat.items()])


def layout_b(stem, path, load_source):
    """2.8: the archive of today, with saved dictionaries in place of raw weights"""
    parts, (state, constants) = records(path), payloads(path, load_source)
    kept = {k: v for k, v in parts.items() if not k.startswith(("data/weights/", "data/constants/"))}
    kept["models/model.json"] = older(parts["models/model.json"], 8, "2.8.0+cpu")
    pack(stem, {"data/weights/model.pt": state, "data/constants/model.pt": constants, **kept})


def zip_form(stem, path, method, zip64):
    entries = [Record(f"{stem}/{k}", v, method=method, zip64=zip64) for k, v in records(path).items()]
    rawzip.write(f"{stem}.pt2", entries, zip64=zip64)


COMPILED = {
    "data/aotinductor/model/c1.wrapper.cpp": b"// the source of a compiled model\n",
    "data/aotinductor/model/c1.wrapper_metadata.json": b'{"AOTI_DEVICE_KEY": "cpu"}',
    "data/aotinductor/model/c1.wrapper.so": b"\x7fELF, but only in name: never to be loaded\n",
}


def compiled(stem, path, beside):
    parts = records(path)
    frame = {k: v for k, v in parts.items() if k in ("archive_format", "archive_version", ".data/version", "byteorder")}
    pack(stem, {**COMPILED, **(parts if beside else frame)})


def compiled_old(stem):
    """2.5 and 2.6 wrote compiled packages with a plain zip and `version`"""
    parts = {**COMPILED, "archive_format": b"pt2", "version": b"0"}
    pack(stem, parts)


def truncated(stem, path, keep):
    with open(path, "rb") as f:
        data = f.read()
    with open(f"{stem}.pt2", "wb") as f:
        f.write(data[: keep(len(data))])


def changed(stem, path, change):
    """a copy with its records changed by change(parts)"""
    parts = records(path)
    change(parts)
    pack(stem, parts)


def edit_json(parts, edit):
    program = json.loads(parts["models/model.json"])
    edit(program)
    parts["models/model.json"] = json.dumps(program).encode()


def cut_json(parts):
    parts["models/model.json"] = parts["models/model.json"][:4000]


def twice(stem, path):
    """two records of one name: gelu in the first, relu in the second"""
    parts = records(path)
    text = parts["models/model.json"]
    program = json.loads(text)
    for node in program["graph_module"]["graph"]["nodes"]:
        if node["target"] == "torch.ops.aten.gelu.default":
            node["target"], node["inputs"] = "torch.ops.aten.relu.default", node["inputs"][:1]
    entries = [Record(f"{stem}/{name}", data) for name, data in parts.items()]
    entries.append(Record(f"{stem}/models/model.json", json.dumps(program).encode()))
    rawzip.write(f"{stem}.pt2", entries)


def jobs(out, load_source):
    """(name, work, arguments...) for make_models"""
    of = lambda stem: os.path.join(out, stem + ".pt2")
    mlp = of("native_mlp")
    made = [(f"{stem}_gen_a", layout_a, f"{stem}_gen_a", of(stem), load_source) for stem in ("native_mlp", "dynamic", "control", "mutation")]
    made += [(f"{stem}_gen_b", layout_b, f"{stem}_gen_b", of(stem), load_source) for stem in ("native_mlp", "dynamic", "custom_op", "numbers")]
    made += [
        ("oldest_gen_a", layout_a, "oldest_gen_a", mlp, load_source, "json"),
        ("mlp_deflated", zip_form, "mlp_deflated", of("mlp"), rawzip.DEFLATED, False),
        ("native_zip64", zip_form, "native_zip64", mlp, rawzip.STORED, True),
        ("aoti_alone", compiled, "aoti_alone", mlp, False),
        ("aoti_beside", compiled, "aoti_beside", mlp, True),
        ("aoti_old", compiled_old, "aoti_old"),
        ("truncated", truncated, "truncated", mlp, lambda size: size * 2 // 3),
        ("truncated_tail", truncated, "truncated_tail", mlp, lambda size: size - 30),
        ("duplicate_records", twice, "duplicate_records", of("gelu")),
        ("bad_json", changed, "bad_json", mlp, cut_json),
        ("schema_major_9", changed, "schema_major_9", mlp, lambda p: edit_json(p, lambda d: d["schema_version"].update(major=9))),
        ("archive_version_9", changed, "archive_version_9", mlp, lambda p: p.update(archive_version=b"9")),
        ("no_model", changed, "no_model", mlp, lambda p: p.pop("models/model.json")),
        ("fields_absent", changed, "fields_absent", mlp, lambda p: edit_json(p, lambda d: [d.pop("guards_code"), d.pop("range_constraints")])),
        ("fields_added", changed, "fields_added", mlp, lambda p: edit_json(p, lambda d: d.update(a_later_field={"x": [1, None]}))),
    ]
    return made
