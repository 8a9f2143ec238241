#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every hostile file of docs/hostile-files.md, runs neuron-check on it and checks that it answers well.

usage: check_tricks.py [--program neuron-check] [--with-torch] [--max-rss-mb 200] [--max-seconds 10] [-k REGEX]

Of each trick: the exit code, the words, the finding in the JSON report, time and memory. Nothing may be executed (a canary file that
the payloads make), nobody may connect (a port that they connect to), nothing may be written, neither beside the input nor in
the working, home and temporary folders. Python's own pickle is run on the tricks that claim to fool it: they must. The tricks and
the rows of the document must be the same. Exit code 0 when all is well, 1 when not, 2 when nothing was checked.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "compare")]
import check_hostile
import containers
import files
import pickles
import scripts
from trick import ROOT, Canary

DOCUMENT = ROOT / "docs" / "hostile-files.md"
TRICKS = [*pickles.TRICKS, *containers.TRICKS, *files.TRICKS, *scripts.TRICKS]


class Listener:
    """a port that counts who connects"""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen()
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def connected(self):
        try:
            self.socket.accept()[0].close()
            return True
        except BlockingIOError:
            return False


def snapshot(folder):
    """every entry below with its kind, size and times, links not followed"""
    found = {}
    for where, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(where, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


class Run:
    """one trick in folders of its own"""

    def __init__(self, trick, options, listener):
        self.trick, self.options, self.listener = trick, options, listener

    def make(self):
        """in a process of its own: the peak memory of a program starts with that of its parent"""
        child = os.fork()
        if child == 0:
            try:
                self.trick.make(self.input, self.canary)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(f"{self.trick.file} could not be made")

    def resources(self, result):
        code, _, _, seconds, memory = result
        if code < 0:
            yield f"ended by {signal.Signals(-code).name}"
        if seconds > self.options.max_seconds:
            yield f"took {seconds:.1f} s"
        if memory > (self.trick.most_mb or self.options.max_rss_mb) + self.options.more_mb:
            yield f"took {memory:.0f} MB"

    def ask(self, *arguments):
        command = [self.options.program, str(self.input), *self.trick.arguments, *arguments]
        return check_hostile.limited_run(command, str(self.folders["work"]), self.options.max_seconds)

    def report(self):
        result = self.ask()
        yield from self.resources(result)
        said = " ".join((result[1] + result[2]).decode(errors="replace").split())
        if result[0] != self.trick.exit:
            yield f"exit code {result[0]}, right is {self.trick.exit}: {said[:300]}"
        for words in self.trick.says:
            if not re.search(words, said):
                yield f"does not say /{words}/: {said[:600]}"
        if b"\x1b" in result[1] + result[2]:
            yield "an escape character in the report"

    def finding(self):
        result = self.ask("--format", "json", *(["--weights-only"] if self.trick.weights else []))
        yield from self.resources(result)
        try:
            findings = json.loads(result[1])["findings"]
        except (ValueError, LookupError) as problem:
            yield f"no sound JSON: {problem}: {result[1][:200]} {result[2][:200]}"
            return
        if self.trick.rule not in {f["rule"] for f in findings}:
            yield f"no finding {self.trick.rule} in {sorted({f['rule'] for f in findings})}"
        if result[0] != 1:
            yield f"exit code {result[0]} with the finding, right is 1"

    def effects(self, before):
        if self.canary.seen():
            self.canary.path.unlink()
            yield "something was executed"
        if self.listener.connected():
            yield "something connected"
        after = {name: snapshot(folder) for name, folder in self.folders.items()}
        for name in before:
            changed = {p for p in before[name].keys() ^ after[name].keys() | {p for p in before[name].keys() & after[name].keys() if before[name][p] != after[name][p]}}
            changed -= {"stdout", "stderr"} if name == "work" else set()
            if changed:
                yield f"changed in the {name} folder: {sorted(changed)[:5]}"

    def problems(self):
        with tempfile.TemporaryDirectory() as top:
            self.folders = {name: pathlib.Path(top, name) for name in ("input", "work", "home", "temporary", "canary")}
            for folder in self.folders.values():
                folder.mkdir()
            self.canary = Canary(self.folders["canary"], self.listener.port)
            self.input = self.folders["input"] / self.trick.file
            self.input.parent.mkdir(parents=True, exist_ok=True)
            self.make()
            os.environ.update(HOME=str(self.folders["home"]), TMPDIR=str(self.folders["temporary"]), XDG_DATA_HOME=str(self.folders["home"]))
            before = {name: snapshot(folder) for name, folder in self.folders.items()}
            yield from self.report()
            if self.trick.rule:
                yield from self.finding()
            yield from self.effects(before)
            if self.trick.control:
                yield from self.fooled()

    def fooled(self):
        """Python's own pickle on the same file, in a process of its own"""
        code = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
        subprocess.run([sys.executable, "-c", code, str(self.input)], cwd=self.folders["work"], capture_output=True, timeout=30)
        for _ in range(200):  # NEWOBJ starts a process that nobody waits for
            if self.canary.seen() or self.listener.connected():
                return
            signal.sigtimedwait([], 0.01)
        yield "Python's pickle does not fall for it: it is no trick"


def document_problems():
    """the rows of the document and those that tricks prove"""
    rows = re.findall(r"^\| (?!Trick |---)(.+?) \|.*\| (`[^|]*`) \|$", DOCUMENT.read_text(), re.M)
    written = {row for row, test in rows if "hostile_tricks" in test}
    proved = {trick.row for trick in TRICKS}
    yield from (f"{DOCUMENT.name}: no trick proves '{row}'" for row in sorted(written - proved))
    yield from (f"{DOCUMENT.name} has no row '{row}'" for row in sorted(proved - written))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "neuron-check"))
    parser.add_argument("--with-torch", action="store_true", help="run the tricks that need neuron-check-torch; else it is told there is none")
    parser.add_argument("--max-rss-mb", type=float, default=100)
    parser.add_argument("--more-mb", type=float, default=0, help="what an instrumented program takes beside that")
    parser.add_argument("--max-seconds", type=float, default=10, help="of CPU time; four times that by the clock")
    parser.add_argument("-k", default="", help="only tricks whose row or file matches")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if not options.with_torch:
        os.environ["NEURON_CHECK_TORCH"] = "none"
    listener = Listener()
    good = bad = skipped = 0
    for line in [] if options.k else document_problems():
        bad += 1
        print(f"BAD {line}")
    for trick in TRICKS:
        if not re.search(options.k, f"{trick.row} {trick.file}"):
            continue
        if trick.torch and not options.with_torch:
            skipped += 1
            continue
        found = list(Run(trick, options, listener).problems())
        good, bad = good + (not found), bad + bool(found)
        for line in found:
            print(f"BAD {trick.row} ({trick.file}): {line}")
    print(f"{good} answered well, {bad} not, {skipped} need neuron-check-torch")
    return 1 if bad else 0 if good else 2


if __name__ == "__main__":
    sys.exit(main())
