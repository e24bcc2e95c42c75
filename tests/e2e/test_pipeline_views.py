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
    assert wrong.returncode == 1 and b"p_check is not a pipeline" in wrong.stderr

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


IN_TURN = """
type: pipeline
jobs:
  even: {command: 'while [ ! -e GO ]; do sleep 0.01; done; for i in 0 2 4 6; do echo line $i; sleep 0.4; done'}
  odd: {command: 'while [ ! -e GO ]; do sleep 0.01; done; sleep 0.2; for i in 1 3 5 7; do echo line $i; sleep 0.4; done'}
"""


def test_the_logs_of_steps_that_ran_at_a_time_come_in_the_order_of_time(up_site):
    site = up_site
    go = site.directory / "go"
    site.write("turns.yml", IN_TURN.replace("GO", str(go)))
    site.ok("job", "create", "-f", "turns.yml", "--name", "turns")
    wait_until(lambda: [step["status"] for step in site.show("turns")["jobs"].values()] == ["Running"] * 2, "both run")
    go.touch()
    site.wait_for_status("turns", "Completed")
    for words in (("logs", "turns"), ("stream", "turns"), ("logs", "turns", "-t")):
        lines = [line.rsplit(" ", 1)[1] for line in site.ok("job", *words).splitlines()]
        assert lines == list("01234567"), (words, lines)


STILL_RUNS = IN_TURN.replace("; done'", "; done; while [ ! -e END ]; do sleep 0.05; done; echo end'")


def test_what_is_past_of_a_running_pipeline_comes_in_the_order_of_time(up_site):
    site = up_site
    go, end = site.directory / "go", site.directory / "end"
    site.write("turns.yml", STILL_RUNS.replace("GO", str(go)).replace("END", str(end)))
    site.ok("job", "create", "-f", "turns.yml", "--name", "turns")
    wait_until(lambda: [step["status"] for step in site.show("turns")["jobs"].values()] == ["Running"] * 2, "both run")
    go.touch()
    wait_until(lambda: site.logs("turns").count(b"line") == 8, "both wait for the end")
    followers = [site.start("job", *words) for words in (("stream", "turns"), ("logs", "turns", "-f"))]
    for process in followers:
        lines = [process.stdout.readline().decode().split()[-1] for _ in range(8)]
        assert lines == list("01234567"), lines
    end.touch()
    for process in followers:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and sorted(out.splitlines()) == [b"even | end", b"odd  | end"], (out, err)


REUSED = """
type: pipeline
jobs:
  make: {command: 'echo making; echo 1 > outputs/left; echo 2 > ${{outputs.o}}/x', outputs: {o: {type: uri_folder}}}
"""


def test_a_reused_step_has_the_log_and_files_of_the_job_it_was_reused_from(up_site):
    site = up_site
    site.write("reused.yml", REUSED)
    for name in ("first", "second"):
        site.ok("job", "create", "-f", "reused.yml", "--name", name)
        site.wait_for_status(name, "Completed")
    assert site.show("second")["jobs"]["make"]["reused_from"] == "first_make"
    for words in (("job", "logs", "second"), ("job", "logs", "second", "--step", "make")):
        done = site.run(*words)
        assert done.returncode == 0 and done.stdout.decode().endswith("making\n"), done
        assert done.stderr.decode().count("was reused from job first_make") == 1, done
    done = site.run("job", "logs", "second", "-f")
    assert done.returncode == 0 and done.stdout.decode().endswith("making\n"), done
    done = site.run("job", "stream", "second")
    assert (done.returncode, done.stdout) == (0, b"make | making\n"), done
    assert done.stderr.decode().count("reused from job first_make") == 1, done
    done = site.run("job", "create", "-f", "reused.yml", "--name", "third", "--stream")
    assert (done.returncode, done.stdout) == (0, b""), "what a job of before wrote is not written again"
    assert done.stderr.decode().count("make: reused from job first_make\n") == 1, done
    for verb, said in (("show", "whose state this is"), ("explain", "whose explanation this is")):
        done = site.run("job", verb, "second/make")
        assert done.returncode == 0 and b"first_make" in done.stdout, done
        assert f"step 'make' was reused from job first_make, {said}\n" in done.stderr.decode(), done
    assert b"whose environment's log this is" in site.run("environment", "log", "second/make").stderr
    done = site.run("job", "files", "second", "--step", "make")
    assert b"outputs/left" in done.stdout and b"reused from job first_make, whose files these are" in done.stderr, done
    assert site.run("job", "cat", "second", "outputs/left", "--step", "make").stdout == b"1\n"
    done = site.run("job", "download", "second", "--step", "make")
    assert (site.work / "first_make/artifacts/outputs/left").read_text() == "1\n", done
    done = site.run("job", "download", "second", "--all")
    assert b"step 'make' was reused from job first_make" in done.stderr, done
    assert (site.work / "second/make/artifacts/outputs/left").read_text() == "1\n"
    assert b"first_make (reused by make)" in site.run("job", "files", "second").stderr


def test_what_is_not_run_is_said_behind_what_failed(up_site):
    site = up_site
    site.write("whole.yml", WHOLE)
    err = site.run("job", "create", "-f", "whole.yml", "--name", "w", "--stream").stderr.decode()
    assert err.index("check: Failed") < err.index("publish: not run"), err
