"""The first screen that a person sees of a trouble, and its golden file.

golden/troubles/NAME.txt has the screen whole: exit code, standard output, then standard error, with times, sizes of
this machine and paths replaced. LOCKSTEP_GOLDEN=write writes them anew; read each change of them as a user would. What a
test demands of its screen beside that (the cause, the place, what to do) no golden file can be without.
"""
import difflib
import os
import pathlib
import re
import subprocess
import threading

import pytest

from .site import DEADLINE_S, wait_until

FOLDER = pathlib.Path(__file__).parents[1] / "golden" / "troubles"
# A step that shows only when it took long, or as often as it happened to be looked at.
PASSING = re.compile(r"^lockstep: (starting a launcher|started a launcher|uploading|capturing|.* node local-\d started|train: (Queued|Preparing|Starting|Running|CancelRequested))")
IS_LONG = os.environ.get("LOCKSTEP_HANGS_LONG") == "1"
only_long = pytest.mark.skipif(not IS_LONG, reason="LOCKSTEP_HANGS_LONG=1 (scripts/check)")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")


def screen(site, done, names=None):
    """What was printed, without what differs from run to run. `names`: {text of this run: what stands for it}."""
    lines = []
    for stream, text in (("out", done.stdout), ("err", done.stderr)):
        lines += [f"{stream}| {line}".rstrip() for line in text.decode(errors="replace").splitlines()
                  if not PASSING.match(line)]
    return plain(site, "\n".join([f"exit code {done.returncode}", *lines]) + "\n", names)


def plain(site, text, names=None):
    """The text, with what differs from run to run and from machine to machine replaced."""
    for name, instead in (names or {}).items():
        text = text.replace(name, instead)
    text = text.replace(str(site.home), "HOME").replace(str(site.work), "WORK").replace(str(site.directory), "DIR")
    text = text.replace(str(site.bin), "BIN")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME", text)
    text = re.sub(r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "TIME", text)
    text = re.sub(r"\b\d+m\d\ds\b", "DURATION", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|min|h)\b", "DURATION", text)
    text = re.sub(r"\b\d+(\.\d+)?(ms|s|m|h)( \d+s)?\b(?! memory)", "DURATION", text)
    text = re.sub(r"\b\d+\.\d times\b", "N times", text)
    text = re.sub(r"\b\d+(\.\d+)? [GM]bit/s", "N bit/s", text)
    text = re.sub(r"\b\d+(\.\d+)? ?%", "N %", text)
    text = re.sub(r"\bpid \d+", "pid PID", text)
    text = re.sub(r"canceled by \S+", "canceled by USER", text)
    text = re.sub(r"127\.0\.0\.1:\d{4,}", "127.0.0.1:PORT", text)
    # The launcher's own ports (7070 to 7072) are part of what is said; leased ones are not.
    return re.sub(r"(:| port )(?!707[0-2]\b)\d{4,5}\b", r"\1PORT", text)


def judge(name, text, *says):
    """`says`: patterns that must be there."""
    missing = [pattern for pattern in says if not re.search(pattern, text)]
    assert not missing, f"{name} does not say {missing}:\n{text}"
    path = FOLDER / f"{name}.txt"
    if os.environ.get("LOCKSTEP_GOLDEN") == "write":
        path.write_text(text)
    assert path.exists(), f"{path} is not there yet (LOCKSTEP_GOLDEN=write):\n{text}"
    wanted = path.read_text()
    assert text == wanted, "".join(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), str(path), "now"))


def finished(process):
    """Of Site.start: its end, as Site.run gives it."""
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class Watched:
    """A `lockstep run` in a terminal's place: what it says is read while it runs."""

    def __init__(self, site, *words):
        self.site, self.process = site, site.start(*words)
        self.said = {"out": b"", "err": b""}
        self.readers = [threading.Thread(target=self._read, args=(name, stream), daemon=True)
                        for name, stream in (("out", self.process.stdout), ("err", self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def _read(self, name, stream):
        for line in stream:
            self.said[name] += line

    def _kill(self):
        """Of a test that fails: nothing of it shall stay."""
        self.process.kill()
        self.process.wait()

    def wait_until(self, condition, what, deadline_s=DEADLINE_S):
        """As of site.py; on failure it says what was said until then."""
        try:
            return wait_until(condition, what, deadline_s)
        except AssertionError as error:
            self._kill()
            said = b"".join(self.said.values()).decode(errors="replace")
            raise AssertionError(f"{error}; said so far:\n{said[-3000:]}") from None

    def wait_for(self, pattern, deadline_s=DEADLINE_S):
        """Until a line on standard error says it; or the command ends, and never did."""
        found = re.compile(pattern.encode())
        self.wait_until(lambda: found.search(self.said["err"]) or self.process.poll() is not None,
                        f"'{pattern}' is said", deadline_s)
        return self

    def end(self, deadline_s=DEADLINE_S):
        """Its end, as Site.run gives it."""
        try:
            self.process.wait(timeout=deadline_s)
        except subprocess.TimeoutExpired:
            self._kill()
            raise
        for reader in self.readers:
            reader.join(10)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, self.said["out"],
                                           self.said["err"])

    def cancel(self, name="train"):
        self.site.run("job", "cancel", name)
        return self.end()
