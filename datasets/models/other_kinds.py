# SPDX-License-Identifier: Apache-2.0
"""Fixtures that are not exported programs. Each must be named for what it is; none of them holds a graph to judge."""
import collections
import inspect
import io
import json
import os
import pickle
import random
import struct
import tarfile
import warnings

import torch

import tidy

warnings.simplefilter("ignore")


def state():
    """a state dict with views, a scalar, an empty tensor and small dtypes"""
    base = torch.arange(12.0)
    return collections.OrderedDict(
        [
            ("w", base.view(3, 4)),
            ("w_t", base.view(3, 4).t()),
            ("tail", base[8:]),
            ("scalar", torch.tensor(2.5)),
            ("empty", torch.zeros(0, 2)),
            ("half", torch.ones(2, dtype=torch.float16)),
            ("e4", torch.ones(2).to(torch.float8_e4m3fn)),
            ("u16", torch.tensor([1, 65535], dtype=torch.uint16)),
        ]
    )


def scripted(load_source):
    module = torch.jit.script(load_source("plain_modules").Looping().eval())
    torch.jit.save(module, "ts_script.pt", _extra_files={"notes.txt": "a note"})


def traced(load_source):
    module = load_source("plain_modules").Convolved().eval()
    tidy.relative_callers()
    torch.jit.save(torch.jit.trace(module, torch.randn(1, 3, 6, 6)), "ts_trace.pt")


def scripted_custom(load_source):
    library = torch.library.Library("scriptlib", "DEF")
    library.define("nms_like(Tensor boxes, Tensor scores, float limit) -> Tensor")
    torch.jit.save(torch.jit.script(load_source("plain_modules").CallsCustom()), "ts_custom_op.pt")


def scripted_cases(load_source):
    """one file for each trap of sources/scripted.py"""
    source = load_source("scripted")
    library = torch.library.Library("scriptlib", "FRAGMENT")
    library.define("halves(Tensor x, int n) -> (Tensor, Tensor)")
    library.define("pieces(Tensor x, *, int dim=0) -> Tensor[]")
    library.define("factor(Tensor x) -> float")
    for stem, module in {
        "ts_steps": source.Steps(),
        "ts_devices": source.Devices(),
        "ts_restored": source.Restored(),
        "ts_counted": source.Counted(),
        "ts_custom": source.Custom(),
        "ts_attention": source.Attention(),
        "ts_autocast": source.Cast(),
        "ts_inplace": source.InPlace(),
        "ts_state": source.Stateful(),
        "ts_writes": source.Writes(),
        "ts_endless": source.Endless(),
        "ts_hungry": source.Hungry(),
        "ts_helpers": source.Helpers(),
        "ts_hollow": source.Hollow(),
        "ts_hidden": source.Hidden(),
        "ts_defaults": source.Defaults(),
        "ts_nested": source.Nested(),
        "ts_doubling": source.Doubling(),
    }.items():
        torch.manual_seed(0)
        torch.jit.save(torch.jit.script(module.eval()), stem + ".pt")


def frozen(load_source):
    torch.manual_seed(0)
    module = torch.jit.script(load_source("scripted").Net().eval())
    torch.jit.save(torch.jit.freeze(module), "ts_frozen.pt")


def quantised(load_source):
    """dynamic: packed parameters that are restored by a method of the file"""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    net = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear}, dtype=torch.qint8)
    torch.jit.save(torch.jit.script(net.eval()), "ts_quantised.pt")


def scripted_old(load_source):
    """the archive as torch 1.x wrote it: no byte order, no serialisation id, file version 3"""
    import rawzip
    import zipfile

    torch.manual_seed(0)
    torch.jit.save(torch.jit.script(load_source("scripted").Net().eval()), "new.pt")
    with zipfile.ZipFile("new.pt") as z:
        names = [n for n in z.namelist() if not n.endswith(("byteorder", "serialization_id"))]
        names = [n for n in names if ".data/" not in n]
        records = [rawzip.Record(n, b"3\n" if n.endswith("/version") else z.read(n)) for n in names]
    rawzip.write("ts_torch_1.pt", records)
    newer = [rawzip.Record(r.name, b"999\n") if r.name.endswith("/version") else r for r in records]
    rawzip.write("ts_version_999.pt", newer)
    os.unlink("new.pt")


def mobile(load_source):
    module = torch.jit.script(load_source("plain_modules").Small().eval())
    module._save_for_lite_interpreter("mobile.ptl")


def saved_forms(_):
    """every form of tensor that torch.save writes, in dicts, lists and tuples"""
    base = torch.arange(12.0)
    value = {
        "per_tensor": torch.quantize_per_tensor(torch.ones(3, 4), 0.1, 0, torch.qint8),
        "per_channel": torch.quantize_per_channel(torch.ones(3, 4), torch.ones(3), torch.zeros(3), 0, torch.quint8),
        "coo": torch.eye(3).to_sparse(),
        "csr": torch.eye(3).to_sparse_csr(),
        "meta": torch.empty(2, 5, device="meta"),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "complex": torch.ones(2, dtype=torch.complex64),
        "expanded": torch.ones(1).expand(5),
        "window": base.view(3, 4)[1:, ::2],
        "list": [torch.ones(1), (torch.ones(2), {"inner": torch.ones(3)})],
        7: torch.zeros(1, dtype=torch.bool),
        "text": "no tensor",
    }
    torch.save(value, "saved_forms.pt")


def saved_dicts(_):
    torch.save(state(), "state_dict.pt")


def save_old(value, path):
    """the stream written before 1.6, with its storage address replaced by a number of the same length

    One storage only: several would be written in the order of their addresses, which is not the same on every run.
    """
    original = inspect.getsourcefile
    inspect.getsourcefile = lambda thing: original(thing).replace(tidy.SITE_PACKAGES + "/", "site-packages/")
    blob = io.BytesIO()
    torch.save(value, blob, _use_new_zipfile_serialization=False)
    inspect.getsourcefile = original
    data = blob.getvalue()
    (key,) = {str(t.untyped_storage()._cdata).encode() for t in tensors_of(value)}
    data = data.replace(key, b"1".zfill(len(key)))
    with open(path, "wb") as f:
        f.write(data)


def tensors_of(value):
    return list((value.state_dict() if isinstance(value, torch.nn.Module) else value).values())


def saved_legacy(_):
    save_old({k: v for k, v in state().items() if k in ("w", "w_t", "tail")}, "state_dict_legacy.pt")


def checkpoint(load_source):
    model = load_source("plain_modules").Small()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")


def pickled(load_source):
    torch.save(load_source("plain_modules").Small(), "module_pickle.pt")


def pickled_legacy(load_source):
    module = load_source("plain_modules").Small()
    module.proj.register_parameter("bias", None)
    save_old(module, "module_legacy.pt")


def old_tar(_):
    """torch.save as it was before 0.1.10: one float tensor of shape [2, 3]"""
    storages = pickle.dumps(1, 2) + pickle.dumps((7, "cpu", torch.FloatStorage), 2) + struct.pack("<q6f", 6, *range(6)) + pickle.dumps([], 2)
    meta = struct.pack("<ii2q2qq", 2, 0, 2, 3, 3, 1, 0)
    tensors = pickle.dumps(1, 2) + pickle.dumps((9, 7, torch.FloatTensor), 2) + meta
    system = {"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return "9" if value is MARK else None

    body = io.BytesIO()
    Pickler(body, 2).dump({"w": MARK})
    with tarfile.open("legacy_tar.pt", "w:", format=tarfile.PAX_FORMAT) as tar:
        for name, data in (("sys_info", pickle.dumps(system, 2)), ("pickle", body.getvalue()), ("storages", storages), ("tensors", tensors)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


MARK = "the tensor"


def packaged(load_source):
    load_source("plain_modules")
    exporter = torch.package.PackageExporter("torch_package.pt")
    exporter.save_text("notes", "readme.txt", "a note")
    exporter.save_pickle("weights", "state.pkl", {"w": torch.ones(2, 3)})
    exporter.close()


def weights(folder, name):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2, 3), "b": torch.zeros(4, dtype=torch.bfloat16)}, os.path.join(folder, name), metadata={"format": "pt"})


def safetensors(_):
    weights(".", "weights.safetensors")


def hf_folder(_):
    os.mkdir("hf_folder")
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 16, "num_hidden_layers": 1}
    with open("hf_folder/config.json", "w") as f:
        json.dump(config, f, indent=1)
    weights("hf_folder", "model.safetensors")


def field(number, data):
    """one length-delimited protobuf field"""
    return bytes([number << 3 | 2, len(data)]) + data


def foreign(_):
    """files of other programs, as small as they can be and still be what they are"""
    node = field(1, b"x") + field(2, b"y") + field(4, b"Relu")
    onnx = b"\x08\x08" + field(2, b"a producer") + field(7, field(1, node) + field(2, b"g")) + field(8, field(1, b"") + b"\x10\x11")
    noise = random.Random(0).randbytes(2048)
    made = {
        "relu.onnx": onnx,
        "program.pte": struct.pack("<I4s", 8, b"ET12") + bytes(56),
        "mobile.ff": struct.pack("<I4s", 8, b"PTMF") + bytes(56),
        "text.pt2": b"This is a text that someone renamed.\n",
        "page.pt2": b"<!DOCTYPE html><html><body>404: not found</body></html>\n",
        "pointer.pt2": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
        "empty.pt2": b"",
        "random_bytes.pt2": noise,
        "plain.pkl": pickle.dumps({"a": [1, 2.5, None]}, 4),
        "evil.pkl": b"cos\nsystem\n(S'echo pwned > pwned'\ntR.",
        "program.so": b"\x7fELF\x02\x01\x01" + bytes(57),
    }
    for name, data in made.items():
        with open(name, "wb") as f:
            f.write(data)


def other_zip(_):
    import rawzip

    rawzip.write("other.zip", [rawzip.Record("readme.txt", b"hello"), rawzip.Record("a/b.csv", b"1,2\n")])


def jobs(load_source):
    """(name, work, arguments...) for make_models"""
    works = {
        "ts_script": scripted,
        "ts_trace": traced,
        "ts_custom_op": scripted_custom,
        "ts_cases": scripted_cases,
        "ts_frozen": frozen,
        "ts_quantised": quantised,
        "ts_torch_1": scripted_old,
        "mobile_ptl": mobile,
        "state_dict": saved_dicts,
        "state_dict_legacy": saved_legacy,
        "saved_forms": saved_forms,
        "checkpoint": checkpoint,
        "module_pickle": pickled,
        "module_legacy": pickled_legacy,
        "legacy_tar": old_tar,
        "torch_package": packaged,
        "weights_safetensors": safetensors,
        "hf_folder": hf_folder,
        "foreign": foreign,
        "other_zip": other_zip,
    }
    return [(name, work, load_source) for name, work in works.items()]
