"""What `-o json` prints is what docs/schema says, of every verb that has it."""
import collections
import copy
import json
import re
import subprocess

import jsonschema
import pytest

from harness.schema import FOLDER, SCHEMAS, keys_in, objects, problems
from harness.site import BUILD, ROOT, wait_until

# Made by the command line itself, or by the doctor, rather than by launcher/api/json.
OF_THE_PROGRAM = {"plan", "download", "comparison", "diagnosis", "file-list", "findings", "key", "settings", "signal", "snapshot", "stacks", "types"}


@pytest.fixture(scope="module")
def printed():
    """kind -> all that launcher/api/json makes of filled and of empty views."""
    done = subprocess.run([BUILD / "tests" / "print_json"], stdout=subprocess.PIPE, timeout=60, check=True)
    values = collections.defaultdict(list)
    for line in done.stdout.decode().splitlines():
        entry = json.loads(line)
        values[entry["kind"]].append(entry["value"])
    return values


def test_each_schema_is_one_and_leaves_no_key_unsaid():
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"{name}.json" and schema["title"] and schema["description"], name
        for of_object in objects(schema):
            assert of_object.get("additionalProperties") is False, (name, list(of_object["properties"]))
            for key, value in of_object["properties"].items():
                is_said = "description" in value or "$ref" in value or "description" in value.get("items", {}) \
                    or value.get("type") == "object"
                assert is_said, f"{name}: '{key}' has no description"


def test_the_guide_names_each_schema():
    guide = (ROOT / "docs" / "json.md").read_text()
    for name in SCHEMAS:
        assert f"schema/{name}.json" in guide, name
    for named in re.findall(r"schema/([a-z-]+)\.json", guide):
        assert (FOLDER / f"{named}.json").exists(), named


def test_what_is_made_of_filled_and_of_empty_views_fits(printed):
    assert set(printed) == set(SCHEMAS) - OF_THE_PROGRAM
    wrong = [problem for kind, values in printed.items() for value in values for problem in problems(kind, value)]
    assert not wrong, "\n".join(sorted(set(wrong))[:20])


def test_no_schema_names_a_key_that_nobody_writes(printed):
    written = set(keys_in(list(printed.values())))
    for name in printed:
        for of_object in objects(SCHEMAS[name]):
            assert set(of_object["properties"]) <= written, (name, set(of_object["properties"]) - written)


def test_a_key_that_no_schema_names_does_not_fit(printed):
    job = copy.deepcopy(printed["job-list"][0][0])
    assert not problems("job", job)
    for inside in (job, job["lockstep"], job["attempts"][0], job["attempts"][0]["parts"][0], job["report"],
                   job["environment"]):
        inside["colour"] = "green"
        assert problems("job", job), f"a new key among {list(inside)} fits"
        del inside["colour"]
    job["submitted"] = job.pop("creation_context")
    assert problems("job", job)


# ---- of the verbs ------------------------------------------------------------------------------

def verbs_with_json(site):
    """All verbs whose help has -o, as tuples of words."""
    found = set()

    def look_at(words):
        text = site.ok(*words, "--help")
        if "--output " in text:
            found.add(words)
        listed = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        for line in listed.splitlines():
            if match := re.match(r"  ([a-z-]+)\s", line):
                look_at((*words, match.group(1)))

    look_at(())
    return found


def check_notice(site, check):
    """A node that is taken away, and the job that it has to give up."""
    site.ok("run", "--detach", "--name", "taken", "--", "sleep", "300")
    site.wait_for_status("taken", "Running")
    [name] = [node["name"] for node in site.json("node", "list")]
    subprocess.run([site.bin / "lockstep-agent", "notice", "--home", site.home / "nodes" / name, "--seconds", "120",
                    "--reason", "host maintenance"], check=True, env=site.environment())
    wait_until(lambda: site.show("taken")["attempts"][0]["report"], "its attempt has ended")
    assert site.show("taken")["attempts"][0]["report"]["cause"] == "preempted"
    check("job", "job show", "taken")
    check("event-list", "job events", "taken")
    check("explanation", "job explain", "taken")
    check("node", "node show", name)
    assert "host maintenance" in site.json("node", "show", name)["reason"]


def test_what_each_verb_prints_fits(site):
    site.up(1)
    site.write("env.yml", "name: tools\nrequirements: [six]\n")
    site.write("conda.yml", "name: packed\nchannels: [conda-forge]\ndependencies: [python=3.11, pip: [six]]\n")
    site.write("host.yml", "interpreter: python3\n")
    site.write("tree/train.py", "print('hello')\n")
    site.write("tree/job.yml", "name: created\ncommand: echo hello > ${{outputs.model}}/m\ncode: .\n"
               "tags: {a: b}\ninputs: {lr: 0.5}\noutputs: {model: {type: uri_folder}}\nlimits: {timeout: 1h}\n"
               "resources: {instance_count: 1}\ndistribution: {type: mpi, process_count_per_instance: 2}\n")
    (site.work / "text").write_text("quiet\n")
    site.ok("secret", "set", "TOKEN", "--from-file", "text")
    site.ok("project", "create", "vision")
    site.ok("quota", "set", "--project", "vision", "--gpus", "8")
    covered = set()

    def check(kind, verb, *words, codes=(0,)):
        verb = tuple(verb.split())
        done = site.run(*verb, "-o", "json", *words)
        assert done.returncode in codes, (verb, done)
        wrong = problems(kind, json.loads(done.stdout))
        assert not wrong, "\n".join(wrong)
        covered.add(verb)

    check("status", "status")
    check("status", "up")
    check("job", "run", "--name", "first", "--env", "A=b", "--code", "tree", "--", "echo", "hello")
    check("job", "run", "--name", "second", "--code", "tree", "--", "false", codes=(1,))
    check("job", "job create", "-f", "tree/job.yml", "--stream")
    check("job", "job show", "created")
    site.ok("run", "--name", "saved", "--code", "tree", "--", "sh", "-c", "echo 1 > $LOCKSTEP_CHECKPOINT_DIR/step")
    check("job", "job resume", "saved")
    check("validation", "job validate", "-f", "tree/job.yml", "--set", "name=another")
    check("plan", "job create", "-f", "tree/job.yml", "--dry-run")
    check("validation", "job validate", "-f", "env.yml", codes=(2,))
    check("job-list", "job list")
    site.ok("job", "archive", "second")
    check("job-list", "job list", "--archived-only")
    check("explanation", "job explain", "created")
    check("comparison", "job compare", "created", "first")
    check("event-list", "job events", "first")
    check("metrics", "job metrics", "first")
    for line in site.ok("job", "events", "first", "--follow", "-o", "json").splitlines():
        assert not problems("event", json.loads(line)), line
    site.ok("run", "--detach", "--name", "held", "--", "sleep", "300")
    site.wait_for_status("held", "Running")
    check("signal", "job signal", "held", "CONT")
    check("stacks", "job stacks", "held", codes=(0, 1))
    check("diagnosis", "job diagnose", "held")
    site.ok("job", "cancel", "held")
    site.wait_for_status("held", "Canceled")
    check("download", "job download", "created", "--all")
    check("file-list", "job files", "created")
    check("deletion", "job delete", "second", "nobody", codes=(0, 1))
    site.write("set/a.txt", "first\n")
    stores = site.home / "datastores.yml"
    stores.write_text("scratch: {directory: /tmp}\n")
    stores.chmod(0o600)
    check("datastore-list", "datastore list")
    check("datastore", "datastore show", "scratch")
    for kind in ("data", "model"):
        check("asset", f"{kind} create", "-n", "files", "--path", "set", "--tags", "a=b")
        check("asset-list", f"{kind} list")
        check("asset", f"{kind} show", "files:1")
    site.write("component.yml", "name: part\ncommand: ls\n")
    check("asset", "component create", "-f", "component.yml")
    check("asset-list", "component list")
    check("asset", "component show", "part:1")
    check("environment", "environment create", "-f", "env.yml")
    check("environment", "environment create", "-f", "conda.yml", "--version", "7")
    check("environment-list", "environment list")
    check("environment", "environment show", "packed:7")
    check("job", "environment prepare", "-f", "file:./host.yml")
    check("message", "environment prune", "--unused-for", "1d")
    check("usage", "top")
    check("node-list", "node list")
    check("node", "node show", site.json("node", "list")[0]["name"])
    check("token", "node token", "--uses", "2")
    check("token-list", "node token list")
    check("compute", "compute create", "--name", "laptop", "--type", "local", "--tags", "a=b")
    check("compute", "compute update", "laptop", "--description", "mine")
    check("compute", "compute show", "local")
    check("compute", "compute attach", "lab", "--host", "127.0.0.1:1", "--timeout", "60s", codes=(1,))
    check("compute", "compute show", "lab", "--history")
    site.ok("compute", "detach", "lab", "--force", "--timeout", "60s")
    site.write("instance.yml", "name: ci1\ntype: computeinstance\nidle_time_before_shutdown: PT30M\n"
               "schedules: {compute_start_stop: [{action: stop, trigger: {type: cron, expression: '0 22 * * *'}}]}\n"
               "lockstep: {hosts: ['127.0.0.1:1']}\n")
    check("compute", "compute create", "-f", "instance.yml", "--no-wait")
    site.ok("compute", "stop", "ci1", "--force", "--no-wait")
    check("compute", "compute show", "ci1", "--history")
    check("compute-list", "compute list")
    check("node-list", "compute list-nodes", "laptop")
    (site.work / "size.yml").write_text("name: lab-size\nvcpus: 2\nmemory: 4g\n")
    check("size-list", "size add", "-f", "size.yml")
    check("size", "size grant", "lab-size", "--machines", "2")
    check("size", "size show", "LAB-size")
    check("size-list", "size list")
    check("size-family-list", "size list", "--series")
    check("size-list", "compute list-sizes", "--gpu")
    site.ok("config", "set", "defaults.compute=laptop")
    check("settings", "config list")
    check("settings", "config get", "defaults.compute")
    check("user-list", "user list")
    check("user", "user show", site.json("user", "list")[0]["name"])
    check("whoami", "user whoami")
    check("key", "user key show")
    check("project-list", "project list")
    check("secret-list", "secret list")
    check("quota-list", "quota list")
    check("quota-list", "quota show", "--project", "vision")
    check("audit-list", "audit")
    check("audit-check", "audit verify")
    check("snapshot", "snapshot", "tree")
    check("findings", "doctor", codes=(0, 1))
    check_notice(site, check)
    site.ok("down", "--cancel")
    check("status", "status", codes=(1,))
    assert covered == verbs_with_json(site)
