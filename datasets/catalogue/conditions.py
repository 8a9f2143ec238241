# SPDX-License-Identifier: Apache-2.0
"""Finds a predicate over a parent's arguments that separates two sets of observations exactly.

The text is in the predicate grammar of the operator database (docs/predicates.md): a tensor list means each of its
tensors. Arguments that are sometimes None are only asked is_none.
"""
import itertools

import recording_names
from predicates import FLOATS, INTS, number_of

MIN_SIDE_TWO = 4  # Observations needed on each side for more than one atom: fewer fit by chance.
MAX_ATOMS = 160
MAX_LENGTHS = 8  # A list of more different lengths has no length that matters.
MAX_WORDS = 8  # An argument with more different strings holds free text, not a choice.


def tensors(fact):
    return [fact] if fact[0] == "T" else [t for t in fact[1] if t[0] == "T"] if fact[0] == "L" else []


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)  # Of infinities the word that the grammar has.
    return value if value in recording_names.NAMES else "'" + value + "'"


class Atom:
    """text, a function of an observation's arguments, and how far-fetched it is. A broad atom asks what operators
    branch on (kind, rank, presence, layout, flags), not for one dtype, size or number out of many."""

    def __init__(self, text, holds, cost, broad=True):
        self.text, self.holds, self.cost, self.broad = text, holds, cost, broad


def none_atoms(name):
    yield Atom(f"is_none({name})", lambda o: o[name][0] == "N", 0)
    yield Atom(f"!is_none({name})", lambda o: o[name][0] != "N", 0)


def each(name, test):
    return lambda o: all(test(t) for t in tensors(o[name]))


def rank_atoms(name, ranks):
    for k in sorted(ranks):
        yield Atom(f"rank({name}) == {k}", each(name, lambda t, k=k: len(t[2]) == k), 1)
        yield Atom(f"rank({name}) != {k}", each(name, lambda t, k=k: len(t[2]) != k), 2)
        yield Atom(f"rank({name}) >= {k}", each(name, lambda t, k=k: len(t[2]) >= k), 2)
        yield Atom(f"rank({name}) < {k}", each(name, lambda t, k=k: len(t[2]) < k), 2)


COMPLEX = frozenset("complex32 complex64 complex128".split())


def dtype_sets(dtypes):
    """Sets a rule would name: one dtype, or a whole kind (with every member of it, tried or not)."""
    for members in (FLOATS, COMPLEX, FLOATS | COMPLEX, INTS, INTS | {"bool"}, FLOATS | INTS | {"bool"}):
        if members & dtypes and dtypes - members:
            yield sorted(members)
    for dtype in sorted(dtypes):
        yield [dtype]


def dtype_atoms(name, dtypes):
    for members in dtype_sets(dtypes):
        inside = frozenset(members)
        text = f"dtype({name}) == {members[0]}" if len(members) == 1 else f"dtype({name}) in {{{','.join(members)}}}"
        yield Atom(text, each(name, lambda t, s=inside: t[1] in s), 1, len(members) > 1)
        if len(members) == 1:
            yield Atom(f"dtype({name}) != {members[0]}", each(name, lambda t, s=inside: t[1] not in s), 2, False)


def size_atoms(name, ranks):
    for i in range(min(min(ranks), 4) if ranks else 0):
        yield Atom(f"size({name},{i}) == 1", each(name, lambda t, i=i: t[2][i] == 1), 4, False)
        yield Atom(f"size({name},{i}) != 1", each(name, lambda t, i=i: t[2][i] != 1), 4, False)


def tensor_atoms(name, observations):
    found = [t for o in observations for t in tensors(o[name])]
    ranks = {len(t[2]) for t in found}
    if len(ranks) > 1:
        yield from rank_atoms(name, ranks)
    dtypes = {t[1] for t in found}
    if len(dtypes) > 1:
        yield from dtype_atoms(name, dtypes)
    if len({t[3] for t in found}) > 1:
        yield Atom(f"contiguous({name})", each(name, lambda t: t[3]), 3)
        if all(o[name][0] == "T" for o in observations):
            yield Atom(f"!contiguous({name})", lambda o: not o[name][3], 3)
    yield from size_atoms(name, ranks)


def same(a, b):
    """Equal and of one type: True is not 1, 2.0 is not 2."""
    return type(a) is type(b) and a == b


def value_atoms(name, observations):
    values = {repr(v): v for v in (number_of(o[name][1]) for o in observations)}
    scalars = {k: v for k, v in values.items() if isinstance(v, (bool, int, float, str))}
    free_text = len(values) > MAX_WORDS and any(isinstance(v, str) for v in values.values())
    if len(values) > 1 and len(scalars) == len(values) and not free_text:
        for key in sorted(scalars)[:12]:
            value = scalars[key]
            broad = isinstance(value, (bool, str)) and value not in recording_names.DTYPES.values()
            cost = 0 if isinstance(value, (bool, str)) else 2
            yield Atom(f"{name} == {literal(value)}", lambda o, v=value: same(number_of(o[name][1]), v), cost, broad)
            yield Atom(f"{name} != {literal(value)}", lambda o, v=value: not same(number_of(o[name][1]), v), cost + 1, broad)
    if len(values) > 1 and all(type(v) in (int, float) for v in values.values()):
        for text, test in (
            ("{n} > 0", lambda v: v > 0), ("{n} == 0", lambda v: v == 0), ("{n} != 0", lambda v: v != 0),
            ("{n} < 0", lambda v: v < 0), ("{n} >= 0", lambda v: v >= 0),
            ("{n} < 1", lambda v: v < 1), ("{n} == 1", lambda v: v == 1), ("{n} != 1", lambda v: v != 1),
            ("{n} > 0 && {n} < 1", lambda v: 0 < v < 1),
        ):  # fmt: skip
            # Operators do not branch on which dimension is asked for.
            broad = not name.startswith("dim")
            yield Atom(text.format(n=name), lambda o, t=test: t(number_of(o[name][1])), 1, broad)
    lists = list(values.values())
    if all(isinstance(v, list) and all(isinstance(x, int) for x in v) for v in lists):
        for n in (0, 1):
            test = lambda o, n=n: any(x > n for x in o[name][1])
            yield Atom(f"any_gt({name},{n})", test, 2)
            yield Atom(f"!any_gt({name},{n})", lambda o, t=test: not t(o), 3)


def length_atoms(name, observations):
    """Of numbers any length (it says how many dimensions are meant); of tensors only whether it is one."""
    lists = [o[name][1] for o in observations if isinstance(o[name][1], list)]
    lengths = {len(found) for found in lists}
    if len(lists) == len(observations) and 1 < len(lengths) <= MAX_LENGTHS:
        for n in sorted(lengths if observations[0][name][0] == "V" else lengths & {1}):
            yield Atom(f"len({name}) == {n}", lambda o, n=n: len(o[name][1]) == n, 2)
            yield Atom(f"len({name}) != {n}", lambda o, n=n: len(o[name][1]) != n, 3)


def pair_atoms(names, observations):
    """Comparisons of two tensors' dtypes or ranks, and of a dtype argument with a tensor's dtype."""
    single = [n for n in names if all(o[n][0] == "T" for o in observations)]
    for a, b in itertools.combinations(single, 2):
        for word, place in (("dtype", lambda t: t[1]), ("rank", lambda t: len(t[2]))):
            yield Atom(f"{word}({a}) == {word}({b})", lambda o, a=a, b=b, p=place: p(o[a]) == p(o[b]), 3)
            yield Atom(f"{word}({a}) != {word}({b})", lambda o, a=a, b=b, p=place: p(o[a]) != p(o[b]), 3)
    for a in names:
        if a == "dtype" and all(o[a][0] == "V" for o in observations):
            for b in single:
                yield Atom(f"value({a}) == dtype({b})", lambda o, a=a, b=b: o[a][1] == o[b][1], 1)
                yield Atom(f"value({a}) != dtype({b})", lambda o, a=a, b=b: o[a][1] != o[b][1], 1)


def atoms_for(observations):
    names = list(observations[0])
    out = []
    for name in names:
        kinds = {o[name][0] for o in observations}
        if "N" in kinds and len(kinds) > 1:
            out += none_atoms(name)
        if kinds <= {"T", "L"}:
            out += tensor_atoms(name, observations)
        elif kinds == {"V"}:
            out += value_atoms(name, observations)
        if kinds in ({"L"}, {"V"}):
            out += length_atoms(name, observations)
    out += pair_atoms(names, observations)
    return sorted(out, key=lambda a: a.cost)


def only_if(present, absent):
    """Text that is true for every observation of `present` and false for as many of `absent` as one atom, or two
    joined by ||, can make it; None if that is none of them. Two joined by && would fit chance. Of equal atoms the one
    with != is taken, which excludes nothing that was not seen. None for fewer samples than MIN_SIDE_TWO of the child."""
    if len(present) < MIN_SIDE_TWO:
        return None
    everything = present + absent
    wanted, full = (1 << len(present)) - 1, (1 << len(everything)) - 1
    masks = {}
    for atom in sorted(atoms_for(everything), key=lambda a: "!=" not in a.text):
        if atom.broad:
            masks.setdefault(sum(1 << i for i, o in enumerate(everything) if atom.holds(o)), atom)
    masks.pop(full, None)
    masks.pop(0, None)
    found = [(bin(m).count("1"), a.cost, a.text) for m, a in masks.items() if m & wanted == wanted]
    if min(len(present), len(absent)) >= MIN_SIDE_TWO:
        for (x, a), (y, b) in itertools.combinations(list(masks.items())[:MAX_ATOMS], 2):
            if (x | y) & wanted == wanted and x | y != full:
                text = f"{brackets(a.text)} || {brackets(b.text)}"
                found.append((bin(x | y).count("1"), a.cost + b.cost + 1, text))
    return min(found)[2] if found else None


def find_condition(present, absent):
    """Text that is true for every observation of `present` and false for every one of `absent`, or None."""
    everything = present + absent
    wanted = (1 << len(present)) - 1
    full = (1 << len(everything)) - 1
    masks = {}
    for atom in atoms_for(everything):
        mask = sum(1 << i for i, o in enumerate(everything) if atom.holds(o))
        if mask == wanted:
            return atom.text
        if mask not in (0, full) and mask not in masks:  # Of equal atoms the plainest stays.
            masks[mask] = atom
    if min(len(present), len(absent)) < MIN_SIDE_TWO:
        return None
    return two_atoms(masks, wanted, full) or three_atoms(masks, wanted, full)


def brackets(text):
    return f"({text})" if "&&" in text or "||" in text else text


def two_atoms(masks, wanted, within):
    """The cheapest pair joined by && or || that agrees with `wanted` inside the observations of `within`."""
    best = None
    wanted &= within
    inside = {}
    for mask, atom in masks.items():
        inside.setdefault(mask & within, atom)
    supersets = [(m, a) for m, a in inside.items() if m & wanted == wanted and m != within]
    subsets = [(m, a) for m, a in inside.items() if m and m | wanted == wanted]
    for group, word, join in ((supersets, "&&", int.__and__), (subsets, "||", int.__or__)):
        for (x, a), (y, b) in itertools.combinations(group[:MAX_ATOMS], 2):
            cost = a.cost + b.cost
            if join(x, y) == wanted and (best is None or cost < best[0]):
                best = (cost, f"{join_text(a.text, word)} {word} {join_text(b.text, word)}")
    return best[1] if best else None


def join_text(text, word):
    return text if word == "&&" else brackets(text)


def three_atoms(masks, wanted, full):
    """A && (pair) or A || (pair); the plainest A first, and enough observations for the pair to mean something."""
    for mask, atom in sorted(masks.items(), key=lambda item: item[1].cost):
        if mask & wanted == wanted and bin(mask & ~wanted).count("1") >= MIN_SIDE_TWO:
            pair = two_atoms(masks, wanted, mask)
            if pair:
                return f"{atom.text} && ({pair})"
        if mask | wanted == wanted and bin(wanted & ~mask).count("1") >= MIN_SIDE_TWO:
            pair = two_atoms(masks, wanted & ~mask, full & ~mask)
            if pair:
                return f"{brackets(atom.text)} || ({pair})"
    return None
