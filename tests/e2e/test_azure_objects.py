"""Jobs and pipelines that azure-ai-ml (PyPI) serialises are read without loss: what we read of each is compared with it."""
import json
import os
import re
import subprocess
import sys

import pytest
from harness.site import BUILD, ROOT

PACKAGE = "azure-ai-ml==1.35.2"
NEAR = re.compile(r"\$\{\{\s*(inputs|outputs)\.(\w+)\s*\}\}")
PARENT = re.compile(r"^\$\{\{parent\.(inputs|jobs)\.([\w.]+)\}\}$")
LITERALS = ("string", "number", "integer", "boolean")


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """The files of oracle/azure_objects.py, made by a Python of its own. LOCKSTEP_TEST_AZURE names one that has the package."""
    folder = tmp_path_factory.mktemp("azure")
    python = os.environ.get("LOCKSTEP_TEST_AZURE")
    if not python:
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        python = folder / "venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", PACKAGE], check=True)
    (folder / "out").mkdir()
    subprocess.run([python, ROOT / "tests/e2e/oracle/azure_objects.py", folder / "out"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return sorted((folder / "out").glob("*.yml"))


def plan_of(path):
    done = subprocess.run([BUILD / "bin/lockstep", "job", "create", "-f", path, "--dry-run", "-o", "json"],
                          capture_output=True, check=False, env={**os.environ, "LOCKSTEP_HOME": str(path.parent / "home")})
    assert done.returncode == 0, f"{path.name}: {done.stderr.decode()}\n{path.read_text()}"
    return json.loads(done.stdout)


class Theirs:
    """A step as azure-ai-ml wrote it: its keys over its component's, and the values of its inputs."""

    def __init__(self, name, node, component, values):
        self.name, self.node, self.component, self.values = name, node, component, values

    def get(self, key):
        mine, base = self.node.get(key), self.component.get(key)
        if isinstance(mine, dict) and isinstance(base, dict) and "type" not in mine:
            return {**base, **mine}
        return mine if mine is not None else base

    def command(self):
        text = self.component.get("command") or self.node["command"]

        def value(match):
            found = self.values.get(match[2]) if match[1] == "inputs" else None
            return found if isinstance(found, str) else "${{%s.%s}}" % match.groups()

        def optional(match):
            names = [name for kind, name in NEAR.findall(match[1]) if kind == "inputs"]
            return "" if any(self.values.get(name) is None for name in names) else match[1]

        return NEAR.sub(value, re.sub(r"\$\[\[(.*?)\]\]", optional, text))


def default(port):
    """The text that azure-ai-ml sends for the default of a component's input, which it converts to the declared type."""
    value = port.get("default")
    if value is None:
        return None
    if port["type"] == "number" or (port["type"] == "string" and type(value) is int):
        return str(float(value))
    return str(int(float(value))) if port["type"] == "integer" else str(value)


def resolve(given, parent, siblings, prefix):
    """A literal's text; {"type", "path", "mode"} of data; {"step", "output"}; or None."""
    path = given.get("path") if isinstance(given, dict) else given
    bound = PARENT.match(path) if isinstance(path, str) else None
    if not bound:
        return given if isinstance(given, dict) else None if given is None else str(given)
    more = {key: given[key] for key in ("mode",) if isinstance(given, dict) and given.get(key)}
    if bound[1] == "inputs":
        value = parent[bound[2]]
    else:
        step, kind, name = bound[2].split(".")
        assert kind == "outputs"
        while True:  # into the pipelines inside
            inner = siblings[step].get("component", siblings[step]).get("jobs")
            if not inner:
                break
            prefix, siblings = f"{prefix}{step}.", inner
            step, name = next((key, out) for key, node in inner.items() for out, where in (node.get("outputs") or {}).items()
                              if (where.get("path") if isinstance(where, dict) else where) == "${{parent.outputs.%s}}" % name)
        value = {"step": prefix + step, "output": name}
    return {**value, **more} if isinstance(value, dict) else value


def values_of(node, component, parent, siblings, prefix):
    given = node.get("inputs") or {}
    values = {name: resolve(given[name], parent, siblings, prefix) for name in given}
    for name, port in (component.get("inputs") or {}).items():
        if values.get(name) is None:
            values[name] = default(port)
        elif isinstance(values[name], dict) and port.get("mode"):
            values[name] = {**values[name], **({} if "mode" in values[name] else {"mode": port["mode"]})}
    return values


def steps_in(pipeline, parent, prefix=""):
    for key, node in pipeline["jobs"].items():
        component = node.get("component") or {}
        values = values_of(node, component, parent, pipeline["jobs"], prefix)
        if (component or node).get("jobs"):
            yield from steps_in(component or node, values, f"{prefix}{key}.")
        else:
            yield Theirs(prefix + key, node, component, values)


def size(value):
    number, unit = re.fullmatch(r"(\d+)([bkmg]?)", value).groups()
    return int(number) * {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[unit]


def compare(step, ours, default_compute):
    job = ours["job"]
    assert job["command"].split() == step.command().split(), step.name
    assert ours["environment_name"] == step.get("environment").removeprefix("azureml:")
    assert job["environment_variables"] == (step.get("environment_variables") or {})
    assert job["compute"] == (step.get("compute") or default_compute or "local").removeprefix("azureml:")
    resources = step.get("resources") or {}
    assert job["resources"]["instance_count"] == resources.get("instance_count", 1)
    assert job["resources"].get("instance_type") == resources.get("instance_type")
    assert job["resources"].get("shm_size") == (size(resources["shm_size"]) if "shm_size" in resources else None)
    assert " ".join(job["resources"].get("docker_args", [])) == (resources.get("docker_args") or "")
    distribution = step.get("distribution")
    assert job["distribution"] == (distribution and {"type": distribution["type"].lower(), "process_count_per_instance":
                                                     distribution["process_count_per_instance"]})
    limits = step.get("limits")
    assert job["limits"] == (limits and {"timeout": limits["timeout"]})
    queue = step.get("queue_settings") or {}
    assert job["queue_settings"]["priority"] == queue.get("priority", "medium").lower()
    compare_inputs(step, ours)
    outputs = {**(step.component.get("outputs") or {})}
    for name, given in (step.node.get("outputs") or {}).items():
        outputs[name] = {**(outputs.get(name) or {}), **(given if isinstance(given, dict) else {})}
    ours_of = {name: {key: value for key, value in port.items() if key != "path"} for name, port in job["outputs"].items()}
    assert ours_of == {name: {"type": "uri_file" if (port or {}).get("type") == "uri_file" else "uri_folder",
                              "mode": (port or {}).get("mode") or "rw_mount",
                              "name": (port or {}).get("name"), "version": (port or {}).get("version")}
                       for name, port in outputs.items()}


def compare_inputs(step, ours):
    job, ports = ours["job"], step.component.get("inputs") or {}
    given = {name: value for name, value in step.values.items() if value is not None}
    assert set(job["inputs"]) == set(given), step.name
    for name, value in given.items():
        mine = job["inputs"][name]
        if isinstance(value, str):
            assert mine == value
        elif "step" in value:
            assert ours["bindings"][name] == {"step": value["step"], "output": value["output"]}
            assert mine["mode"] == value.get("mode", "ro_mount")
        else:
            assert (mine["path"], mine["type"], mine["mode"]) == (
                value["path"].replace("azureml:http", "http"), value.get("type") or ports[name]["type"], value.get("mode") or "ro_mount")


def test_each_object_is_read_without_loss(objects):
    assert len(objects) >= 40
    for path in objects:
        theirs, plan = json.loads(path.read_text()), plan_of(path)
        head = plan["job"]
        assert plan["name"] == theirs.get("name"), path.name
        for key in ("description", "tags"):
            assert head[key] == (theirs.get(key) or type(head[key])()), path.name
        if theirs.get("display_name"):
            assert head["display_name"] == theirs["display_name"]
        if theirs.get("experiment_name"):
            assert head["experiment_name"] == theirs["experiment_name"]
        if "jobs" not in theirs:
            component = theirs.get("component") or {}
            values = values_of(theirs, component, {}, {}, "")
            compare(Theirs(path.name, theirs, component, values), plan["steps"][0], None)
            continue
        settings = theirs.get("settings") or {}
        assert plan["continue_on_step_failure"] == settings.get("continue_on_step_failure", True)
        root = {name: resolve(value, {}, {}, "") for name, value in (theirs.get("inputs") or {}).items()}
        expected = list(steps_in(theirs, root))
        ours = {step["name"]: step for step in plan["steps"]}
        assert sorted(ours) == sorted(step.name for step in expected), path.name
        compute = settings.get("default_compute") or theirs.get("compute")
        for step in expected:
            compare(step, ours[step.name], compute)
            deterministic = step.component.get("is_deterministic", True)
            assert ours[step.name]["reuse"] == (deterministic and not settings.get("force_rerun", False)), step.name
            role = [key for key in ("on_init", "on_finalize") if settings.get(key) == step.name]
            assert ours[step.name]["role"] == (role or ["main"])[0]
