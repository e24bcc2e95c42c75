#!/usr/bin/env python3
"""Prints the marks of issue 35 for a checkout: measure.py [ROOT] [--verbose] [--map map.tsv].

Units: x.h and x.cc of one folder. Product: .h/.cc outside of tests/, examples/ and proto/.
--map counts the rooms of a checkout that was not moved yet as if it had been (rooms and arrows then
follow ROOT/scripts/layers unless --layers names another one).
"""
import argparse
import collections
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
ROOM_LINES, ROOM_FILES, FILE_LINES, FUNCTION_LINES = 3000, 40, 400, 40


def listed(root, *patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=root, check=True,
                         capture_output=True, text=True).stdout.split("\n")
    return sorted({f for f in out if f and (root / f).is_file()})


def is_product(path):
    return not path.startswith(("tests/", "examples/", "proto/", ".gen/", "build"))


def unit_of(path):
    return re.sub(r"\.(h|cc)$", "", path)


def folder_of(path):
    return path.rsplit("/", 1)[0] if "/" in path else ""


def components(graph):
    """Strongly connected components (Tarjan, without recursion)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, edges = work[-1]
            for to in edges:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(graph.get(to, ())))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        top = stack.pop()
                        on.discard(top)
                        part.append(top)
                        if top == node:
                            break
                    if len(part) > 1:
                        out.append(sorted(part))
    return sorted(out, key=lambda p: (-len(p), p))


def feedback(graph):
    """A small set of edges without which there is no cycle: a greedy order (Eades), then a local search."""
    weight = {(a, b): n for a, targets in graph.items() for b, n in targets.items() if a != b}
    edges = []
    for part in components({a: set(t) for a, t in graph.items()}):
        inside = {(a, b): n for (a, b), n in weight.items() if a in part and b in part}
        order = best_order(part, inside)
        at = {room: i for i, room in enumerate(order)}
        edges += [(a, b, n) for (a, b), n in sorted(inside.items()) if at[a] > at[b]]
    return edges


def best_order(nodes, edges):
    """`nodes` so that few edges lead backwards; an edge weighs 1 (an arrow is an arrow)."""
    left, head, tail = set(nodes), [], []
    while left:
        score = {n: sum(1 for a, b in edges if a == n and b in left) -
                 sum(1 for a, b in edges if b == n and a in left) for n in left}
        sinks = [n for n in left if not any(a == n and b in left for a, b in edges)]
        sources = [n for n in left if not any(b == n and a in left for a, b in edges)]
        if sinks:
            tail.append(min(sinks))
            left.discard(min(sinks))
        elif sources:
            head.append(min(sources))
            left.discard(min(sources))
        else:
            best = max(sorted(left), key=lambda n: score[n])
            head.append(best)
            left.discard(best)
    order = head + tail[::-1]
    cost = lambda o: sum(1 for a, b in edges if o.index(a) > o.index(b))
    now, moved = cost(order), True
    while moved:
        moved = False
        for node in list(order):
            for place in range(len(order)):
                other = [n for n in order if n != node]
                other.insert(place, node)
                if cost(other) < now:
                    order, now, moved = other, cost(other), True
    return order


def stripped(text):
    """Without comments and without what is in quotes; lines stay."""
    out = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\'', re.S)
    return out.sub(lambda m: '""' + "\n" * m.group(0).count("\n") if m.group(0)[0] in 'R"' else
                   "\n" * m.group(0).count("\n") or " ", text)


CONTROL = re.compile(r'\b(if|for|while|switch|catch|do|else|try|return)\b[^;{}]*$')
FUNCTION = re.compile(r'\)\s*(const|noexcept|override|final|mutable|&&?|->[^;{}]*|:[^;]*|\s)*$', re.S)


def functions(text):
    """(line, length, head) of each function, approximately: a body whose head ends with parameters; its
    length as clang-tidy's function-size counts it, from the line of { to that of }."""
    text = stripped(text)
    text = re.sub(r'^[ \t]*#[^\n]*(\\\n[^\n]*)*', '', text, flags=re.M) if "\\\n" not in text else text
    kinds, begin, line, found = [], 0, 1, []
    for at, c in enumerate(text):
        if c == "\n":
            line += 1
        if c in ";":
            if "function" not in kinds and "(" not in text[begin:at].replace("()", "")[-1:]:
                begin = at + 1
        elif c == "{":
            head = text[begin:at]
            inside = any(k[0] == "function" for k in kinds)
            if inside:
                kinds.append(("block", line, ""))
            elif re.search(r'\bnamespace\b|\bextern\b\s*""\s*$', head):
                kinds.append(("space", line, ""))
            elif "(" in head and FUNCTION.search(head) and not CONTROL.search(head.split("(")[0]) and \
                    not re.search(r'=\s*$', head):
                kinds.append(("function", line, " ".join(head.split())[:90]))
            else:
                kinds.append(("type", line, ""))
            if not inside and kinds[-1][0] != "type" or re.search(r'\b(class|struct|enum|union)\b', head):
                begin = at + 1
        elif c == "}":
            if kinds:
                kind, first, head = kinds.pop()
                if kind == "function":
                    found.append((first, line - first, head))
                    begin = at + 1
                elif kind in ("space",) or not any(k[0] == "function" for k in kinds) and kind == "type":
                    if kind == "space":
                        begin = at + 1
    return found


def code_lines(path, text):
    if path.endswith((".h", ".cc", ".proto")):
        text = re.sub(r'R"(\w*)\(.*?\)\1"', lambda m: m.group(0).replace("//", "  ").replace("/*", "  "), text, flags=re.S)
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
        text = re.sub(r'//[^\n]*|/\*.*?\*/', lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    elif path.endswith((".py", ".yml", ".txt", ".cmake")):
        text = re.sub(r'^\s*#[^\n]*', '', text, flags=re.M)
    return sum(1 for row in text.split("\n") if row.strip())


def load_layers(path):
    loader = importlib.machinery.SourceFileLoader("layers", str(path))
    spec = importlib.util.spec_from_loader("layers", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("root", nargs="?", default=".")
    args.add_argument("--verbose", action="store_true", help="members of cycles, all arrows, all rooms")
    args.add_argument("--map", help="old path<TAB>new path: count as if moved")
    args.add_argument("--layers", help="whose ALLOWED counts; ROOT/scripts/layers if absent")
    args = args.parse_args()
    root = pathlib.Path(args.root).resolve()
    commit = subprocess.run(["git", "log", "-1", "--format=%h %s"], cwd=root, capture_output=True, text=True).stdout
    print(f"commit {commit.strip()}")
    moved = {}
    if args.map:
        moved = dict(r.split("\t")[:2] for r in pathlib.Path(args.map).read_text().splitlines() if "\t" in r)
    files = listed(root, "*.h", "*.cc")
    text = {moved.get(f, f): (root / f).read_text(errors="replace") for f in files}
    product = [f for f in text if is_product(f)]

    includes = {f: sorted({moved.get(i, i) for i in INCLUDE.findall(text[f])}) for f in product}
    units = collections.defaultdict(set)
    lines = collections.Counter()
    for f in product:
        lines[unit_of(f)] += text[f].count("\n")
        units[unit_of(f)] |= {unit_of(i) for i in includes[f] if i in text and unit_of(i) != unit_of(f)}
    cycles = components(units)
    print(f"\nunits (.h/.cc): {len(units)}; cycles between them: {len(cycles)}, "
          f"{sum(map(len, cycles))} units, {sum(lines[u] for c in cycles for u in c)} lines")
    for cycle in cycles:
        rooms = sorted({folder_of(u) for u in cycle})
        print(f"  {len(cycle)} units, {sum(lines[u] for u in cycle)} lines, in {' '.join(rooms)}")
        if args.verbose or len(cycle) <= 6:
            print("    " + " ".join(cycle))

    layers = load_layers(args.layers or root / "scripts/layers")
    arrows, graph = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for f in product:
        for i in includes[f]:
            if i not in text:
                continue
            if folder_of(f) != folder_of(i):
                graph[folder_of(f)][folder_of(i)] += 1
                graph[folder_of(i)]
            a, b = layers.room_of(f), layers.room_of(i)
            if a is None or b is None or a == b:
                continue
            if hasattr(layers, "may_include"):
                is_up = not layers.may_include(a, b)
            else:
                is_up = a in layers.ALLOWED and b in layers.ALLOWED and \
                    not any(b == r or b.startswith(r + "/") for r in layers.ALLOWED[a])
            if is_up:
                arrows[(a, b)].append((f, i))
    print(f"\narrows upward among rooms (ALLOWED of scripts/layers): {len(arrows)}, "
          f"{sum(map(len, arrows.values()))} includes")
    for (a, b), where in sorted(arrows.items()):
        print(f"  {a} -> {b}: {len(where)}")
        if args.verbose or len(where) <= 3:
            for f, i in where:
                print(f"    {f}: {i}")
    rooms = components({a: set(t) for a, t in graph.items()})
    back = feedback(graph)
    print(f"\ncycles among folders: {len(rooms)}, {sum(map(len, rooms))} folders; fewest arrows found whose end "
          f"ends them: {len(back)}")
    for part in rooms:
        print("  " + " ".join(part))
    for a, b, n in back:
        print(f"    {a} -> {b}: {n} includes")

    size, count = collections.Counter(), collections.Counter()
    for f in product:
        size[folder_of(f)] += text[f].count("\n")
        count[folder_of(f)] += 1
    large = [r for r in size if size[r] > ROOM_LINES or count[r] > ROOM_FILES]
    print(f"\nrooms (folders with .h/.cc): {len(size)}; above {ROOM_LINES} lines or {ROOM_FILES} files: {len(large)}")
    for r in sorted(size if args.verbose else large, key=lambda r: -size[r]):
        print(f"  {r}: {count[r]} files, {size[r]} lines")

    names = collections.defaultdict(list)
    for f in product:
        if f.endswith(".h"):
            names[f.rsplit("/", 1)[-1]].append(folder_of(f))
    twice = {n: w for n, w in names.items() if len(w) > 1}
    print(f"\nheader names in more than one folder: {len(twice)}")
    print("  " + ", ".join(f"{n} ({' '.join(w)})" for n, w in sorted(twice.items())))

    long_files = sorted(((text[f].count("\n"), f) for f in product if text[f].count("\n") > FILE_LINES), reverse=True)
    print(f"\nfiles above {FILE_LINES} lines: {len(long_files)}")
    for n, f in long_files:
        print(f"  {n} {f}")
    long = sorted(((n, f, at, head) for f in product for at, n, head in functions(text[f]) if n > FUNCTION_LINES),
                  reverse=True)
    print(f"\nfunctions above {FUNCTION_LINES} lines: {len(long)}")
    for n, f, at, head in long:
        print(f"  {n} {f}:{at} {head[:70]}")

    total = collections.Counter()
    for f in text:
        if is_product(f):
            total["product .h/.cc"] += code_lines(f, text[f])
    for f in listed(root, "*.proto", "*.py", "docs/schema/*", "launcher/*", "envs/*", "scripts/*", "tests/unit/**/fill.h"):
        body = (root / f).read_text(errors="replace") if not f.endswith((".h", ".cc")) or "fill.h" in f else None
        if body is None:
            continue
        if f.endswith(".proto") and f.startswith("proto/"):
            total["proto"] += code_lines(f, body)
        elif f.startswith("docs/schema/"):
            total["docs/schema"] += code_lines(f, body)
        elif f.startswith("envs/") and f.endswith(".py"):
            total["envs .py"] += code_lines(f, body)
        elif f.startswith("scripts/"):
            total["scripts (not in the sum)"] += code_lines(f + ".py", body)
        elif f.startswith("tests/") and f.endswith("fill.h"):
            total["tests' fill.h (not in the sum)"] += code_lines(f, body)
    print(f"\nlines without comments and empty lines, product and schema written by hand: "
          f"{sum(n for k, n in total.items() if 'not in' not in k)}")
    for kind, n in sorted(total.items()):
        print(f"  {n} {kind}")


if __name__ == "__main__":
    main()
