#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks check_hostile.py and the makers: bad programs are found out, and the mutations are what they say.

usage: test_hostile.py FOLDER        (a folder with native_mlp.pt2, datasets/models)
"""
import contextlib
import io
import os
import stat
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_hostile
import mutate
import rawzip

ANSWER = """echo '{"inputs": [{"kind": "damaged", "notes": []}]}'; for a; do :; done"""
GOOD = ANSWER + """; echo "$a: models/model.json: json nested too deep" >&2; exit 2"""
BAD = {
    "crash": "kill -SEGV $$",
    "hang": "sleep 60",
    "wrong exit code": ANSWER + "; exit 3",
    "silent": ANSWER + "; exit 2",
    "no reason": ANSWER + """; echo "$a" >&2; exit 2""",
    "no json": """for a; do :; done; echo "$a: nested too deep" >&2; exit 2""",
    "escape": GOOD.replace("exit 2", r"printf '\033[31m'; exit 2"),
    "executes": "touch pwned; " + GOOD,
    "memory": """exec python3 -c 'x = bytearray(300 * 2**20); x[::4096] = b"1" * len(x[::4096])'""",
}


class Hostile(unittest.TestCase):
    folder = ""

    def run_with(self, script):
        """exit code and text of check_hostile with a shell script as the program"""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w") as f:
                f.write("#!/bin/sh\n" + script + "\n")
            os.chmod(program, stat.S_IRWXU)
            sys.argv = ["", os.path.join(self.folder, "native_mlp.pt2"), "--program", program, "-k", "^deep_argument$", "--max-seconds", "0.5"]
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                code = check_hostile.main()
            return code, text.getvalue()

    def test_a_good_answer_passes(self):
        self.assertEqual(self.run_with(GOOD), (0, "1 answered well, 0 not\n"))

    def test_each_bad_answer_is_found_out(self):
        for label, script in BAD.items():
            code, text = self.run_with(script)
            self.assertEqual(code, 1, f"{label}: {text}")

    def test_nothing_run_is_a_failure(self):
        sys.argv = ["", os.path.join(self.folder, "native_mlp.pt2"), "--program", "/bin/true", "-k", "^no such mutation$"]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_hostile.main(), 1)

    def test_same_seed_same_bytes_and_every_mutation_changes_the_file(self):
        sample = mutate.Sample.read(os.path.join(self.folder, "native_mlp.pt2"))
        with tempfile.TemporaryDirectory() as folder:
            for mutation in mutate.all_mutations():
                if mutation.name in ("bomb", "many_entries", "long_trace"):
                    continue  # slow to make twice
                texts = []
                for copy in "ab":
                    path = os.path.join(folder, copy)
                    mutate.write(sample, mutation, path, 0)
                    with open(path, "rb") as f:
                        texts.append(f.read())
                self.assertEqual(texts[0], texts[1], mutation.name)
                self.assertNotEqual(texts[0], sample.data, mutation.name)

    def test_names_are_unique(self):
        names = [m.name for m in mutate.all_mutations()]
        self.assertEqual(len(names), len(set(names)))

    def test_the_writer_writes_sound_archives(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.zip")
            for zip64 in (False, True):
                records = [
                    rawzip.Record("a", b"one", zip64=zip64),
                    rawzip.Record("b", b"two" * 100, method=rawzip.DEFLATED),
                    rawzip.Record("c", b"xyz", hole=100_000),
                    rawzip.Record("d", b"four", descriptor=True),
                ]
                rawzip.write(path, records, zip64=zip64)
                with zipfile.ZipFile(path) as z:
                    self.assertIsNone(z.testzip())
                    self.assertEqual([z.read(n) for n in "abcd"], [b"one", b"two" * 100, b"xyz" + bytes(100_000), b"four"])


if __name__ == "__main__":
    Hostile.folder = sys.argv.pop(1)
    unittest.main(argv=sys.argv[:1])
