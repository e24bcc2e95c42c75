"""Adds up test results and prints "N passed, N failed, N skipped" as the last line.

usage: summarize.py RESULTS-DIRECTORY EXPECTED-SKIPS. Reads GoogleTest's and pytest's XML, and ctest's
JUnit file for programs that are not GoogleTest. A skip that EXPECTED-SKIPS does not name (pattern,
two spaces, root, user or any, two spaces, reason) for whoever runs the tests is a failure. Exit code 1
when anything failed or nothing ran.
"""
import fnmatch
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def cases(directory):
    """Yields (name, outcome, text); outcome is passed, failed or skipped."""
    covered, told = set(), set()
    for path in sorted(directory.glob("*.xml")):
        covered.add(path.stem)
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{case.get('classname', '')}.{case.get('name')}".strip(".")
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                told.add(path.stem)
                yield name, "failed", ""
            elif skipped is not None or case.get("result") == "skipped":
                yield name, "skipped", skipped.get("message", "") if skipped is not None else ""
            elif case.get("status") != "notrun":
                yield name, "passed", ""
    junit = directory / "ctest.junit"
    if junit.exists():
        for case in ElementTree.parse(junit).getroot().iter("testcase"):
            ok = case.get("status") == "run"
            # A GoogleTest program reports its own cases; ctest's line counts when it died of another cause.
            if case.get("name") in covered and (ok or case.get("name") in told):
                continue
            if case.find("skipped") is not None:
                yield case.get("name"), "skipped", ""
            else:
                yield case.get("name"), "passed" if ok else "failed", ""


def expected_skips(text, who):
    """The patterns that hold for `who`, root or user; what only root can do must not skip as root."""
    patterns = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = re.split(r" {2,}", line.strip(), maxsplit=2)
        if len(fields) != 3 or fields[1] not in ("root", "user", "any"):
            sys.exit(f"expected skips, line {number}: not 'PATTERN  root|user|any  REASON': {line}")
        if fields[1] in (who, "any"):
            patterns.append(fields[0])
    return patterns


def main():
    directory, expected_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    who = "root" if os.geteuid() == 0 else "user"
    expected = expected_skips(expected_file.read_text(encoding="utf-8"), who)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name, outcome, text in cases(directory):
        if outcome == "skipped" and not any(fnmatch.fnmatchcase(name, e) for e in expected):
            print(f"UNEXPECTED SKIP {name}: {text.strip()}")
            outcome = "failed"
        elif outcome == "skipped":
            print(f"SKIPPED {name}: {' '.join(text.split())[:200]}")
        elif outcome == "failed":
            print(f"FAILED {name}")
        count[outcome] += 1
    extra = directory / "extra-failures"
    for name in extra.read_text().split() if extra.exists() else []:
        print(f"FAILED {name}")
        count["failed"] += 1
    if sum(count.values()) == 0:
        print("no test ran")
        count["failed"] = 1
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
