"""Post-link scripts, as rattler runs them. It would hold its cache until each of them has ended,
and what they left in the background."""

import asyncio
import os
import pathlib
import shlex
import shutil
import signal
import subprocess

import rattler
from rattler.shell import ActivationVariables, PathModificationBehavior, Shell, activate

from common import MAX_LINE, Refused, say

MESSAGES = ".messages.txt"  # of conda: what a script says to people
SECONDS_BETWEEN_LOOKS = 0.02
MAX_LINES, MAX_BYTES = 20, 64 * 1024


def wrapped(order, record, script):
    entries = os.environ.get("PATH", "").split(os.pathsep)
    around = ActivationVariables(None, entries, PathModificationBehavior.Replace)
    activation = activate(pathlib.Path(order["prefix"]), around, Shell.bash, order["subdir"])
    variables = {"PREFIX": order["prefix"], "PKG_NAME": record["name"],
                 "PKG_VERSION": record["version"], "PKG_BUILDNUM": record.get("build_number", 0)}
    exports = [f"export {name}={shlex.quote(str(value))}" for name, value in variables.items()]
    return "\n".join([*exports, activation.script, f". {shlex.quote(str(script))}\n"])


def last_lines(path):
    """Of a file, and of nothing that it may point to: everybody who sees the job sees them."""
    if path.is_symlink() or not path.is_file():
        return []
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - MAX_BYTES, 0))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return [line.rstrip()[-MAX_LINE:] for line in lines[-MAX_LINES:]]


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def how_it_ended(code):
    return f"it exited with {code}" if code > 0 else f"it was killed by {signal.Signals(-code).name}"


async def run_script(order, record, script):
    """Its output goes to a file: a pipe would stay open as long as what it left runs."""
    name, folder = record["name"], pathlib.Path(order["scratch"])
    wrapper, output = folder / "link.sh", folder / "link.log"
    messages = pathlib.Path(order["prefix"], MESSAGES)
    wrapper.write_text(wrapped(order, record, script), encoding="utf-8")
    say(f"running the post-link script of {name}")
    with open(output, "wb") as file:
        process = subprocess.Popen([shutil.which("bash") or "sh", wrapper], stdout=file,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        while process.poll() is None:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    told, printed = last_lines(messages), last_lines(output)
    remove(messages)
    for line in told:
        say(f"{name}: {line}")
    if process.returncode != 0:
        said = " ".join(told or printed) or how_it_ended(process.returncode)
        raise Refused("invalid_argument", f"the post-link script of {name} failed: {said}")


async def run_link_scripts(order, wanted):
    """Of what a package needs before its own. One that fails ends the build, as with conda."""
    packages = {each.record.name.normalized: each.package["record"] for each in wanted}
    for record in rattler.PackageRecord.sort_topologically([each.record for each in wanted]):
        name = record.name.normalized
        script = pathlib.Path(order["prefix"], "bin", f".{name}-post-link.sh")
        if script.is_file():
            await run_script(order, packages[name], script)
