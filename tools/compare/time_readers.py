#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times neuron-check beside torch on TorchScript files and checkpoints, in turns, each in a fresh process.

usage: time_readers.py --python PYTHON [--program ./neuron-check] [--rounds 5] [--make FOLDER] [FILE...]

PYTHON is an interpreter with torch 2.13. `--make FOLDER` first writes two files there: a scripted residual network of 50 layers with
100 MB of weights, and a training checkpoint of 1 GB. For each FILE the peer is `torch.jit.load` and a walk of the inlined graph, or
`torch.load(weights_only=True)` and a walk of the tensors, with the import of torch, which a user pays too. Prints medians
of wall time and of peak memory, and their ratios.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
import zipfile

PEERS = {
    "torchscript": """
import sys, torch
m = torch.jit.load(sys.argv[1]); g = m.graph.copy(); torch._C._jit_pass_inline(g)
print(sum(1 for n in g.nodes()))
""",
    "torch.save": """
import sys, torch
def tensors(v):
    if isinstance(v, torch.Tensor): yield v
    elif isinstance(v, dict):
        for i in v.values(): yield from tensors(i)
    elif isinstance(v, (list, tuple)):
        for i in v: yield from tensors(i)
print(sum(1 for t in tensors(torch.load(sys.argv[1], weights_only=True))))
""",
}
MAKER = """
import sys, torch
from torch import nn
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b, self.n = nn.Conv2d(n, n, 3, padding=1), nn.Conv2d(n, n, 3, padding=1), nn.BatchNorm2d(n)
    def forward(self, x):
        return torch.relu(x + self.n(self.b(torch.relu(self.a(x)))))
net = nn.Sequential(nn.Conv2d(3, 164, 3), *[Block(164) for _ in range(50)]).eval()
torch.jit.save(torch.jit.script(net), sys.argv[1] + "/net.pt")
state = {f"layer.{i}.weight": torch.zeros(1024, 1024) for i in range(84)}
moments = {"state": {i: {"step": torch.tensor(1.0), "exp_avg": t.clone(), "exp_avg_sq": t.clone()} for i, t in enumerate(state.values())}}
torch.save({"model": state, "optimizer": moments, "epoch": 3}, sys.argv[1] + "/checkpoint.pt")
"""


def measured(command):
    """(seconds, peak MB) of one process"""
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2):
        sys.exit(f"{command[0]} ended with {code}: {error.decode(errors='replace')[-300:]}")
    return time.monotonic() - started, usage.ru_maxrss / 1024


def kind_of(path):
    with zipfile.ZipFile(path) as archive:
        return "torchscript" if any(n.endswith("constants.pkl") for n in archive.namelist()) else "torch.save"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--program", default="./neuron-check")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--make", metavar="FOLDER")
    options = parser.parse_args()
    files = list(options.files)
    if options.make:
        os.makedirs(options.make, exist_ok=True)
        maker = pathlib.Path(options.make, "maker.py")  # torch.jit.script reads the source of what it compiles
        maker.write_text(MAKER, encoding="utf-8")
        subprocess.run([options.python, str(maker), options.make], check=True)
        files += [pathlib.Path(options.make, name) for name in ("net.pt", "checkpoint.pt")]
    if not files:
        parser.error("no file is given")
    for path in files:
        kind = kind_of(path)
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(measured([options.program, "inventory", str(path), "--format", "json", "--weights-only"]))
            theirs.append(measured([options.python, "-c", PEERS[kind], str(path)]))
        times = [statistics.median(r[0] for r in runs) for runs in (ours, theirs)]
        memory = [statistics.median(r[1] for r in runs) for runs in (ours, theirs)]
        print(
            f"{path.name} ({kind}, {path.stat().st_size / 1e6:.0f} MB): {times[0]:.3f} s and {memory[0]:.0f} MB, "
            f"torch {times[1]:.2f} s and {memory[1]:.0f} MB: {times[1] / times[0]:.1f}x less time, {memory[1] / memory[0]:.1f}x less memory"
        )


if __name__ == "__main__":
    main()
