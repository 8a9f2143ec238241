# SPDX-License-Identifier: Apache-2.0
"""Write docs/numerics-rules.md from op_rules.tsv and companions.tsv; --check only compares (exit 1 where it differs)."""
import collections
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parents[1] / "docs" / "numerics-rules.md"

CLASSES = {
    "A": "exact: bits agree, up to the payload of NaN",
    "B": "one exact operation, rounded once",
    "C": "a transcendental function: `coefficient` ulps of the accumulator",
    "D": "an elementwise formula of several steps",
    "E": "a reduction, a scatter, a window",
    "F": "a matrix product, a convolution, a transform",
    "G": "a normalisation",
    "H": "several of these fused",
    "I": "a factorisation: its residual",
    "J": "random: its distribution",
    "K": "a decision: an index, a floor of a computed quotient",
    "-": "not compared, for the reason its flag says",
}

HEAD = """# How each operator is judged

Made from `datasets/numerics/op_rules.tsv` by `datasets/numerics/make_rules_doc.py`; do not edit. {operators} operators or packets
have a rule, of {outputs} outputs. One without a rule is *not comparable*, by its name.

    B_exp = roundings u_t |H| + (coefficient + 4 sqrt(k)) u_acc S + eta        u_acc of fp32, of fp64 for fp64 outputs
            + (roundings - 1) u_t S_stored    where intermediate tensors may be stored
                                              4 sqrt(k) in classes E to H, for more than one term

H is the truth, of scalar arguments rounded to the accumulator's format; k the length, S the `companion`, S_stored that named by `stored`. `unstable` names the S of a legal formula that cancels more: within that bound
only, a result passes weakly.

- Integer and bool outputs are exact whatever the class, but for I, J and K.
- Class K bounds the quantity that is decided, not the output; without a companion the decision is on stored operands, and
  only ties are open. `rounding_mode=None` makes `div.Tensor_mode` a plain `div`. Dropout with `train=False` is a copy.
- Rows speak of real operands. Complex products, quotients, `abs` and `sgn` round more than once: no rule yet.
- `add_`, `add.out`, `view_copy` and `__iand__` have the rule of `add`, `view`, `__and__`; `median.dim_values` that of `median.dim`.
- Flags: `const`: the truth may be one value throughout; `nan`: NaN of finite operands is by definition; `uninitialised`,
  `no-tensor`, `unspecified` (a workspace or state), `opaque` (packed weights), `not-dense`: why an output is not compared.

## Classes

| class | operators | outputs | what is right | for example |
|---|---|---|---|---|
"""

LENGTHS = """
## Lengths

k counts the terms of the longest sum behind one element, by the names of the schema: `numel(x)`, `size(x, d)` (d a number, an
argument, a list), `prod(x)`, `prod(x, n)` (one number stands for n), `contracted(equation, tensors)`, `max`, `min`, `if(c, a, b)`,
`+`, `*`, `/` (rounds up; 0/0 is 0), and `out`, `out0`, `out1` for the outputs (`numerics/rules/length.h`). `group_size` of a collective is that
of its group.

## Companions

x is the input, g the incoming gradient, y the stored result a backward operator gets, H the truth; sums and means run over what the
operator itself reduces; everything in fp64. What no sum amplifies stands over sqrt k, since the bound multiplies S by 4 sqrt k.

"""


def table(name):
    lines = (FOLDER / name).read_text().splitlines()
    keys = lines[0].split("\t")
    return [dict(zip(keys, line.split("\t"))) for line in lines[1:]]


def page():
    rows = table("op_rules.tsv")
    text = HEAD.format(operators=len({r["op"] for r in rows}), outputs=len(rows))
    for letter, meaning in CLASSES.items():
        own = [r for r in rows if r["class"] == letter]
        names = list(dict.fromkeys(r["op"].split("::")[1] for r in own if not r["op"].startswith("aten::_")))
        shown = ", ".join(f"`{n}`" for n in names[:: max(1, len(names) // 5)][:5])
        text += f"| {letter} | {len({r['op'] for r in own})} | {len(own)} | {meaning} | {shown} |\n"
    text += LENGTHS
    uses = collections.Counter(word for r in rows for word in (r["companion"], r["unstable"], r["stored"]))
    for row in table("companions.tsv"):
        text += f"- `{row['word']}`, {uses[row['word']]} outputs: `{row['formula']}`\n"
    return text


def main():
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
        return 0
    if not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.name} is not what {pathlib.Path(__file__).name} writes: run it")
        return 1
    print("in step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
