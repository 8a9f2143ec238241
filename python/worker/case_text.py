# SPDX-License-Identifier: Apache-2.0
"""Reads the text of a case (docs/case-grammar.md). Standard library only: it is used before torch is imported.

What it takes, what it refuses and what it says then are those of core/case_parser.cpp.
"""
import re
from dataclasses import dataclass, field

MAX_TEXT = 1 << 20
MAX_STEPS = 64
MAX_DEPTH = 8
INT64 = range(-(1 << 63), 1 << 63)

# short name: (torch's name, torch's second name, bytes of an element)
DTYPES = {
    "u8": ("uint8", "byte", 1),
    "i8": ("int8", "char", 1),
    "i16": ("int16", "short", 2),
    "i32": ("int32", "int", 4),
    "i64": ("int64", "long", 8),
    "f16": ("float16", "half", 2),
    "f32": ("float32", "float", 4),
    "f64": ("float64", "double", 8),
    "c32": ("complex32", "chalf", 4),
    "c64": ("complex64", "cfloat", 8),
    "c128": ("complex128", "cdouble", 16),
    "b8": ("bool", "", 1),
    "bf16": ("bfloat16", "", 2),
    "u16": ("uint16", "", 2),
    "u32": ("uint32", "", 4),
    "u64": ("uint64", "", 8),
    "f8e4m3fn": ("float8_e4m3fn", "", 1),
    "f8e5m2": ("float8_e5m2", "", 1),
    "f8e4m3fnuz": ("float8_e4m3fnuz", "", 1),
    "f8e5m2fnuz": ("float8_e5m2fnuz", "", 1),
    "f8e8m0fnu": ("float8_e8m0fnu", "", 1),
    "f4e2m1fnx2": ("float4_e2m1fn_x2", "", 1),
    "qi8": ("qint8", "", 1),
    "qu8": ("quint8", "", 1),
    "qi32": ("qint32", "", 4),
    "qu4x2": ("quint4x2", "", 1),
    "qu2x4": ("quint2x4", "", 1),
}
SHORT = {name: short for short, (first, second, _) in DTYPES.items() for name in (short, first, second) if name}
MEMORY_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "strided", "jagged")


class CaseError(ValueError):
    """The text is no case. Says what is wrong, and at which column where one is to blame."""


@dataclass
class Tensor:
    dtype: str  # short name
    sizes: list
    strides: list | None = None  # in elements; None when they are the contiguous ones
    offset: int = 0
    alias: int | None = None  # an earlier tensor operand of the step
    literal: list | None = None
    grad: bool = False

    def geometry(self):
        return self.dtype, self.sizes, self.strides, self.offset

    def itemsize(self):
        return DTYPES[self.dtype][2]


@dataclass(frozen=True)
class Result:
    step: int
    output: int = 0


@dataclass(frozen=True)
class Word:
    kind: str  # "dtype", "memory_format" or "layout"
    name: str  # of a dtype: the short one


@dataclass(frozen=True)
class Device:
    type: str
    index: int | None = None


@dataclass
class Step:
    op: str  # "aten::add.Tensor"
    args: list = field(default_factory=list)  # (name or "", value)


@dataclass
class Case:
    steps: list
    grad: bool = False
    error: str | None = None

    def __str__(self):
        return " ;; ".join(map(step_text, self.steps)) + " !grad" * self.grad + ("" if self.error is None else " !error=" + quoted(self.error))


def tensors_of(step):
    """Tensor operands in written order, elements of lists included."""

    def collect(value):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list):
            for item in value:
                yield from collect(item)

    return [tensor for _, value in step.args for tensor in collect(value)]


def contiguous_strides(sizes):
    out, count = [], 1
    for size in reversed(sizes):
        out.append(count)
        count *= max(size, 1)
    return out[::-1]


def parse(text):
    """The case of a text. CaseError when it is none."""
    size = len(text.encode(errors="surrogateescape"))
    if size > MAX_TEXT:
        raise CaseError(f"a case of {size} bytes is longer than {MAX_TEXT}")
    return _Parser(text).case()


class _Parser:
    def __init__(self, text):
        self.text, self.at, self.operands = text, 0, []

    def fail(self, message):
        raise CaseError(f"column {self.at + 1}: {message}")

    def blanks(self):
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1

    def peek(self):
        return self.text[self.at : self.at + 1]

    def accept(self, token):
        self.blanks()
        found = self.text.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def need(self, token, message):
        if not self.accept(token):
            self.fail(message)

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    OPERATOR = re.compile(r"[A-Za-z0-9_:.]*")
    OPERATOR_PARTS = re.compile(r"([^:.]+)::([^:.]+)(?:\.([^:]+))?")
    INTEGER = re.compile(r"-?[0-9]+")
    # As the C++ reader takes it: a sign only first or after an exponent; then it must be a number.
    NUMBER_LETTERS = re.compile(r"[+-]?[0-9.infa]*(?:e[+-]?[0-9.infa]*)*")
    NUMBER = re.compile(r"-?(?:inf|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)")

    def name(self):
        self.blanks()
        return self.match(self.NAME)

    def case(self):
        steps = []
        while not steps or self.accept(";;"):
            if len(steps) == MAX_STEPS:
                self.fail("too many steps")
            steps.append(self.step(len(steps)))
        case = Case(steps)
        while self.accept("!"):
            if not case.grad and self.accept("grad"):
                case.grad = True
            elif case.error is None and self.accept("error="):
                case.error = self.string()
            else:
                self.fail("expected grad or error=, each once")
        self.blanks()
        if self.at < len(self.text):
            self.fail('expected ";;", "!grad", "!error=" or the end')
        return case

    def step(self, index):
        self.blanks()
        parts = self.OPERATOR_PARTS.fullmatch(self.match(self.OPERATOR))
        if not parts:
            self.fail("expected an operator such as aten::add.Tensor")
        overload = "" if parts[3] in (None, "default") else "." + parts[3]
        self.operands, self.index = [], index
        step = Step(f"{parts[1]}::{parts[2]}{overload}")
        self.need("(", 'expected "("')
        if self.accept(")"):
            return step
        names, named = set(), self.accept(";")
        while True:
            name = ""
            if named:
                name = self.name()
                if not name or not self.accept("="):
                    self.fail("expected name=value")
                if name in names:
                    raise CaseError(f"{step.op}: argument {name} occurs twice")
                names.add(name)
            step.args.append((name, self.value(step.op, 0)))
            if self.accept(")"):
                return step
            if not named and self.accept(";"):
                named = True
            elif not self.accept(","):
                self.fail('expected ",", ";" or ")"')

    def value(self, op, depth):
        self.blanks()
        first = self.peek()
        if first == "[":
            return self.list(op, depth)
        if first == "%":
            return self.alias(op)
        if first == "$":
            return self.result(op)
        if first == '"':
            return self.string()
        if first and (first == "-" or first in "0123456789"):
            return self.number()
        return self.word(op)

    def list(self, op, depth):
        if depth >= MAX_DEPTH:
            self.fail("lists nested too deeply")
        self.accept("[")
        items = []
        if self.accept("]"):
            return items
        while not items or self.accept(","):
            items.append(self.value(op, depth + 1))
        self.need("]", 'expected "," or "]"')
        return items

    def alias(self, op):
        self.at += 1
        start = self.at
        operand = self.integer()
        if self.text[start : self.at] != str(operand) or not 0 <= operand < len(self.operands):
            self.fail("an alias names an earlier tensor operand of its step")
        base = self.operands[operand]
        tensor = Tensor(base.dtype, base.sizes, base.strides, base.offset)
        if self.accept(":"):
            dtype = SHORT.get(self.name())
            if not dtype:
                self.fail("expected a dtype")
            tensor = self.geometry(dtype)
        tensor.alias = operand
        return self.finish(op, tensor)

    def result(self, op):
        self.at += 1
        step, output = self.integer(), 0
        if self.peek() == ".":
            self.at += 1
            output = self.integer()
        if not 0 <= step < self.index or output < 0:
            raise CaseError(f"{op}: ${step}.{output} is no result of an earlier step")
        return Result(step, output)

    def geometry(self, dtype):
        self.need("[", 'expected "[" and sizes')
        tensor = Tensor(dtype, self.integers("]"))
        if self.accept("@"):
            self.need("(", 'expected "(" and strides')
            tensor.strides = self.integers(")")
        if self.accept("+"):
            tensor.offset = self.integer()
        return tensor

    def finish(self, op, tensor):
        """What may follow the geometry of any tensor, and what syntax cannot say of it."""
        if self.accept("={"):
            tensor.literal = []
            if not self.accept("}"):
                while not tensor.literal or self.accept(","):
                    tensor.literal.append(self.real())
                self.need("}", 'expected "," or "}"')
        tensor.grad = self.accept("^")
        check(tensor, lambda what: f"{op}: tensor operand {len(self.operands)}: {what}")
        self.operands.append(tensor)
        return tensor

    WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}

    def word(self, op):
        word = self.name()
        if word in self.WORDS:
            return self.WORDS[word]
        if word in ("complex", "device"):
            return self.call(word)
        if word in SHORT:
            if self.peek() == "[":
                return self.finish(op, self.geometry(SHORT[word]))
            return Word("dtype", SHORT[word])
        if word in MEMORY_FORMATS:
            return Word("memory_format", word)
        if word in LAYOUTS:
            return Word("layout", word)
        self.fail(f'expected a value, found "{word}"')

    def call(self, head):
        self.need("(", 'expected "("')
        if head == "complex":
            real = self.real()
            self.need(",", 'expected ","')
            out = complex(real, self.real())
        else:
            kind = self.name()
            if not kind:
                self.fail("expected a device type")
            out = Device(kind, self.integer() if self.accept(":") else None)
        self.need(")", 'expected ")"')
        return out

    def number(self):
        start = self.at
        text = self.match(self.NUMBER_LETTERS)
        self.at = start
        return self.real() if set(text) & set(".einfa") else self.integer()

    def real(self):
        self.blanks()
        text = self.match(self.NUMBER_LETTERS)
        value = float(text) if self.NUMBER.fullmatch(text) else None
        if value is None or (value in (float("inf"), float("-inf")) and "inf" not in text):
            self.fail(f'"{text}" is no number of 64 bits')
        return value

    def integer(self):
        self.blanks()
        start = self.at
        text = self.match(self.INTEGER)
        if not text or len(text) > 40 or int(text) not in INT64:
            self.at = start
            self.fail("expected an integer of 64 bits")
        return int(text)

    def integers(self, close):
        out = []
        if self.accept(close):
            return out
        while not out or self.accept(","):
            out.append(self.integer())
        self.need(close, f'expected "," or "{close}"')
        return out

    ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
    HEX = re.compile(r"[0-9A-Fa-f]{2}")

    def string(self):
        self.need('"', "expected a string in double quotes")
        pieces = []
        while self.at < len(self.text) and self.peek() != '"':
            char = self.peek()
            self.at += 1
            pieces.append(self.escape() if char == "\\" else char.encode(errors="surrogateescape"))
        self.need('"', "the string has no end")
        return b"".join(pieces).decode(errors="surrogateescape")

    def escape(self):
        char = self.peek()
        self.at += 1
        if char == "x":
            digits = self.match(self.HEX)
            if not digits:
                self.fail("expected two hexadecimal digits")
            return bytes([int(digits, 16)])
        if char not in self.ESCAPES:
            self.fail("unknown escape")
        return self.ESCAPES[char].encode()


def check(tensor, bad):
    """Bounds of a tensor; contiguous strides are dropped, so that one case has one form."""
    if min([0, tensor.offset, *tensor.sizes]) < 0:
        raise CaseError(bad("a size or the offset is negative"))
    if tensor.strides is not None:
        if min([0, *tensor.strides]) < 0 or len(tensor.strides) != len(tensor.sizes):
            raise CaseError(bad("strides are negative or not as many as sizes"))
        if tensor.strides == contiguous_strides(tensor.sizes):
            tensor.strides = None
    if tensor.literal is not None and len(tensor.literal) != elements(tensor.sizes):
        raise CaseError(bad("literal values are not as many as elements"))


def elements(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


def quoted(text):
    def char(c):
        if c in '"\\':
            return "\\" + c
        if c in "\n\t":
            return "\\n" if c == "\n" else "\\t"
        return f"\\x{ord(c):02x}" if ord(c) < 0x20 or ord(c) == 0x7F else c

    return '"' + "".join(map(char, text)) + '"'


def float_text(value):
    text = repr(value)
    return text[:-2] + ".0" if text.endswith(".0") else text


def value_text(value, operands):
    if value is None or isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, complex):
        return f"complex({float_text(value.real)}, {float_text(value.imag)})"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Word):
        return value.name
    if isinstance(value, Device):
        return f"device({value.type}{'' if value.index is None else ':' + str(value.index)})"
    if isinstance(value, Result):
        return f"${value.step}" + (f".{value.output}" if value.output else "")
    if isinstance(value, list):
        return "[" + ", ".join(value_text(item, operands) for item in value) + "]"
    return tensor_text(value, operands)


def tensor_text(tensor, operands):
    same = tensor.alias is not None and operands[tensor.alias].geometry() == tensor.geometry()
    out = "" if tensor.alias is None else f"%{tensor.alias}" + ("" if same else ":")
    if not same:
        out += f"{tensor.dtype}[{','.join(map(str, tensor.sizes))}]"
        out += "" if tensor.strides is None else f"@({','.join(map(str, tensor.strides))})"
        out += f"+{tensor.offset}" if tensor.offset else ""
    if tensor.literal is not None:
        out += "={" + ",".join(float_text(v).removesuffix(".0") for v in tensor.literal) + "}"
    return out + "^" * tensor.grad


def step_text(step):
    operands = tensors_of(step)
    positional = ", ".join(value_text(value, operands) for name, value in step.args if not name)
    named = ", ".join(f"{name}={value_text(value, operands)}" for name, value in step.args if name)
    return f"{step.op}({positional}{'; ' + named if named else ''})"
