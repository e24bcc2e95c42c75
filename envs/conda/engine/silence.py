"""A server that says nothing is not waited for without end."""

import asyncio
import contextlib
import os
import time

from common import Refused

VARIABLE, SECONDS = "CONDA_REMOTE_READ_TIMEOUT_SECS", 60.0  # conda's own
SECONDS_BETWEEN_LOOKS = 1.0
BUSY_SECONDS = 0.05  # of the processor between two looks: more than waiting takes
BLOCK = 4096


def timeout():
    try:
        seconds = float(os.environ.get(VARIABLE, SECONDS))
    except ValueError:
        return SECONDS
    return seconds if seconds > 0 else SECONDS


async def unless_silent(work, sign, what):
    """What comes of it, unless `sign()` stays the same for so long. Looks are counted and not the
    clock, so that it is not the server's fault when this process itself was stopped."""
    seconds = timeout()
    step = min(SECONDS_BETWEEN_LOOKS, seconds / 4)
    task = asyncio.ensure_future(work)
    seen, quiet = None, 0.0
    try:
        while not (await asyncio.wait([task], timeout=step))[0]:
            before, seen = seen, sign()
            quiet = quiet + step if seen == before else 0.0
            if quiet >= seconds:
                raise Refused("unavailable", f"{what} has sent nothing for {seconds:g} s")
        return task.result()
    finally:
        task.cancel()


def size_of(path):
    try:
        return path.stat().st_size
    except OSError:
        return 0


class Activity:
    """A sign of work in this process: what it writes to files, and that it computes."""

    def __init__(self):
        self.busy, self.cpu = 0, time.process_time()

    def __call__(self):
        self.busy += time.process_time() - self.cpu > BUSY_SECONDS
        blocks = 0
        with contextlib.suppress(OSError), open("/proc/self/io", encoding="ascii") as file:
            fields = dict(line.split(":") for line in file)
            blocks = int(fields["wchar"]) // BLOCK
        self.cpu = time.process_time()  # looking does not count
        return blocks, self.busy
