#!/usr/bin/env python3
"""Writes map.tsv and rooms.md from rooms.spec, and says what is wrong with the plan.

make_map.py [--write] [--root .] [--arrows]: units that no room names, rooms that are too
large, header names that occur twice, and includes against the order of the rooms.
"""
import argparse
import collections
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(".")
# What else lies in folders that are split.
OTHERS = {
    "launcher/spec/sizes.yml": "launcher/files/targets/sizes.yml",
    "launcher/spec/sizes_text.cc.in": "launcher/files/targets/sizes_text.cc.in",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def read_spec():
    rooms, room = collections.OrderedDict(), None
    for row in (HERE / "rooms.spec").read_text().splitlines():
        row = row.strip()
        if not row or row.startswith("#"):
            continue
        head = re.match(r'\[([^\]]+)\] (.*)', row)
        if head:
            room = head.group(1)
            assert room not in rooms, room
            rooms[room] = (head.group(2), [])
            continue
        folder, stems = row.split(": ", 1)
        for stem in stems.split():
            old, _, new = stem.partition(">")
            rooms[room][1].append((folder, old, new or old))
    return rooms


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--write", action="store_true")
    args.add_argument("--arrows", action="store_true")
    args.add_argument("--root", default=".")
    args = args.parse_args()
    global ROOT
    root = ROOT = pathlib.Path(args.root)
    files = subprocess.run(["git", "ls-files", "*.h", "*.cc"], cwd=root, capture_output=True, text=True).stdout.split()
    rooms = read_spec()
    folders = {f for _, units in rooms.values() for f, _, _ in units}
    order = {room: i for i, room in enumerate(rooms)}
    moved, seen = {}, set()
    for room, (_, units) in rooms.items():
        for folder, old, new in units:
            found = [f for f in files if f in (f"{folder}/{old}.h", f"{folder}/{old}.cc")]
            if not found:
                print(f"absent: {folder}/{old}")
            if (folder, old) in seen:
                print(f"twice: {folder}/{old}")
            seen.add((folder, old))
            for f in found:
                moved[f] = f"{room}/{new}.{f.rsplit('.', 1)[1]}"
    for f in files:
        if f.rsplit("/", 1)[0] in folders and f not in moved:
            print(f"no room: {f}")
    assert len(set(moved.values())) == len(moved), [v for v, n in collections.Counter(moved.values()).items() if n > 1]
    now = {f: moved.get(f, f) for f in files if not f.startswith("tests/")}
    text = {f: (root / f).read_text() for f in now}
    size, count, names = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for f, new in now.items():
        folder, name = new.rsplit("/", 1)
        size[folder] += text[f].count("\n")
        count[folder] += 1
        if name.endswith(".h"):
            names[name].append(folder)
    for room in rooms:
        mark = "  <-- too large" if size[room] > 3000 or count[room] > 40 else ""
        print(f"{size[room]:6} {count[room]:3} {room}{mark}")
    for name, where in sorted(names.items()):
        if len(where) > 1:
            print("name twice:", name, *where)
    for f, new in now.items():
        folder, name = new.rsplit("/", 1)
        stem = name.rsplit(".", 1)[0]
        if f in moved and folder.rsplit("/", 1)[1].rstrip("s") in stem.split("_"):
            print("repeats its folder:", new)
    if args.arrows:
        arrows = collections.defaultdict(list)
        for f, new in now.items():
            a = new.rsplit("/", 1)[0]
            for i in INCLUDE.findall(text[f]):
                b = now.get(i, i).rsplit("/", 1)[0]
                if a != b and a in order and b in order and order[b] > order[a]:
                    arrows[(a, b)].append((new, now.get(i, i)))
        for (a, b), where in sorted(arrows.items()):
            print(f"UP {a} -> {b}: " + "; ".join(f"{f.rsplit('/', 1)[1]}:{i.rsplit('/', 1)[1]}" for f, i in where))
        print(len(arrows), "arrows,", sum(map(len, arrows.values())), "includes")
    if args.write:
        write(rooms, moved, files)


# Where the subjects of a folder of tests are, beside the folder of the same name.
SUBJECTS = {
    "launcher/core": ["launcher/core"], "launcher/cli": ["launcher/cli"], "launcher/spec": ["launcher/spec"],
    "launcher/daemon": ["launcher/daemon", "launcher/tools", "launcher/logs", "launcher/api"],
    "launcher/api": ["launcher/api"], "launcher/store": ["launcher/store"],
    "common/base": ["common/base", "common/domain"], "common/io": ["common/io"],
    "common/snapshot": ["common/snapshot"], "common/wire": ["common/wire"],
    "agent": ["agent/daemon", "agent/inventory", "agent/environment", "agent/supervise", "agent/usage"],
    "agent/workspace": ["agent/workspace"],
    "runner": ["runner", "runner/steps", "runner/spawn", "runner/container", "runner/usage"],
    "runner/bootstrap": ["runner/bootstrap"], "runner/compare": ["runner/watch"],
    "runner/probe": ["runner/probe"], "runner/rdma": ["runner/rdma", "runner/fabric", "runner/container"],
    "runner/watch": ["runner/watch"], "runner/attach": ["runner/attach"],
}


def tests(files, moved):
    """New paths of test files, and of all else that lies in folders of tests that move as a whole."""
    named, folders, out = {}, {}, {}
    for row in (HERE / "tests.spec").read_text().splitlines():
        if not row or row.startswith("#"):
            continue
        if row.startswith("folder "):
            new, old = row[7:].split(" <- ")
            folders["tests/unit/" + old] = "tests/unit/" + new
            continue
        new, rest = row.split(" <- ")
        old, stems = rest.split(": ")
        for stem in stems.split():
            named["tests/unit/" + old + "/" + stem] = "tests/unit/" + new
    every = subprocess.run(["git", "ls-files", "tests/unit"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    for f in every:
        folder, name = f.rsplit("/", 1)
        stem, _, ext = name.rpartition(".")
        below = folder[len("tests/unit/"):]
        new = None
        if ext in ("h", "cc") and folder + "/" + stem in named:
            new = named.pop(folder + "/" + stem) + "/" + name
            if ext == "h" or folder + "/" + stem + ".h" in every:
                named[folder + "/" + stem] = new.rsplit("/", 1)[0]
        elif ext in ("h", "cc") and below in SUBJECTS:
            subject = re.sub("_test$", "", stem)
            for home in SUBJECTS[below]:
                for e in (".h", ".cc"):
                    unit = home + "/" + subject + e
                    if unit in files and stem != subject and new is None:
                        to = moved.get(unit, unit)
                        new = "tests/unit/" + to.rsplit(".", 1)[0] + "_test." + ext
        if new is None:
            for old, to in folders.items():
                if f.startswith(old + "/"):
                    new = to + f[len(old):]
        if new is not None and new != f:
            out[f] = new
    left = [n for n in named if not any(f.rsplit(".", 1)[0] == n for f in out)]
    if left:
        print("tests.spec names what is not there:", *left)
    assert len(set(out.values())) == len(out), [v for v, n in collections.Counter(out.values()).items() if n > 1]
    return out


def write(rooms, moved, files):
    tested = tests(set(files), moved)
    keep = {o: n for o, n in moved.items() if o != n}
    stay = [o for o, n in moved.items() if o == n]
    with open(HERE / "map.tsv", "w") as out:
        out.write("# old path -> new path. Written by make_map.py from rooms.spec and tests.tsv.\n")
        for old, new in sorted(moved.items()):
            out.write(f"{old}\t{new}\n")
        for old, new in sorted(tested.items()):
            out.write(f"{old}\t{new}\n")
        for old, new in sorted(OTHERS.items()):
            out.write(f"{old}\t{new}\n")
    print(len(tested), "files of tests move;", len(keep), "files move,", len(stay), "stay where they are in rooms that are split")
    with open(HERE / "order.tsv", "w") as out:
        for room, (sentence, units) in rooms.items():
            out.write(f"{room}\t{sentence}\n")
    with open(HERE / "rooms.md", "w") as out:
        out.write("# Rooms\n\nA room may include those above it in this list (of its program, and `common`).\n\n")
        for room, (sentence, units) in rooms.items():
            out.write(f"- `{room}`: {sentence}\n")


if __name__ == "__main__":
    main()
