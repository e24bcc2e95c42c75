"""Suggests the next trials of a bayesian sweep, with Optuna's TPE sampler.

Each line of standard input is a question, a JSON object; each line of standard output is the answer to one. The
program ends with its input. It keeps nothing between questions: each has all trials, and its seed, so that the same
question has the same answer, from whichever process. Whoever runs it bounds its time and memory.

A question (launcher/sweeps/helper_lines.h writes it):
  goal        "minimize" or "maximize"
  seed        0 to 2**32 - 1
  count       how many suggestions
  optuna      the version that must answer, "" for any
  parameters  {"kind": "number", "low": L, "high": H}, {"kind": "integer", "count": N} for 0 to N - 1, or
              {"kind": "choice", "count": N} for 0 to N - 1 in no order
  trials      {"state": "complete" | "stopped" | "running", "values": one for each parameter,
              "objective": NUMBER, "intervals": N}; one that runs has no objective

An answer: {"optuna": VERSION, "suggestions": [[one value for each parameter], ...]}, or
{"error": TEXT, "again": whether asking again may help}.
"""
import json
import math
import sys
import warnings

MOST_QUESTION = 64 << 20  # bytes
MOST_PARAMETERS = 1_000
MOST_SUGGESTIONS = 1_000
INSTALL = "the launcher's operator installs it for the Python that runs this: {} -m pip install optuna"


class Refused(Exception):
    """A question that cannot be answered; `again`: whether it may be later."""

    def __init__(self, text, again=False):
        super().__init__(text)
        self.again = again


def load_optuna(wanted):
    """The module, of the version that is wanted."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna
    except ImportError as missing:
        raise Refused(f"Optuna cannot be imported ({missing}); {INSTALL.format(sys.executable)}") from missing
    if wanted and optuna.__version__ != wanted:
        raise Refused(f"the suggestions of this sweep come from Optuna {wanted}, and {optuna.__version__} is installed; "
                      f"other versions would suggest other values: install {wanted}, or start the sweep anew")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def number(value, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Refused(f"bad question: {what} is {value!r}, not a number")
    return value


def whole(value, what, least, most):
    value = number(value, what)
    if value != int(value) or not least <= value <= most:
        raise Refused(f"bad question: {what} is {value!r}, not {least} to {most}")
    return int(value)


def items(question, key, most):
    found = question.get(key)
    if not isinstance(found, list) or len(found) > most or not all(isinstance(one, dict) for one in found):
        raise Refused(f"bad question: {key} is no list of at most {most} objects")
    return found


class Parameter:
    """One parameter: its distribution, and which values it takes."""

    def __init__(self, optuna, name, described):
        self.name, self.kind = name, described.get("kind")
        if self.kind == "number":
            low, high = (float(number(described.get(key), key)) for key in ("low", "high"))
            if low > high:
                raise Refused(f"bad question: low {low} is above high {high}")
            self.distribution = optuna.distributions.FloatDistribution(low, high)
        elif self.kind in ("integer", "choice"):
            count = whole(described.get("count"), "count", 1, 1_000_000_000)
            self.distribution = (optuna.distributions.IntDistribution(0, count - 1) if self.kind == "integer" else
                                 optuna.distributions.CategoricalDistribution(tuple(range(count))))
            low, high = 0, count - 1
        else:
            raise Refused(f"bad question: unknown kind of parameter {self.kind!r}")
        self.low, self.high = low, high

    def read(self, value):
        if self.kind != "number":
            return whole(value, self.name, self.low, self.high)
        value = float(number(value, self.name))
        if not self.low <= value <= self.high:
            raise Refused(f"bad question: {value} of parameter {self.name} is not in its range")
        return value


def trial_of(optuna, described, parameters):
    """A trial as Optuna keeps it."""
    values = described.get("values")
    if not isinstance(values, list) or len(values) != len(parameters):
        raise Refused("bad question: a trial has not one value for each parameter")
    told = {
        "params": {one.name: one.read(value) for one, value in zip(parameters, values)},
        "distributions": {one.name: one.distribution for one in parameters},
    }
    states, state = optuna.trial.TrialState, described.get("state")
    if state == "running":
        return optuna.trial.create_trial(state=states.RUNNING, **told)
    objective = float(number(described.get("objective"), "objective"))
    if state == "complete":
        return optuna.trial.create_trial(state=states.COMPLETE, value=objective, **told)
    if state == "stopped":
        intervals = whole(described.get("intervals"), "intervals", 0, 2**62)
        return optuna.trial.create_trial(state=states.PRUNED, intermediate_values={intervals: objective}, **told)
    raise Refused(f"bad question: unknown state {state!r}")


def answer(question):
    """The answer to one question, as an object."""
    if not isinstance(question, dict):
        raise Refused("bad question: it is no JSON object")
    wanted, goal = question.get("optuna", ""), question.get("goal")
    if not isinstance(wanted, str) or goal not in ("minimize", "maximize"):
        raise Refused("bad question: optuna is a version or \"\", and goal is minimize or maximize")
    count = whole(question.get("count"), "count", 1, MOST_SUGGESTIONS)
    seed = whole(question.get("seed"), "seed", 0, 2**32 - 1)
    optuna = load_optuna(wanted)
    parameters = [Parameter(optuna, f"p{place}", described)
                  for place, described in enumerate(items(question, "parameters", MOST_PARAMETERS))]
    if not parameters:
        raise Refused("bad question: there are no parameters")
    # Trials that run count as bad ones, so that the next is not the same.
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
    study = optuna.create_study(direction=goal, sampler=sampler)
    study.add_trials([trial_of(optuna, one, parameters) for one in items(question, "trials", 10_000)])
    distributions = {one.name: one.distribution for one in parameters}
    suggested = [study.ask(fixed_distributions=distributions).params for _ in range(count)]
    return {"optuna": optuna.__version__,
            "suggestions": [[told[one.name] for one in parameters] for told in suggested]}


def reply(line):
    try:
        if len(line) > MOST_QUESTION:
            raise Refused("bad question: its line is too long")
        return answer(json.loads(line))
    except Refused as refused:
        return {"error": str(refused), "again": refused.again}
    except ValueError as wrong:
        return {"error": f"bad question: {wrong}", "again": False}
    except MemoryError:
        return {"error": "the helper has not enough memory for this question", "again": True}
    except Exception as failed:  # pylint: disable=broad-except
        return {"error": f"Optuna failed: {type(failed).__name__}: {failed}", "again": True}


def main():
    warnings.simplefilter("ignore")  # that options of Optuna are experimental
    for line in sys.stdin.buffer:
        if line.strip():
            print(json.dumps(reply(line)), flush=True)


if __name__ == "__main__":
    main()
