# SPDX-License-Identifier: Apache-2.0
"""A child process that runs the backend: messages on pipes, deadlines that output cannot reset, and the end of what it printed."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from . import frames

MAIN = pathlib.Path(__file__).resolve().with_name("__main__.py")
TAIL = 2000
GOING_SECONDS = 5  # from the end of its output to its end
# What torch says of our own looking at calls is no news of the backend.
OWN_NOISE = b"execution_trace_observer.cpp"


class Child:
    """Of its own session: what it starts, compilers among it, ends with it."""

    def __init__(self, module):
        theirs_in, self._requests = os.pipe()
        self._answers, theirs_out = os.pipe()
        printed, theirs_printed = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-B", str(MAIN), "--child", module, str(theirs_in), str(theirs_out)],
                stdin=subprocess.DEVNULL,
                stdout=theirs_printed,
                stderr=theirs_printed,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        finally:
            for descriptor in (theirs_in, theirs_out, theirs_printed):
                os.close(descriptor)
        self._tail = b""
        self._reader = threading.Thread(target=self._keep_tail, args=(printed,), daemon=True)
        self._reader.start()
        self.late = False

    def _keep_tail(self, printed):
        with os.fdopen(printed, "rb", buffering=0) as stream:
            while text := stream.read(1 << 16):
                kept = (self._tail + text)[-8 * TAIL :]
                self._tail = kept

    def send(self, message):
        """False when it has ended."""
        try:
            frames.write(self._requests, message)
        except OSError:
            return False
        return True

    def receive(self, seconds):
        """Its next message; None when it ended, sent what is no message, or gave none in time (then `late`)."""
        try:
            return frames.read(self._answers, time.monotonic() + seconds)
        except frames.Late:
            self.late = True
        except frames.Broken:
            pass
        return None

    def _gone(self):
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def finish(self):
        """Ends it and everything of its session. "exit code 3", "signal 11 (Segmentation fault)", or "" for what ended well."""
        os.close(self._requests)
        patience = time.monotonic() + (0 if self.late else GOING_SECONDS)
        while not self._gone() and time.monotonic() < patience:
            time.sleep(0.002)
        # It is not waited for yet, so that its number is still its own.
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        code = self._process.wait()
        os.close(self._answers)
        self._reader.join(1)
        if code < 0:
            return f"signal {-code} ({signal.strsignal(-code)})"
        return f"exit code {code}" if code else ""

    def tail(self):
        lines = [line for line in self._tail.split(b"\n") if OWN_NOISE not in line]
        return b"\n".join(lines)[-TAIL:].decode(errors="replace")
