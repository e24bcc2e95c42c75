"""Files that packages have and should not: of several packages, of which rattler keeps one and puts
the others under __clobbers__, and in the place of conda's own records."""

import contextlib
import json
import os
import pathlib

from common import Refused, say

FOLDER = "__clobbers__"  # /PACKAGE/PATH
MAX_LINES = 10


def record_path(prefix, record):
    name = f"{record['name']}-{record['version']}-{record['build']}.json"
    return pathlib.Path(prefix, "conda-meta", name)


def files_of(order):
    """Package, and the paths that it has. After a failure some have no record."""
    for package in order["packages"]:
        record = package["record"]
        with contextlib.suppress(OSError, ValueError, KeyError):
            text = record_path(order["prefix"], record).read_text(encoding="utf-8")
            yield record["name"], json.loads(text)["files"]


def owner_of(lost, owners):
    """And what it has there: that file, or one in the place of its folder, or a folder."""
    for path in (lost, *map(str, pathlib.PurePath(lost).parents)):
        if path in owners:
            return owners[path], path
    within = next((path for path in owners if path.startswith(lost + "/")), None)
    return owners.get(within, "another package"), within or lost


def put_back(folder, path, package):
    """Of a file and a folder in its place rattler sometimes links neither, and records the file."""
    there = pathlib.Path(folder).parent / path
    with contextlib.suppress(OSError):
        there.rmdir()
    if not os.path.lexists(there):
        os.rename(os.path.join(folder, package, path), there)


def say_clobbered(order):
    if not os.path.isdir(folder := os.path.join(order["prefix"], FOLDER)):
        return
    found, lost = [], []
    for where, _, names in os.walk(folder):
        for name in names:
            package, _, path = os.path.relpath(os.path.join(where, name), folder).partition("/")
            found.append((path, package))
    owners = {path: name for name, paths in files_of(order) for path in paths}
    for path, package in found:
        if owners.get(path) == package:
            put_back(folder, path, package)
        else:
            lost.append((path, package))
    for path, package in sorted(lost)[:MAX_LINES]:
        owner, there = owner_of(path, owners)
        say(f"warning: {package} and {owner} both have {there}; that of {owner} is installed")
    if len(lost) > MAX_LINES:
        say(f"warning: and {len(lost) - MAX_LINES} more files that several packages have")


def no_record(order):
    """The failure, if a package has brought what rattler takes for the record of one."""
    ours = {record_path(order["prefix"], each["record"]).name for each in order["packages"]}
    for name, paths in files_of(order):
        for path in paths:
            folder, _, file = path.rpartition("/")
            if folder == "conda-meta" and file.endswith(".json") and file not in ours:
                return Refused("corrupt", f"the package {name} contains {path}, but only "
                               "conda's own records may be in that folder")
    return None
