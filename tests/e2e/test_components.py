"""Registered components: whoever may see the name runs what was registered, from any machine and folder."""
import json
import os
import pwd
import subprocess

import pytest
from test_roles import Person

TRAIN = """\
type: command
name: train
inputs:
  word: {type: string, default: hello}
  times: {type: integer, default: 1, max: 3}
outputs: {out: {type: uri_folder}}
code: ../src
command: sh say.sh ${{inputs.word}} ${{inputs.times}} | tee ${{outputs.out}}/said
"""
STEP = """\
type: pipeline
jobs:
  say:
    component: azureml:train%s
    inputs: {word: %s}
"""


@pytest.fixture
def parts(any_site):
    site = any_site.up(1)
    write_parts(site)
    return site


def write_parts(site, before=""):
    site.write("parts/train.yml", TRAIN)
    site.write("src/say.sh", f'for n in $(seq $2); do echo "{before}$1"; done\n')
    site.write("src/.gitignore", "*.big\n")
    site.write("src/model.big", "not needed\n")
    if site.user:
        subprocess.run(["chown", "-R", f"{site.user}:", site.work], check=True)


def run_step(site, name, version, word="hi"):
    site.write("elsewhere/p.yml", STEP % (version, word))
    site.ok("job", "create", "-f", "elsewhere/p.yml", "--name", name)
    job = site.wait_for_status(name, "Completed", "Failed")
    assert job["status"] == "Completed", job
    return job


def test_a_step_runs_what_was_registered(parts):
    assert parts.ok("component", "create", "-f", "parts/train.yml") == "train:1\n"
    assert parts.ok("component", "create", "-f", "parts/train.yml") == "train:1\n", "the same files again"
    write_parts(parts, before="now ")
    assert parts.ok("component", "create", "-f", "parts/train.yml", "--version", "new", "--tags", "a=b") == "train:new\n"
    subprocess.run(["rm", "-r", parts.work / "parts", parts.work / "src"], check=True)
    run_step(parts, "one", ":1")
    assert parts.logs("one_say") == b"hi\n"
    run_step(parts, "two", "@latest")
    assert parts.logs("two_say") == b"now hi\n"
    parts.write("job.yml", "component: azureml:train:1\ninputs: {word: alone, times: 2}\n")
    parts.ok("job", "create", "-f", "job.yml", "--name", "alone")
    parts.wait_for_status("alone", "Completed")
    assert parts.logs("alone") == b"alone\nalone\n"
    shown = parts.json("component", "show", "train:1")
    assert (shown["type"], shown["lockstep"]["file"]) == ("command", "parts/train.yml"), shown
    assert shown["lockstep"]["definition"] == TRAIN and shown["lockstep"]["used_by"] is None
    assert "component: azureml:train:1" in parts.ok("component", "show", "train", "--version", "1")
    assert [c["version"] for c in parts.json("component", "list", "-n", "train")] == ["new", "1"]


def test_an_unchanged_step_of_it_is_reused_and_a_changed_copy_is_not_used(parts):
    parts.ok("component", "create", "-f", "parts/train.yml")
    run_step(parts, "one", ":1")
    job = run_step(parts, "two", ":1")
    assert job["jobs"]["say"]["reused_from"] == "one_say", job["jobs"]
    copies = list((parts.home / "components").iterdir())
    assert len(copies) == 1 and not (copies[0] / "src/model.big").exists(), "ignored files are not registered"
    (copies[0] / "src/say.sh").write_text("echo changed\n")
    run_step(parts, "three", ":1", word="other")
    assert parts.logs("three_say") == b"other\n", "what was registered, not what somebody made of the copy"
    assert [c.name for c in (parts.home / "components").iterdir()] == [copies[0].name], "nothing stays beside it"


def test_a_registered_pipeline_brings_its_components_along(parts):
    parts.write("both.yml", """\
type: pipeline
name: both
inputs: {word: {type: string}}
outputs: {out: {type: uri_folder}}
jobs:
  first:
    component: ./parts/train.yml
    inputs: {word: '${{parent.inputs.word}}'}
  second:
    command: cat ${{inputs.d}}/said > ${{outputs.copy}}/copy; cat ${{outputs.copy}}/copy
    inputs: {d: '${{parent.jobs.first.outputs.out}}'}
    outputs: {copy: '${{parent.outputs.out}}'}
""")
    assert parts.ok("component", "create", "-f", "both.yml", "-o", "json", "--query", "type") == '"pipeline"\n'
    parts.write("elsewhere/p.yml", "type: pipeline\njobs:\n  b: {component: 'azureml:both@latest', inputs: {word: deep}}\n")
    parts.ok("job", "create", "-f", "elsewhere/p.yml", "--name", "p")
    whole = parts.wait_for_status("p", "Completed", "Failed")
    assert whole["status"] == "Completed" and list(whole["jobs"]) == ["b.first", "b.second"], whole
    assert parts.logs(whole["jobs"]["b.second"]["job"]) == b"deep\n"


def test_files_beside_the_code_come_into_it(parts):
    parts.write("lib/tool.sh", "echo from lib\n")
    parts.write("shared/one.sh", "echo alone\n")
    parts.write("parts/more.yml", "type: command\nname: more\ncode: ../src\nadditional_includes: [../lib, ../shared/one.sh]\n"
                "command: sh say.sh code 1; sh lib/tool.sh; sh one.sh\n")
    said = b"code\nfrom lib\nalone\n"
    parts.write("p.yml", "type: pipeline\njobs: {a: {component: ./parts/more.yml}, b: {component: ./parts/more.yml}}\n")
    parts.ok("job", "create", "-f", "p.yml", "--name", "p")
    parts.wait_for_status("p", "Completed")
    assert parts.logs("p_a") == parts.logs("p_b") == said
    parts.ok("component", "create", "-f", "parts/more.yml")
    subprocess.run(["rm", "-r", parts.work / "lib", parts.work / "shared", parts.work / "src"], check=True)
    parts.write("job.yml", "component: azureml:more:1\n")
    parts.ok("job", "create", "-f", "job.yml", "--name", "alone")
    parts.wait_for_status("alone", "Completed")
    assert parts.logs("alone") == said
    write_parts(parts)
    parts.write("lib/tool.sh", "echo from lib\n")
    parts.write("shared/one.sh", "echo alone\n")
    parts.write("src/lib", "a file\n")
    done = parts.run("job", "create", "-f", "p.yml")
    assert done.returncode == 1 and b"comes into the code as 'lib'" in done.stderr, done


def test_what_is_wrong_is_said_and_nothing_registered(parts):
    refused = [
        ("command: ls\n", "train.yml:1:1: needs a name"),
        ("name: c\ncommand: ls ${{inputs.x}}\n", "train.yml:2:13"),
        ("name: c\ncommand: ls\ncode: /etc\n", "is an absolute path"),
        ("name: c\ncomand: ls\n", "did you mean 'command'"),
        ("name: 'c d'\ncommand: ls\n", "name"),
        ("a: b: c\n", "train.yml:1:"),
    ]
    for text, message in refused:
        parts.write("parts/train.yml", text)
        done = parts.run("component", "create", "-f", "parts/train.yml")
        assert done.returncode == 2 and message in done.stderr.decode(), (text, done)
    missing = parts.run("component", "create", "-f", "none.yml")
    assert missing.returncode == 2 and b"none.yml" in missing.stderr
    assert parts.json("component", "list") == []
    assert "lockstep component create -f FILE" in parts.ok("component", "list")
    write_parts(parts)
    parts.ok("component", "create", "-f", "parts/train.yml")
    for reference, message in [(":2", "has no version '2'; it has 1"), ("s:1", "did you mean 'train'?"), ("@best", "only @latest")]:
        parts.write("p.yml", STEP % (reference, "x"))
        for words in (("job", "create"), ("job", "validate")):
            done = parts.run(*words, "-f", "p.yml")
            assert done.returncode == 2 and message in done.stderr.decode() and b"p.yml:4:16" in done.stderr, done
    parts.write("p.yml", STEP % (":1", "x, times: 9"))
    bad = parts.run("job", "validate", "-f", "p.yml")
    assert bad.returncode == 2 and b"max 3" in bad.stderr, bad
    parts.write("p.yml", STEP % (":1", "x"))
    assert "valid" in parts.ok("job", "validate", "-f", "p.yml")
    local = parts.run("job", "validate", "--local", "-f", "p.yml")
    assert local.returncode == 2 and b"registered with a launcher" in local.stderr
    parts.ok("component", "archive", "train")
    done = parts.run("job", "create", "-f", "p.yml", "--dry-run")
    assert done.returncode == 0, "a version that is named is found"
    parts.write("p.yml", STEP % ("@latest", "x"))
    done = parts.run("job", "create", "-f", "p.yml")
    assert done.returncode == 2 and b"all versions of component 'train' are archived" in done.stderr
    parts.ok("component", "restore", "train:1")
    assert len(parts.json("component", "list")) == 1


def test_a_name_is_of_its_project(site):
    site.up(1)
    write_parts(site)
    ann, bob = Person(site, "ann"), Person(site, "bob")
    site.ok("project", "create", "vision")
    for person, project in ((ann, "vision"), (bob, "default")):
        site.ok("user", "add", person.name, "--key", person.key, "--role", "submitter", "--project", project,
                "--account", pwd.getpwuid(os.getuid()).pw_name)
    assert ann.ok("component", "create", "-f", "parts/train.yml", "--project", "vision") == "train:1\n"
    taken = bob.run("component", "create", "-f", "parts/train.yml")
    assert taken.returncode == 1 and b"taken" in taken.stderr, taken
    assert json.loads(bob.ok("component", "list", "-o", "json")) == []
    site.write("p.yml", STEP % (":1", "x"))
    hidden = bob.run("job", "create", "-f", "p.yml")
    assert hidden.returncode == 2 and b"train" in hidden.stderr, hidden
    ann.ok("job", "create", "-f", "p.yml", "--name", "hers")
    site.wait_for_status("hers", "Completed")
