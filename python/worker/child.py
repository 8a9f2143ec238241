# SPDX-License-Identifier: Apache-2.0
"""The process that imports the backend and runs cases on it. It is expected to crash, hang and be killed."""
import ctypes
import os
import signal

from . import frames
from .backend import Backend, Unavailable


def end_with_parent():
    """A worker that is killed takes its child with it: devices are held by processes."""
    PR_SET_PDEATHSIG = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def open_backend(module, send):
    """The backend and what is known of its dispatching, or None when the parent has been told why there is none."""
    try:
        backend = Backend(module, lambda what: send({"stage": what}))
        from . import fallbacks

        dispatch = fallbacks.Dispatch()
        prove_watching(backend.torch, fallbacks, dispatch)
    except Unavailable as missing:
        send({"unavailable": str(missing)})
        return None
    send({"ready": backend.facts()})
    return backend, dispatch


def prove_watching(torch, fallbacks, dispatch):
    """Without seeing calls nobody could tell a fallback from the device."""
    watch = fallbacks.Watch(dispatch)
    try:
        with watch:
            torch.zeros(1)
    except Exception as error:  # noqa: BLE001: an older or newer torch may lack any part of it
        raise Unavailable(f"torch {torch.__version__} does not tell which operators are called: {type(error).__name__}: {error}") from error
    if "aten::zeros" not in watch.seen:
        raise Unavailable(f"torch {torch.__version__} does not tell which operators are called: its execution trace is of another form")


def run_batch(backend, dispatch, batch, send):
    from .device_case import DeviceCase, canary
    from .operands import Arena

    arena = Arena(batch["arena"], batch["begin"], batch["end"])
    for entry in batch["cases"]:
        answer = DeviceCase(backend, dispatch, arena, entry).run()
        last = False
        # An error may have left the device unusable; the cases that follow must not pay for it.
        if "raised" in answer:
            last = not canary(backend)
            answer["poisoned"] = last
        send({"answer": answer, "next": arena.next, "last": last})
        if last:
            return


def main(module, requests, answers):
    end_with_parent()
    for descriptor in (requests, answers):
        os.set_inheritable(descriptor, False)

    def send(message):
        frames.write(answers, message)

    opened = open_backend(module, send)
    batch = frames.read(requests) if opened else None
    if batch is None:
        return
    backend, dispatch = opened
    if batch.get("do") == "dispatch_table":
        from .fallbacks import table

        send({"answer": table(dispatch)})
    else:
        run_batch(backend, dispatch, batch, send)
