"""The helper of bayesian sweeps, launcher/helpers/suggest.py, with Optuna from PyPI: answers follow from questions alone, beat
random values, and what is wrong is said."""
import json
import math
import os
import random
import subprocess
import sys

import pytest
from harness.site import ROOT

PACKAGE = "optuna==5.0.0"
PROGRAM = (ROOT / "launcher/helpers/suggest.py").read_text(encoding="utf-8")
NUMBER = {"kind": "number", "low": -1, "high": 1}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with Optuna. LOCKSTEP_TEST_OPTUNA names one that is there."""
    named = os.environ.get("LOCKSTEP_TEST_OPTUNA")
    if named:
        return named
    folder = tmp_path_factory.mktemp("optuna")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", PACKAGE], check=True)
    return folder / "bin/python"


class Helper:
    """One process, which answers until its input ends."""

    def __init__(self, interpreter):
        self.process = subprocess.Popen([interpreter, "-I", "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()

    def ask(self, asked):
        line = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def question(**changes):
    return {"goal": "minimize", "seed": 7, "count": 1, "optuna": "", "parameters": [NUMBER], "trials": [], **changes}


def complete(values, objective):
    return {"state": "complete", "values": values, "objective": objective, "intervals": 1}


def test_without_optuna_it_says_what_to_install(tmp_path):
    (tmp_path / "optuna.py").write_text("raise ImportError('not here')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); exec(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, PROGRAM], input=json.dumps(question()).encode() + b"\n",
                          capture_output=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["again"] is False and "pip install optuna" in answer["error"], answer


@pytest.mark.parametrize("asked, words", [
    (b"no JSON", "Expecting value"), (b"[]", "no JSON object"), (question(goal="most"), "goal"), (question(count=0), "count"),
    (question(seed=-1), "seed"), (question(seed=1.5), "seed"), (question(parameters=[]), "no parameters"),
    (question(parameters=[{"kind": "cloud"}]), "unknown kind"), (question(parameters=[{"kind": "number", "low": 1, "high": 0}]), "above"),
    (question(parameters=[{"kind": "choice", "count": 0}]), "count"), (question(trials=[{"state": "complete", "values": []}]), "one value"),
    (question(trials=[complete([3], 1)]), "range"), (question(trials=[complete([0], math.nan)]), "objective"),
    (question(trials=[{"state": "lost", "values": [0], "objective": 1}]), "unknown state"), (question(optuna="0.1"), "0.1"),
])
def test_what_is_wrong_is_said_and_the_next_question_answered(python, asked, words):
    with Helper(python) as helper:
        answer = helper.ask(asked)
        assert words in answer["error"] and answer["again"] is False, answer
        assert len(helper.ask(question())["suggestions"]) == 1


def test_answers_follow_from_the_question_alone(python):
    parameters = [NUMBER, {"kind": "integer", "count": 4}, {"kind": "choice", "count": 3}]
    trials = [complete([i / 20 - 0.5, i % 4, i % 3], i * 0.5) for i in range(20)]
    trials += [{"state": "stopped", "values": [0.9, 0, 0], "objective": 9, "intervals": 3}, {"state": "running", "values": [0, 1, 2]}]
    asked = question(parameters=parameters, trials=trials, count=3)
    with Helper(python) as one, Helper(python) as other:
        answer = one.ask(asked)
        other.ask(question(seed=1))
        assert answer == other.ask(asked) == one.ask(asked)
        assert answer["suggestions"] != one.ask({**asked, "seed": 8})["suggestions"]
    assert len(answer["suggestions"]) == 3
    for number, step, choice in answer["suggestions"]:
        assert -1 <= number <= 1 and step in range(4) and choice in range(3)
    assert len({tuple(one) for one in answer["suggestions"]}) == 3, "running trials count as bad ones"


def bowl(x, y):
    return (x - 0.3) ** 2 + 3 * (y + 0.2) ** 2


def branin(x, y):
    """Of Dixon and Szego, moved to -1 … 1."""
    a, b = 7.5 * x + 2.5, 7.5 * y + 7.5
    return (b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


@pytest.mark.parametrize("function", [bowl, branin])
def test_it_finds_better_values_than_chance(python, function):
    rounds, better = 60, 0
    with Helper(python) as helper:
        for seed in range(10):
            trials = []
            for number in range(rounds):
                point = helper.ask(question(parameters=[NUMBER, NUMBER], trials=trials, seed=seed * 1000 + number))["suggestions"][0]
                trials.append(complete(point, function(*point)))
            chance = random.Random(seed)
            by_chance = min(function(chance.uniform(-1, 1), chance.uniform(-1, 1)) for _ in range(rounds))
            better += min(one["objective"] for one in trials) < by_chance
    assert better >= 9, f"{better} of 10"
