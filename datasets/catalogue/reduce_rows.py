# SPDX-License-Identifier: Apache-2.0
"""From the observations of all units to rows, and the coverage that is printed."""
import collections
import json
import multiprocessing

import conditions
import mapping
import predicates

SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "bool": "b8", "complex64": "c64", "uint8": "u8", "int8": "i8",
}  # fmt: skip
PER_SIGNATURE = 80  # Observations of one operator with one set of children that enter the reduction.
SOURCES = ("opinfo", "moduleinfo", "foreach", "hand", "auto")


def operators_of(paths):
    """The operators that have an observation, without reading all of it."""
    begin, found = '{"op":"', set()
    for path in paths.values():
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    text = line.partition("\t")[2]
                    found.add(text[len(begin) : text.index('"', len(begin))])
    return found


def load(paths):
    """op -> [(observation, samples, source)]"""
    found, seen = collections.defaultdict(list), set()
    for (source, _), path in sorted(paths.items(), key=lambda item: str(item[1])):
        if not path.exists():
            continue
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                count, _, text = line.partition("\t")
                if text in seen:  # A call that another unit made just so.
                    continue
                seen.add(text)
                observation = json.loads(text)
                found[observation["op"]].append((observation, int(count), source))
    return found


def known(entries, ops):
    """torch's tests define operators of their own, which are no part of the catalogue. Moves to the host are no part of
    a model."""
    inside = [e for e in entries if e[0]["in"].get("device") != ["V", "cpu"]]
    return [e for e in inside if all(c["op"] in ops for c in e[0]["calls"])]


def usable(entries):
    """Observations that count: complete ones if there are any, made without differentiation if there are any."""
    whole = [e for e in entries if not e[0]["raised"]] or entries
    plain = [e for e in whole if not e[0]["grad"]] or whole
    kept, out, seen = collections.Counter(), [], set()
    for entry in plain:
        signature = tuple(sorted({c["op"] for c in entry[0]["calls"]}))
        text = json.dumps([entry[0]["in"], entry[0]["calls"]])
        if text not in seen and kept[signature] < PER_SIGNATURE:
            seen.add(text)
            kept[signature] += 1
            out.append(entry)
    return out, sum(e[1] for e in plain)


def has_complex(fact):
    return fact[0] == "T" and fact[1].startswith("complex") or fact[0] == "L" and any(map(has_complex, fact[1]))


def argument_uses(child, present):
    """What the mapping is made from. Complex numbers take detours of their own in a few operators (convolution), which
    would hide what holds for all others; they only count where there is nothing else."""
    real = [e for e in present if not any(map(has_complex, e[0]["in"].values()))] or present
    return [(c["args"], e[0]["in"]) for e in real for c in e[0]["calls"] if c["op"] == child]


def times_word(counts):
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}..{high}"


def value_text(fact):
    if fact[0] == "N":
        return "None"
    if fact[0] == "T":
        return f"{SHORT.get(fact[1], fact[1])}[{','.join(map(str, fact[2]))}]"
    if fact[0] == "L":
        return "[" + ", ".join(value_text(f) for f in fact[1][:4]) + (", ..." if len(fact[1]) > 4 else "") + "]"
    return json.dumps(fact[1])


def sample_text(observation):
    text = ", ".join(f"{name}={value_text(fact)}" for name, fact in observation["in"].items())
    return f"{observation['op']}({text})"[:240]


def source_word(entries):
    found = {e[2] for e in entries}
    return next(s for s in SOURCES if s in found)


NECESSARY = "only if "  # Begins a condition of hand_conditions.txt that is not sufficient.


def read_hand_conditions(here):
    """(operator, child) -> condition, or a necessary one"""
    lines = (here / "hand_conditions.txt").read_text(encoding="utf-8").splitlines()
    parts = [[p.strip() for p in line.split(" | ")] for line in lines if line and not line.startswith("#")]
    return {(op, child): text for op, child, text in parts}


def hand_condition(op, child, present, absent):
    """(condition, only_if), both None where nothing is written by hand or a sample contradicts it."""
    text = shared["hand_conditions"].get((op, child))
    if text is None:
        return None, None
    necessary = text.startswith(NECESSARY)
    predicate = text.removeprefix(NECESSARY)
    holds = predicates.Predicate(predicate, list(present[0])).holds
    for wanted, side in ((True, present), (False, [] if necessary else absent)):
        wrong = [o for o in side if holds(o) != wanted]
        if wrong:
            print(f"not used: {op} | {child} | {text}: contradicted {len(wrong)} times, by {wrong[0]}", flush=True)
            return None, None
    return (None, predicate) if necessary else (predicate, None)


def row(op, child, entries, samples, plumbing):
    present = [e for e in entries if any(c["op"] == child for c in e[0]["calls"])]
    counts = [sum(c["op"] == child for c in e[0]["calls"]) for e in present]
    always = len(present) == len(entries)
    out = {
        "op": op,
        "child": child,
        "times": times_word(counts),
        "mode": "always" if always else "sometimes",
        "condition": None,
        "args": mapping.map_arguments(argument_uses(child, present)),
        "samples": samples,
        "sample": sample_text(present[0][0]),
        "source": source_word(present),
    }
    if not always:
        absent = [e for e in entries if not any(c["op"] == child for c in e[0]["calls"])]
        sides = [e[0]["in"] for e in present], [e[0]["in"] for e in absent]
        out["condition"], necessary = hand_condition(op, child, *sides)
        if necessary is None and out["condition"] is None:
            out["condition"] = conditions.find_condition(*sides)
        if out["condition"] is None:
            necessary = necessary or conditions.only_if(*sides)
            out.update({"only_if": necessary} if necessary not in (None, "true") else {})
    hosts = [c["host"] for e in present for c in e[0]["calls"] if c["op"] == child]
    if child in plumbing or all(hosts):
        out["plumbing"] = True
    if all(e[0]["raised"] for e in entries):
        out["truncated"] = True
    if all(e[0]["grad"] for e in entries):
        out["grad_only"] = True
    return out


def rows_of(op, all_entries, plumbing):
    entries, samples = usable(all_entries)
    children = sorted({c["op"] for e in entries for c in e[0]["calls"]})
    if not children and all(e[0]["raised"] for e in entries):
        return  # refused before its first call: nothing was seen
    if not children:
        yield {
            "op": op, "child": None, "times": "0", "mode": "always", "condition": None, "args": {},
            "samples": samples, "sample": sample_text(entries[0][0]), "source": source_word(entries),
        }  # fmt: skip
    for child in children:
        yield row(op, child, entries, samples, plumbing)


shared = {}  # What the forked reducers read.


def rows_of_one(op):
    return list(rows_of(op, shared["found"][op], shared["plumbing"]))


def plumbing_names(here, ops):
    names = {line.strip() for line in (here / "plumbing.txt").read_text().splitlines() if not line.startswith("#")}
    return names | {name for name, o in ops.items() if o["view"] in ("view", "kernel_view")}


def coverage(rows, ops):
    have = {r["op"] for r in rows}
    wanted = [o for o in ops.values() if o["name"].startswith("aten::") and o["dispatch_class"] in ("cea", "cia")]
    wanted = [o for o in wanted if not o["throws_only"]]
    out = [o for o in wanted if ", *, Tensor(" in o["schema"] or "out)" in o["schema"].split("->")[0]]
    functional = [o for o in wanted if o not in out]
    print(f"{len(rows)} rows of {len(have)} operators")
    for title, group in (("functional and in-place", functional), ("out=", out)):
        print(f"aten cea/cia, {title}: {sum(o['name'] in have for o in group)} of {len(group)} have rows")
    missing = [o["name"] for o in functional if o["name"] not in have]
    kinds = collections.Counter(kind_of(ops[n]) for n in missing)
    print("without rows by kind: " + ", ".join(f"{k} {n}" for k, n in kinds.most_common()))
    sometimes = [r for r in rows if r["mode"] == "sometimes" and not r.get("plumbing")]
    solved = sum(r["condition"] is not None for r in sometimes)
    print(f"sometimes-children (no plumbing): {len(sometimes)}, with a condition: {solved}")
    return missing


def kind_of(op):
    name = op["name"]
    inputs = op["schema"].split("->")[0]
    for word in ("_foreach", "_fused", "sparse", "nested", "quant", "fft", "special", "linalg", "backward", "_copy"):
        if word in name:
            return word.strip("_")
    if "Tensor" not in inputs:
        return "no tensor"
    if "Dimname" in inputs:
        return "named dimensions"
    return "in-place" if op["mutates"] else "other"


def read_ops(folder):
    with (folder / "ops.jsonl").open(encoding="utf-8") as lines:
        return {o["name"]: o for o in map(json.loads, lines)}


def write(paths, output, here):
    ops = read_ops(output.parent)
    plumbing = plumbing_names(here, ops)
    found = {op: known(entries, ops) for op, entries in load(paths).items() if op in ops}
    found = {op: entries for op, entries in found.items() if entries}
    shared.update(found=found, plumbing=plumbing, hand_conditions=read_hand_conditions(here))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        rows = [r for part in pool.imap(rows_of_one, sorted(found), chunksize=16) for r in part]
    with output.open("w", encoding="utf-8") as out:
        for r in rows:
            out.write(json.dumps(r, separators=(",", ":")) + "\n")
    print(f"{output.name}: {output.stat().st_size} bytes")
    missing = coverage(rows, ops)
    (output.parent / "not_covered.txt").write_text("".join(f"{n}\n" for n in sorted(missing)))
