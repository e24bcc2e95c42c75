#!/usr/bin/env python3
"""Moves the sources of a checkout into their rooms: map.tsv, and order.tsv for the order of the rooms.

    move.py [ROOT] [--allow-absent] [--apart keep|derive] [--no-format] [--check]

Pure moves: files get their new places; #include lines, CMakeLists.txt, scripts/layers, and texts that name
old paths follow. Nothing here depends on what the files contain beyond that. It refuses a checkout with
changes, and stops with a list when a file of the map is absent (--allow-absent: goes on without it). Files
that the map does not know are placed by a rule and listed (look at them, and add them to map.tsv).
--check: only says what it would place by the rule and what is absent.
--apart keep: what is compiled apart today stays so, and what now needs it comes to it; derive: only what
needs it, by the names that sources have for themselves.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]+")([^"]+)(")', re.M)
OURS = ("common", "envs", "agent", "launcher", "runner")
# Sources that CMake makes, and the room whose CMakeLists.txt makes them.
MADE = {"${sizes_text}": "launcher/files/targets"}
# What a room needs of rooms above it to be linked: functions that its headers declare and others define.
DEFINED_ABOVE = {
    "launcher/cli/base": ["launcher/cli/verbs/submit", "launcher/cli/verbs/look", "launcher/cli/verbs/ranks",
                          "launcher/cli/verbs/targets", "launcher/cli/verbs/names", "launcher/cli/verbs/people",
                          "launcher/cli"],
}
# A header of the system -> what links it.
OUTSIDE = [
    (r"fmt/", "lockstep_fmt"), (r"spdlog/", "spdlog::spdlog"), (r"yaml-cpp/", "lockstep_yaml"),
    (r"nlohmann/", "nlohmann_json::nlohmann_json"), (r"CLI/", "CLI11::CLI11"), (r"sqlite3", "SQLite::SQLite3"),
    (r"openssl/", "lockstep_crypto"), (r"zmq", "lockstep_zmq"), (r"zstd", "lockstep_zstd"), (r"re2/", "lockstep_re2"),
    (r"sodium", "lockstep_sodium"), (r"date/", "date::date-tz"), (r"hwloc", "PkgConfig::HWLOC"),
    (r"pmix", "PkgConfig::PMIX"), (r"tl/", "tl::expected"), (r"dlfcn", "${CMAKE_DL_LIBS}"),
    (r"thread$|mutex$|condition_variable$|future$|pthread", "Threads::Threads"),
]


def fail(text):
    print("move.py: " + text, file=sys.stderr)
    sys.exit(1)


def run(*argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **more).stdout


class Checkout:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = []
        self.look()

    def look(self):
        out = run("git", "ls-files", "-co", "--exclude-standard", cwd=self.root)
        self.files = sorted(f for f in set(out.split("\n")) if f and (self.root / f).is_file())

    def read(self, path):
        return (self.root / path).read_text(errors="surrogateescape")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, errors="surrogateescape")

    def sources(self):
        return [f for f in self.files if f.endswith((".h", ".cc"))]


def folder_of(path):
    return path.rsplit("/", 1)[0] if "/" in path else ""


def name_of(path):
    return path.rsplit("/", 1)[-1]


def stem_of(path):
    return name_of(path).rsplit(".", 1)[0]


def without_comments(text):
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: '""' if m.group(0)[0] in 'R"' else " ", text)


# ---------------------------------------------------------------------------------------------------------
# Which file goes where

def read_map():
    moved = {}
    for row in (HERE / "map.tsv").read_text().splitlines():
        if row and not row.startswith("#"):
            old, new = row.split("\t")
            moved[old] = new
    return moved


def read_order():
    order = collections.OrderedDict()
    for row in (HERE / "order.tsv").read_text().splitlines():
        room, sentence = row.split("\t")
        order[room] = sentence
    return order


def declared(text):
    """Names of functions that a header declares, roughly."""
    return set(re.findall(r'\b([a-zA-Z_]\w*)\s*\(', without_comments(text)))


def defined(text):
    """Names of functions that a source defines outside of unnamed namespaces, roughly; with their class."""
    text = without_comments(text)
    text = re.sub(r'^[ \t]*#[^\n]*', '', text, flags=re.M)
    out, kinds, begin = set(), [], 0
    for at, c in enumerate(text):
        if c == ";" and "function" not in kinds:
            begin = at + 1
        elif c == "{":
            head = " ".join(text[begin:at].split())
            if "function" in kinds:
                kinds.append("block")
            elif re.search(r'\bnamespace\b', head):
                kinds.append("named" if re.search(r'namespace\s+[\w:]+', head) else "unnamed")
            else:
                is_function = re.match(r'(?!.*\b(class|struct|enum|union)\b[^(]*$).*?([\w:~]+)\s*\(', head)
                if is_function and "unnamed" not in kinds and "type" not in kinds and not head.startswith("static "):
                    out.add(is_function.group(2))
                kinds.append("function" if is_function else "type")
            begin = at + 1
        elif c == "}" and kinds:
            kinds.pop()
            begin = at + 1
    return out


def place_unknown(checkout, moved, order):
    """New paths for sources in folders that the map splits, but that it does not name."""
    by_folder = collections.Counter(folder_of(f) for f in moved if not f.startswith("tests/"))
    files = set(checkout.sources())
    present = collections.Counter(folder_of(f) for f in files)
    split = {f for f, n in by_folder.items() if n * 2 > present[f]}
    unknown = sorted(f for f in files if folder_of(f) in split and f not in moved)
    placed = {}
    text = {f: checkout.read(f) for f in files if not f.startswith("tests/")}
    includes = {f: [m[1] for m in INCLUDE.findall(t)] for f, t in text.items()}
    users = collections.defaultdict(list)
    for f, found in includes.items():
        for i in found:
            users[i].append(f)
    for f in sorted(unknown, key=lambda f: f.endswith(".cc")):  # headers first: sources follow them
        folder, stem = folder_of(f), stem_of(f)
        now = {**moved, **placed}
        partner = [now[folder + "/" + stem + e] for e in (".h", ".cc") if folder + "/" + stem + e in now]
        if partner:
            placed[f] = partner[0].rsplit(".", 1)[0] + "." + f.rsplit(".", 1)[1]
            continue
        rooms = {folder_of(n) for o, n in moved.items() if folder_of(o) == folder}
        votes = collections.Counter()
        if f.endswith(".cc"):
            names = {n.split("::")[0] if "::" in n else n for n in defined(text[f])}
            for i in includes[f]:
                if folder_of(i) == folder and i in now and i in text:
                    here = declared(text[i]) | set(re.findall(r'\b(?:class|struct)\s+(\w+)', text[i]))
                    votes[folder_of(now[i])] += 10 * len(names & here)
        for user in users[f]:
            if user in now:
                votes[folder_of(now[user])] += 2
        for i in includes[f]:
            if i in now and folder_of(i) == folder:
                votes[folder_of(now[i])] += 1
        mine = set(stem.split("_")) - {"file", "view", "reader", "codec", "of", "job", "lines", "words", "text"}
        for old, new in moved.items():  # a word that names of the room have, too
            if folder_of(old) == folder and mine & set(stem_of(old).split("_")):
                votes[folder_of(new)] += 0.25
        votes = {r: n for r, n in votes.items() if r in rooms}
        at = list(order).index
        if f.endswith(".h"):  # not above who uses it, not below what it uses
            users_at = [at(folder_of(now[u])) for u in users[f] if u in now and folder_of(now[u]) in rooms]
            uses_at = [at(folder_of(now[i])) for i in includes[f] if i in now and folder_of(now[i]) in rooms]
            fitting = [r for r in rooms if r in order and at(r) <= min(users_at, default=9999) and
                       at(r) >= max(uses_at, default=-1)]
            votes = {r: n for r, n in votes.items() if r in fitting} or \
                {r: 0 for r in ([max(fitting, key=at)] if fitting and users_at else [])} or votes
        if votes:
            best = max(votes.values())
            room = max((r for r, n in votes.items() if n == best), key=lambda r: at(r) if r in order else -1)
        else:
            room = sorted(rooms, key=lambda r: (r != folder, not r.startswith(folder), r.count("/"), r))[0]
        if "/verbs/" in room and stem.startswith("verbs_"):
            stem = stem[len("verbs_"):]
        placed[f] = room + "/" + stem + "." + f.rsplit(".", 1)[1]
    return placed


def place_unknown_tests(checkout, moved):
    """Tests that the map does not know follow the unit that they are named for, if it moves."""
    subjects = {}
    for old, new in moved.items():
        if not old.startswith("tests/"):
            subjects.setdefault((folder_of(old), stem_of(old)), new)
    wholes = {}  # a folder of tests that moves as a whole -> where to
    for old, new in moved.items():
        if old.startswith("tests/") and name_of(old) == "CMakeLists.txt":
            wholes[folder_of(old)] = folder_of(new)
    placed = {}
    for f in checkout.files:
        if not f.startswith("tests/unit/") or f in moved:
            continue
        folder = folder_of(f)
        if f.endswith("_test.cc"):
            subject = subjects.get((folder[len("tests/unit/"):], stem_of(f)[:-len("_test")]))
            if subject:
                placed[f] = "tests/unit/" + subject.rsplit(".", 1)[0] + "_test.cc"
        whole = [w for w in wholes if folder == w or folder.startswith(w + "/")]
        if f not in placed and whole:
            placed[f] = wholes[whole[0]] + f[len(whole[0]):]
    return {o: n for o, n in placed.items() if o != n}


# ---------------------------------------------------------------------------------------------------------
# CMake

class Command:
    """One command of a CMakeLists.txt: its name, its arguments, and where it stands."""

    def __init__(self, name, begin, end, args):
        self.name, self.begin, self.end, self.args = name, begin, end, args  # args: (token, begin, end)

    def words(self):
        return [a[0] for a in self.args]


def commands(text):
    out, at = [], 0
    head = re.compile(r'#[^\n]*|([A-Za-z_]\w*)\s*\(')
    token = re.compile(r'#[^\n]*|"(?:\\.|[^"\\])*"|\$<(?:[^<>]|<[^<>]*>)*>|[()]|[^\s()#"]+')
    while True:
        m = head.search(text, at)
        if not m:
            return out
        if m.group(1) is None:
            at = m.end()
            continue
        depth, args, at2 = 1, [], m.end()
        while depth:
            t = token.search(text, at2)
            if not t:
                fail("a CMakeLists.txt that ends within a command")
            word = t.group(0)
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
            elif not word.startswith("#"):
                args.append((word, t.start(), t.end()))
            at2 = t.end()
        out.append(Command(m.group(1), m.start(), at2, args))
        at = at2


KEYS = {"SOURCES", "APART", "LINK", "TAKES", "COMPONENT", "INTERNAL"}


def sections(words):
    """{key: values} of one of our functions' arguments; '' is what comes before the first key."""
    out, key = collections.OrderedDict({"": []}), ""
    for word in words:
        if word in KEYS:
            key = word
            out.setdefault(key, [])
        else:
            out[key].append(word)
    return out


def wrapped(head, words, width=100, indent="          "):
    lines, line = [], head
    for word in words:
        if len(line) + 1 + len(word) > width and line.strip() != head.strip():
            lines.append(line)
            line = indent + word
        elif len(line) + 1 + len(word) > width:
            lines.append(line)
            line = indent + word
        else:
            line += " " + word
    return "\n".join(lines + [line])


class Build:
    """The CMakeLists.txt of a checkout before the move, and what becomes of them."""

    def __init__(self, checkout, moved, rooms, apart):
        self.checkout, self.moved, self.apart = checkout, moved, apart
        self.old = {f: checkout.read(f) for f in checkout.files if name_of(f) == "CMakeLists.txt"}
        self.rooms = rooms            # folder -> sentence
        self.gone = set()             # targets that are split or get another name
        self.target = {}              # folder (new) -> target
        self.was_apart = set()        # sources (old paths)
        self.old_links = collections.defaultdict(set)  # folder (old) -> tokens
        self.programs = collections.defaultdict(list)  # room -> lockstep_program words
        self.extra = collections.defaultdict(list)     # room -> raw text
        self.library_of = {}                           # source (old) -> its target
        self.folder_library = {}                       # folder (old) -> a target
        self.old_edges = collections.defaultdict(set)  # target -> what it linked
        self.read_old()

    def folders(self):
        """Folders (old) whose CMakeLists.txt is written anew: those of which the map knows the sources."""
        old = {folder_of(o) for o in self.moved if not o.startswith("tests/") and folder_of(self.moved[o]) in self.rooms}
        kept = {"launcher/compute"}  # of these, single files move
        return {f for f in old if f + "/CMakeLists.txt" in self.old and f not in kept}

    def read_old(self):
        self.anew = self.folders()
        for path, text in self.old.items():
            folder = folder_of(path)
            found = commands(text)
            values = {c.words()[0]: c.words()[1:] for c in found if c.name == "set" and c.args}
            depth, block = 0, 0
            for index, command in enumerate(found):
                words = []
                for word in command.words():
                    reference = re.fullmatch(r'\$\{(\w+)\}', word)
                    words += values.get(reference.group(1), [word]) if reference and word not in MADE else [word]
                if command.name == "lockstep_library":
                    part = sections(words)
                    name = part[""][0]
                    self.old_edges[name] |= set(part.get("LINK", []))
                    self.folder_library[folder] = name
                    for source in part.get("SOURCES", []):
                        self.library_of[os.path.normpath(folder + "/" + source)] = name
                    if folder in self.anew:
                        self.gone.add(name)
                        self.old_links[folder] |= set(part.get("LINK", []))
                    else:
                        self.target.setdefault(self.moved_folder(folder), name)
                    for source in part.get("APART", []):
                        self.was_apart.add(os.path.normpath(folder + "/" + source))
                elif command.name == "lockstep_test":
                    pass
                if folder not in self.anew:
                    continue
                # What is neither a library nor known: it goes to the room of the file that it names.
                if command.name == "if":
                    if depth == 0:
                        block = command.begin
                    depth += 1
                elif command.name == "endif":
                    depth -= 1
                    if depth == 0:
                        self.keep(folder, text[block:command.end])
                elif depth or command.name in ("lockstep_library", "else", "elseif", "add_subdirectory", "foreach", "endforeach"):
                    continue
                elif command.name == "lockstep_program":
                    part = sections(words)
                    to = {folder_of(self.moved.get(folder + "/" + s, folder + "/" + s)) for s in part["SOURCES"]}
                    if len(to) != 1:
                        fail(f"{path}: the sources of {part[''][0]} lie in {to}")
                    self.programs[to.pop()].append(part)
                elif command.name == "lockstep_link_statically":
                    room = next(iter(r for r, p in self.programs.items() for x in p if x[""] == command.words()))
                    self.extra[room].append(text[command.begin:command.end])
                elif command.name in ("set_property", "file", "configure_file", "set", "set_source_files_properties"):
                    if command.name == "set" and not any(w in text[command.begin:command.end] for w in ("CMAKE_BINARY_DIR",)):
                        continue  # a list of sources
                    self.keep(folder, text[command.begin:command.end])
                else:
                    fail(f"{path}: move.py does not know what to do with {command.name}(…)")

    def moved_folder(self, folder):
        """Where a folder is afterwards whose files move as a whole."""
        marker = folder + "/CMakeLists.txt"
        return folder_of(self.moved[marker]) if marker in self.moved else folder

    def keep(self, folder, text):
        named = re.findall(r'[\w/]+\.(?:cc|yml|cc\.in|h)\b', text) + re.findall(r'\w+\.cc\.in', text)
        to = {folder_of(self.moved[folder + "/" + n]) for n in named if folder + "/" + n in self.moved}
        if "${sizes_text}" in text or "sizes_text" in text:
            to.add(MADE["${sizes_text}"])
        if len(to) != 1:
            fail(f"{folder}/CMakeLists.txt: to which room belongs this? {to}\n{text}")
        for n in named:
            if folder + "/" + n in self.moved:
                text = re.sub(r'(?<![\w/])' + re.escape(n) + r'\b', name_of(self.moved[folder + "/" + n]), text)
        room = to.pop()
        text = text.replace("/" + folder + "/", "/" + room + "/")
        self.extra[room].append(text)

    # -- after the files have moved

    def write(self):
        checkout = self.checkout
        self.include_graph()
        rooms = [r for r in self.all_rooms()]
        for room in rooms:
            self.target[room] = room.replace("/", "_")
        self.links = {}
        for room in rooms:
            ours, others = self.derived(self.own_files(room), {self.target[room]})
            self.links[room] = (sorted({*ours, *[self.target[r] for r in DEFINED_ABOVE.get(room, [])]}), others)
        for path in sorted(self.old):
            now = self.moved.get(path, path)
            if folder_of(path) in self.anew:
                if folder_of(path) not in {*rooms, *self.parents(rooms)}:
                    (checkout.root / path).unlink(missing_ok=True)
                continue
            self.rewrite(path, now)
        for folder in sorted({*rooms, *self.parents(rooms)}):
            self.write_room(folder, rooms)
        for path in sorted(self.old):
            now = self.moved.get(path, path)
            if folder_of(path) not in self.anew:
                self.subfolders(now)
        self.prune_tests()

    def include_graph(self):
        self.includes, self.system = {}, {}
        for f in self.checkout.sources():
            text = self.checkout.read(f)
            self.includes[f] = [m[1] for m in INCLUDE.findall(text)]
            self.system[f] = re.findall(r'^[ \t]*#[ \t]*include[ \t]+<([^>]+)>', text, re.M)

    def all_rooms(self):
        """Folders that get a library of their own: those of the plan, and others below the split ones."""
        tops = {self.top_of(r) for r in self.rooms}
        out = []
        for folder in sorted({folder_of(f) for f in self.includes if f.startswith(OURS)}):
            is_ours = folder in self.rooms or any(folder.startswith(t + "/") for t in tops)
            has_own = folder + "/CMakeLists.txt" in self.old and folder not in self.anew
            if is_ours and not has_own and folder not in ("launcher/compute/program",) and \
                    not folder.startswith("launcher/compute/"):
                out.append(folder)
        return out

    @staticmethod
    def top_of(room):
        parts = room.split("/")
        return "/".join(parts[:2])

    def parents(self, rooms):
        out = set()
        for room in rooms:
            top, folder = self.top_of(room), room
            while folder != top:
                folder = folder_of(folder)
                if folder + "/CMakeLists.txt" not in self.old or folder in self.anew:
                    out.add(folder)
        return out

    def own_files(self, room):
        return [f for f in self.includes if folder_of(f) == room]

    def target_of(self, folder):
        """The target that has the code of a folder."""
        while folder:
            if folder in self.target:
                return self.target[folder]
            folder = folder_of(folder)
        return None

    def derived(self, files, own=()):
        """Targets that these files include: ours, then others'. `own`: targets whose code these files are."""
        seen, todo, ours, others = set(), list(files), set(), set()
        while todo:
            f = todo.pop()
            if f in seen or f not in self.includes:
                continue
            seen.add(f)
            for i in self.includes[f]:
                if i.startswith("proto/") and i.endswith(".pb.h"):
                    ours.add("proto_journal" if i == "proto/journal.pb.h" else "proto")
                elif i in self.includes:
                    target = None if i.startswith("tests/") else self.target_of(folder_of(i))
                    if target is None or target in own:
                        todo.append(i)
                    else:
                        ours.add(target)
            for i in self.system[f]:
                others |= {t for pattern, t in OUTSIDE if re.match(pattern, i)}
        return sorted(ours), sorted(others)

    def may_link(self, tokens, ours):
        """Of new targets, those whose code the old ones had, or what these link: nothing else was linked."""
        if not hasattr(self, "came"):
            self.came = collections.defaultdict(set)  # new target -> old ones
            for old, new in self.moved.items():
                if old in self.library_of or folder_of(old) in self.folder_library:
                    self.came[self.target_of(folder_of(new))].add(
                        self.library_of.get(old) or self.folder_library[folder_of(old)])
        reach, todo = set(tokens), list(tokens)
        while todo:
            for t in self.old_edges.get(todo.pop(), ()):
                if t not in reach:
                    reach.add(t)
                    todo.append(t)
        return [t for t in ours if t in reach or self.came.get(t, set()) & reach]

    def closure(self, targets):
        """All targets that linking these links, as far as we know."""
        if not hasattr(self, "edges"):
            self.edges = collections.defaultdict(set)
            for room, (ours, others) in self.links.items():
                self.edges[self.target[room]] |= set(ours) | set(others)
            for path in self.old:
                now = self.moved.get(path, path)
                if (self.checkout.root / now).exists():
                    for c in commands(self.checkout.read(now)):
                        if c.name == "lockstep_library":
                            part = sections(c.words())
                            self.edges[part[""][0]] |= set(part.get("LINK", []))
        out, todo = set(), list(targets)
        while todo:
            for t in self.edges.get(todo.pop(), ()):
                if t not in out:
                    out.add(t)
                    todo.append(t)
        return out

    def write_room(self, folder, rooms):
        lines = []
        sentence = self.rooms.get(folder)
        children = sorted({r[len(folder) + 1:].split("/")[0] for r in {*rooms, *self.parents(rooms)}
                           if r.startswith(folder + "/")} |
                          {f[len(folder) + 1:].split("/")[0] for f in self.old
                           if f.startswith(folder + "/") and f.count("/") == folder.count("/") + 2
                           and folder_of(f) not in self.anew})
        for child in children:
            lines.append(f"add_subdirectory({child})")
        if folder in rooms:
            if sentence:
                lines.append("\n".join("# " + row for row in fill(sentence, 98)))
            sources = sorted(name_of(f) for f in self.own_files(folder) if f.endswith(".cc"))
            mains = {s for p in self.programs.get(folder, []) for s in p["SOURCES"]}
            sources = [s for s in sources if s not in mains] + [m for m, r in MADE.items() if r == folder]
            apart = self.apart_of(folder, sources)
            ours, others = self.links[folder]
            lines += self.extra.get(folder, []) if folder in MADE.values() else []
            rows = [f"lockstep_library({self.target[folder]}"]
            if sources:
                rows.append(wrapped("  SOURCES", sources))
            if apart:
                rows.append(wrapped("  APART", apart))
            rows.append(wrapped("  LINK", ours + others, indent="       ") + ")")
            lines.append("\n".join(rows) if sources else " ".join(r.strip() for r in rows))
            if folder not in MADE.values():
                lines += [t for t in self.extra.get(folder, []) if not t.startswith("lockstep_link_statically")]
            for part in self.programs.get(folder, []):
                ours, others = self.derived([folder + "/" + s for s in part["SOURCES"]])
                keep = [t for t in part.get("LINK", []) if t not in self.gone and t not in ours]
                flags = ["INTERNAL"] if "INTERNAL" in part else []
                flags += ["COMPONENT"] + part["COMPONENT"] if "COMPONENT" in part else []
                lines.append(wrapped(f"lockstep_program({part[''][0]}", flags) + "\n" +
                             wrapped("  SOURCES", part["SOURCES"]) + "\n" +
                             wrapped("  LINK", ours + [t for t in others if t != "lockstep_fmt"] + keep, indent="       ") + ")")
            lines += [t for t in self.extra.get(folder, []) if t.startswith("lockstep_link_statically")]
        self.checkout.write(folder + "/CMakeLists.txt", "\n".join(lines) + "\n")

    def apart_of(self, room, sources):
        was = {name_of(self.moved.get(o, o)) for o in self.was_apart
               if folder_of(self.moved.get(o, o)) == room}
        needed = colliding(self.checkout, room, [s for s in sources if not s.startswith("$")], self.includes,
                           was if self.apart == "keep" else set())
        return [s for s in sources if s in needed]

    # -- CMakeLists.txt that stay

    def rewrite(self, path, now):
        text = self.old[path]
        old_folder, new_folder = folder_of(path), folder_of(now)
        edits = []
        executables = {}
        for command in commands(text):
            words = command.words()
            if command.name in ("lockstep_library", "lockstep_program", "lockstep_test"):
                edits += self.edit_ours(command, text, old_folder, new_folder)
            elif command.name == "lockstep_fuzzer" and len(words) == 2 and not words[0].startswith("$"):
                if words[1] in self.gone:
                    sources = [f"{new_folder}/{words[0]}.cc", *self.sources_of(text, words[0], old_folder)]
                    ours = self.linked(words[1:], sources)
                    more = f"\n  target_link_libraries({words[0]} PRIVATE {' '.join(ours[1:])})" if ours[1:] else ""
                    edits.append((command.args[1][1], command.args[1][2], ours[0] if ours else "common_base"))
                    edits.append((command.end, command.end, more))
            elif command.name in ("add_executable", "target_sources"):
                if command.name == "add_executable":
                    executables[words[0]] = [self.path_in(old_folder, w) for w in words[1:] if w.endswith(".cc")]
                for word, begin, end in command.args[1:]:
                    edits.append((begin, end, self.renamed(word, old_folder, new_folder)))
            elif command.name == "target_link_libraries":
                if any(w in self.gone for w in words[1:]):
                    sources = self.sources_of(text, words[0], old_folder)
                    named = [w for w in words[1:] if w not in ("PRIVATE", "PUBLIC", "INTERFACE")]
                    new = [t for t in self.linked(named, sources) if t not in named or t in self.gone]
                    first = next(i for i, w in enumerate(words) if w in self.gone)
                    for i, (word, begin, end) in enumerate(command.args):
                        if word in self.gone:
                            edits.append((begin, end, " ".join(new) if i == first else ""))
            elif command.name == "set_source_files_properties":
                for word, begin, end in command.args:
                    edits.append((begin, end, self.renamed(word, old_folder, new_folder)))
            elif command.name == "foreach":
                prefix = re.search(r'\$\{PROJECT_SOURCE_DIR\}/([\w/]+)/\$\{' + re.escape(words[0]) + r'\}\.cc', text[command.end:])
                if prefix:
                    for word, begin, end in command.args[1:]:
                        new = self.moved.get(f"{prefix.group(1)}/{word}.cc")
                        if new:
                            edits.append((begin, end, os.path.relpath(new[:-3], prefix.group(1))))
        out = text
        for begin, end, new in sorted(edits, reverse=True):
            if out[begin:end] != new:
                out = out[:begin] + new + out[end:]
        before = set(text.split("\n"))
        rows = []
        for row in out.split("\n"):
            if row not in before:
                row = re.sub(r'(?<=\S) {2,}(?=\S)', ' ', row).rstrip()
                row = re.sub(r' \)', ')', row)
                row = long_line_wrapped(row)
            rows.append(row)
        self.checkout.write(now, "\n".join(rows))

    def sources_of(self, text, name, folder):
        """The sources (new paths) of a plain executable or a fuzzer, with those of target_sources()."""
        out, loops = [], []
        for c in commands(text):
            words = c.words()
            if c.name == "foreach":
                loops.append(words)
            if c.name in ("add_executable", "target_sources") and words and words[0] == name:
                for w in words[1:]:
                    if not w.endswith(".cc"):
                        continue
                    each = [w]
                    for loop in loops:
                        if "${" + loop[0] + "}" in w:
                            each = [w.replace("${" + loop[0] + "}", value) for value in loop[1:]]
                    out += [self.path_in(folder, e) for e in each]
        return [self.moved.get(s, s) for s in out]

    def linked(self, named, sources):
        """The targets that a program links: `named` before, `sources` its own."""
        own = {self.target_of(folder_of(s)) for s in sources if not s.startswith("tests/")}
        kept = [w for w in named if w not in self.gone]
        ours, _ = self.derived(sources, own)
        ours = self.may_link(named, ours)
        same = [w for w in named if w in self.gone and w in ours]  # the name has another meaning, but is needed
        return self.least([*ours, *[k for k in kept if k in self.edges_now()]], same)

    def edges_now(self):
        self.closure([])
        return self.edges

    def least(self, targets, always=()):
        """Those that no other of them links."""
        out = [t for t in dict.fromkeys(targets) if t]
        for t in sorted(out):
            others = [o for o in out if o != t]
            mutual = any(t in self.closure([o]) and o in self.closure([t]) and o > t for o in others)
            if t not in always and t in self.closure(others) and not mutual:
                out.remove(t)
        return out

    def path_in(self, folder, word):
        word = word.replace("${PROJECT_SOURCE_DIR}/", "//").replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
        return word[2:] if word.startswith("//") else os.path.normpath(folder + "/" + word)

    def renamed(self, word, old_folder, new_folder):
        if not re.search(r'\.(cc|h|sh|txt|yml)"?$', word) or word.startswith("$<"):
            return word
        bare = word.strip('"')
        old = self.path_in(old_folder, bare)
        new = self.moved.get(old, old)
        if old not in self.moved and old_folder == new_folder:
            return word
        if old not in self.moved and not (self.checkout.root / new).exists():
            return word
        if bare.startswith("${PROJECT_SOURCE_DIR}/"):
            text = "${PROJECT_SOURCE_DIR}/" + new
        elif bare.startswith("${CMAKE_CURRENT_SOURCE_DIR}/"):
            text = "${CMAKE_CURRENT_SOURCE_DIR}/" + os.path.relpath(new, new_folder)
        else:
            text = os.path.relpath(new, new_folder)
        return word.replace(bare, text)

    def edit_ours(self, command, text, old_folder, new_folder):
        edits, key, first_link, sources = [], "", None, []
        links = []
        for word, begin, end in command.args[1:]:
            if word in KEYS:
                key = word
                continue
            if key in ("SOURCES", "APART"):
                old = self.path_in(old_folder, word)
                new = self.moved.get(old, old)
                if command.name == "lockstep_program" and folder_of(new) in self.links and folder_of(new) != new_folder:
                    edits.append((begin, end, ""))  # a room's library has it now
                    continue
                if key == "SOURCES" and word.endswith(".cc"):
                    sources.append(new)
                edits.append((begin, end, self.renamed(word, old_folder, new_folder)))
            elif key == "LINK":
                links.append((word, begin, end))
        named = [w for w, _, _ in links]
        dropped = [l for l in links if l[0] in self.gone]
        kept = [w for w in named if w not in self.gone]
        if command.name == "lockstep_library":
            own = {command.words()[0]}
            sources += [f for f in self.includes if f.endswith(".h") and self.target_of(folder_of(f)) in own]
            ours, _ = self.derived(sources, own)
            split = {t for r, t in self.target.items() if r in self.links}
            ours = [t for t in self.may_link([command.words()[0]], ours) if t in split and t not in kept]
        else:
            own = {self.target_of(folder_of(s)) for s in sources if not s.startswith("tests/") and
                   self.target_of(folder_of(s)) not in named}
            ours, others = self.derived(sources, own)
            lost = command.name == "lockstep_program" and any(e[2] == "" for e in edits)
            ours = self.may_link(named, ours) if not lost else ours
            same = [w for w in named if w in self.gone and w in ours]
            every = self.least([*kept, *ours], same)
            ours = [t for t in ours if t in every and t not in kept]
            have = self.closure([*kept, *ours])
            if command.name == "lockstep_test":
                before = self.may_link(named, others)
                ours += [t for t in others if t not in kept and t not in have and t in before and
                         t not in ("tl::expected", "Threads::Threads")]
        if not dropped:
            missing = [t for t in ours if t not in self.closure(kept)]
            if missing and links:
                edits.append((links[-1][2], links[-1][2], " " + " ".join(missing)))
            return edits
        at = dropped[0]
        for word, begin, end in dropped:
            edits.append((begin, end, " ".join(ours) if (word, begin, end) == at else ""))
        return edits

    def subfolders(self, path):
        """foreach(folder …) and add_subdirectory() of a CMakeLists.txt: what is gone goes, what is new comes."""
        text = self.checkout.read(path)
        folder = folder_of(path)
        loops = [c for c in commands(text) if c.name == "foreach" and c.words()[0] == "folder"]
        if not loops:  # rooms below a folder that had none
            named = {c.words()[0] for c in commands(text) if c.name == "add_subdirectory"}
            new = sorted(r[len(folder) + 1:] for r in self.links if folder_of(r) == folder and
                         r[len(folder) + 1:] not in named) if folder else []
            if new:
                self.checkout.write(path, "".join(f"add_subdirectory({n})\n" for n in new) + text)
            return
        loop = loops[0]
        named = loop.words()[1:]
        single = {c.words()[0] for c in commands(text) if c.name == "add_subdirectory"}
        have = [n for n in named if (self.checkout.root / folder / n / "CMakeLists.txt").exists()]
        every = sorted(str(p.parent.relative_to(self.checkout.root / folder))
                       for p in (self.checkout.root / folder).rglob("CMakeLists.txt") if p.parent != self.checkout.root / folder)
        listed = set(have) | single
        if path == "CMakeLists.txt":
            return
        is_tests = folder.startswith("tests/")
        new = [e for e in every if e not in listed and
               (is_tests or "/" not in e) and
               (not is_tests or not self.is_named_elsewhere(folder, e))]
        if have + new != named:
            words = [f"foreach({loop.words()[0]}", *have, *new]
            row = wrapped(words[0], words[1:], indent="        ") + ")"
            text = text[:loop.begin] + row + text[loop.end:]
            self.checkout.write(path, text)

    def is_named_elsewhere(self, folder, child):
        """A CMakeLists.txt between them names it."""
        parts = child.split("/")
        for n in range(1, len(parts)):
            path = folder + "/" + "/".join(parts[:n]) + "/CMakeLists.txt"
            if (self.checkout.root / path).exists():
                rest = "/".join(parts[n:])
                if re.search(r'add_subdirectory\(' + re.escape(rest) + r'\)', self.checkout.read(path)):
                    return True
        return False

    def prune_tests(self):
        for path in list(self.old):
            if self.moved.get(path, path) != path:
                (self.checkout.root / path).unlink(missing_ok=True)


def long_line_wrapped(row):
    """A line of links that became long is broken at 100 columns; others stay as they are."""
    at = row.find(" LINK ") if not row.strip().startswith("LINK ") else 0
    if len(row) <= 100 or (at < 0 and not row.strip().startswith("target_link_libraries(")):
        return row
    if at > 0 and row[:at].strip():
        head, rest, indent = row[:at], row[at:].split(), "  "
        if row.startswith(" "):
            indent = re.match(r' *', row).group(0)
        return head + "\n" + wrapped(indent + rest[0], rest[1:], indent=indent + "     ")
    indent = re.match(r' *', row).group(0)
    words = row.split()
    return wrapped(indent + words[0], words[1:], indent=indent + "     ")


def fill(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return lines + [line]


# ---------------------------------------------------------------------------------------------------------
# Names that a source has for itself: two of one unit of compilation cannot have the same.

def local_names(text):
    """({(namespace, name)} of a source's unnamed namespaces and statics, {…} of what it makes visible)."""
    text = without_comments(text)
    macros = set(re.findall(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', text, re.M))
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', '', text, flags=re.M)
    local, open_ = {}, set()
    stack, begin = [], 0  # (kind, name)

    def note(head, is_body):
        head = " ".join(head.split())
        if not head or any(k in ("function", "type", "block") for k, _ in stack):
            return
        where = "::".join(n for k, n in stack if k == "space" and n)
        is_local = any(k == "space" and not n for k, n in stack)
        names = {}
        kind = re.match(r'(?:template\s*<.*?>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[\w+\]\]\s*)?(\w+)', head)
        using = re.match(r'using\s+(\w+)\s*=', head)
        if kind and not re.match(r'.*\w\s+\w+\s*\(', head):
            names[kind.group(1)] = 'type'
        elif using:
            names[using.group(1)] = 'alias ' + head
        elif head.startswith("using namespace"):
            open_.add((where, head))
            return
        elif head.startswith("using "):
            names[head.rsplit("::", 1)[-1].strip("; ")] = "alias " + head
            is_local = True
        elif head.startswith("namespace") and "=" in head:
            is_local = "alias"
        else:
            head = re.sub(r'^template\s*<[^{;]*?>\s*(?=[\w:])', '', head)
            before = re.split(r'[({=\[]', head)[0].rstrip()
            m = re.search(r'(operator\s*\S+|[\w:~]+)$', before)
            if m and m.group(1) not in ("return", "else", "if", "for", "while", "switch", "namespace", "friend") and \
                    "::" not in m.group(1) and len(before.split()) > 1:
                rest = head[len(before):].lstrip()
                names[m.group(1)] = "function " + arity(rest) if rest.startswith("(") and not re.match(r'\(\s*\)\s*$', rest + "x") else "variable"
            if re.match(r'(static|constexpr|const|inline constexpr)\b', head) and "::" not in (m.group(1) if m else "::") and \
                    not re.match(r'(const\b.*\()', head.split("=")[0]):
                is_local = is_local or not head.startswith("inline")
        if is_local == "alias":
            return
        for n, what in names.items():
            if n and not n.startswith("operator") and is_local:
                local.setdefault((where, n), set()).add(what)

    parens = 0
    for at, c in enumerate(text):
        if c in "([":
            parens += 1
        elif c in ")]":
            parens = max(0, parens - 1)
        elif c == ";" and not parens:
            note(text[begin:at], False)
            begin = at + 1
        elif c == "{":
            head = text[begin:at]
            flat = " ".join(head.split())
            inside = any(k in ("function", "block") for k, _ in stack)
            if inside or parens:
                stack.append(("block", ""))
                continue
            if re.match(r'(inline\s+)?namespace\b', flat):
                stack.append(("space", (re.match(r'(?:inline\s+)?namespace\s*([\w:]*)', flat).group(1))))
            elif re.search(r'\b(class|struct|union|enum)\b', flat.split("(")[0]) and not re.search(r'\)\s*(const|noexcept|override)*\s*$', flat):
                note(head, True)
                stack.append(("type", ""))
            elif "(" in flat and not re.search(r'=\s*$', flat):
                note(head, True)
                stack.append(("function", ""))
            else:
                note(head, True)
                stack.append(("block", ""))
            begin = at + 1
        elif c == "}":
            if stack:
                kind, _ = stack.pop()
                if not parens:
                    begin = at + 1
                    if kind in ("type", "block") and not any(k in ("function", "block", "type") for k, _ in stack):
                        pass
    return local, macros


def arity(text):
    """The types of the parameters at the beginning of "(int a, const std::map<A, B>& b) {…": "int|std::map<A,B>"."""
    depth, out, now = 0, [], ""
    for c in text:
        if c in "(<[{":
            depth += 1
            if depth == 1:
                continue
        elif c in ")>]}":
            depth -= 1
            if depth == 0:
                break
        if c == "," and depth == 1:
            out.append(now)
            now = ""
        else:
            now += c
    if now.strip():
        out.append(now)
    types = []
    for one in out:
        one = re.sub(r'=.*', '', one).replace("&", " ").replace("*", " * ")
        words = [w for w in one.split() if w not in ("const", "typename", "struct", "class")]
        if len(words) > 1 and re.fullmatch(r'\w+', words[-1]):
            words.pop()
        types.append("".join(words))
    return "|".join(types)


# Types that turn into each other: functions that differ in these alone may be mistaken for each other.
LOOSE = re.compile(r'^((std::)?(string|string_view|u?int\w*|size_t|double|float|bool|char|long|unsigned)|auto|T|[Jj]son|'
                   r'(std::)?(function|optional|variant|vector|span|initializer_list)<.*|(std::filesystem::|fs::)?path|'
                   r'.*\*|Digest|\w*Id)$')


def apart_by_types(x, y):
    x, y = x[len("function "):].split("|"), y[len("function "):].split("|")
    if len(x) != len(y):
        return True
    return any(a != b and not LOOSE.match(a) and not LOOSE.match(b) for a, b in zip(x, y))


def clashing(a, b):
    """Names that two sources have for themselves so that one unit cannot have both: the same kind of thing
    twice, or functions with as many parameters. Equal aliases may stand twice."""
    out = []
    for key in a.keys() & b.keys():
        for x in a[key]:
            for y in b[key]:
                if x.startswith("alias") and x == y:
                    continue
                if x.startswith("function") and y.startswith("function") and apart_by_types(x, y):
                    continue
                out.append(key)
    return out


def colliding(checkout, room, sources, includes, apart):
    """Sources that are compiled alone: `apart`, and those without which the others have no name twice."""
    names, macros, makes = {}, {}, {}
    for s in sources:
        names[s], macros[s] = local_names(checkout.read(f"{room}/{s}"))
    out = set(a for a in apart if a in sources)
    # A name of a source for itself hides a header's from another source that means this one.
    declared_in = HeaderNames.of(checkout, includes)
    reach = {s: closure_of(f"{room}/{s}", includes) | {f"{room}/{s}"} for s in sources}
    words = {s: set(re.findall(r'\w+', without_comments(checkout.read(f"{room}/{s}")))) for s in sources}
    for s in sources:
        for where, name in names[s]:
            spaces = [where] + [where[:at] for at in range(len(where)) if where[at:at + 2] == "::"]
            headers = set().union(*[declared_in.get((space, name), set()) for space in spaces])
            if headers and any(name in words[o] and (where, name) not in names[o] and headers & reach[o]
                               for o in sources if o != s):
                out.add(s)
        if has_local_parts(checkout.read(f"{room}/{s}"), names[s]):
            out.add(s)
    while True:
        clash = collections.Counter()
        for i, a in enumerate(sources):
            for b in sources[i + 1:]:
                if a in out or b in out:
                    continue
                if clashing(names[a], names[b]) or macros[a] & macros[b]:
                    clash[a] += 1
                    clash[b] += 1
        if not clash:
            return out
        worst = max(clash.values())
        out.add(max(s for s, n in clash.items() if n == worst))


def has_local_parts(text, local):
    """A type that others may see has a part whose type is the source's own: g++ warns of it where the source is
    not compiled alone (-Wsubobject-linkage)."""
    own = {name for (_, name), kinds in local.items() if kinds & {"type"} or any(k.startswith("alias") for k in kinds)}
    text = without_comments(text)
    for m in re.finditer(r'^(?:class|struct)\s+([\w:]+)[^;{()]*\{', text, re.M):
        depth, at = 1, m.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if m.group(1) not in own and set(re.findall(r'\w+', text[m.end():at])) & own:
            return True
    return False


class HeaderNames:
    cache = None

    @classmethod
    def of(cls, checkout, includes):
        """(namespace, name) -> headers that have a type or a variable of this name there."""
        if cls.cache is None:
            cls.cache = collections.defaultdict(set)
            for f in includes:
                if not f.endswith(".h") or f.startswith("tests/"):
                    continue
                text = without_comments(checkout.read(f))
                where = re.findall(r'namespace\s+([\w:]+)\s*\{', text)
                space = "::".join(where[:1])
                for name in re.findall(r'^(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)', text, re.M):
                    cls.cache[(space, name)].add(f)
                for name in re.findall(r'^(?:inline\s+)?constexpr\s+[\w:<>]+\s+(\w+)', text, re.M):
                    cls.cache[(space, name)].add(f)
                for name in re.findall(r'^[\w:<>][\w:<>,&* \[\]]*?[\w>&*]\s+[&*]?(\w+)\(', text, re.M):
                    cls.cache[(space, name)].add(f)
        return cls.cache


_closures = {}


def closure_of(path, includes):
    if path in _closures:
        return _closures[path]
    seen, todo = set(), [path]
    while todo:
        for i in includes.get(todo.pop(), ()):
            if i in includes and i not in seen:
                seen.add(i)
                todo.append(i)
    _closures[path] = seen
    return seen


# ---------------------------------------------------------------------------------------------------------
# Texts that name paths

TOKEN = re.compile(r'(?<![\w./-])((?:[\w-]+/)*[\w-]+(?:\.[A-Za-z]\w*)*)')


class Renamer:
    def __init__(self, moved, files):
        self.moved = {o: n for o, n in moved.items() if o != n}
        self.stems = {}
        for o, n in self.moved.items():
            if o.endswith((".h", ".cc")):
                self.stems[o.rsplit(".", 1)[0]] = n.rsplit(".", 1)[0]
        self.folders = {}
        gone = collections.defaultdict(set)
        stay = {folder_of(f) for f in files if f not in self.moved and name_of(f) != "CMakeLists.txt"} | {folder_of(n) for n in moved.values()}
        for o, n in self.moved.items():
            gone[folder_of(o)].add(folder_of(n))
        parts = {p for f in stay for p in [f, *[f[:i] for i in range(len(f)) if f[i] == "/"]]}
        for folder, to in gone.items():
            if folder not in parts:
                tops = sorted(to, key=lambda t: (t.count("/"), t))
                self.folders[folder] = os.path.commonpath(list(to)) if len(to) > 1 else tops[0]
        self.folders.update({"launcher/spec": "launcher/files", "tests/unit/launcher/spec": "tests/unit/launcher/files"})
        # Ends of old paths, "domain/node.h", and names alone, where a file got another name.
        self.ends, self.names = collections.defaultdict(set), collections.defaultdict(set)
        for o in list(files) + list(self.moved):
            if not o.endswith((".h", ".cc")):
                continue
            parts = o.split("/")
            for n in range(1, len(parts) - 1):
                self.ends["/".join(parts[n:])].add(o)
            self.names[parts[-1]].add(o)
        self.left = collections.Counter()
        self.news = set(self.moved.values())

    def path(self, token):
        """The new form of one word; the word itself if it is no old path."""
        if token in self.moved:
            return self.moved[token]
        if token in self.stems:
            return self.stems[token]
        if "/" in token and re.search(r'\.(h|cc)$', token):
            old = self.ends.get(token, ())
            if len(old) == 1:
                full = next(iter(old))
                if full in self.moved:
                    prefix = full[:-len(token)]
                    new = self.moved[full]
                    return new[len(prefix):] if new.startswith(prefix) else new
        if "tests/unit/" + token in self.stems and token.endswith("_test"):  # as tables of tests name them
            return self.stems["tests/unit/" + token][len("tests/unit/"):]
        for folder, new in self.folders.items():
            if token == folder or token.startswith(folder + "/"):
                return new + token[len(folder):]
        return token

    def name(self, token, near):
        """`queue.h` in a comment: where the file has another name now, with its folder's."""
        if not re.fullmatch(r'\w+\.(h|cc)', token):
            return token
        old = self.names.get(token, set())
        here = [o for o in old if folder_of(o) == near]
        chosen = here if here else list(old) if len(old) == 1 else []
        if len(chosen) != 1 or chosen[0] not in self.moved:
            return token
        new = self.moved[chosen[0]]
        if name_of(new) == token:
            return token
        return folder_of(new).rsplit("/", 1)[-1] + "/" + name_of(new)

    def text(self, text, old_path):
        near = folder_of(old_path)

        def change(match):
            token = match.group(1)
            new = self.path(token)
            return new if new != token else self.name(token, near)

        def fitting(row, new):
            """Drawings, and comments behind code, must not be broken: names of folders go until it fits."""
            if len(new) <= 100 or len(row) > 100 or new == row or not old_path.endswith((".h", ".cc", ".proto")):
                return new
            if re.search(r'-{8,}$', new):
                return new[:100]
            drawn = re.match(r'\s*//\s{3,}\S', new) or re.search(r'//.*\S {3,}\S', new)
            if not drawn and new.lstrip().startswith("//"):
                return new  # a paragraph, which clang-format fills again
            changed = [t for t in TOKEN.findall(new) if "/" in t and t not in row and (t in self.news or "/" in t)]
            for keep in (3, 2, 1):
                short = new
                for t in changed:
                    if t.count("/") >= keep:
                        short = short.replace(t, "/".join(t.split("/")[-keep:]))
                if len(short) <= 100:
                    return short
            print(f"{old_path}: this line is too long now, and clang-format will break it:\n{new}")
            return new

        def line(row):
            include = re.match(r'([ \t]*#[ \t]*include[ \t]+")([^"]+)(".*)', row)
            if include:
                return include.group(1) + self.moved.get(include.group(2), include.group(2)) + include.group(3)
            if re.match(r'[ \t]*#[ \t]*include[ \t]+<', row):
                return row
            return TOKEN.sub(change, row)

        if old_path.endswith((".h", ".cc")):
            # Code keeps its words: only includes, comments and texts that are whole paths change.
            out = []
            for row in text.split("\n"):
                if row.lstrip().startswith("#"):
                    out.append(line(row))
                    continue
                at = row.find("//")
                while at > 0 and row[at - 1] == ":":  # https://
                    at = row.find("//", at + 2)
                code, comment = (row, "") if at < 0 else (row[:at], row[at:])
                code = re.sub(r'"([^"\n]*(?:/[^"\n]*)+)"', lambda m: '"' + self.in_text(m.group(1)) + '"', code)
                out.append(fitting(row, code + (TOKEN.sub(change, comment) if comment else "")))
            return "\n".join(out)
        return "\n".join(line(row) for row in text.split("\n"))

    def in_text(self, text):
        """A text of the program: only whole old paths of files and of folders that are no more."""
        def change(match):
            token = match.group(1).lstrip("/")
            new = token
            if token in self.moved or (token in self.stems and token.startswith("tests/")):
                new = self.path(token)
            elif any(token.startswith(f + "/") or token == f for f in self.folders if f.startswith("tests/")):
                new = self.path(token)
            return match.group(0).replace(token, new) if new != token else match.group(0)
        return re.sub(r'(?<![\w.-])(/?(?:[\w-]+/)+[\w.-]+)', change, text)


# Texts that name files by parts of their paths: file (old) -> (pattern, what becomes of it). A pattern that
# is not there is said: somebody must look.
EDITS = {
    "tests/unit/launcher/cli/named_flags_test.cc": [
        (r'"(\w+)\.cc"(?=[,}])',  # names of launcher/cli alone
         lambda m, moved: '"' + moved.get(f"launcher/cli/{m.group(1)}.cc", f"launcher/cli/{m.group(1)}.cc")[
             len("launcher/cli/"):] + '"'),
        (r'"common/domain", "common/snapshot", "launcher/core",',
         lambda m, moved: '"common/domain", "common/grammar", "common/snapshot", "launcher/core", "launcher/state",'),
        (r'(?m)^const std::set<std::string> kNotOfJobs = \{\n',
         lambda m, moved: m.group(0) + '    "common/grammar/requirement_text.cc",  // of pip\n'),
    ],
}
BINARY = (".png", ".bin", ".gz", ".zst", ".db", ".jpg", ".ico", ".pb", ".sqlite")


def rewrite_texts(checkout, renamer, moved):
    back = {n: o for o, n in moved.items()}
    changed = []
    for f in checkout.files:
        if f.endswith(BINARY) or name_of(f) == "CMakeLists.txt" or f.startswith(("tests/data/journals", "docs/schema/")) or \
                f == "scripts/layers":
            continue
        try:
            text = (checkout.root / f).read_text()
        except UnicodeDecodeError:
            continue
        new = renamer.text(text, back.get(f, f))
        for pattern, edit in EDITS.get(back.get(f, f), []):
            new, n = re.subn(pattern, lambda m: edit(m, moved), new)
            if n == 0:
                print(f"{f}: look at it by hand; it has no {pattern!r} any more")
        if new != text:
            checkout.write(f, new)
            changed.append(f)
    return changed


# ---------------------------------------------------------------------------------------------------------
# scripts/layers

ORDERS_HEAD = '''# The order of the rooms within one program or library, the lowest first: each may include those before it.
# A folder below one of ORDERED that has sources stands here.
'''
PLACES = {  # rooms that the table of the time before does not know, or that change
    "common/grammar": '["common/base"]',
    "launcher/state": '["common/base", "common/grammar", "common/domain", "launcher/words"]',
    "launcher/core": '["common/base", "common/grammar", "common/domain", "launcher/words", "launcher/state"]',
    "launcher/home": '["common/base", "common/domain", "common/io", "common/wire", "launcher/audit", "launcher/store"]',
    "runner/gang": 'COMMON + ["runner/core"]',
    "runner/logs": 'COMMON',
    "runner/node": 'COMMON + ["runner/spawn"]',
    "runner/fabric/rdma": 'COMMON + ["runner/fabric", "runner/usage"]',
    "runner/fabric/probe": 'COMMON',
}


def update_layers(checkout, moved, rooms, renamer, known_upward):
    path = "scripts/layers"
    text = checkout.read(path)
    space = {"__file__": str(checkout.root / path), "__name__": "layers"}
    exec(compile(text, path, "exec"), space)  # its tables
    allowed = space["ALLOWED"]

    def must(pattern, new, source, flags=re.S | re.M):
        out, n = re.subn(pattern, lambda m: new, source, count=1, flags=flags)
        if n != 1:
            fail(f"scripts/layers has changed: move.py does not find {pattern!r}")
        return out

    common = ["common/base", "common/grammar", "common/domain", "common/fabric", "common/io", "common/wire",
              "common/snapshot", "common/transfer"]
    known = space["COMMON"]
    common += [c for c in known if c not in common]
    table = collections.OrderedDict()
    for room, targets in allowed.items():
        new = renamer.folders.get(room, room)
        if new in PLACES:
            continue
        new_targets = []
        for t in targets:
            t = renamer.folders.get(t, t)
            if t not in new_targets:
                new_targets.append(t)
            if t == "common/domain" and "common/grammar" not in new_targets:
                new_targets.insert(new_targets.index(t), "common/grammar")
            if t == "launcher/core" and "launcher/state" not in new_targets:
                new_targets.insert(new_targets.index(t), "launcher/state")
        table[new] = new_targets
    for room, extra in MORE_ALLOWED.items():
        for t in extra:
            if t not in table.get(room, [t]):
                table[room].append(t)
    for room in ("common/domain",):
        if "common/grammar" not in table[room]:
            table[room].append("common/grammar")
    if "launcher/state" not in table["launcher/store"]:
        table["launcher/store"].append("launcher/state")
    table["launcher/store"] = [t for t in table["launcher/store"] if t != "launcher/core"]

    def shown(targets):
        if targets[:1] and set(common) <= set(targets):
            rest = [t for t in targets if t not in common]
            return "COMMON" + (" + " + list_text(rest) if rest else "")
        return list_text(targets)

    def list_text(targets):
        return "[" + ", ".join(f'"{t}"' for t in targets) + "]"

    rows = ["COMMON = " + list_text(common)]
    rows[0] = wrapped("COMMON =", list_text(common).split(" "), indent="          ")
    rows.append("ALLOWED = {")
    every = {**{r: shown(t) for r, t in table.items()}, **PLACES}
    group = lambda r: (["common", "envs", "launcher", "agent", "runner"].index(r.split("/")[0]),)
    position = {r: i for i, r in enumerate([*allowed, *PLACES])}
    for room in sorted(every, key=lambda r: (group(r), r == r.split("/")[0], position.get(r, position.get({"launcher/files": "launcher/spec"}.get(r, r), 0)))):
        rows.append(wrapped(f'    "{room}":', (every[room] + ",").split(" "), indent=" " * (len(room) + 9)))
    rows.append("}")
    orders = orders_of(checkout, rooms)
    rows.append(ORDERS_HEAD + "ORDERS = [")
    for order in orders:
        rows.append("    [" + wrapped("", [f'"{r}",' for r in order], indent="     ").strip()[:-1] + "],")
    rows.append("]")
    rows.append("ORDERED = " + "(" + ", ".join(f'"{t}"' for t in sorted({common_top(o) for o in orders} - {"runner"})) + ")")
    rows[-1] = wrapped("ORDERED =", rows[-1][len("ORDERED = "):].split(" "), indent="           ")
    if known_upward:
        rows.append("# Includes that go up, each until the change that docs/decisions names for it.\nUPWARD = {")
        for (a, b), where in sorted(known_upward.items()):
            rows.append(f'    ("{a}", "{b}"),  # ' + ", ".join(sorted({f"{name_of(f)}: {name_of(i)}" for f, i in where}))[:120])
        rows.append("}")
    else:
        rows.append("# Arrows that go up, until the change that ends each.\nUPWARD = set()")
    text = must(r'^COMMON = \[.*?^\}\n', "\n".join(rows) + "\n", text)
    text = must(r'^def room_of\(path\):.*?\n\n\n', ROOM_OF, text)
    text = must(r'        if quote == \'"\' and "/" in name:\n.*?\n(?=\n\ndef main)', CHECK_TAIL, text)
    text = must(r'room\.endswith\(\("/core", "/words"\)\)', 'is_pure(room)', text)
    text = text.replace("if room not in ALLOWED:\n        return\n    yield from check_paths(path)",
                        "if room is None:\n        return\n    yield from check_paths(path)\n    yield from check_place(path, room)")
    if "check_place(path, room)" not in text:
        fail("scripts/layers has changed: check() begins otherwise than move.py knows")
    text = must(r'            only = PB_ROOMS\.get\(room, ""\)\n            if room not in PB_ROOMS',
                '            seer = next((r for r in PB_ROOMS if is_within(room, r)), None)\n'
                '            only = PB_ROOMS.get(seer, "")\n            if seer is None', text)
    text = must(r"^The order is DESIGN section 2's:.*?other\. Exit code", DOC_ORDER + ". Exit code", text)
    # Tables of paths.
    lines = []
    for row in text.split("\n"):
        if re.match(r'    "[\w/]+\.(cc|h)":', row) or "PAST_THE_DOOR" in row or re.match(r'\s+"[\w/]+(\.cc|\.h|/)"[,\]]', row):
            row = re.sub(r'"([\w/]+\.(?:cc|h))"', lambda m: '"' + renamer.moved.get(m.group(1), m.group(1)) + '"', row)
        lines.append(row)
    text = "\n".join(lines)
    named = set(re.findall(r'"((?:common|launcher|runner|agent|envs)/[\w/]+)"', text)) - set(every) - {r for o in orders for r in o}
    for n in sorted(named):
        if not (checkout.root / n).exists():
            print(f"scripts/layers names {n}, which is not there")
    checkout.write(path, text)


DOC_ORDER = """The order of what is below is DESIGN section 2's: launcher|agent|runner -> envs -> common/transfer ->
common/snapshot -> common/wire -> common/io -> common/fabric -> common/domain -> common/grammar -> common/base;
the rooms of each of these have an order, too (ORDERS); the three programs never include each other"""
MORE_ALLOWED = {
    "launcher/files": ["common/grammar"],
    "runner/steps": ["runner/node"],
    "runner/bootstrap": ["runner/gang"],
    "runner/attach": ["runner/logs", "runner/node"],
    "runner/watch": [],
}
ROOM_OF = '''def room_of(path):
    """The room of a file: a folder of ORDERS or ALLOWED, the longest that it lies in; None: of no program."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    if any(folder in order for order in ORDERS):
        return folder
    while folder:
        if folder in ALLOWED:
            return folder
        folder = folder.rsplit("/", 1)[0] if "/" in folder else ""
    return None


def is_within(room, other):
    return room == other or room.startswith(other + "/")


def is_pure(room):
    return any(is_within(room, pure) for pure in PURE)


PURE = ("launcher/state", "launcher/core", "launcher/words", "agent/core", "runner/core")


def may_include(room, target):
    """By their order where both stand in one, else by ALLOWED: the longest prefix of the room wins."""
    for order in ORDERS:
        if room in order and target in order:
            return order.index(target) <= order.index(room)
    top = top_of(room)
    return top_of(target) == top or any(is_within(target, a) for a in ALLOWED[top])


def top_of(room):
    while room not in ALLOWED:
        room = room.rsplit("/", 1)[0]
    return room


def check_place(path, room):
    folder = path.rsplit("/", 1)[0]
    has_order = any(is_within(folder, top) for top in ORDERED)
    if has_order and folder != room and folder not in ALLOWED:
        yield f"{path}: its folder has no place in ORDERS of scripts/layers"


'''
CHECK_TAIL = '''        if quote == '"' and "/" in name:
            target = room_of(name)
            if target is None or target == room or (room, target) in UPWARD:
                continue
            if not may_include(room, target):
                yield f"{where}: {room} may not include {target} ({name})"
'''


def common_top(order):
    top = os.path.commonpath(order)
    return top if top not in ("launcher", "agent", "runner", "common", "") else order[0]


def orders_of(checkout, rooms):
    """Lists of rooms in their order: of each split folder; rooms that the plan does not know are fitted in."""
    present = {folder_of(f) for f in checkout.sources()}
    groups = collections.OrderedDict()
    for room in rooms:
        parts = room.split("/")
        top = "/".join(parts[:2])
        if room in present:
            groups.setdefault(top, []).append(room)
    out = []
    includes = {f: [m[1] for m in INCLUDE.findall(checkout.read(f))] for f in checkout.sources()}
    for top, order in groups.items():
        order = list(order)
        others = sorted(f for f in present if f.startswith(top + "/") and f not in order and
                        not (checkout.root / f / "..").resolve().name == "json")
        for other in others:
            if other in NOT_ORDERED:
                continue
            uses = {folder_of(i) for f, found in includes.items() if folder_of(f) == other for i in found}
            used = {folder_of(f) for f, found in includes.items() if any(folder_of(i) == other for i in found)}
            least = max([order.index(u) + 1 for u in uses if u in order], default=0)
            order.insert(least, other)
            print(f"rooms: {other} is not in the plan; placed in the order of {top} after {order[least - 1] if least else 'nothing'}, "
                  f"it is used by {' '.join(sorted(u for u in used if u in order)) or 'none of them'}")
        if len(order) > 1 or top not in PLACES:
            if len(order) > 1 and not all(r in PLACES for r in order):
                out.append(order)
    return out


NOT_ORDERED = {"launcher/api/json", "launcher/compute/docker", "launcher/compute/kubernetes",
               "launcher/compute/slurm", "launcher/compute/ssh", "launcher/compute/program", "launcher/compute",
               "runner/fabric", "runner/fabric/rdma", "runner/fabric/probe"}


# ---------------------------------------------------------------------------------------------------------
# docs/architecture.md gets a list of the rooms

def update_docs(checkout, rooms):
    path = "docs/architecture.md"
    if not (checkout.root / path).exists():
        return
    text = checkout.read(path)
    rows = ["## Rooms", "",
            "The rooms of the folders above, in their order: a room may include those before it (`ORDERS` in `scripts/layers`).", ""]
    top = None
    for room, sentence in rooms.items():
        if "/".join(room.split("/")[:2]) != top:
            top = "/".join(room.split("/")[:2])
        rows.append(f"- `{room}`: {sentence}")
    block = "\n".join(rows) + "\n\n"
    text = text.replace("`messages/join_protocol.h`, `bulk.h`,", "`messages/join_protocol.h`, `messages/bulk_protocol.h`,")
    text = re.sub(r'^## Rooms\n.*?(?=^## )', '', text, flags=re.S | re.M)
    if "## Checklists" not in text:
        fail("docs/architecture.md has no Checklists any more: where do the rooms go?")
    checkout.write(path, text.replace("## Checklists", block + "## Checklists", 1))


# ---------------------------------------------------------------------------------------------------------

def self_check(checkout, moved):
    """What a build would stumble over, as far as texts show it."""
    checkout.look()
    files, bad = set(checkout.files), 0
    for f in checkout.sources():
        for m in INCLUDE.findall(checkout.read(f)):
            if m[1] not in files and "/" in m[1] and m[1].split("/")[0] in (*OURS, "tests") and not m[1].endswith(".pb.h"):
                print(f"{f}: includes {m[1]}, which is not there")
                bad += 1
    targets, listed = set(), collections.Counter()
    texts = {f: checkout.read(f) for f in files if name_of(f) == "CMakeLists.txt" or f.endswith(".cmake")}
    for f, text in texts.items():
        for c in commands(text):
            if c.name in ("lockstep_library", "lockstep_program", "lockstep_test", "add_library", "add_executable",
                          "add_custom_target", "lockstep_proto", "lockstep_fuzzer", "lockstep_precompiled"):
                if c.args:
                    targets.add(c.words()[0])
    for f, text in texts.items():
        folder = folder_of(f)
        for c in commands(text):
            if c.name in ("lockstep_library", "lockstep_program", "lockstep_test", "add_executable"):
                part = sections(c.words())
                for s in part.get("SOURCES", []) if c.name != "add_executable" else c.words()[1:]:
                    if s.endswith(".cc") and not s.startswith("$"):
                        at = os.path.normpath(folder + "/" + s)
                        listed[at] += 1
                        if at not in files:
                            print(f"{f}: {s} is not there")
                            bad += 1
                if c.name == "lockstep_library" and not all(s in part.get("SOURCES", []) for s in part.get("APART", [])):
                    print(f"{f}: APART names what SOURCES does not")
                    bad += 1
                for t in part.get("LINK", []):
                    if re.match(r'(common|launcher|agent|runner|envs|proto)(_|$)', t) and t not in targets:
                        print(f"{f}: LINK names {t}, which is no target")
                        bad += 1
            elif c.name == "target_link_libraries":
                for t in c.words()[1:]:
                    if re.match(r'(common|launcher|agent|runner|envs|proto)(_|$)', t) and t not in targets:
                        print(f"{f}: {t} is no target")
                        bad += 1
            elif c.name == "add_subdirectory" and not c.words()[0].startswith("$"):
                if folder + "/" + c.words()[0] + "/CMakeLists.txt" not in files and c.words()[0] + "/CMakeLists.txt" not in files:
                    print(f"{f}: {c.words()[0]} has no CMakeLists.txt")
                    bad += 1
    reached, todo = set(), [""]
    while todo:
        folder = todo.pop()
        path = (folder + "/" if folder else "") + "CMakeLists.txt"
        if path not in texts or path in reached:
            continue
        reached.add(path)
        for c in commands(texts[path]):
            names = c.words()[:1] if c.name == "add_subdirectory" else \
                c.words()[1:] if c.name == "foreach" and c.words()[0] == "folder" else []
            todo += [(folder + "/" if folder else "") + n for n in names]
    for f in sorted(t for t in texts if name_of(t) == "CMakeLists.txt" and t not in reached and not t.startswith("examples/")):
        print(f"{f}: no other CMakeLists.txt leads to it")
        bad += 1
    for f in checkout.sources():
        if f.endswith(".cc") and f.startswith(OURS) and not listed[f]:
            if not any(re.search(r'(?<![\w/])' + re.escape(name_of(f)) + r'\b', t) for p, t in texts.items()
                       if f.startswith(folder_of(p) + "/") or folder_of(p) == folder_of(f)):
                print(f"{f}: no CMakeLists.txt names it")
                bad += 1
    allowed = {(target, room) for room, more in DEFINED_ABOVE.items() for target in more}
    headers = {}
    for f in checkout.sources():  # what is defined in another room than where it is declared
        if not f.endswith(".cc") or not f.startswith(OURS):
            continue
        found = defined(checkout.read(f))
        classes = {n.split("::")[0] for n in found if "::" in n}
        names = {n for n in found if "::" not in n} - {"react", "main", "to_json", "to_wire", "from_wire", "text_of", "say"}
        own = checkout.read(f[:-3] + ".h") if f[:-3] + ".h" in files else ""
        for i in [m[1] for m in INCLUDE.findall(checkout.read(f))]:
            if i in files and folder_of(i) != folder_of(f) and i.split("/")[0] == f.split("/")[0]:
                if i not in headers:
                    text = checkout.read(i)
                    headers[i] = (set(re.findall(r'^(?:class|struct)\s+(\w+)[^;]*$', text, re.M)),
                                  set(re.findall(r'^[\w:<>&*, ]+\s[&*]?(\w+)\(', text, re.M)))
                theirs = {n for n in classes if n in headers[i][0]} | (names & headers[i][1])
                theirs = {n for n in theirs if not re.search(r'\b' + n + r'\b', own)}
                if theirs and (folder_of(f), folder_of(i)) not in allowed:
                    print(f"note: {f} defines {' '.join(sorted(theirs))} of {i}")
    return bad


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("root", nargs="?", default=".")
    args.add_argument("--allow-absent", action="store_true")
    args.add_argument("--apart", choices=["keep", "derive"], default="derive")
    args.add_argument("--no-format", action="store_true")
    args.add_argument("--upward", action="store_true", help="scripts/layers lists today's arrows upward as known")
    args.add_argument("--check", action="store_true")
    args = args.parse_args()
    checkout = Checkout(args.root)
    moved, rooms = read_map(), read_order()
    if not any((checkout.root / o).exists() for o, n in moved.items() if o != n):
        fail("nothing to do: no file of the map is at its old place")
    if not args.check and run("git", "status", "--porcelain", cwd=checkout.root).strip():
        fail("the checkout has changes")
    absent = sorted(o for o in moved if not (checkout.root / o).exists())
    if absent:
        print("of the map, but not there:\n  " + "\n  ".join(absent))
        if not args.allow_absent and not args.check:
            fail("take them off map.tsv, write their new names there, or say --allow-absent")
        moved = {o: n for o, n in moved.items() if o not in absent}
    unknown = place_unknown(checkout, moved, rooms)
    for old, new in sorted(unknown.items()):
        print(f"by rule: {old} -> {new}")
    moved.update(unknown)
    unknown = place_unknown_tests(checkout, moved)
    for old, new in sorted(unknown.items()):
        print(f"by rule: {old} -> {new}")
    moved.update(unknown)
    taken = collections.Counter(moved.values())
    clash = [n for n, c in taken.items() if c > 1] + \
            [n for o, n in moved.items() if o != n and (checkout.root / n).exists() and n not in moved]
    if clash:
        fail("two files for one place: " + " ".join(clash))
    if args.check:
        return
    build = Build(checkout, moved, rooms, args.apart)
    renamer = Renamer(moved, checkout.files)
    was = {o: checkout.read(o) for o, n in moved.items() if o != n and name_of(o) != "CMakeLists.txt"
           and not o.endswith(BINARY)}
    modes = {o: (checkout.root / o).stat().st_mode for o in was}
    for o in was:
        (checkout.root / o).unlink()
    for o, text in was.items():
        checkout.write(moved[o], text)
        (checkout.root / moved[o]).chmod(modes[o] & 0o777)
    for o in sorted(moved):
        if name_of(o) == "CMakeLists.txt" and moved[o] != o:
            (checkout.root / moved[o]).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(checkout.root / o, checkout.root / moved[o])
    checkout.look()
    rewrite_texts(checkout, renamer, moved)
    build.write()
    checkout.look()
    upward = {}
    if args.upward:
        upward = arrows(checkout, rooms)
    update_layers(checkout, moved, rooms, renamer, upward)
    update_docs(checkout, rooms)
    for folder in sorted({folder_of(o) for o in moved}, reverse=True):
        while folder and (checkout.root / folder).is_dir() and not any((checkout.root / folder).iterdir()):
            (checkout.root / folder).rmdir()
            folder = folder_of(folder)
    checkout.look()
    if not args.no_format:
        out = run("git", "status", "--porcelain", "-uall", "--no-renames", cwd=checkout.root)
        touched = [row[3:] for row in out.split("\n") if row and row[0] != "D" and row[1] != "D" and row.endswith((".h", ".cc"))]
        touched = [t for t in touched if (checkout.root / t).exists()]
        for n in range(0, len(touched), 100):
            subprocess.run(["clang-format", "-i", *touched[n:n + 100]], cwd=checkout.root, check=True)
    bad = self_check(checkout, moved)
    left = remains(checkout, renamer)
    print(f"{sum(1 for o, n in moved.items() if o != n)} files moved; {bad} faults in CMakeLists.txt and includes; "
          f"{left} old paths left in texts")
    sys.exit(1 if bad else 0)


def arrows(checkout, rooms):
    order = [r for r in rooms]
    out = collections.defaultdict(list)
    for f in checkout.sources():
        a = folder_of(f)
        if a not in rooms:
            continue
        for m in INCLUDE.findall(checkout.read(f)):
            b = folder_of(m[1])
            if b in rooms and b != a and b.split("/")[:2] == a.split("/")[:2] and order.index(b) > order.index(a):
                out[(a, b)].append((f, m[1]))
            elif a.startswith("launcher/state") and b.startswith("launcher/core"):
                out[(a, b)].append((f, m[1]))
    return out


def remains(checkout, renamer):
    n = 0
    for f in checkout.files:
        if f.endswith(BINARY):
            continue
        try:
            text = (checkout.root / f).read_text()
        except UnicodeDecodeError:
            continue
        for number, row in enumerate(text.split("\n"), 1):
            for token in TOKEN.findall(row):
                if token in renamer.moved or (token in renamer.stems and "/" in token):
                    new = renamer.path(token)
                    if not (checkout.root / token).exists():
                        print(f"{f}:{number}: still says {token} ({new})")
                        n += 1
    return n


if __name__ == "__main__":
    main()
