# SPDX-License-Identifier: Apache-2.0
"""Where the dispatcher sends an operator on tensors of the backend, and which calls it sent to its fallback.

The classes are those of torch_host/casework/dispatch_class.cpp, from the same questions to the dispatcher.
"""
import functools
import os
import re

import torch

KEY = "PrivateUse1"


class Dispatch:
    """Classes of operators: direct, composite, fallback or missing."""

    def __init__(self):
        self._by_base = {}
        for name in torch._C._dispatch_get_all_op_names():
            self._by_base.setdefault(name.partition(".")[0], []).append(name)
        self.has_fallback = torch._C._dispatch_has_backend_fallback(torch._C.DispatchKey.PrivateUse1)
        self.class_of = functools.cache(self._class_of)

    def names(self):
        return sorted(name for names in self._by_base.values() for name in names)

    def _class_of(self, name):
        has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, name)
        if has(KEY):
            return "direct"
        if has("CompositeExplicitAutogradNonFunctional"):
            twin = self._twin(name)
            return self.class_of(twin) if twin else "composite"
        if has("CompositeExplicitAutograd") or has("CompositeImplicitAutograd"):
            return "composite"
        return "fallback" if self.has_fallback else "missing"

    def _twin(self, name):
        """The out= overload that a structured operator's default kernel calls."""
        schema = schema_of(name)
        base = name.partition(".")[0]
        if base.endswith("_") and not base.endswith("__"):
            base = base[:-1]
        wanted = [(a.name, str(a.type)) for a in schema.arguments] if schema else None
        for other in self._by_base.get(base, []):
            candidate = schema_of(other) if other != name else None
            if candidate is None or not candidate.is_mutable:
                continue
            read = [(a.name, str(a.type)) for a in candidate.arguments if not a.is_out]
            if read == wanted and len(read) < len(candidate.arguments):
                return other
        return None


def schema_of(name):
    base, _, overload = name.partition(".")
    try:
        return torch._C._get_schema(base, overload)
    except RuntimeError:
        return None


def table(dispatch):
    """The answer of "dispatch_table"."""
    known, dangling = {}, []
    for name in dispatch.names():
        if schema_of(name) is not None:
            known[name] = dispatch.class_of(name)
        elif torch._C._dispatch_has_kernel_for_dispatch_key(name, KEY):
            dangling.append(name)
    return {"dispatch": known, "dangling": dangling}


NODE = re.compile(r'"id": (\d+), "name": "([^"]*)", "ctrl_deps": (\d+),|"name": "op_schema", "type": "string", "value": "([^"]*)"')
INPUTS = re.compile(r'"inputs": \{"values": (.*?), "shapes": ')
PLACES = re.compile(r'\[\d+, ?\d+, ?\d+, ?(\d+), ?\d+, ?"([a-z0-9:]+)"\]')


class Node:
    def __init__(self, parent):
        self.parent, self.op, self.places = parent, "", []


def nodes_of(trace):
    """Calls of an execution trace by number. Not read as JSON: torch writes numbers there that are none."""
    nodes = {}
    for line in trace.split('"id": ')[1:]:
        current = None
        for number, _, parent, schema in NODE.findall('"id": ' + line):
            if number:
                current = nodes.setdefault(int(number), Node(int(parent)))
            elif current and schema:
                current.op = schema.partition("(")[0]
        values = INPUTS.search(line)
        if current and values:
            current.places = [(int(count), device) for count, device in PLACES.findall(values[1])]
    return nodes


class Watch:
    """Hears of the operators that are called on this and on autograd's threads while it is entered.

    `fell_back`: those that the backend serves with its fallback, by the dispatch table, whatever it says of itself. `on_cpu`: those whose
    own kernel calls them again on tensors of the CPU. Operators called within a kernel of the backend are otherwise not looked at.
    """

    def __init__(self, dispatch):
        self._dispatch = dispatch
        self.fell_back, self.on_cpu = set(), set()
        self.seen = set()  # every operator, wherever it was called

    def __enter__(self):
        self._file = os.memfd_create("calls")
        self._observer = torch.profiler.ExecutionTraceObserver()
        self._observer.register_callback(f"/proc/self/fd/{self._file}")
        self._observer.start()
        # The observer looks at the stack of the thread that ran forward, and crashes when that has no entry: this makes one.
        with torch.profiler.record_function("watched"):
            pass
        return self

    def __exit__(self, *_):
        self._observer.stop()
        self._observer.unregister_callback()
        size = os.fstat(self._file).st_size
        text = os.pread(self._file, size, 0).decode(errors="replace")
        os.close(self._file)
        nodes = nodes_of(text)
        if not nodes:
            raise RuntimeError("torch wrote no execution trace: which operators fell back is not known")
        self._read(nodes)

    def _read(self, nodes):
        self.seen.update(node.op for node in nodes.values())
        below = {}
        for number, node in nodes.items():
            if node.parent != number:
                below.setdefault(node.parent, []).append(number)
        queue = [number for number, node in nodes.items() if node.parent == number or node.parent not in nodes]
        while queue:
            number = queue.pop()
            node = nodes[number]
            known = self._dispatch.class_of(node.op) if node.op else "composite"
            if known == "fallback":
                self.fell_back.add(node.op)
            elif known == "direct" and self._again_on_cpu(node.op, number, nodes, below):
                self.on_cpu.add(node.op)
            if known in ("composite", "missing"):
                queue += below.get(number, [])

    @staticmethod
    def _again_on_cpu(op, number, nodes, below):
        """Within its own kernel the operator runs on the CPU, on more than single numbers."""
        base, queue = base_of(op), list(below.get(number, []))
        if base in COPIES:
            return False
        while queue:
            inner = queue.pop()
            node = nodes[inner]
            elsewhere = [device for _, device in node.places if device != "cpu"]
            if node.op and base_of(node.op) == base and not elsewhere and any(count > 1 for count, _ in node.places):
                return True
            queue += below.get(inner, [])
        return False


# Moving data is the purpose of these, and the host is one end of it.
COPIES = {"aten::_to_copy", "aten::copy", "aten::_copy_from", "aten::_copy_from_and_resize", "aten::to", "aten::clone"}


def base_of(op):
    return op.partition(".")[0].removesuffix("_")
