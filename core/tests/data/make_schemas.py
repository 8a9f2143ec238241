# SPDX-License-Identifier: Apache-2.0
"""Writes schemas.jsonl: what torch's own parser says of operator schemas, for schema_test.cpp.

With --all every schema of the installed torch is written, otherwise the smallest set of them (found greedily) that has every
type, alias mark, default value and list form that occurs in torch at all.

    python make_schemas.py [--all] -o schemas.jsonl
"""
import argparse
import json
import re

import torch

WORDS = {
    "ScalarType": {4: "int64"},
    "MemoryFormat": {0: "contiguous_format"},
}


def all_schemas():
    """Every schema of the dispatcher and of TorchScript, by its text."""
    found = {}
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.partition(".")
        schema = torch._C._get_schema(base, overload)
        found[str(schema)] = schema
    for schema in torch._C._jit_get_all_schemas():
        found[str(schema)] = schema
    return dict(sorted(found.items()))


def list_type(kind):
    """(list, element optional, rest) of a type without its outer optional."""
    if kind.kind() != "ListType":
        return False, False
    element = kind.getElementType()
    inner = list_type(element)
    return True, element.kind() == "OptionalType" or inner[1]


def default_text(schema_text, argument):
    """The default as text(ArgValue) prints it."""
    value = argument.default_value
    named = re.search(r"(ScalarType|MemoryFormat)\?? %s=\d" % re.escape(argument.name), schema_text)
    if named and value is not None:
        return WORDS[named.group(1)][value]
    if isinstance(value, str):
        table = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
        text = "".join(table.get(c) or (c if ord(c) >= 32 else "\\x%02x" % ord(c)) for c in value)
        return "'%s'" % text
    kind = argument.type
    kind = kind.getElementType() if kind.kind() == "OptionalType" else kind
    if kind.kind() == "FloatType" and value is not None:
        value = float(value)  # torch keeps "float? correction=1" as an int
    return str(value)


def facts(schema_text, argument):
    """[name, flags, alias set(, default)] of one argument or return, as torch understood it.

    Flags: o optional, l list, e optional elements, w written, k keyword only. torch does not show the alias set of the
    elements of a list.
    """
    kind = argument.type
    optional = kind.kind() == "OptionalType"
    if optional:
        kind = kind.getElementType()
    is_list, element_optional = list_type(kind)
    alias = argument.alias_info
    sets = sorted(s.removeprefix("alias::") for s in alias.before_set) if alias else []
    flags = {
        "o": optional,
        "l": is_list,
        "e": element_optional,
        "w": bool(alias and alias.is_write),
        "k": argument.kwarg_only,
    }
    out = [argument.name, "".join(f for f, on in flags.items() if on), "|".join(sets)]
    if argument.has_default_value():
        out.append(default_text(schema_text, argument))
    return out


def record(text, schema):
    """One line of the file."""
    return {
        "schema": text,
        "name": schema.name + ("." + schema.overload_name if schema.overload_name else ""),
        "arguments": [facts(text, a) for a in schema.arguments],
        "returns": [facts(text, a) for a in schema.returns],
    }


def features(text):
    """What makes a schema worth keeping."""
    arguments, _, returns = text.partition("(")[2].partition(") -> ")
    for part in re.split(r", (?![^(\[]*[)\]])", arguments):
        yield re.sub(r" [A-Za-z_0-9]+(?==|$)", " x", part)
    yield "-> " + re.sub(r"\b[a-zA-Z_0-9]+\b(?=[,)])", "y", returns)


def covering(schemas):
    """Greedy set cover of the features."""
    left = {text: set(features(text)) for text in schemas}
    missing = set().union(*left.values())
    chosen = []
    while missing:
        best = max(left, key=lambda text: (len(left[text] & missing), -len(text), text))
        chosen.append(best)
        missing -= left.pop(best)
    return sorted(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    schemas = all_schemas()
    chosen = list(schemas) if options.all else covering(schemas)
    with open(options.output, "w", encoding="utf-8") as out:
        for text in chosen:
            out.write(json.dumps(record(text, schemas[text]), separators=(",", ":")) + "\n")
    print("%d of %d schemas" % (len(chosen), len(schemas)))


if __name__ == "__main__":
    main()
