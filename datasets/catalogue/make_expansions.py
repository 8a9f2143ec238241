# SPDX-License-Identifier: Apache-2.0
"""Write expansions.jsonl: which operators each composite operator calls directly on a minimal device.

    python3 datasets/catalogue/make_expansions.py [--scratch DIR] [-j 2] [--only opinfo:abs ...] [--restart]

Records torch's sample inputs on torch_host/recorder (built first, if needed) in forked children, one unit (an entry of
a sample database) at a time; units already in the scratch folder are not recorded again. A child that crashes or hangs loses
only its unit. The rows are described in README.md beside this file.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
import torch

import auto_calls
import recorder_client
import recording
import reduce_rows
import samples

CHUNK = {"auto": 60}  # Units a child works through, by source.
USUAL_CHUNK = 6
TIMEOUT = 90  # Seconds a child may take for one unit.
KEPT_PER_UNIT = 60  # Different observations kept of one operator with one set of children.


def record_unit(unit, recorder, path):
    """Records one unit into `path`, which appears only when complete."""
    kept = collections.Counter()
    seen = {}
    errors = collections.Counter()

    def record(call, grad, phase=None):
        result, error, calls = recorder.record(call)
        if error is not None:
            errors[str(error).splitlines()[0][:200] if str(error) else type(error).__name__] += 1
        for found in recording.observations(calls, grad):
            group = (found["op"], tuple(sorted({c["op"] for c in found["calls"]})), grad)
            text = json.dumps(found, separators=(",", ":"))
            if text in seen:
                seen[text] += 1
            elif kept[group] < KEPT_PER_UNIT:
                kept[group] += 1
                seen[text] = 1
        return result

    samples.run_unit(unit, record)
    temporary = path.with_suffix(".part")
    with temporary.open("w", encoding="utf-8") as out:
        for text, count in seen.items():
            out.write(f"{count}\t{text}\n")
    path.with_suffix(".errors").write_text(json.dumps(errors.most_common(), indent=0))
    temporary.rename(path)


def child_main(units, paths):
    os.setpgid(0, 0)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    os.dup2(sys.stdout.fileno(), 2)
    torch.set_num_threads(1)
    for unit in units:
        path = paths[unit]
        record_unit(unit, child_main.recorder, path)
    os._exit(0)


class Pool:
    """Forked children working through the units; whoever dies or hangs is restarted behind its unit."""

    def __init__(self, units, paths, jobs):
        self.todo = collections.deque()
        for source, group in itertools.groupby(units, key=lambda unit: unit[0]):
            group, size = list(group), CHUNK.get(source, USUAL_CHUNK)
            self.todo.extend(group[i : i + size] for i in range(0, len(group), size))
        self.paths, self.jobs, self.running = paths, jobs, {}
        self.lost = {}

    def start(self):
        units = self.todo.popleft()
        pid = os.fork()
        if pid == 0:
            try:
                child_main(units, self.paths)
            finally:
                os._exit(1)
        self.running[pid] = (units, time.monotonic())

    def finished(self, pid, status):
        units, _ = self.running.pop(pid)
        left = [u for u in units if not self.paths[u].exists()]
        if left:
            self.lost[left[0]] = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "exception"
            if left[1:]:
                self.todo.appendleft(left[1:])

    def kill_late(self):
        for pid, (units, started) in list(self.running.items()):
            done = [self.paths[u].stat().st_mtime for u in units if self.paths[u].exists()]
            idle = time.time() - max(done) if done else time.monotonic() - started
            if idle > TIMEOUT and time.monotonic() - started > TIMEOUT:
                os.kill(pid, signal.SIGKILL)

    def run(self):
        total, shown = len(self.paths), 0.0
        while self.todo or self.running:
            while self.todo and len(self.running) < self.jobs:
                self.start()
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                self.finished(pid, status)
            else:
                self.kill_late()
                time.sleep(0.05)
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                done = sum(p.exists() for p in self.paths.values())
                print(f"recorded {done} of {total} units, {len(self.lost)} lost", flush=True)
        return self.lost


def record_all(paths, jobs, restart):
    if restart:
        for path in paths.values():
            path.unlink(missing_ok=True)
    lost = Pool([u for u in paths if not paths[u].exists()], paths, jobs).run()
    for unit, reason in lost.items():
        print(f"lost: {unit[0]} {unit[1] if unit[0] == 'auto' else samples.unit_name(unit)} ({reason})")


def main():
    here = pathlib.Path(__file__).resolve().parent
    version = torch.__version__.partition("+")[0]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=here / f"torch-{version}" / "expansions.jsonl")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "expansions")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="names of units, as the scratch folder has them")
    parser.add_argument("--restart", action="store_true", help="record every unit again")
    parser.add_argument("--library", type=pathlib.Path, help="a recorder library built before")
    options = parser.parse_args()

    began = time.monotonic()
    library = options.library or recorder_client.build(recorder_client.default_build_folder())
    torch.set_num_threads(1)
    child_main.recorder = recorder_client.Recorder(library)
    child_main.recorder.set_native(recorder_client.MINIMAL_SET)
    options.scratch.mkdir(parents=True, exist_ok=True)
    names = {unit: samples.unit_name(unit) for unit in samples.all_units()}
    if options.only:
        names = {u: n for u, n in names.items() if n in options.only}
    paths = {u: options.scratch / (n.replace("/", "_").replace(":", "__") + ".obs") for u, n in names.items()}
    print(f"{len(names)} units, ready after {time.monotonic() - began:.0f} s", flush=True)
    record_all(paths, options.jobs, options.restart)
    if not options.only:  # What no sample reached is called with arguments made from its schema.
        ops = reduce_rows.read_ops(options.output.parent)
        for name in auto_calls.wanted(ops, reduce_rows.operators_of(paths)):
            paths["auto", name] = options.scratch / f"auto__{name.replace('::', '.')}.obs"
        record_all({u: p for u, p in paths.items() if u[0] == "auto"}, options.jobs, options.restart)
    print(f"recorded after {time.monotonic() - began:.0f} s", flush=True)
    reduce_rows.write(paths, options.output, here)
    print(f"done after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
