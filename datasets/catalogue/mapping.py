# SPDX-License-Identifier: Apache-2.0
"""What a child's argument is in terms of its parent: the same tensor, the same value, a constant, or only known to
have a certain dtype, rank or contiguity. Only what holds in every occurrence is said."""


def tensors(fact):
    return [fact] if fact[0] == "T" else [t for t in fact[1] if t[0] == "T"] if fact[0] == "L" else []


def key(value):
    return repr(value)


def places(fact, parent):
    """The parent's arguments that a child's tensor argument can be: names, or (name, index)."""
    if fact[0] == "N":
        return {name for name, f in parent.items() if f[0] == "N"}
    if fact[0] == "T":
        return {p if isinstance(p, str) else (p[0], p[1]) for p in fact[5]}
    found = None  # A list is the parent's list when every item is the item at the same place.
    for i, item in enumerate(fact[1]):
        here = {p[0] for p in item[5] if not isinstance(p, str) and p[1] == i} if item[0] == "T" else None
        if here is not None:
            found = here if found is None else found & here
    return {p for p in found or () if len(parent[p][1]) == len(fact[1])}


def map_tensor(name, uses):
    common = set.intersection(*(places(fact, parent) for fact, parent in uses))
    if common:
        best = sorted(common, key=lambda p: (p != name, isinstance(p, tuple), str(p)))[0]
        return {"parent": best} if isinstance(best, str) else {"parent": best[0], "index": best[1]}
    if all(fact[0] == "N" for fact, _ in uses):
        return {"const": None}
    if any(fact[0] == "N" for fact, _ in uses):
        return None
    return derived(uses)


def uniform(values):
    """The one value all have, or None."""
    first = values[0]
    return first if all(v == first for v in values) else None


def property_of(uses, place, prefer_constant):
    """A constant, or "same:<argument>" of the parent, that holds for every tensor in every use."""
    per_use = []
    for fact, parent in uses:
        value = uniform([place(t) for t in tensors(fact)] or [None])
        if value is None:
            return None
        per_use.append((value, parent))
    constant = uniform([value for value, _ in per_use])
    names = []
    for name in candidates(uses):
        theirs = [[place(t) for t in tensors(parent[name])] for _, parent in per_use]
        if all(t and uniform(t) == value for t, (value, _) in zip(theirs, per_use)):
            names.append(name)
    if constant is not None and (prefer_constant or not names):
        return constant
    return f"same:{names[0]}" if names else None


def candidates(uses):
    """The parent's arguments, those first that the tensor was computed from in every use."""
    origins = set.intersection(*({o for t in tensors(fact) for o in t[6]} for fact, _ in uses))
    names = list(uses[0][1])
    return sorted(names, key=lambda n: n not in origins)


def derived(uses):
    out = {}
    wrapped = [t[4] for fact, _ in uses for t in tensors(fact)]
    if wrapped and all(wrapped):
        return {"derived": {"rank": "0", "wrapped_number": True}}
    dtype = property_of(uses, lambda t: t[1], False)
    # One dtype in every use only means something if the parent was tried with several.
    if dtype is not None and (dtype.startswith("same:") or parents_vary(uses)):
        out["dtype"] = dtype
    rank = property_of(uses, lambda t: len(t[2]), True)
    if rank is not None:
        out["rank"] = str(rank)
    contiguous = property_of(uses, lambda t: t[3], True)
    if contiguous is not None:
        out["contiguous"] = contiguous
    return {"derived": out} if out else None


def parents_vary(uses):
    seen = {tuple(t[1] for f in parent.values() for t in tensors(f)[:1]) for _, parent in uses}
    return len(seen) > 1


def map_value(name, uses):
    values = {key(fact) for fact, _ in uses}
    equal = [n for n in uses[0][1] if all(n in parent and key(parent[n]) == key(fact) for fact, parent in uses)]
    if name in equal:
        return {"parent": name}
    if len(values) == 1:
        fact = uses[0][0]
        return {"const": None if fact[0] == "N" else fact[1]}
    return {"parent": equal[0]} if len(equal) == 1 else map_longer_list(name, uses)


def is_numbers(fact):
    return fact[0] == "V" and isinstance(fact[1], list) and all(type(v) is int for v in fact[1])


ADDED_DIMENSION = {0, 1}  # What a dimension put in front gets. Other numbers would be sizes of the samples.


def numbers_before(fact, theirs):
    """What stands in a list of numbers before the parent's list; None where it does not end with that."""
    if not (is_numbers(fact) and is_numbers(theirs)) or not 0 < len(theirs[1]) < len(fact[1]):
        return None
    count = len(fact[1]) - len(theirs[1])
    head, tail = fact[1][:count], fact[1][count:]
    return head if tail == theirs[1] and set(head) <= ADDED_DIMENSION else None


def map_longer_list(name, uses):
    """The parent's list behind constants. It must have been tried with several values: [2, 2] of [2] may as well be one
    number that stands for both."""
    found = {}
    for other in uses[0][1]:
        heads = [numbers_before(fact, parent[other]) for fact, parent in uses]
        varied = len({key(parent[other]) for _, parent in uses}) > 1
        if varied and uniform(heads):
            found[other] = heads[0]
    only = name if name in found else next(iter(found)) if len(found) == 1 else None
    return {"parent": only, "before": found[only]} if only else None


def map_arguments(uses):
    """uses: [(child's arguments, parent's arguments)] -> {argument: mapping}; unknown arguments are left out."""
    out = {}
    for name in uses[0][0]:
        if name in ("device", "pin_memory"):
            continue  # Where the recording ran says nothing about a model.
        facts = [(args[name], parent) for args, parent in uses]
        is_tensor = any(fact[0] in "TL" for fact, _ in facts)
        found = map_tensor(name, facts) if is_tensor else map_value(name, facts)
        if found is not None:
            out[name] = found
    return out
