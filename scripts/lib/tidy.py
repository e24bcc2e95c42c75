"""Runs clang-tidy over what a build folder compiles of the product, and remembers what it found clean.

usage: tidy.py BUILD-FOLDER SOURCE…     (SOURCE: every file that has to be covered, relative to the root)
A translation unit is looked at as it is compiled: a unity file with all of its sources, which takes a third of the time of
one by one. It is clean for as long as its text after the preprocessor (comments too, which may silence checks), .clang-tidy
and clang-tidy itself stay the same; BUILD-FOLDER/tidy has an empty file for each such state. Exit code 1: something was found.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDED = re.compile(r'#include "([^"]+\.cc)"')


def sources_of(unit):
    """The sources of a unity file; else the file itself. Relative to the root."""
    names = INCLUDED.findall(unit.read_text()) if "Unity" in unit.parts else [str(unit)]
    return {os.path.relpath(name, ROOT) for name in names}


def state_of(entry, settings):
    words = shlex.split(entry["command"])
    out = words.index("-o")
    text = subprocess.run([*words[:out], *words[out + 2:], "-E", "-C"], cwd=entry["directory"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
    return hashlib.sha256(settings + text).hexdigest()


def look_at(file, folder):
    """What clang-tidy says about it; "": nothing."""
    done = subprocess.run(["clang-tidy", "-quiet", "-p", folder, file], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and not done.stdout.strip():
        return ""
    return done.stdout + re.sub(r"^\d+ warnings?.*generated.*\n", "", done.stderr, flags=re.MULTILINE) or f"exit code {done.returncode}"


def check(entry, folder, settings):
    clean = folder / "tidy" / state_of(entry, settings)
    if clean.exists():
        return ""
    text = look_at(entry["file"], folder)
    if not text:
        clean.touch()
    return text


def main():
    folder, wanted = pathlib.Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    (folder / "tidy").mkdir(exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    units, covered = [], set()
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        sources = sources_of(pathlib.Path(entry["file"])) & wanted
        if sources - covered:
            units.append(entry)
            covered |= sources
    lone = sorted(wanted - covered)  # only other builds compile them; clang-tidy takes the flags of a neighbour
    work = [(entry["file"], lambda entry=entry: check(entry, folder, settings)) for entry in units]
    work += [(name, lambda name=name: look_at(name, folder)) for name in lone]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _), text in zip(work, pool.map(lambda one: one[1](), work)):
            if text:
                bad += 1
                print(f"{os.path.relpath(name, ROOT)}:\n{text}", flush=True)
    print(f"clang-tidy: {len(wanted)} sources in {len(work)} units, {bad} with findings", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
