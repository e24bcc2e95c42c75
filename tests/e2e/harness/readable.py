"""Looks for a text wherever it could be read: in files below folders, and in what /proc tells of processes.

Files are read in pieces, so that their size does not matter, and only those that changed after the text was thought
of; machines have folders that the tests share with others, and what lies there is not theirs to read."""
import os
import pathlib
import time

# For another account, or a job: words are the time before which nobody knew the text, and folders; the text is told
# on standard input. Prints where it was found, and what could be opened.
PROBE = """
import json, os, sys
needle = sys.stdin.read().encode()
since = float(sys.argv[1])
found, opened = [], []
def holds(file):
    rest = b""
    while piece := file.read(1 << 20):
        if needle in rest + piece:
            return True
        rest = (rest + piece)[-len(needle):]
    return False
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                if int(pid) != os.getpid() and holds(file):
                    found.append(f"{name} of " + open(f"/proc/{pid}/cmdline").read().replace("\\0", " "))
        except OSError:
            pass
for top in sys.argv[2:]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if not os.path.isfile(path):
                    continue
                with open(path, "rb") as file:
                    opened.append(path)
                    if os.fstat(file.fileno()).st_ctime >= since and holds(file):
                        found.append(path)
            except OSError:
                pass
print(json.dumps({"found": found, "opened": opened}))
"""
PIECE_BYTES = 1 << 20
CLOCK_STEP_S = 0.1  # a file's times come from a clock that ticks


def now():
    """For PROBE, before the text is written anywhere."""
    return time.time() - CLOCK_STEP_S


def _holds(path, needle):
    rest = b""
    with open(path, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            if needle in rest + piece:
                return True
            rest = (rest + piece)[-len(needle):]
    return False


def files_with(text, *folders):
    """Files that have the text, of all that we may read."""
    found = []
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                file = pathlib.Path(path, name)
                try:
                    if file.is_file() and not file.is_symlink() and _holds(file, text.encode()):
                        found.append(str(file))
                except OSError:
                    continue
    return found
