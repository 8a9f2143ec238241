# SPDX-License-Identifier: Apache-2.0
"""TorchScript archives whose code does something while it is loaded, or is no code that anyone could load."""
import zipfile

import rawzip
from rawzip import DEFLATED, Record
from trick import MODELS, Trick

CLASS = """class Writes(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  n : int
  def forward(self: __torch__.models.scripted.Writes,
    x: Tensor) -> Tensor:
    n = self.n
    return torch.add(x, n)
  def __getstate__(self: __torch__.models.scripted.Writes) -> Tuple[int, bool]:
    n = self.n
    training = self.training
    return (n, training)
  def __setstate__(self: __torch__.models.scripted.Writes,
    state: Tuple[int, bool]) -> NoneType:
    self.n = (state)[0]
    self.training = (state)[1]
"""


def script(lines, behind="", more=()):
    """(path, canary) -> None: ts_writes.pt with these lines, as text or made of the canary, in __setstate__"""

    def make(path, canary):
        body = lines(canary) if callable(lines) else lines
        code = CLASS + "".join(f"    {line}\n" for line in body) + "    return None\n" + behind
        with zipfile.ZipFile(MODELS / "ts_writes.pt") as z:
            parts = {n: z.read(n) for n in z.namelist() if not n.endswith(".debug_pkl")}
        records = [Record(n, code.encode() if n.endswith(".py") else d) for n, d in parts.items()]
        rawzip.write(path, records + list(more))

    return make


AGAIN = """  def again(self: __torch__.models.scripted.Writes, x: int) -> int:
    return (self).again(x, )
"""
MUTUAL = """def f(x: int) -> int:
  return __torch__.models.scripted.g(x, )
def g(x: int) -> int:
  return __torch__.models.scripted.f(x, )
"""
NAMES = r"names in the archive's readable source"
ENDED = r"loading it ended by itself: "
DEEP = 100_000


def loads(what, name, make, *says, **options):
    """with libtorch: exit code 1, because names are still read"""
    return Trick("TorchScript that " + what, name, make, says, exit=1, torch=True, weights=False, **{"most_mb": 400, **options})


LOADING = [
    loads("writes a file while it is loaded", "saves.pt", script(lambda c: [f'torch.save(1, "{c.path}")']), r"tried to open the file '\S+canary'; the sandbox refused", "BLOCKED", rule="NC115"),
    loads("writes a file while it is loaded", "maps.pt", script(lambda c: [f'a = torch.from_file("{c.path}", True, 4)', "self.n = torch.size(a, 0)"]), r"tried to open the file '\S+canary'", "BLOCKED", rule="NC115"),
    loads("reads a file while it is loaded", "reads.pt", script(['a = torch.from_file("/etc/passwd", False, 4)', "self.n = torch.size(a, 0)"]), r"tried to open the file '/etc/passwd'", "BLOCKED", rule="NC115"),
    loads("calls itself without end", "recursion.pt", script(["_0 = (self).again(1, )"], AGAIN), r"libtorch cannot load it", r"(?i)recursive", NAMES),
    loads("calls itself without end", "mutual.pt", script(["_0 = __torch__.models.scripted.f(1, )"], MUTUAL), r"libtorch cannot load it", NAMES),
    loads("is nested 100,000 deep", "parentheses.pt", script(["a = " + "(" * DEEP + "1" + ")" * DEEP]), ENDED + r"signal 11", NAMES),
    loads("is nested 100,000 deep", "minus.pt", script(["a = " + "-" * DEEP + "1"]), ENDED + r"signal 11", NAMES),
    loads("raises, with control characters", "raises.pt", script(['ops.prim.RaiseException("\\033[31mred", "builtins.RuntimeError")']), r"libtorch cannot load it", NAMES),
]
READING = [
    Trick("TorchScript with millions of calls", "calls.pt", lambda p, c: script([], more=[Record("ts_writes/code/__torch__/b.py", b"torch.add(x)\n" * 1_200_000, method=DEFLATED)])(p, c), (r"its source calls more than 200000 operators", r"code/__torch__/b\.py"), weights=False),
    Trick("TorchScript source that inflates a thousandfold", "source.pt", lambda p, c: script([], more=[Record("ts_writes/code/__torch__/b.py", b"a = 1\n" * 4_000_000, method=DEFLATED)])(p, c), (r"record ts_writes/code/__torch__/b\.py: its \d+ bytes unpack",), weights=False),
    Trick("TorchScript of an unknown version", "version.pt", lambda p, c: p.write_bytes((MODELS / "ts_version_999.pt").read_bytes()), (r"its file version is 999, and 10 is the newest",), weights=False),
]
TRICKS = [*LOADING, *READING]
