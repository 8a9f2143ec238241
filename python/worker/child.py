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
        with fallbacks.Watch(dispatch):
            backend.torch.zeros(1)  # calls are seen at all, or this raises
    except Unavailable as missing:
        send({"unavailable": str(missing)})
        return None
    send({"ready": backend.facts()})
    return backend, dispatch


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
