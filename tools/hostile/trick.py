# SPDX-License-Identifier: Apache-2.0
"""What a hostile trick is, and what is right to answer to it. The lists are in the modules beside this one."""
import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import rawzip
from rawzip import Record

MODELS = ROOT / "datasets" / "models"


@dataclasses.dataclass
class Trick:
    row: str  # the row of docs/hostile-files.md that it proves
    file: str  # name of the file to make
    make: object  # make(path, canary) writes the file, or the folder; bytes are written as they are
    says: tuple  # regular expressions, each of which must match what `neuron-check FILE` prints
    exit: int = 2
    rule: str = ""  # finding that `neuron-check FILE --format json`, with --weights-only for a checkpoint, must have
    weights: bool = True  # ask for the finding with --weights-only
    arguments: tuple = ()
    control: bool = False  # Python's own pickle must fall for it: proof that the trick is one
    torch: bool = False  # needs neuron-check-torch
    most_mb: float = 0  # other than the default


class Canary:
    """A file that the payloads make, and an address that they connect to."""

    def __init__(self, folder, port):
        self.path, self.port = pathlib.Path(folder) / "canary", port

    @property
    def command(self):
        return f"touch {self.path}"

    def seen(self):
        return self.path.exists()


def saved_zip(data_pickle, *more, method=rawzip.STORED, central=None, **record):
    """(path, canary) -> None: a zip of torch.save with this pickle, or with what it makes of the canary"""

    def make(path, canary):
        data = data_pickle(canary) if callable(data_pickle) else data_pickle
        records = [Record("a/data.pkl", data, method=method, central=central or {}, **record), Record("a/version", b"3\n")]
        rawzip.write(path, [*records, *more])

    return make


def plain(data):
    """(path, canary) -> None: the bytes, or what is made of the canary"""
    return lambda path, canary: path.write_bytes(data(canary) if callable(data) else data)
