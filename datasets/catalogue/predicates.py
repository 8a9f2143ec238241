# SPDX-License-Identifier: Apache-2.0
"""Reads the part of the predicate grammar that conditions use, and evaluates it on an observation's arguments."""
import math
import operator
import re

TOKEN = re.compile(r"\s*(&&|\|\||==|!=|<=|>=|[!<>(){},%]|'[^']*'|-inf\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_]\w*)")
FUNCTIONS = {
    "dtype": 1, "itemsize": 1, "rank": 1, "size": 2, "contiguous": 1, "len": 1, "value": 1, "is_none": 1, "any_gt": 2,
}  # fmt: skip
COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
WORDS = {"true": True, "false": False, "None": None, "inf": math.inf, "-inf": -math.inf}
FLOATS = frozenset("float16 bfloat16 float32 float64".split())
INTS = frozenset("uint8 int8 int16 int32 int64".split())
NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def number_of(value):
    """The value an argument was recorded with: the recorder writes numbers that JSON does not have as words."""
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def tensors(fact):
    return [fact] if fact[0] == "T" else [t for t in fact[1] if t[0] == "T"] if fact[0] == "L" else []


class Predicate:
    """Predicate(text, argument names) raises ValueError for a text it cannot read; holds(arguments) is exact for facts
    as recording.py makes them, where a comparison that has no operand (None) holds."""

    def __init__(self, text, names):
        self.tokens, self.names, place = [], set(names), 0
        while place < len(text.rstrip()):
            found = TOKEN.match(text, place)
            if not found:
                raise ValueError(f"column {place}: {text}")
            self.tokens.append(found[1])
            place = found.end()
        self.holds = self.either()
        if self.tokens:
            raise ValueError(f"left over: {self.tokens}")

    def take(self, *wanted):
        if not self.tokens or (wanted and self.tokens[0] not in wanted):
            raise ValueError(f"{wanted} expected before {self.tokens[:3]}")
        return self.tokens.pop(0)

    def at(self, *words):
        return bool(self.tokens) and self.tokens[0] in words

    def chain(self, symbol, part, join):
        parts = [part()]
        while self.at(symbol):
            self.take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else lambda o: join(p(o) for p in parts)

    def either(self):
        return self.chain("||", self.both, any)

    def both(self):
        return self.chain("&&", self.one, all)

    def one(self):
        if self.at("!"):
            self.take()
            inner = self.one()
            return lambda o: not inner(o)
        if self.at("("):
            self.take()
            inner = self.either()
            self.take(")")
            return inner
        left = self.remainder()
        if self.at("in"):
            members = self.members()
            return lambda o: all(v in members for v in left(o))
        if self.at(*COMPARISONS):
            test, right = COMPARISONS[self.take()], self.remainder()
            return lambda o: all(same_kind(a, b, test) for a in left(o) for b in right(o))
        return lambda o: all(bool(v) for v in left(o))

    def members(self):
        self.take("in")
        if self.at("floats", "ints"):
            return {"floats": FLOATS, "ints": INTS}[self.take()]
        self.take("{")
        members = [self.take()]
        while self.at(","):
            self.take()
            members.append(self.take())
        self.take("}")
        return set(members)

    def remainder(self):
        left = self.operand()
        while self.at("%"):
            self.take()
            left = self.modulo(left, self.operand())
        return left

    @staticmethod
    def modulo(left, right):
        return lambda o: [a % b for a in left(o) for b in right(o)]

    def operand(self):
        """A function from an observation to the list of values the operand stands for."""
        word = self.take()
        if self.at("("):
            return self.function(word)
        if word in self.names:
            return lambda o: values(o[word])
        if word[0] == "'":
            return lambda o: [word[1:-1]]
        if word in WORDS:
            return lambda o: [WORDS[word]]
        if word[0].isdigit() or word[0] == "-":
            number = float(word) if "." in word or "e" in word else int(word)
            return lambda o: [number]
        if not word.isidentifier():
            raise ValueError(f"{word} is no operand")
        return lambda o: [word]

    def function(self, word):
        if word not in FUNCTIONS:
            raise ValueError(f"unknown function {word}")
        self.take("(")
        name = self.take()
        if name not in self.names:
            raise ValueError(f"unknown argument {name}")
        number = 0
        if FUNCTIONS[word] == 2:
            self.take(",")
            number = int(self.take())
        self.take(")")
        return {
            "dtype": lambda o: [t[1] for t in tensors(o[name])],
            "itemsize": lambda o: [item_size(t[1]) for t in tensors(o[name])],
            "rank": lambda o: [len(t[2]) for t in tensors(o[name])],
            "size": lambda o: [t[2][number] for t in tensors(o[name])],
            "contiguous": lambda o: [t[3] for t in tensors(o[name])],
            "len": lambda o: [len(o[name][1])] if o[name][0] != "N" else [],
            "value": lambda o: values(o[name]),
            "is_none": lambda o: [o[name][0] == "N"],
            "any_gt": lambda o: [any(v > number for v in o[name][1])],
        }[word]


def values(fact):
    """A list means each of its elements."""
    if fact[0] != "V":
        return []
    return [number_of(value) for value in (fact[1] if isinstance(fact[1], list) else [fact[1]])]


def item_size(dtype):
    return {"bool": 1, "bfloat16": 2}.get(dtype) or int(re.search(r"\d+$", dtype)[0]) // 8


def same_kind(a, b, test):
    """true is not 1."""
    return test(a, b) if isinstance(a, bool) == isinstance(b, bool) else test is operator.ne
