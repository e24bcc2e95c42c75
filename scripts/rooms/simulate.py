#!/usr/bin/env python3
"""Says which cycles between units and which arrows upward are left after the changes of plan.py.

simulate.py [ROOT of a moved checkout]. A change takes names out of a header into another one (new or not);
who uses only these includes the other one from then on. What a new header includes stands in the plan.
Names are found as words, so this is a sketch for judging a plan, no proof.
"""
import collections
import pathlib
import re
import sys

import measure
import plan

NOISE = {"if", "for", "while", "return", "operator", "sizeof", "bool", "empty", "size", "begin", "end", "get", "set",
         "at", "to_string", "noexcept", "defined", "push_back", "insert", "find", "has", "move", "string", "void",
         "count", "react", "run", "add", "name", "seconds", "minutes", "never", "format", "from_wire", "to_wire",
         "validate", "error", "type", "value", "first", "second", "front", "back", "clear", "next", "take"}


def names(text):
    t = measure.stripped(text)
    found = set(re.findall(r'\b([a-z_][a-z0-9_]*)\s*\(', t))
    found |= set(re.findall(r'\b(?:struct|class|enum class|enum)\s+([A-Z]\w*)\s*(?:final\s*)?[:{]', t))
    found |= set(re.findall(r'using (\w+) =', t)) | set(re.findall(r'\b(k[A-Z]\w+)\b\s*=', t))
    return found - NOISE


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../rooms")
    files = [f for f in measure.listed(root, "*.h", "*.cc") if measure.is_product(f)]
    text = {f: (root / f).read_text() for f in files}
    code = {f: set(re.findall(r'\w+', re.sub(r'^[ \t]*#.*', '', measure.stripped(t), flags=re.M))) for f, t in text.items()}
    includes = {f: {i for i in measure.INCLUDE.findall(t) if i in text} for f, t in text.items()}
    for f, h in plan.DROP:
        assert h in includes[f], (f, h)
        includes[f].discard(h)
    for f, h in plan.ADD:
        includes[f].add(h)
    taken = collections.defaultdict(dict)
    for new, (entries, uses) in plan.TAKE.items():
        for old, moved in entries.items():
            assert old in text, old
            have = names(text[old]) | NOISE
            for name in moved:
                if name not in have and name not in text[old]:
                    print(f"plan: {old} has no {name}")
                taken[old][name] = new
        includes.setdefault(new, set())
        includes[new] |= set(uses)
    for f in list(text):
        for old in [i for i in includes[f] if i in taken]:
            used = code[f] & names(text[old])
            moved = {taken[old][n] for n in code[f] if n in taken[old]}
            rest = used - set(taken[old]) - code.get("", set())
            own = f[:-3] + ".h" == old or f in plan.IMPLEMENTS.get(old, ())
            includes[f] |= {m for m in moved if m != f}
            if moved and not rest and not own:
                includes[f].discard(old)
            elif old in plan.HEADERS_DROP_IF_UNUSED and not rest and not own:
                includes[f].discard(old)
    for new, (entries, _) in plan.TAKE.items():  # the old header's unit knows the new one
        for old in entries:
            if new not in plan.ABOVE:
                includes[old].add(new)
    for f, h in plan.DROP_AFTER:
        if h not in includes[f]:
            print(f"plan: {f} does not include {h}")
        includes[f].discard(h)
    for f, h in plan.ADD_AFTER:
        includes.setdefault(f, set()).add(h)
    units = collections.defaultdict(set)
    unit = lambda f: plan.UNIT.get(measure.unit_of(f), measure.unit_of(f))
    for f, found in includes.items():
        units[unit(f)] |= {unit(i) for i in found if unit(i) != unit(f)}
    for i in list(units):
        for to in list(units[i]):
            units[to]
    cycles = measure.components(units)
    print(f"cycles between units that are left: {len(cycles)}")
    for c in cycles:
        print(" ", len(c), " ".join(c))
        for f in sorted(includes):
            for i in sorted(includes[f]):
                if unit(f) in c and unit(i) in c and unit(f) != unit(i):
                    used = sorted(code.get(f, set()) & names(text[i]))[:8] if i in text else []
                    print(f"      {f} -> {i}: {' '.join(used)}")
    layers = measure.load_layers(root / "scripts/layers")
    arrows = collections.defaultdict(list)
    for f, found in includes.items():
        for i in found:
            a, b = layers.room_of(f), layers.room_of(i)
            if a and b and a != b and not layers.may_include(a, b):
                arrows[(a, b)].append((f, i))
    print(f"arrows upward that are left: {len(arrows)}")
    for (a, b), where in sorted(arrows.items()):
        print(f"  {a} -> {b}: " + "; ".join(f"{f.rsplit('/', 1)[1]}: {i.rsplit('/', 1)[1]}" for f, i in where))


if __name__ == "__main__":
    main()
