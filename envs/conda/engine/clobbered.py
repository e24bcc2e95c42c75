"""Files that several packages have: rattler keeps one, and puts the others under __clobbers__."""

import json
import os
import pathlib

from common import say

FOLDER = "__clobbers__"  # /PACKAGE/PATH
MAX_LINES = 10


def owners_of(paths, prefix):
    owners = {}
    for path in pathlib.Path(prefix, "conda-meta").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        owners.update({each: record["name"] for each in paths & set(record["files"])})
    return owners


def say_clobbered(prefix):
    if not os.path.isdir(folder := os.path.join(prefix, FOLDER)):
        return
    lost = []
    for where, _, names in os.walk(folder):
        for name in names:
            package, _, path = os.path.relpath(os.path.join(where, name), folder).partition("/")
            lost.append((path, package))
    owners = owners_of({path for path, _ in lost}, prefix)
    for path, package in sorted(lost)[:MAX_LINES]:
        owner = owners.get(path, "another package")
        say(f"warning: {package} and {owner} both have {path}; that of {owner} is installed")
    if len(lost) > MAX_LINES:
        say(f"warning: and {len(lost) - MAX_LINES} more files that several packages have")
