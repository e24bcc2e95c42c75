"""Registered data and models: what was registered is what a job reads, whoever registers what later."""
import json
import os
import pwd
import subprocess

import pytest
from harness.site import wait_until
from test_roles import Person

READ = "command: cat ${{{{inputs.d}}}}{file}\ninputs: {{d: {{path: '{path}'{more}}}}}\n"


@pytest.fixture
def data(any_site):
    site = any_site.up(1)
    site.write("set/a.txt", "first\n")
    site.write("set/sub/b.txt", "second\n")
    site.write("labels.csv", "a,b\n")
    if site.user:
        subprocess.run(["chown", "-R", f"{site.user}:", site.work], check=True)
    return site


@pytest.fixture
def up_site(site):
    return site.up(1)


def submit(site, name, path, file="/a.txt", more=""):
    site.write("job.yml", READ.format(path=path, file=file, more=more))
    return site.run("job", "create", "-f", "job.yml", "--name", name)


def read(site, name, path, **how):
    done = submit(site, name, path, **how)
    assert done.returncode == 0, done.stderr.decode()
    return site.wait_for_status(name, "Completed")


def test_a_folder_is_registered_and_read_by_its_name(data):
    assert data.ok("data", "create", "-n", "faces", "--path", "set", "--description", "of people") == "faces:1\n"
    assert data.ok("data", "create", "-n", "faces", "--path", "./set/") == "faces:1\n", "the same content again"
    data.write("set/a.txt", "changed\n")
    assert data.ok("data", "create", "-n", "faces", "--path", "set") == "faces:2\n"
    job = read(data, "one", "azureml:faces:1")
    assert data.logs("one") == b"first\n"
    assert job["inputs"]["d"]["path"] == "azureml:faces:1" and job["inputs"]["d"]["type"] == "uri_folder"
    for name, path in (("two", "azureml:faces@latest"), ("three", "azureml:faces")):
        job = read(data, name, path, more=", mode: download")
        assert data.logs(name) == b"changed\n"
        assert job["inputs"]["d"]["path"] == "azureml:faces:2", "what @latest was"
    first, second = (data.json("data", "show", f"faces:{n}") for n in (1, 2))
    assert first["lockstep"]["used_by"] == ["one"] and second["lockstep"]["used_by"] == ["three", "two"]
    assert first["description"] == "of people" and first["path"] == "set" and first["type"] == "uri_folder"
    assert [a["version"] for a in data.json("data", "list", "-n", "faces")] == ["2", "1"]
    assert [a["version"] for a in data.json("data", "list")] == ["2"]
    data.write("labels.yml", "name: labels\ntype: uri_file\npath: labels.csv\ntags: {from: web}\n")
    assert data.ok("data", "create", "-f", "labels.yml", "--set", "version=v7") == "labels:v7\n"
    job = read(data, "file", "azureml:labels", file="")
    assert data.logs("file") == b"a,b\n" and job["inputs"]["d"]["type"] == "uri_file", "the type of the asset"
    assert "path: azureml:labels:v7" in data.ok("data", "show", "labels")


def test_a_model_comes_from_a_job_and_is_downloaded(data):
    data.write("job.yml", "command: echo best > ${{outputs.model}}/weights\noutputs: {model: }\n")
    data.ok("job", "create", "-f", "job.yml", "--name", "train")
    data.wait_for_status("train", "Completed")
    assert data.ok("model", "create", "-n", "net", "--path", "azureml://jobs/train/outputs/model") == "net:1\n"
    assert data.ok("model", "create", "-n", "w", "--path", "azureml://jobs/train/outputs/model/paths/weights",
                   "--version", "3") == "w:3\n"
    read(data, "one", "azureml:net@latest", file="/weights", more=", type: custom_model")
    read(data, "two", "azureml:w:3", file="")
    assert data.logs("one") == data.logs("two") == b"best\n"
    shown = data.ok("model", "show", "net:1")
    assert "job train" in shown and "one" in shown, shown
    data.ok("job", "delete", "train", "one", "two")
    said = data.run("model", "download", "net", "--download-path", "got")
    assert said.returncode == 0 and "net:1: got/net: 1 file, 5 B" in said.stderr.decode(), said
    assert (data.work / "got/net/weights").read_text() == "best\n"
    data.ok("model", "download", "net", "--download-path", "got")  # again
    assert data.ok("run", "-q", "--", "find", ".", "-name", "weights") == "", "it is not sent along"
    data.ok("model", "create", "-n", "net", "--path", "set")
    mixed = data.run("model", "download", "net", "--download-path", "got")
    assert mixed.returncode == 1 and b"got/net holds what was downloaded of net:1; name another folder" in mixed.stderr, mixed
    assert [p.name for p in (data.work / "got/net").iterdir()] == ["weights"]
    read(data, "three", "azureml:net:1", file="/weights")
    assert data.logs("three") == b"best\n", "the files are the model's, too"


MAKES = """\
command: echo {word} > ${{{{outputs.model}}}}/weights; echo {word} > ${{{{outputs.log}}}}
outputs:
  model: {{type: custom_model, name: net{version}}}
  log: {{type: uri_file, name: notes, version: v1}}
"""


def test_an_output_with_a_name_is_registered(data):
    for job, word, version in (("one", "first", ""), ("two", "second", ", version: 7")):
        data.write("job.yml", MAKES.format(word=word, version=version))
        data.ok("job", "create", "-f", "job.yml", "--name", job)
        data.wait_for_status(job, "Completed")
    assert [a["version"] for a in data.json("model", "list", "-n", "net")] == ["7", "1"]
    shown = data.json("model", "show", "net:7")
    assert shown["type"] == "custom_model" and shown["lockstep"]["made_by"] == "two", shown
    read(data, "reads", "azureml:net:1", file="/weights", more=", type: custom_model")
    assert data.logs("reads") == b"first\n"
    warnings = data.json("job", "show", "two")["warnings"]
    assert [w for w in warnings if "not registered as notes: data asset notes:v1 already exists with other files" in w], warnings
    assert "not registered as notes" in data.ok("job", "show", "two")
    assert "(custom_model), registered as net:7" in data.ok("job", "show", "two")
    assert data.json("job", "show", "one")["outputs"]["model"]["registered_as"] == "net:1"
    data.write("job.yml", "command: exit 1\noutputs: {o: {name: never}}\n")
    data.ok("job", "create", "-f", "job.yml", "--name", "bad")
    data.wait_for_status("bad", "Failed")
    missing = data.run("data", "list", "-n", "never")
    assert missing.returncode == 1 and "there is no data asset 'never'" in missing.stderr.decode(), missing


def test_an_output_of_a_pipeline_is_registered_too(data):
    data.write("job.yml", "type: pipeline\noutputs: {best: {type: uri_folder, name: best}}\n"
               "jobs:\n  a: {command: 'echo x > ${{outputs.o}}/x', outputs: {o: '${{parent.outputs.best}}'}}\n")
    data.ok("job", "create", "-f", "job.yml", "--name", "p")
    data.wait_for_status("p", "Completed")
    assert data.json("data", "show", "best")["lockstep"]["made_by"] == "p_a"


def test_what_is_noted_about_a_version_changes_later(data):
    data.ok("model", "create", "-n", "net", "--path", "set", "--tags", "stage=test")
    done = data.run("model", "update", "net:1", "--set", "tags.stage=production", "--set", "description=the best")
    assert done.returncode == 0 and b"model net:1 is updated" in done.stderr, done
    data.ok("model", "update", "net", "-l", "latest", "--set", "tags.owner=ada", "--remove", "tags.stage")
    data.kill(data.launcher_pids())
    shown = data.json("model", "show", "net")
    assert (shown["tags"], shown["description"]) == ({"owner": "ada"}, "the best")
    done = data.run("model", "update", "net:1", "--set", "path=./other")
    assert done.returncode == 2 and b"'path' cannot be changed" in done.stderr, done


def test_what_is_archived_is_found_by_its_version_alone(data):
    data.ok("data", "create", "-n", "faces", "--path", "set")
    data.write("set/a.txt", "changed\n")
    data.ok("data", "create", "-n", "faces", "--path", "set")
    data.ok("data", "archive", "-n", "faces", "-l", "latest")
    assert [a["version"] for a in data.json("data", "list")] == ["1"]
    read(data, "one", "azureml:faces")
    assert data.logs("one") == b"first\n"
    read(data, "two", "azureml:faces:2")
    data.ok("data", "archive", "faces")
    assert data.json("data", "list") == []
    assert len(data.json("data", "list", "--include-archived", "-n", "faces")) == 2
    done = submit(data, "three", "azureml:faces")
    assert done.returncode == 1 and b"all versions of data asset 'faces' are archived" in done.stderr, done
    data.ok("data", "restore", "faces", "-v", "2")
    assert [a["version"] for a in data.json("data", "list", "-n", "faces")] == ["2"]


WRONG = (
    ("azureml:face:1", "", "there is no data asset 'face'; did you mean 'faces'?"),
    ("azureml:faces:7", "", "data asset 'faces' has no version '7'; it has 1"),
    ("azureml:faces:1", ", type: uri_file", "data asset faces:1 is a uri_folder, and the input's type is uri_file"),
    ("azureml:faces", ", type: custom_model", "data asset faces:1 is a uri_folder, and the input's type is custom_model"),
    ("azureml:both", "", "there is a data asset and a model 'both'; write the type"),
    ("azureml:faces@prod", "", "label prod is not supported yet"),
)
NOT_MADE = (
    (("-n", "faces", "--path", "labels.csv"), "labels.csv is a file; write type: uri_file"),
    (("-n", "faces", "--path", "none"), "/none does not exist"),
    (("-n", "faces", "--path", "set", "--type", "mltable"), "/set has no file MLTable, so it is no mltable"),
    (("-n", "faces", "--path", "s3://bucket/x"), "s3://bucket/x is not supported yet"),
    (("-n", "faces", "--path", "azureml://jobs/none/outputs/x"), "there is no job 'none'"),
    (("-n", "faces", "--path", "other", "--version", "1"), "faces:1 already exists with other files"),
    (("-n", "faces"), "needs files: write 'path', or give --path"),
    (("--path", "set"), "needs a name"),
    (("-n", "faces", "--path", "pipes"), "/pipes/pipe cannot be uploaded"),
)


def test_what_is_wrong_is_said(up_site):
    up_site.write("set/a.txt", "first\n")
    up_site.write("other/a.txt", "other\n")
    up_site.write("labels.csv", "a,b\n")
    (up_site.work / "pipes").mkdir()
    os.mkfifo(up_site.work / "pipes/pipe")
    up_site.ok("data", "create", "-n", "faces", "--path", "set")
    up_site.ok("data", "create", "-n", "both", "--path", "set")
    up_site.ok("model", "create", "-n", "both", "--path", "set")
    for path, more, says in WRONG:
        done = submit(up_site, "no", path, more=more)
        assert done.returncode in (1, 2) and says in done.stderr.decode(), (path, done)
        checked = up_site.run("job", "validate", "-f", "job.yml")
        assert checked.returncode == 2 and says in checked.stderr.decode() + checked.stdout.decode(), (path, checked)
    for words, says in NOT_MADE:
        done = up_site.run("data", "create", *words)
        assert done.returncode in (1, 2) and says in done.stderr.decode(), (words, done)
    assert up_site.json("job", "list") == []
    assert len(up_site.json("data", "list")) == 2
    assert "did you mean" in up_site.run("data", "show", "face").stderr.decode()
    assert "--version" in up_site.run("data", "delete", "faces").stderr.decode()


def test_a_name_is_its_projects(site):
    site.up(1)
    site.ok("project", "create", "vision")
    people = {}
    for name, role, project in (("alice", "submitter", "default"), ("bob", "submitter", "default"),
                                ("vic", "viewer", "default"), ("eve", "submitter", "vision")):
        people[name] = Person(site, name)
        site.ok("user", "add", name, "--key", people[name].key, "--role", role, "--project", project,
                "--account", pwd.getpwuid(os.getuid()).pw_name)
    alice, bob, vic, eve = people.values()
    site.write("set/a.txt", "first\n")
    site.write("job.yml", READ.format(path="azureml:faces", file="/a.txt", more=""))
    alice.ok("data", "create", "-n", "faces", "--path", "set")
    alice.ok("model", "create", "-n", "net", "--path", "set")
    alice.ok("job", "create", "-f", "job.yml", "--name", "of-alice", "--stream")
    bob.ok("job", "create", "-f", "job.yml", "--name", "of-bob", "--stream")
    assert bob.ok("job", "logs", "of-bob", "--stdout") == "first\n", "alice's files, by their name"
    shown = json.loads(bob.ok("data", "show", "faces", "-o", "json"))["lockstep"]
    assert shown["used_by"] == ["of-bob"], "alice's job is not his to read"
    vic.ok("model", "download", "net", "--download-path", "of-vic")
    assert (site.work / "of-vic/net/a.txt").read_text() == "first\n"
    assert "may not upload files" in vic.refused("data", "create", "-n", "x", "--path", "set")
    assert "may not archive" in vic.refused("data", "archive", "faces")
    assert "belongs to user 'alice'" in bob.refused("data", "delete", "faces", "--version", "1")
    assert "is needed by" not in alice.ok("data", "delete", "faces", "--version", "1"), "the jobs have ended"
    alice.ok("data", "create", "-n", "faces", "--path", "set")
    assert json.loads(eve.ok("data", "list", "-o", "json")) == []
    for words in (("data", "show", "faces"), ("job", "create", "-f", "job.yml"), ("model", "download", "net")):
        assert "may not see environments, data and models" in eve.refused(*words)
    assert "the name 'faces' is taken" in eve.refused("data", "create", "-n", "faces", "--path", "set")
    objects = {entry["object"] for entry in site.json("audit") if entry["outcome"] == "done"}
    assert {"data asset faces:1", "model net:1"} <= objects, objects


def test_files_count_in_full_for_who_registered_them(site):
    site.up(1)
    people = {}
    for name in ("alice", "bob"):
        people[name] = Person(site, name)
        site.ok("user", "add", name, "--key", people[name].key, "--account", pwd.getpwuid(os.getuid()).pw_name)
    alice, bob = people.values()
    site.ok("quota", "set", "--user", "alice", "--version-files", "1m")
    for number in (1, 2):
        site.write(f"set{number}/a.bin", str(number) * (600 << 10))

    def used():
        own = json.loads(alice.ok("quota", "show", "-o", "json"))
        return next(q["limits"] for q in own if q["kind"] == "user")["version_files"]

    assert used() == {"limit": 1 << 20, "used": 0, "default": False}
    assert alice.ok("data", "create", "-n", "set", "--path", "set1") == "set:1\n"
    size = json.loads(alice.ok("data", "show", "set", "-o", "json"))["lockstep"]["files_bytes"]
    assert 600 << 10 < size < 601 << 10 and used()["used"] == size
    for words in (("data", "create", "-n", "set", "--path", "set2"), ("model", "create", "-n", "net", "--path", "set1")):
        why = alice.refused(*words)
        assert "quota: user 'alice' has 600." in why and "in files of registered versions" in why, why
        assert "1.0 MiB are allowed" in why and "lockstep data delete NAME --version V" in why, why
        assert "lockstep quota set --user alice --version-files SIZE" in why, why
    assert bob.ok("data", "create", "-n", "his", "--path", "set1") == "his:1\n", "the limit is alice's alone"
    site.write("out.yml", "command: head -c 600000 /dev/zero > ${{outputs.made}}/zeros\n"
                          "outputs: {made: {type: uri_folder, name: made}}\n")
    alice.ok("job", "create", "-f", "out.yml", "--name", "out")
    site.wait_for_status("out", "Completed")
    warnings = json.loads(alice.ok("job", "show", "out", "-o", "json"))["warnings"]
    assert any("not registered as made: quota: user 'alice' has" in w for w in warnings), warnings
    assert "version-files" in alice.ok("user", "whoami")
    alice.ok("data", "delete", "set", "--version", "1")
    assert used()["used"] == 0
    assert alice.ok("data", "create", "-n", "set", "--path", "set2") == "set:2\n"
    before = used()["used"]
    site.kill(site.launcher_pids())
    site.ok("up", "--nodes", "1")
    assert used()["used"] == before > 600 << 10, "as the journal has it"


def test_a_killed_launcher_knows_what_was_registered(data):
    data.ok("data", "create", "-n", "faces", "--path", "set")
    data.ok("data", "create", "-n", "gone", "--path", "set")
    data.ok("data", "archive", "gone")
    data.kill(data.launcher_pids())
    data.ok("up", "--nodes", "1")
    wait_until(lambda: data.json("status")["nodes"] == {"ALIVE": 1}, "the node is back")
    assert [a["name"] for a in data.json("data", "list")] == ["faces"]
    assert data.ok("data", "create", "-n", "faces", "--path", "set") == "faces:1\n"
    read(data, "one", "azureml:faces@latest")
    assert data.logs("one") == b"first\n"
