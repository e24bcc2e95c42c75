"""What people see of a pipeline: its tree, the logs of all steps, and what they left."""
import json
import signal

import pytest
from harness.schema import problems
from harness.site import wait_until

# Nested, with a step that fails, one that is not run for it, and outputs.
WHOLE = """
type: pipeline
outputs: {model: {type: uri_folder}}
jobs:
  prepare:
    command: echo preparing; echo data > ${{outputs.clean}}/d.txt
    outputs: {clean: {type: uri_folder}}
  nested:
    type: pipeline
    inputs: {data: '${{parent.jobs.prepare.outputs.clean}}'}
    outputs: {model: '${{parent.outputs.model}}'}
    jobs:
      train:
        command: echo training on $(cat ${{inputs.data}}/d.txt); cp ${{inputs.data}}/d.txt ${{outputs.model}}/m.txt
        inputs: {data: '${{parent.inputs.data}}'}
        outputs: {model: '${{parent.outputs.model}}'}
  check:
    command: echo checking; echo bad >&2; exit 3
    outputs: {good: {type: uri_folder}}
  publish:
    command: echo never
    inputs: {good: '${{parent.jobs.check.outputs.good}}'}
"""


@pytest.fixture
def up_site(site):
    site.write("whole.yml", WHOLE)
    return site.up(2)


def count_step(name, lines, pause):
    return (f"  {name}:\n    command: for i in $(seq {lines}); do echo {name} line $i; sleep {pause}; done\n")


def lines_of(out, step):
    return [line.split(" | ", 1)[1] for line in out.splitlines() if line.split(" | ", 1)[0].strip() == step]


def test_a_pipeline_is_streamed_shown_and_downloaded(up_site):
    site = up_site
    done = site.run("job", "create", "-f", "whole.yml", "--name", "p", "--stream")
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 3, err
    assert lines_of(out, "prepare") == ["preparing"] and lines_of(out, "check") == ["checking"]
    assert lines_of(out, "nested.train") == ["training on data"]
    assert lines_of(err, "check") == ["bad"]
    assert "lockstep: check: Failed (job p_check): rank 0" in err
    assert "lockstep: publish: not run: step 'check' failed, whose output 'good' is its input 'good'\n" in err
    assert "look at it with: lockstep job logs p_check --rank 0\n" in err, err
    assert "  not run: publish (" in err

    text = site.ok("job", "show", "p")
    rows = [line.split()[:2] for line in text.splitlines()]
    assert ["nested"] in rows and ["train", "Completed"] in rows and ["publish", "NotRun"] in rows, text
    assert "\n  train " in text, "below its pipeline"
    job = site.show("p")
    assert not problems("job", job) and job["type"] == "pipeline" and job["exit_code"] == 3
    assert list(job["jobs"]) == ["prepare", "nested.train", "check", "publish"]
    assert job["jobs"]["nested.train"]["job"] == "p_nested_train"
    step = site.show("p_nested_train")
    assert not problems("job", step)
    assert step["lockstep"]["parent"] == "p" and step["lockstep"]["step"] == "nested.train"

    assert "4/4 steps" in site.ok("job", "list")
    assert [one["name"] for one in site.json("job", "list")] == ["p"]
    listed = [one["name"] for one in site.json("job", "list", "--parent", "p")]
    assert sorted(listed) == ["p_check", "p_nested_train", "p_prepare"] and listed[-1] == "p_nested_train"
    wrong = site.run("job", "list", "--parent-job-name", "p_check")
    assert wrong.returncode == 1 and b"p_check is no pipeline" in wrong.stderr

    assert lines_of(site.ok("job", "logs", "p"), "nested.train") == ["training on data"]
    assert site.ok("job", "logs", "p", "--step", "nested.train") == "training on data\n"
    unknown = site.run("job", "logs", "p", "--step", "score")
    assert b"p has no step 'score'; its steps: prepare, nested.train, check, publish" in unknown.stderr
    never = site.run("job", "logs", "p", "--step", "publish")
    assert b"step 'publish' of p has no job: step 'check' failed" in never.stderr

    brought = site.json("job", "download", "p", "-p", "got")
    assert not problems("download", brought)
    assert (site.work / "got/p/named-outputs/model/m.txt").read_text() == "data\n"
    assert not (site.work / "got/p/prepare").exists()
    brought = site.json("job", "download", "p", "--all", "-p", "all")
    assert not problems("download", brought)
    assert (site.work / "all/p/prepare/named-outputs/clean/d.txt").read_text() == "data\n"
    assert (site.work / "all/p/check/artifacts/user_logs/std_err_process_0.txt").read_text() == "bad\n"
    files = site.run("job", "files", "p")
    assert files.returncode == 1 and b"its steps' jobs: p_prepare, p_nested_train, p_check" in files.stderr

    again = site.run("job", "create", "-f", "whole.yml", "--name", "q", "--stream", "-o", "json")
    assert b"lockstep: prepare: reused from job p_prepare\n" in again.stderr
    assert json.loads(again.stdout)["jobs"]["nested.train"]["reused_from"] == "p_nested_train"


def test_ctrl_c_cancels_what_we_created_and_leaves_what_we_stream(up_site):
    site = up_site
    site.write("long.yml", "type: pipeline\njobs:\n" + count_step("a", 10000, 0.1) + count_step("b", 10000, 0.1))
    created = site.start("job", "create", "-f", "long.yml", "--name", "long", "--stream")
    while not created.stdout.readline().startswith(b"b "):
        pass
    streamed = site.start("job", "stream", "long")
    while not streamed.stdout.readline().startswith(b"a "):
        pass
    streamed.send_signal(signal.SIGINT)
    err = streamed.communicate(timeout=30)[1]
    assert streamed.returncode == 130 and b"stopped following long; the job continues" in err, err
    assert site.show("long")["status"] == "Running"
    created.send_signal(signal.SIGINT)
    err = created.communicate(timeout=60)[1]
    assert created.returncode == 130 and b"canceling long and its steps" in err, err
    job = site.show("long")
    assert job["status"] == "Canceled" and site.show("long_a")["status"] == "Canceled"


def test_a_stream_survives_the_launcher(up_site):
    site = up_site
    site.write("two.yml", "type: pipeline\njobs:\n" + count_step("a", 100, 0.05) + count_step("b", 100, 0.05))
    process = site.start("job", "create", "-f", "two.yml", "--name", "two", "--stream")
    seen = [process.stdout.readline()]
    while not seen[-1].startswith(b"b | b line 9"):
        seen.append(process.stdout.readline())
    site.kill(site.launcher_pids())
    wait_until(lambda: not site.launcher_pids(), "the launcher is dead")
    site.ok("up")
    out = (b"".join(seen) + process.stdout.read()).decode()
    err = process.stderr.read()
    assert process.wait(timeout=30) == 0, err
    for step in "ab":
        assert lines_of(out, step) == [f"{step} line {i}" for i in range(1, 101)], err
    assert b"lockstep: two: Completed after" in err
