#!/usr/bin/env python3
"""Proves that a move changed no code: verify.py [ROOT] [BEFORE=HEAD].

Compares every .h/.cc of BEFORE with the file that it became (git's renames against the index or the working
tree), without comments, #include lines and white space. Run it after move.py and `git add -A`, before the
commit; or with BEFORE = the commit before the move.
"""
import re
import subprocess
import sys

root = sys.argv[1] if len(sys.argv) > 1 else "."
before = sys.argv[2] if len(sys.argv) > 2 else "HEAD"


def git(*argv):
    return subprocess.run(["git", *argv], cwd=root, check=True, capture_output=True).stdout.decode(errors="replace")


def tokens(text):
    text = re.sub(r'^[ \t]*#[ \t]*include[^\n]*', '', text, flags=re.M)
    keep = re.compile(r'//[^\n]*|/\*.*?\*/|(R"(\w*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\')', re.S)
    text = keep.sub(lambda m: m.group(1) or " ", text)
    return re.sub(r'\s+', '', text)


pairs, gone = [], []
for row in git("diff", "--cached", "-M40%", "-l9999", "--name-status", before).splitlines():
    part = row.split("\t")
    if part[0].startswith("R"):
        pairs.append((part[1], part[2]))
    elif part[0] == "M":
        pairs.append((part[1], part[1]))
    elif part[1].endswith((".h", ".cc")):
        gone.append(row)
pairs = [p for p in pairs if p[0].endswith((".h", ".cc"))]
differ = 0
for old, new in pairs:
    a, b = tokens(git("show", f"{before}:{old}")), tokens(git("show", f":{new}"))
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print(f"{old} -> {new}\n  {a[max(0, at - 40):at + 60]}\n  {b[max(0, at - 40):at + 60]}")
        differ += 1
for row in gone:
    print("neither moved nor changed:", row)
print(f"{len(pairs)} files compared, {differ} differ, {len(gone)} without a partner")
sys.exit(1 if differ or gone else 0)
