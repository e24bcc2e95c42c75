"""What documents say of the code must be there: functions and members in backquotes (`f()`, `A::b`), files
in backquotes (`launcher/core/core.h`), and, where a name is followed by its file (`f` (`a/b.cc`)), the name in
that file."""
import pathlib
import re

SOURCE = re.compile(r"\.(cc|h|py|proto|sh|cmake)$|(^|/)(CMakeLists\.txt|[a-z-]+)$")
CALL = re.compile(r"(?:\w+(?:::|\.|->))*\w+\([^()]*\)")
MEMBER = re.compile(r"\w+(?:::\w+)+")
FILE = re.compile(r"(?:[\w.-]+/)+[\w.-]+\.(?:cc|h|py|proto)")
NAME_IN_FILE = re.compile(r"`([\w:]+)`\s+\(`((?:[\w.-]+/)+[\w.-]+\.(?:cc|h|py|proto))`")


def words_of(text):
    return set(re.findall(r"\w+", text))


def check(root, files):
    """`files`: all files of the tree, relative to `root`. Yields one line for each thing that is not there."""
    root = pathlib.Path(root)
    known = set(files)
    words = {}
    for name in files:
        if SOURCE.search(name):
            words[name] = words_of((root / name).read_text(errors="replace"))
    everywhere = set().union(*words.values())
    for document in (name for name in files if name.endswith(".md")):
        text = (root / document).read_text()
        for found in re.finditer(r"`([^`\n]+)`", text):
            quoted = found[1]
            where = f"{document}:{text.count(chr(10), 0, found.start()) + 1}"
            if CALL.fullmatch(quoted) or MEMBER.fullmatch(quoted):
                for part in re.findall(r"\w+", quoted.split("(")[0]):
                    if part not in everywhere:
                        yield f"{where}: nothing is called {part} (`{quoted}`)"
            if FILE.fullmatch(quoted) and quoted.split("/")[0] in ("agent", "common", "envs", "launcher", "proto", "runner") \
                    and quoted not in known:
                yield f"{where}: there is no file {quoted}"
        for name, file in NAME_IN_FILE.findall(text):
            if file not in words:
                continue
            folder = str(pathlib.PurePosixPath(file).with_suffix(""))
            here = words[file] | words.get(folder + ".h", set()) | words.get(folder + ".cc", set())
            for part in re.findall(r"\w+", name):
                if part not in here:
                    yield f"{document}: {part} is not in {file}"
