# SPDX-License-Identifier: Apache-2.0
"""The values of a case as the arguments of an operator, as torch_host/trace/values_of_case.cpp makes them."""
import torch

from .case_text import Device, Result, Tensor, Word
from .case_text import DTYPES


class ArgumentFailure(Exception):
    """The case cannot be made an argument: nothing is known of the device."""


class Absent:
    """No value: the operator takes its default."""


def dtype_of(short):
    found = getattr(torch, DTYPES[short][0], None)
    if found is None or DTYPES[short][0].startswith("q"):
        raise ArgumentFailure(f"tensors of {DTYPES[short][0]} cannot be made")
    return found


def short_name(dtype):
    """torch's name of a dtype without its prefix, which is the one protocols use."""
    return str(dtype).removeprefix("torch.")


def operator_of(name):
    """The overload of "aten::add.Tensor"."""
    namespace, rest = name.split("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    except (AttributeError, RuntimeError):
        raise ArgumentFailure(f"this torch has no operator {name}") from None


def real_type(argument):
    return getattr(argument, "real_type", None) or argument.type


def unwrapped(kind):
    """The type, without the option that it may be absent."""
    return (kind.getElementType(), True) if kind.kind() == "OptionalType" else (kind, False)


def has_tensors(value):
    """A tensor among the arguments, one that an earlier step made included."""
    return isinstance(value, Tensor | Result) or (isinstance(value, list) and any(map(has_tensors, value)))


class ArgumentMaker:
    """Makes the arguments of one step. `make_tensor` takes a Tensor or Result of the case."""

    def __init__(self, op, step, device, make_tensor):
        self.op, self.step, self.device, self.make_tensor = op, step, device, make_tensor
        self.base = step.op.split("::")[1].split(".")[0]

    def make(self):
        """One value for each argument of the schema, Absent where its default is to be taken."""
        arguments = self.op._schema.arguments
        given = self._given([argument.name for argument in arguments])
        any_tensor = any(has_tensors(value) for _, value in self.step.args)
        out = []
        for argument in arguments:
            kind, optional = unwrapped(real_type(argument))
            there = argument.name in given
            if kind.kind() == "DeviceObjType" and (there or not any_tensor or not optional):
                out.append(self.device)
            elif there:
                out.append(self._value_of(argument, given[argument.name]))
            elif argument.has_default_value():
                out.append(Absent)
            elif optional:
                out.append(None)
            else:
                raise ArgumentFailure(f"the case gives no '{argument.name}'")
        return out

    def _given(self, names):
        given, position = {}, 0
        for name, value in self.step.args:
            if name and name not in names:
                raise ArgumentFailure(f"the operator has no argument '{name}'")
            if not name:
                if position == len(names):
                    raise ArgumentFailure("the operator has fewer arguments")
                name = names[position]
                position += 1
            given.setdefault(name, value)
        return given

    def _value_of(self, argument, value):
        try:
            return self._convert(value, real_type(argument), argument.N)
        except ArgumentFailure as failure:
            raise ArgumentFailure(f"argument '{argument.name}': {failure}") from None

    def _convert(self, value, kind, length=None):
        kind, optional = unwrapped(kind)
        if optional and value is None:
            return None
        if kind.kind() == "ListType":
            return self._list(value, kind.getElementType(), length)
        if kind.kind() == "TensorType":
            return self._tensor(value)
        return self._scalar(value, kind)

    def _list(self, value, element, length):
        """`int[2]` takes one number for all."""
        if not isinstance(value, list) and length:
            value = [value] * length
        if not isinstance(value, list):
            raise ArgumentFailure("not a list")
        return [self._convert(item, element) for item in value]

    def _tensor(self, value):
        """A number stays one where torch takes numbers for tensors, which makes it a wrapped number."""
        if value is None:
            return None
        if isinstance(value, Tensor | Result):
            return self.make_tensor(value)
        if isinstance(value, bool | int | float | complex):
            allowed = getattr(torch._C, "_should_allow_numbers_as_tensors", lambda base: False)
            return value if allowed(self.base) else torch.scalar_tensor(value, dtype=_dtype_of_number(value))
        raise ArgumentFailure("not a tensor")

    @staticmethod
    def _scalar(value, kind):
        name = kind.kind()
        number = isinstance(value, bool | int | float | complex)
        if name in ("IntType", "SymIntType", "ScalarTypeType", "LayoutType", "MemoryFormatType"):
            return _integer(value)
        if name == "NumberType" and number:
            return value
        if name in ("FloatType", "BoolType") and number and not isinstance(value, complex):
            return float(value) if name == "FloatType" else value != 0
        if name == "StringType" and isinstance(value, str):
            return value
        raise ArgumentFailure(f"cannot be made a {kind}")


def _dtype_of_number(value):
    return {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}[type(value)]


def _integer(value):
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, Word):
        return dtype_of(value.name) if value.kind == "dtype" else getattr(torch, value.name)
    raise ArgumentFailure("not an integer")


def call(op, values):
    """Calls an operator with values for its arguments in the order of the schema."""
    positional, named, gap = [], {}, False
    for argument, value in zip(op._schema.arguments, values, strict=True):
        if value is Absent:
            gap = True
        elif gap or argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    return op(*positional, **named)
