"""--query: our JMESPath against PyPI's jmespath, which az uses: what both make of random expressions over random documents."""
import json
import os
import random
import re
import subprocess
import sys

import pytest
from harness.site import BUILD, ROOT

PACKAGE = "jmespath==1.1.0"
EXPRESSIONS = 6000
FUNCTIONS = {"abs": 1, "avg": 1, "ceil": 1, "contains": 2, "ends_with": 2, "floor": 1, "join": 2, "keys": 1, "length": 1, "map": 2,
             "max": 1, "max_by": 2, "merge": 2, "min": 1, "min_by": 2, "not_null": 2, "reverse": 1, "sort": 1, "sort_by": 2,
             "starts_with": 2, "sum": 1, "to_array": 1, "to_number": 1, "to_string": 1, "type": 1, "values": 1}
TAKES_EXPRESSION = {"map": 0, "max_by": 1, "min_by": 1, "sort_by": 1}
SLICE_OF_INDEX = re.compile(r"\]\[-?\d*:")  # a[0][1:].b: they take .b of the list, against the specification
THEIRS = """
import json, sys, jmespath
for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = json.dumps({"result": jmespath.search(asked["expression"], asked["document"])})
    except jmespath.exceptions.JMESPathError as error:
        answer = json.dumps({"error": str(error)})
    except Exception as error:  # a defect of theirs, such as < between a number and a string
        answer = json.dumps({"crash": str(error)})
    print(answer)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has the package. LOCKSTEP_TEST_JMESPATH names one."""
    given = os.environ.get("LOCKSTEP_TEST_JMESPATH")
    if given:
        return given
    folder = tmp_path_factory.mktemp("jmespath") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", PACKAGE], check=True)
    return folder / "bin/python"


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self):
        return self.random.choice(["a", "b", "c", "name", '"é x"', "list"])

    def value(self, depth=3):
        kinds = ["number", "text", "plain", "list", "numbers", "texts", "object", "object"] if depth else ["number", "text", "plain"]
        kind = self.random.choice(kinds)
        if kind == "number":
            return self.random.choice([0, 1, -3, 2.5, 17, -0.25])
        if kind == "text":
            return self.random.choice(["", "a", "ab", "é x", "12", "-1.5", "true"])
        if kind == "plain":
            return self.random.choice([True, False, None])
        if kind == "list":
            return [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        if kind == "numbers":
            return [self.random.randrange(-5, 9) for _ in range(self.random.randrange(5))]
        if kind == "texts":
            return [self.random.choice(["b", "a", "é", "B"]) for _ in range(self.random.randrange(5))]
        return {key.strip('"'): self.value(depth - 1) for key in (self.name() for _ in range(self.random.randrange(1, 5)))}

    def number(self):
        return self.random.choice(["", "0", "1", "-1", "2", "-7"])

    def expression(self, depth=4):
        if depth == 0:
            return self.random.choice([self.name(), "@", "`%s`" % json.dumps(self.value(0)), "'raw'", self.name()])
        inner = lambda: self.expression(depth - 1)
        made = [
            lambda: f"{inner()}.{self.name()}", lambda: f"{inner()}[{self.random.choice(['0', '1', '-1', '7'])}]",
            lambda: f"{inner()}[{self.number()}:{self.number()}{self.random.choice(['', ':', ':-1', ':2'])}]",
            lambda: f"{inner()}[*].{self.name()}", lambda: f"{inner()}[]", lambda: f"{inner()}.*",
            lambda: f"{inner()}[?{inner()}]", lambda: f"{inner()}[?{inner()} {self.comparator()} {inner()}]",
            lambda: f"{inner()} | {inner()}", lambda: f"{inner()} || {inner()}", lambda: f"{inner()} && {inner()}",
            lambda: f"!{inner()}", lambda: f"({inner()})", lambda: f"[{inner()}, {inner()}]",
            lambda: "%s.{x: %s, y: %s}" % (self.name(), inner(), inner()), lambda: f"{inner()} {self.comparator()} {inner()}",
            lambda: self.call(depth), lambda: self.call(depth), lambda: self.call(depth), lambda: f"{inner()}.[{inner()}]"]
        return self.random.choice(made)()

    def comparator(self):
        return self.random.choice(["==", "!=", "<", "<=", ">", ">="])

    def call(self, depth):
        name = self.random.choice(list(FUNCTIONS))
        words = [("&" if TAKES_EXPRESSION.get(name) == at else "") + self.expression(depth - 1) for at in range(FUNCTIONS[name])]
        return f"{name}({', '.join(words)})"

    def damaged(self, text):
        """With a character taken out, put in or doubled: mostly no expression any more."""
        at = self.random.randrange(len(text) + 1)
        return self.random.choice([text[:at] + text[at + 1:], text[:at] + self.random.choice(".[]*|&!(){}?:,@`'\"= 1a-") + text[at:]])


def answers(command, lines):
    done = subprocess.run(command, input="".join(lines), capture_output=True, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(ours, theirs):
    """Without the difference between 2 and 2.0, without rounding, and without theirs of é and \\u00e9 in to_string()."""
    if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
        return "\\u" in theirs and same(json.loads(ours), json.loads(theirs))
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return abs(ours - theirs) <= 1e-9 * max(1, abs(ours))
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    return ours == theirs


def compare(python, questions):
    lines = [json.dumps({"expression": text, "document": document}) + "\n" for text, document in questions]
    ours = answers([BUILD / "tests/query_lines"], lines)
    theirs = answers([python, "-c", THEIRS], lines)
    assert len(ours) == len(theirs) == len(lines)
    for (text, document), mine, other in zip(questions, ours, theirs):
        yield text, document, mine, other


def test_random_expressions_mean_the_same(python):
    maker = Maker(54)
    questions = [(maker.expression(), maker.value()) for _ in range(EXPRESSIONS)]
    results = errors = 0
    for text, document, ours, theirs in compare(python, questions):
        if "crash" in theirs or SLICE_OF_INDEX.search(text):
            continue
        assert ("error" in ours) == ("error" in theirs), (text, document, ours, theirs)
        if "result" in theirs:
            assert same(ours["result"], theirs["result"]), (text, document, ours, theirs)
            results += theirs["result"] is not None
        errors += "error" in theirs
    assert results > EXPRESSIONS / 10 and errors > EXPRESSIONS / 20


def test_what_is_no_expression_is_refused_by_both(python):
    maker = Maker(55)
    questions = [(maker.damaged(maker.expression(2)), {"a": [1]}) for _ in range(EXPRESSIONS)]
    refused = 0
    for text, document, ours, theirs in compare(python, questions):
        if "crash" in theirs:
            continue
        if "error" in theirs:
            assert "error" in ours, (text, ours, theirs)
            refused += 1
        elif "error" in ours:  # they take more than the grammar has
            assert "column" in ours["error"], (text, ours, theirs)
    assert refused > EXPRESSIONS / 4


def test_the_compliance_suite_says_the_same_of_both(python):
    questions = []
    for path in sorted((ROOT / "tests/unit/launcher/cli/jmespath_cases").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            questions += [(case["expression"], group["given"]) for case in group["cases"]]
    assert len(questions) > 600
    for text, document, ours, theirs in compare(python, questions):
        if "crash" not in theirs:
            assert ("error" in ours) == ("error" in theirs) and same(ours.get("result"), theirs.get("result")), \
                (text, document, ours, theirs)
