"""Finds units (x.h and x.cc of one folder, with private headers) that include each other, directly or around a cycle."""
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
NOT_PRODUCT = ("tests/", "examples/", "proto/")
# Headers that belong to a unit: they show what is inside of x.h to the files that implement it, and include x.h.
# x_impl.h and x_internal.h are part of x; core/impl.h of the agent and of the runner is part of core/core.
PRIVATE = ((re.compile(r"_(impl|internal)$"), ""), (re.compile(r"/core/impl$"), "/core/core"))


def unit_of(path):
    unit = re.sub(r"\.(h|cc)$", "", path)
    for private, part_of in PRIVATE:
        unit = private.sub(part_of, unit)
    return unit


def graph_of(root, files):
    files = [f for f in files if f.endswith((".h", ".cc")) and not f.startswith(NOT_PRODUCT)]
    graph = {unit_of(f): set() for f in files}
    for f in files:
        for name in INCLUDE.findall((root / f).read_text()):
            to = unit_of(name)
            if to in graph and to != unit_of(f):
                graph[unit_of(f)].add(to)
    return graph


def components(graph):
    """Strongly connected components of more than one unit (Tarjan, without recursion)."""
    index, low, on, stack = {}, {}, set(), []
    for start in sorted(graph):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        work = [(start, iter(sorted(graph[start])))]
        while work:
            unit, edges = work[-1]
            to = next(edges, None)
            if to is not None and to not in index:
                index[to] = low[to] = len(index)
                stack.append(to)
                on.add(to)
                work.append((to, iter(sorted(graph[to]))))
            elif to is not None:
                if to in on:
                    low[unit] = min(low[unit], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[unit])
                if low[unit] == index[unit]:
                    at = stack.index(unit)
                    found, stack = stack[at:], stack[:at]
                    on.difference_update(found)
                    if len(found) > 1:
                        yield sorted(found)


def check(root, files):
    for cycle in components(graph_of(root, files)):
        yield f"{cycle[0]}: includes itself around a cycle of {len(cycle)} units: {', '.join(cycle[:8])}"
