# SPDX-License-Identifier: Apache-2.0
"""What a backend does to a worker: raising, latching an error, crashing, hanging, being wrong; and what is missing is named at once."""
import os
import pathlib
import tempfile
import textwrap
import time
import unittest

import torch
from worker_client import FAKE, Worker

RIGHT = "aten::silu(f32[4])"
LATCHES = 'aten::topk(f32[4], 2) !error="NCC_EVRF013"'


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def test_raising_leaves_the_process_alive(self):
        answer = self.worker.run("aten::cumsum(f32[4], 0)", RIGHT)
        raised = answer["cases"][0]["raised"]
        self.assertEqual((raised["kind"], raised["stage"]), ("not-implemented", "forward"))
        self.assertEqual(raised["message"], "Operation aten::cumsum is not implemented for Neuron")
        self.assertIs(answer["cases"][0]["poisoned"], False)
        self.assertIn("outputs", answer["cases"][1])
        self.assertNotIn("ended", answer)

    def test_a_latched_error_does_not_spread(self):
        """Without an expected error the canary finds it; with one the case is alone from the start."""
        for latching in ("aten::topk(f32[4], 2)", LATCHES):
            answer = self.worker.run(RIGHT, latching, RIGHT, "aten::add.Tensor(f32[4], 1.0)")
            self.assertNotIn("ended", answer)
            first, broken, *after = answer["cases"]
            self.assertIn("NCC_EVRF013", broken["raised"]["message"])
            self.assertIs(broken["poisoned"], True)
            for case in (first, *after):
                self.assertIn("outputs", case)
            offsets = [case["outputs"][0]["offset"] for case in (first, *after)]
            self.assertEqual(len(set(offsets)), 3)  # one process does not overwrite the results of another

    def test_wrong_values_come_back_as_they_are(self):
        x = torch.tensor([0.0, 1.0])
        (case,) = self.worker.run(("aten::atan(f32[2])", x))["cases"]
        self.assertTrue(((self.worker.tensor(case["outputs"][0]) - x.atan()).abs() > 0.1).all())

    def test_a_crash_is_of_one_case(self):
        for text, ending in (("aten::erfinv(f32[4])", "signal 11 (Segmentation fault)"), ("aten::lgamma(f32[4])", "exit code 7")):
            answer = self.worker.run(RIGHT, text, RIGHT)
            self.assertEqual((answer["ended"], answer["culprit"]), (ending, 1))
            self.assertIn("outputs", answer["cases"][0])
            self.assertEqual(answer["cases"][1:], [{"id": 1}, {"id": 2}])
        self.assertIn("outputs", self.worker.run(RIGHT)["cases"][0])

    def test_output_does_not_lengthen_the_deadline(self):
        began = time.monotonic()
        answer = self.worker.run(RIGHT, "aten::digamma(f32[4])", seconds=3)
        self.assertLess(time.monotonic() - began, 40)
        self.assertEqual((answer["ended"], answer["culprit"]), ("no answer in 3 s", 1))
        self.assertIn(".", answer["stderr"])
        self.assertLessEqual(len(answer["stderr"]), 2000)

    def test_nothing_of_a_killed_child_is_left(self):
        """The group goes with it: a compiler that a case started would hold the device."""
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder, "pid")
            source = f"""
                import subprocess
                __file__ = {str(FAKE)!r}; exec(open(__file__).read())
                def _hang(x):
                    child = subprocess.Popen(["sleep", "600"])
                    open({str(mark)!r}, "w").write(str(child.pid))
                    child.wait()
                _kernels.impl("tan", _hang, "PrivateUse1")
                """
            with Worker(module(folder, source)) as worker:
                self.assertEqual(worker.run("aten::tan(f32[2])", seconds=3)["ended"], "no answer in 3 s")
            self.assertTrue(gone(int(mark.read_text())))


def module(folder, source, name="backend.py"):
    path = pathlib.Path(folder, name)
    path.write_text(textwrap.dedent(source))
    return path


def gone(pid):
    for _ in range(100):
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # nobody here waits for it
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


class Missing(unittest.TestCase):
    """The handshake names precisely what is missing, and every request says it again."""

    def missing(self, name, environment=None):
        with Worker(name, environment) as worker:
            self.assertEqual(worker.hello["protocol"], 1)
            self.assertEqual(worker.hello["device_count"], 0)
            said = worker.hello["unavailable"]
            self.assertEqual(worker.run(RIGHT), {"unavailable": said})
            self.assertEqual(worker.ask({"do": "dispatch_table"}), {"unavailable": said})
        self.assertEqual(worker.code, 0)
        return said, worker.seconds

    def written(self, source, **environment):
        with tempfile.TemporaryDirectory() as folder:
            return self.missing(module(folder, source), environment)[0]

    def test_not_there(self):
        """Known before torch is imported: no machine is so slow that it takes five seconds."""
        said, seconds = self.missing("no_such_backend.sub")
        self.assertIn("has no module no_such_backend", said)
        self.assertLess(seconds, 5)
        self.assertIn("no such file", self.missing("nowhere/backend.py")[0])

    def test_not_importable(self):
        self.assertIn("importing", self.written("import nki_is_missing"))
        self.assertIn("ModuleNotFoundError: No module named 'nki_is_missing'", self.written("import nki_is_missing"))

    def test_no_backend(self):
        self.assertIn("registers no PrivateUse1 backend", self.written("value = 1"))

    def test_no_device_module(self):
        said = self.written("import torch; torch.utils.rename_privateuse1_backend('neuron')")
        self.assertIn("registers the backend neuron without a device module: there is no torch.neuron", said)

    def test_no_device(self):
        self.assertIn("torch.neuron sees no device (device_count() is 0", self.missing(FAKE, {"FAKE_NEURON_DEVICES": "0"})[0])
        self.assertIn("cannot say how many devices there are: ValueError", self.missing(FAKE, {"FAKE_NEURON_DEVICES": "many"})[0])

    def test_an_import_that_ends_the_process(self):
        said = self.written("import os, sys; print('no licence', file=sys.stderr, flush=True); os._exit(3)")
        self.assertRegex(said, r"importing .* ended the process \(exit code 3\); it printed: [\s\S]*no licence")  # torch may warn first

    def test_an_import_that_hangs(self):
        source = "import time\nwhile True:\n    time.sleep(1)\n"
        with tempfile.TemporaryDirectory() as folder:
            said, seconds = self.missing(module(folder, source), {"NEURON_CHECK_START_SECONDS": "8"})
        self.assertRegex(said, r"importing .* took more than 8 s")
        self.assertLess(seconds, 20)

    def test_a_module_does_not_see_our_files(self):
        """Modules of the worker must not shadow those of the user, and a module may print what it likes."""
        source = f"""
            import sys
            print("banner"); print("noise", file=sys.stderr)
            for name in ("operands", "serve", "frames", "backend_of_mine"):
                try:
                    __import__(name)
                except ModuleNotFoundError:
                    continue
                raise ImportError(name + " is visible")
            __file__ = {str(FAKE)!r}; exec(open(__file__).read())
            """
        with tempfile.TemporaryDirectory() as folder, Worker(module(folder, source)) as worker:
            self.assertNotIn("unavailable", worker.hello)
            self.assertIn("outputs", worker.run(RIGHT)["cases"][0])

    def test_usage(self):
        self.assertNotEqual(os.system("python3 -B " + str(FAKE.parent.parent / "__main__.py") + " 2>/dev/null"), 0)


if __name__ == "__main__":
    unittest.main()
