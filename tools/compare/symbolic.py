# SPDX-License-Identifier: Apache-2.0
"""Compares two texts of symbolic sizes as arithmetic: both are evaluated, exactly, at several points.

The texts are sympy's (`2*s77 - 1`, `((s21//2)) + (Mod(s20, 3))`, `u0 >= 1`) or the program's own infix. A function that is
not known here is taken as a value of its own, made from its name and the values of its arguments: two such calls are equal
exactly when name and arguments are.
"""
import ast
import fractions
import hashlib
import math
import operator
import random

POINTS = 16


class NotArithmetic(ValueError):
    pass


def _number(seed_text, low=2, high=997):
    return random.Random(hashlib.sha256(seed_text.encode()).digest()).randint(low, high)


def _quotient(a, b):
    return fractions.Fraction(a) / b


def _rounded(value, *digits):
    return round(fractions.Fraction(value), *(int(d) for d in digits))


def _relation(sign, a, b):
    """a condition as its difference: true or false alone would be the same at nearly all points"""
    if sign in ("<=", "<"):
        sign, a, b = {"<=": ">=", "<": ">"}[sign], b, a
    gap = a - b
    return (sign, abs(gap) if sign in ("==", "!=") else gap)


def _joined(word, parts):
    return (word, *sorted(parts, key=repr))


FUNCTIONS = {
    "Max": max,
    "Min": min,
    "Abs": abs,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": _quotient,
    "CeilDiv": lambda a, b: -(-a // b),
    "IntTrueDiv": _quotient,
    "FloatTrueDiv": _quotient,
    "ToFloat": lambda a: a,
    "TruncToInt": math.trunc,
    "TruncToFloat": math.trunc,
    "FloorToInt": math.floor,
    "floor": math.floor,
    "CeilToInt": math.ceil,
    "ceiling": math.ceil,
    "RoundToInt": _rounded,
    "RoundDecimal": _rounded,
    "Integer": lambda a: a,
    "PowByNatural": lambda a, b: a**b,
    "FloatPow": lambda a, b: a**b,
    "LShift": lambda a, b: a << b,
    "RShift": lambda a, b: a >> b,
    "Eq": lambda a, b: _relation("==", a, b),
    "Ne": lambda a, b: _relation("!=", a, b),
    "Ge": lambda a, b: _relation(">=", a, b),
    "Gt": lambda a, b: _relation(">", a, b),
    "Le": lambda a, b: _relation("<=", a, b),
    "Lt": lambda a, b: _relation("<", a, b),
    "Not": lambda a: ("not", a),
    "And": lambda *a: _joined("and", a),
    "Or": lambda *a: _joined("or", a),
}
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda a, b: fractions.Fraction(a) ** b,
    ast.BitAnd: lambda a, b: _joined("and", (a, b)),
    ast.BitOr: lambda a, b: _joined("or", (a, b)),
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: lambda a: ("not", a), ast.Invert: lambda a: ("not", a)}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def evaluate(text, point):
    """exact value of an expression where every symbol has the value that `point` (a number) gives it"""
    try:
        tree = ast.parse(text, mode="eval").body
        return _value(tree, point)
    except (SyntaxError, KeyError, TypeError, RecursionError, ValueError) as error:
        raise NotArithmetic(f"{text!r}: {error}") from None


def _value(node, point):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return fractions.Fraction(node.value) if isinstance(node.value, float) else node.value
    if isinstance(node, ast.Name):
        if node.id in ("True", "true", "False", "false"):
            return node.id.lower() == "true"
        return _number(f"{node.id}@{point}")
    if isinstance(node, ast.BinOp):
        return BINARY[type(node.op)](_value(node.left, point), _value(node.right, point))
    if isinstance(node, ast.UnaryOp):
        return UNARY[type(node.op)](_value(node.operand, point))
    if isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        return _joined(word, [_value(v, point) for v in node.values])
    if isinstance(node, ast.Compare):
        sides = [_value(v, point) for v in (node.left, *node.comparators)]
        parts = [_relation(COMPARE[type(o)], a, b) for o, a, b in zip(node.ops, sides, sides[1:])]
        return parts[0] if len(parts) == 1 else _joined("and", parts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        values = [_value(v, point) for v in node.args]
        if node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*values)
        return _number(f"{node.func.id}({','.join(map(str, values))})")
    raise NotArithmetic(f"{ast.dump(node)} is no arithmetic")


def equal(left, right):
    """whether two texts are the same arithmetic; texts that are none are compared as texts"""
    if left == right:
        return True
    try:
        return all(evaluate(left, point) == evaluate(right, point) for point in range(POINTS))
    except (NotArithmetic, ZeroDivisionError, OverflowError):
        return False
