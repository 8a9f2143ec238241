# SPDX-License-Identifier: Apache-2.0
"""Messages on a pipe: an unsigned 32-bit little-endian length, then that many bytes of JSON."""
import json
import os
import select
import struct
import time

MAX_FRAME = 256 << 20
_CHUNK = 1 << 20


class Late(Exception):
    """No whole message came before the deadline."""


class Broken(Exception):
    """The other side ended within a message, or sent what is no message."""


def _json_text(message):
    return json.dumps(message, ensure_ascii=False).encode(errors="replace")  # a lone surrogate is no JSON for others


def write(fd, message):
    """Sends one message. OSError when the other side is gone."""
    body = _json_text(message)
    left = memoryview(struct.pack("<I", len(body)) + body)
    while left:
        left = left[os.write(fd, left) :]


def _read_exactly(fd, count, deadline):
    parts = []
    while count:
        if deadline is not None:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([fd], [], [], wait)[0]:
                raise Late
        part = os.read(fd, min(count, _CHUNK))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read(fd, deadline=None):
    """The next message; None when the other side closed. `deadline` is of time.monotonic(), for the whole message."""
    head = _read_exactly(fd, 4, deadline)
    if not head:
        return None
    size = struct.unpack("<I", head)[0] if len(head) == 4 else MAX_FRAME + 1
    if size > MAX_FRAME:
        raise Broken("a message without a length that can be")
    body = _read_exactly(fd, size, deadline)
    if len(body) != size:
        raise Broken("a message that ends early")
    try:
        return json.loads(body)
    except ValueError as error:
        raise Broken(f"a message that is no JSON: {error}") from error
