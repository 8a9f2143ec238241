# SPDX-License-Identifier: Apache-2.0
"""The case text (docs/case-grammar.md) of a node of an inventory, symbolic sizes at their hints.

Every argument that the file gives is named, and devices are left out, as core's caseOf does without a schema.
"""
import ast
import math
import operator

SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "b8",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "complex64": "c64", "complex128": "c128", "complex32": "c32",
    "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0fnu",
}  # fmt: skip
UNBACKED = 2  # A size that only running the model tells.

FUNCTIONS = {
    "Min": min, "Max": max, "Mod": operator.mod, "PythonMod": operator.mod, "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv, "CeilDiv": lambda a, b: -(-a // b), "Abs": abs, "floor": math.floor,
    "IntTrueDiv": operator.truediv, "FloatTrueDiv": operator.truediv, "ToFloat": float, "TruncToInt": math.trunc,
    "Eq": operator.eq, "Ne": operator.ne, "Ge": operator.ge, "Gt": operator.gt, "Le": operator.le, "Lt": operator.lt,
}  # fmt: skip
BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.GtE: operator.ge, ast.Gt: operator.gt, ast.LtE: operator.le,
    ast.Lt: operator.lt,
}  # fmt: skip


class NoText(ValueError):
    """The node has no case: an argument has no text form."""


def evaluate(text, hints):
    def walk(node):
        match node:
            case ast.Expression():
                return walk(node.body)
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.Name(id=symbol):
                return hints.get(symbol, UNBACKED)
            case ast.UnaryOp(op=ast.USub()):
                return -walk(node.operand)
            case ast.BinOp() if type(node.op) in BINARY:
                return BINARY[type(node.op)](walk(node.left), walk(node.right))
            case ast.Compare(ops=[op]) if type(op) in COMPARE:
                return COMPARE[type(op)](walk(node.left), walk(node.comparators[0]))
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(walk, node.args))
        raise NoText(f"expression {text}")

    return walk(ast.parse(text, mode="eval"))


def number(value, hints):
    if isinstance(value, str):
        if value in ("Infinity", "inf"):
            return "inf"
        if value in ("-Infinity", "-inf", "NaN", "nan"):
            return {"-Infinity": "-inf", "-inf": "-inf"}.get(value, "nan")
        value = evaluate(value, hints)
    return repr(value)


class Writer:
    """Writes the values of one node; operands seen before become aliases."""

    def __init__(self, node, hints):
        self.node = node
        self.hints = hints
        self.operands = {}
        self.count = 0

    def tensor(self, item):
        if item["shape"] is None or item["layout"] != "strided" or item["dtype"] not in SHORT:
            raise NoText(f"operand {item['name']}")
        size = ",".join(number(n, self.hints) for n in item["shape"])
        text = f"{SHORT[item['dtype']]}[{size}]"
        if item.get("strides") and "0" not in size.split(","):
            text += "@(" + ",".join(number(n, self.hints) for n in item["strides"]) + ")"
        offset = number(item.get("offset", 0), self.hints)
        if offset != "0":
            text += "+" + offset
        first = self.operands.setdefault(item["name"] or self.count, self.count)
        self.count += 1
        return text if first == self.count - 1 else f"%{first}"

    def graph_value(self, item):
        if "dtype" in item:
            return self.tensor(item)
        if "sym" in item:
            value = item["value"] if item["expr"] is None else item["expr"]
            value = evaluate(value, self.hints) if isinstance(value, str) else value
            return repr({"SymFloat": float, "SymBool": bool, "SymInt": int}[item["sym"]](value))
        raise NoText(f"argument {item.get('arg')}")

    def exact(self, value):
        """A value in the form of args_full."""
        if value is None:
            return "None"
        if isinstance(value, list):
            return "[" + ", ".join(self.exact(v) for v in value) + "]"
        if not isinstance(value, dict):
            return number(value, self.hints)
        if "ref" in value:
            return self.graph_value(self.node["inputs"][value["ref"]])
        if "sym" in value:
            return self.graph_value(value)
        [(kind, inner)] = value.items()
        if kind in ("string", "strings"):
            return self.texts(inner)
        if kind in ("dtype", "memory_format", "layout"):
            return SHORT.get(inner, inner)
        if kind == "complex":
            return "complex(" + ", ".join(number(float(v) if isinstance(v, int) else v, {}) for v in inner) + ")"
        if kind in ("graph", "custom_object", "operator", "opaque", "tensor_lists"):
            raise NoText(f"a value of kind {kind}")
        return self.exact(inner)

    def texts(self, value):
        if isinstance(value, list):
            return "[" + ", ".join(map(self.texts, value)) + "]"
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def plain(self, value):
        """A value in the form of attrs."""
        if value is None or isinstance(value, (bool, int, float)):
            return repr(value)
        if isinstance(value, list):
            return "[" + ", ".join(map(self.plain, value)) + "]"
        if value in ("inf", "-inf", "nan"):
            return value
        return SHORT.get(value[6:], value[6:]) if value.startswith("torch.") else self.texts(value)

    def arguments(self):
        node = self.node
        if "args_full" not in node:
            yield from ((item["arg"], self.graph_value(item)) for item in node["inputs"])
            yield from ((name, self.plain(value)) for name, value in node["attrs"].items() if name != "device")
            return
        graph = {item["arg"]: item for item in node["inputs"]}
        for entry in node["args_full"]:
            if isinstance(entry, dict):
                if not entry.get("default") and entry["arg"] != "device":
                    yield entry["arg"], self.exact(entry["value"])
            elif entry in graph:
                yield entry, self.graph_value(graph[entry])
            elif entry in node["attrs"] and entry != "device":
                yield entry, self.plain(node["attrs"][entry])


def case_of(target, node, hints):
    given = ", ".join(f"{name}={text}" for name, text in Writer(node, hints).arguments())
    return f"{target}(; {given})" if given else f"{target}()"
