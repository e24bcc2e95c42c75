"""Files that comments of C++ and proto files name must be there: by their path in the tree (`launcher/core/core.h`),
by the end of it (`home/layout.h`), or by their name alone (`layout.h`). A `*` stands for any characters of a name.
What stands in double quotes is an example, and FOREIGN are files of the kernel and of libraries."""
import pathlib
import re

SOURCE = (".h", ".cc", ".proto")
COMMENT = re.compile(r"//(.*)")
QUOTED = re.compile(r'"[^"]*"')
FILE = re.compile(r"(?<![\w/.*-])(?:[\w.*-]+/)*[\w*](?:[\w.*-]*[\w*])?\.(?:h|cc|proto|md|py)\b(?![\w/-])")
FOREIGN = re.compile(r"(asm|linux|net|yaml-cpp)/.*|(dirent|sched|pmix_common)\.h|src/format\.cc")


def check(root, files):
    """`files`: all files of the tree, relative to `root`. Yields one line for each file that is not there."""
    root = pathlib.Path(root)
    tops = {name.split("/")[0] for name in files if "/" in name}
    ends = {end for name in files for end in ends_of(name)}
    for source in (name for name in files if name.endswith(SOURCE)):
        for number, line in enumerate((root / source).read_text(errors="replace").splitlines(), 1):
            comment = COMMENT.search(line)
            if not comment:
                continue
            for name in FILE.findall(QUOTED.sub("", comment[1])):
                is_script = name.endswith(".py") and name.split("/")[0] not in tops  # a user's
                if not is_script and not FOREIGN.fullmatch(name) and not is_there(name, ends):
                    yield f"{source}:{number}: there is no file {name}"


def ends_of(path):
    parts = path.split("/")
    return ("/".join(parts[i:]) for i in range(len(parts)))


def is_there(name, ends):
    if "*" not in name:
        return name in ends
    pattern = re.compile(re.escape(name).replace(r"\*", "[^/]*"))
    return any(pattern.fullmatch(end) for end in ends)
