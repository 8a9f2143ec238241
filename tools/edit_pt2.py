#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of an exported program with parts of its graph replaced, for tests.

usage: edit_pt2.py IN.pt2 OUT.pt2 'PATH=VALUE'...

PATH leads from the graph: `nodes[2].target`, `tensor_values.*.layout` (each member). VALUE is JSON where it parses as such, else a
text in which \\u001b and the like are escapes.
"""
import json
import re
import sys
import zipfile


def places(node, steps):
    """(container, key) of everything the path leads to"""
    head, *rest = steps
    keys = (list(node) if isinstance(node, dict) else range(len(node))) if head == "*" else [head]
    for key in keys:
        if rest:
            yield from places(node[key], rest)
        else:
            yield node, key


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(f'"{text}"')


def edit(graph, change):
    path, _, text = change.partition("=")
    steps = [int(part[1:-1]) if part.startswith("[") else part for part in re.findall(r"\[\d+\]|[^.\[\]]+", path)]
    found = list(places(graph, steps))
    if not found:
        raise SystemExit(f"nothing at {path}")
    for container, key in found:
        container[key] = value_of(text)


def main(source, target, *changes):
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as out:
        for name in archive.namelist():
            data = archive.read(name)
            if re.search(r"models/[^/]+\.json$", name):
                program = json.loads(data)
                for change in changes:
                    edit(program["graph_module"]["graph"], change)
                data = json.dumps(program).encode()
            out.writestr(name, data)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
