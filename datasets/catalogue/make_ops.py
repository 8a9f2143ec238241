# SPDX-License-Identifier: Apache-2.0
"""Write ops.jsonl: every operator the dispatcher of torch knows, one JSON object a line.

    python3 datasets/catalogue/make_ops.py [-o datasets/catalogue/torch-2.13.0/ops.jsonl]

No backend is loaded: `dispatch_class` says what a PrivateUse1 backend without kernels of its own gets.
The fields are described in README.md beside this file.
"""
import argparse
import collections
import importlib
import json
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch

# Modules that come with torch and define operators found in exported graphs.
OPERATOR_MODULES = (
    "torch._prims",
    "torch._prims.rng_prims",
    "torch._refs",
    "torch._inductor.inductor_prims",
    "torch.ao.quantization.fx._decomposed",
    "torch.distributed._functional_collectives",
)

# Functions that return their argument when nothing has to be done and a copy otherwise.
VIEW_OR_COPY = frozenset(
    """reshape reshape_as flatten ravel contiguous to resolve_conj resolve_neg pin_memory
    _autocast_to_reduced_precision _autocast_to_full_precision""".split()
)

# View operators that every C++ backend gets from shared code, although they have no composite kernel.
NATIVE_VIEWS = frozenset("aten::view aten::as_strided aten::_reshape_alias aten::unfold".split())

# Operators with a default kernel that does nothing but throw (aten/src/ATen/native/ConvolutionMM*,
# Convolution.cpp and transformers/attention.cpp): never a composite.
THROWS_ONLY = frozenset(
    """aten::convolution_overrideable aten::convolution_backward_overrideable
    aten::_scaled_dot_product_fused_attention_overrideable
    aten::_scaled_dot_product_fused_attention_overrideable_backward""".split()
)

CLASS_KEYS = (
    ("direct", "PrivateUse1"),
    ("ceanf", "CompositeExplicitAutogradNonFunctional"),
    ("cea", "CompositeExplicitAutograd"),
    ("cia", "CompositeImplicitAutograd"),
)


def dispatch_class(name):
    for word, key in CLASS_KEYS:
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
            return word
    return "kernel"


def split_name(name):
    base, _, overload = name.partition(".")
    return base, overload


def mutates(schema):
    return any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def view_word(name, schema, op_class):
    """An alias annotation on a result that is not written through makes a view."""
    if mutates(schema):
        return ""
    if not any(r.alias_info is not None for r in schema.returns):
        return ""
    if not any(a.alias_info is not None for a in schema.arguments):
        return ""
    if split_name(name)[0].partition("::")[2] in VIEW_OR_COPY:
        return "view_or_copy"
    if op_class == "kernel" and name not in NATIVE_VIEWS:
        return "kernel_view"
    return "view"


def input_signature(schema):
    """Names and types of the arguments that are not out=."""
    return tuple((a.name, str(a.type)) for a in schema.arguments if not a.is_out)


def structured_twins(schemas, classes):
    """functional or in-place operator -> the out= overload that does its work.

    Only operators with a CompositeExplicitAutogradNonFunctional kernel delegate; the twin has the same base name
    (without a trailing underscore) and the same arguments. A twin that is itself generated from the functional form
    (class cea) does not count.
    """
    outs = collections.defaultdict(list)
    for name, schema in schemas.items():
        if any(a.is_out for a in schema.arguments):
            outs[split_name(name)[0], input_signature(schema)].append(name)
    twins = {}
    for name, schema in schemas.items():
        if classes[name] != "ceanf":
            continue
        base = split_name(name)[0]
        if base.endswith("_") and not base.endswith("__"):
            base = base[:-1]
        found = [o for o in outs[base, input_signature(schema)] if o != name and classes[o] == "kernel"]
        if len(found) == 1:
            twins[name] = found[0]
    return twins


def yaml_variants():
    """Operator name -> variants, from the native_functions.yaml that torchgen carries."""
    import torchgen
    from torchgen.gen import parse_native_yaml

    folder = pathlib.Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    return {
        "aten::" + str(f.func.name): sorted(v.name for v in f.variants) for f in parsed.native_functions
    }


def core_decompositions():
    from torch._decomp import core_aten_decompositions, decomposition_table

    def names(table):
        return {op.name() for op in table if isinstance(op, torch._ops.OpOverload)}

    return names(core_aten_decompositions()), names(decomposition_table)


def load_schemas():
    for module in OPERATOR_MODULES:
        importlib.import_module(module)
    schemas = {}
    for name in torch._C._dispatch_get_all_op_names():
        if not torch._C._dispatch_has_kernel(name):
            continue
        base, overload = split_name(name)
        try:
            schemas[name] = torch._C._get_schema(base, overload)
        except RuntimeError:
            continue  # A kernel registered for a name that has no schema.
    return dict(sorted(schemas.items()))


def operator_tags(name):
    base, overload = split_name(name)
    found = torch._C._get_operation_overload(base, overload)
    return sorted(tag.name for tag in found[2]) if found else []


def build():
    schemas = load_schemas()
    classes = {name: dispatch_class(name) for name in schemas}
    twins = structured_twins(schemas, classes)
    variants = yaml_variants()
    core, table = core_decompositions()
    for name, schema in schemas.items():
        row = {
            "name": name,
            "schema": str(schema),
            "tags": operator_tags(name),
            "dispatch_class": classes[name],
            "structured_twin": twins.get(name),
            "cpu_kernel": bool(torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU")),
            "throws_only": name in THROWS_ONLY,
            "view": view_word(name, schema, classes[name]),
            "mutates": mutates(schema),
            "core_decomp": name in core,
            "decomp": name in table,
        }
        if name in variants:
            row["variants"] = variants[name]
        yield row


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    version = torch.__version__.partition("+")[0]
    parser.add_argument("-o", "--output", type=pathlib.Path, default=here / f"torch-{version}" / "ops.jsonl")
    output = parser.parse_args().output
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = list(build())
    with output.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, separators=(",", ":"), ensure_ascii=True) + "\n")
    counts = collections.Counter(r["dispatch_class"] for r in rows if r["name"].startswith("aten::"))
    spaces = collections.Counter(r["name"].partition("::")[0] for r in rows)
    print(f"{len(rows)} operators, {output.stat().st_size} bytes; aten by class: {dict(sorted(counts.items()))}")
    print(f"namespaces: {dict(sorted(spaces.items()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
