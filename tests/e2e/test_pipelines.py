"""Pipelines from their files to their ends: data from step to step, reuse, failures and arrays."""
import pytest
from harness.site import wait_until

CHAIN = """\
type: pipeline
inputs:
  word: hello
outputs:
  text: {type: uri_folder}
jobs:
  make:
    command: >-
      echo ${{inputs.word}} > ${{outputs.made}}/a.txt; echo 3 > outputs/metric
    inputs: {word: '${{parent.inputs.word}}'}
    outputs: {made: {type: uri_folder}, artifacts: }
  shout:
    command: tr a-z A-Z < ${{inputs.in}}/a.txt > ${{outputs.text}}/b.txt; cat ${{inputs.metric}}/outputs/metric >> ${{outputs.text}}/b.txt
    inputs:
      in: '${{parent.jobs.make.outputs.made}}'
      metric: '${{parent.jobs.make.outputs.artifacts}}'
    outputs: {text: '${{parent.outputs.text}}'}
  count:
    command: wc -c < ${{inputs.in}}/a.txt
    inputs: {in: '${{parent.jobs.make.outputs.made}}'}
"""


@pytest.fixture
def two(any_site):
    return any_site.up(2)


@pytest.fixture
def one(site):
    return site.up(1)


def create(site, text, name, *words):
    site.write("pipeline.yml", text)
    site.ok("job", "create", "-f", "pipeline.yml", "--name", name, *words)
    return name


def steps(site, name):
    return site.json("job", "show", name)["jobs"]


def ended(site, name, timeout=60):
    return site.wait_for_status(name, "Completed", "Failed", "Canceled", deadline_s=timeout)


def test_data_goes_from_step_to_step_and_out(two):
    create(two, CHAIN, "chain")
    whole = ended(two, "chain")
    assert whole["status"] == "Completed", whole
    assert {n: s["status"] for n, s in whole["jobs"].items()} == dict.fromkeys(("make", "shout", "count"), "Completed")
    assert two.logs("chain_count") == b"6\n"
    reader = "command: cat ${{inputs.t}}/b.txt\ninputs: {t: {path: 'azureml://jobs/chain/outputs/text'}}\n"
    two.write("reader.yml", reader)
    two.ok("job", "create", "-f", "reader.yml", "--name", "reader")
    two.wait_for_status("reader", "Completed")
    assert two.logs("reader") == b"HELLO\n3\n"
    made = two.json("job", "show", "chain_shout")["inputs"]["in"]["path"]
    assert made == "azureml://jobs/chain_make/outputs/made"
    assert [j["name"] for j in two.json("job", "list")] == ["reader", "chain"], "steps are listed with their pipeline"
    refused = two.run("job", "delete", "chain_make")
    assert refused.returncode != 0 and b"is step 'make' of pipeline 'chain'" in refused.stderr, refused.stderr
    deleted = two.run("job", "delete", "chain")
    assert deleted.returncode == 0 and b"1 job deleted, with the jobs of 3 steps" in deleted.stderr, deleted.stderr
    assert [j["name"] for j in two.json("job", "list")] == ["reader"]
    assert two.run("job", "show", "chain_make").returncode != 0


SAVES = """\
type: pipeline
jobs:
  make: {command: 'date +%%N > ${{outputs.o}}/x', outputs: {o: }}
  train:
    command: >-
      cat $LOCKSTEP_CHECKPOINT_DIR/* 2>/dev/null; echo epoch >> $LOCKSTEP_CHECKPOINT_DIR/log; test -e %s && echo done > ${{outputs.o}}/x
    inputs: {d: '${{parent.jobs.make.outputs.o}}'}
    outputs: {o: }
  last: {command: echo last, inputs: {d: '${{parent.jobs.train.outputs.o}}'}}
"""


def test_a_pipeline_that_failed_is_resumed_at_its_checkpoints(one):
    flag = one.directory / "flag"
    create(one, SAVES % flag, "first")
    assert ended(one, "first")["status"] == "Failed"
    again = one.ok("job", "resume", "first", "--name", "again").strip()
    assert again == "again" and ended(one, "again")["status"] == "Failed"
    assert one.logs("again_train") == b"epoch\n", "from the checkpoint of the first"
    flag.write_text("")
    assert one.run("job", "resume", "again", "--name", "third", "--stream").returncode == 0
    found = steps(one, "third")
    assert found["make"]["phase"] == "Reused" and found["last"]["phase"] == "Completed", found
    assert one.logs("third_train") == b"epoch\nepoch\n"


def test_what_did_not_complete_of_an_array_is_resumed(one):
    flag = one.directory / "flag"
    script = f"echo task $LOCKSTEP_ARRAY_INDEX of $LOCKSTEP_ARRAY_COUNT; test $LOCKSTEP_ARRAY_INDEX != 2 || test -e {flag}"
    one.ok("run", "--detach", "--name", "sweep", "--array", "0-3%2", "--", "bash", "-c", script)
    assert ended(one, "sweep")["status"] == "Failed"
    flag.write_text("")
    one.ok("job", "resume", "sweep", "--name", "rest")
    rest = ended(one, "rest")
    assert rest["status"] == "Completed" and rest["lockstep"]["array"] == "2%2", rest["lockstep"]
    assert list(rest["jobs"]) == ["2"] and one.logs("rest_2") == b"task 2 of 4\n"
    nothing = one.run("job", "resume", "rest")
    assert nothing.returncode == 1 and b"all tasks of array 'rest' have completed" in nothing.stderr


def test_what_has_not_changed_is_reused(one):
    deterministic = CHAIN.replace(", artifacts: }", "}").replace("      metric: '${{parent.jobs.make.outputs.artifacts}}'\n", "").replace(
        "; cat ${{inputs.metric}}/outputs/metric >> ${{outputs.text}}/b.txt", "")
    for name in ("first", "second"):
        create(one, deterministic, name)
        assert ended(one, name)["status"] == "Completed"
    second = steps(one, "second")
    assert second["make"]["phase"] == second["shout"]["phase"] == "Reused"
    assert second["make"]["reused_from"] == "first_make"
    assert second["count"]["phase"] == "Completed", "it has no outputs: it was written for its effect"
    one.ok("job", "delete", "first")
    create(one, deterministic, "third", "--set", "inputs.word=other")
    assert ended(one, "third")["status"] == "Completed"
    assert steps(one, "third")["make"]["phase"] == "Completed"
    assert one.logs("third_count") == b"6\n"
    create(one, deterministic.replace("inputs:\n  word", "settings: {force_rerun: true}\ninputs:\n  word", 1), "fourth",
           "--set", "inputs.word=other")
    assert ended(one, "fourth")["status"] == "Completed"
    assert steps(one, "fourth")["make"]["phase"] == "Completed"


FILES = """\
type: pipeline
jobs:
  make:
    command: cat ${{inputs.data}}/deep/b > ${{outputs.o}}/b
    code: src
    inputs: {data: {path: data}}
    outputs: {o: }
"""


def test_compare_names_what_differs_between_steps(one):
    inner = "type: pipeline\njobs:\n  deep: {{command: 'echo {0} > ${{{{outputs.o}}}}/x', code: {0}, outputs: {{o: }}}}\n"
    for name, more in (("ca", "only: {command: 'true'}"), ("cb", "cancel: {command: 'exit 3'}")):
        one.write(f"{name}/train.py", name)
        one.write(f"{name}-in.yml", inner.format(name))
        create(one, "type: pipeline\njobs:\n  same: {command: 'true', outputs: {o: }}\n  nest: {component: ./%s-in.yml}\n  %s\n" % (name, more), name)
        ended(one, name)
    found = one.json("job", "compare", "ca", "cb", "--diff")
    by_name = {step["name"]: step for step in found["steps"]}
    assert not found["same"] and [name for name in by_name if name != "same"] == ["nest.deep", "only", "cancel"], found
    assert by_name["only"]["only_in"] == "a" and by_name["cancel"]["only_in"] == "b"
    deep = by_name["nest.deep"]
    keys = [field["key"] for field in deep["fields"]]
    assert "command" in keys and "results.outputs.o@0" in keys and deep["code"]["changed"] == ["train.py"], deep
    assert "+cb" in deep["code"]["lines"]["train.py"]
    assert not {field["key"] for field in by_name.get("same", {"fields": []})["fields"]} - {"results.status", "results.seconds"}
    text = one.ok("job", "compare", "ca", "cb")
    assert "jobs.nest.deep.command" in text and "jobs.nest.deep:\ncode changed  train.py" in text, text
    assert one.json("job", "compare", "ca", "ca")["same"]


def test_explain_counts_the_files_that_changed(one):
    for name in ("a", "deep/b", "deep/c", "z"):
        one.write(f"data/{name}", name)
    one.write("src/train.py", "1")
    create(one, FILES, "first")
    assert ended(one, "first")["status"] == "Completed"
    one.write("data/deep/b", "other")
    one.write("data/deep/d", "new")
    (one.work / "data" / "z").unlink()
    create(one, FILES, "second")
    assert ended(one, "second")["status"] == "Completed"
    line = "rerun because input 'data' changed: 3 files, first deep/b (1 added, 1 removed, 1 changed) (since job 'first_make')"
    assert line in one.ok("job", "explain", "second_make")
    explained = one.json("job", "explain", "second_make")
    assert line in explained["placement"]
    (change,) = explained["rerun"]["changes"]
    assert explained["rerun"]["before"] == "first_make" and change["part"] == "input 'data'"
    assert change["files"] == {"added": 1, "removed": 1, "changed": 1, "first": "deep/b", "more": False}

    one.write("src/train.py", "2")
    create(one, FILES, "third")
    assert ended(one, "third")["status"] == "Completed"
    assert "rerun because the code changed: 1 file, first train.py (since job 'second_make')" in one.ok(
        "job", "explain", "third_make")
    one.ok("job", "delete", "second")
    assert "(since job 'first_make')" in one.ok("job", "explain", "third_make"), "the newest that is there"


FAILING = """\
type: pipeline
settings: {{continue_on_step_failure: {goes_on}}}
jobs:
  bad: {{command: 'echo x > ${{{{outputs.o}}}}/x; exit 7', outputs: {{o: }}}}
  needs: {{command: 'cat ${{{{inputs.i}}}}/x', inputs: {{i: '${{{{parent.jobs.bad.outputs.o}}}}'}}}}
  slow: {{command: 'sleep 1; echo y > ${{{{outputs.o}}}}/y', outputs: {{o: }}}}
  after: {{command: 'cat ${{{{inputs.i}}}}/y', inputs: {{i: '${{{{parent.jobs.slow.outputs.o}}}}'}}}}
"""


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_failed_step_decides_what_follows(one, goes_on):
    create(one, FAILING.format(goes_on=str(goes_on).lower()), "p")
    whole = ended(one, "p")
    assert whole["status"] == "Failed" and whole["exit_code"] == 7, whole["report"]
    assert whole["report"]["message"].startswith("step 'bad' (job p_bad): "), whole["report"]
    phases = {name: step["phase"] for name, step in whole["jobs"].items()}
    assert phases == {"bad": "Failed", "needs": "NotRun", "slow": "Completed" if goes_on else "Failed",
                      "after": "Completed" if goes_on else "NotRun"}
    if not goes_on:
        assert "because step 'bad' failed" in one.json("job", "show", "p_slow")["reason"], "it waited for the one node"
    assert "step 'bad' failed" in whole["jobs"]["needs"]["reason"]


def test_a_cancel_ends_all_and_begins_nothing(one):
    create(one, "type: pipeline\njobs:\n  a: {command: sleep 60, outputs: {o: }}\n"
                "  b: {command: 'true', inputs: {i: '${{parent.jobs.a.outputs.o}}'}}\n", "p")
    wait_until(lambda: steps(one, "p")["a"]["status"] == "Running", "step a runs")
    one.ok("job", "cancel", "p")
    whole = ended(one, "p")
    assert whole["status"] == "Canceled"
    assert one.json("job", "show", "p_a")["status"] == "Canceled"
    assert one.run("job", "show", "p_b").returncode != 0, "it never began"


def test_an_array_runs_each_index_and_so_many_at_a_time(one):
    command = ('echo "$LOCKSTEP_ARRAY_INDEX of $LOCKSTEP_ARRAY_COUNT, $LOCKSTEP_ARRAY_MIN-$LOCKSTEP_ARRAY_MAX"; '
               'mkdir -p outputs; echo $LOCKSTEP_ARRAY_INDEX > outputs/index; sleep 0.3; exit $((LOCKSTEP_ARRAY_INDEX == 7))')
    done = one.run("run", "--name", "many", "--cpus", "1", "--memory", "64m", "--gpus", "0", "--array", "3-9:2%2", "--", "bash", "-c", command)
    assert done.returncode == 1, done
    shown = one.json("job", "show", "many")
    assert shown["lockstep"]["array"] == "3-9:2%2"
    assert {name: step["status"] for name, step in shown["jobs"].items()} == {
        "3": "Completed", "5": "Completed", "7": "Failed", "9": "Completed"}
    for index in (3, 5, 7, 9):
        assert f"{index} of 4, 3-9" in done.stdout.decode()
        assert one.json("job", "show", f"many_{index}")["lockstep"]["array_index"] == index
    assert "9 of 4, 3-9" in one.ok("job", "logs", "many", "--step", "9")
    times = []
    for index in (3, 5, 7, 9):
        job = one.json("job", "show", f"many_{index}")
        attempt = job["attempts"][-1]
        times += [(attempt["started"], 1), (attempt["ended"], -1)]
    most = now = 0
    for _, change in sorted(times, key=lambda one: (one[0], one[1])):
        now += change
        most = max(most, now)
    assert most <= 2
    one.ok("job", "download", "many", "--all", "-p", "back")
    assert sorted(path.read_text() for path in (one.work / "back").rglob("index")) == ["3\n", "5\n", "7\n", "9\n"], "also of the one that failed"


def test_an_array_in_a_job_file_and_what_is_wrong_with_one(one):
    one.write("job.yml", "command: echo task $LOCKSTEP_ARRAY_INDEX\nlockstep: {array: '1,4'}\n")
    plan = one.json("job", "create", "-f", "job.yml", "--dry-run")
    assert [step["name"] for step in plan["steps"]] == ["1", "4"]
    streamed = one.ok("job", "create", "-f", "job.yml", "--name", "both", "--stream")
    assert "task 1" in streamed and "task 4" in streamed
    one.ok("job", "cancel", create_array(one, "sleeping", "sleep 100", "0-99%3"))
    whole = ended(one, "sleeping")
    assert whole["status"] == "Canceled"
    assert one.json("job", "list", "--status", "Running") == []
    bad = one.run("run", "--array", "9-1", "--", "true")
    assert bad.returncode == 2 and "--array: '9-1' ends before it begins" in bad.stderr.decode()


def test_an_array_waits_for_another_job_and_its_tasks_have_names(one):
    small = ("--cpus", "1", "--memory", "64m", "--gpus", "0")
    one.ok("run", "--detach", "--name", "prep", *small, "--", "sleep", "2")
    one.ok("run", "--detach", "--name", "then", *small, "--array", "0-2", "--after", "prep", "--",
           "bash", "-c", "echo said-$LOCKSTEP_ARRAY_INDEX; echo $LOCKSTEP_ARRAY_INDEX > outputs/index")
    assert "waits for job 'prep' to complete" in one.show("then/2")["reason"]
    assert ended(one, "then")["status"] == "Completed"
    prep, task = one.show("prep"), one.show("then/2")
    assert task["attempts"][0]["started"] >= prep["ended_at"], (task, prep)
    assert "outputs/index" in one.ok("job", "files", "then/2")
    assert one.ok("job", "cat", "then/1", "outputs/index") == "1\n"
    assert "said-2" in one.ok("job", "logs", "then/2")
    wrong = one.run("job", "files", "then/9")
    assert wrong.returncode == 1 and "then has no task '9'; its tasks: 0, 1, 2" in wrong.stderr.decode()
    whole = one.run("job", "files", "then")
    assert "then is an array" in whole.stderr.decode() and "name one as then/0" in whole.stderr.decode()
    one.run("run", "--name", "failed", *small, "--", "false")
    one.ok("run", "--detach", "--name", "never", *small, "--array", "0-1", "--after", "failed", "--", "true")
    assert ended(one, "never")["status"] in ("Canceled", "Failed")
    one.ok("job", "delete", "failed")
    one.ok("job", "resume", "never", "--name", "rest")
    assert ended(one, "rest")["status"] == "Completed", "it waits for no job that failed or is deleted"
    later = one.run("run", "--name", "later", *small, "--array", "0-1", "--begin", "1s", "--", "true")
    assert later.returncode == 0, later.stderr.decode()


def test_each_verb_that_takes_a_job_takes_a_task_of_an_array(one):
    one.ok("run", "--name", "sweep", "--cpus", "1", "--memory", "64m", "--gpus", "0", "--array", "0-1", "--", "true")
    assert one.ok("job", "events", "sweep/1") == one.ok("job", "events", "sweep_1")
    assert one.ok("job", "events", "-f", "sweep/1") == one.ok("job", "events", "-f", "sweep_1")
    assert one.json("job", "compare", "sweep/0", "sweep/1")["b"] == "sweep_1"
    one.ok("job", "update", "sweep/1", "--set", "tags.best=yes")
    assert one.show("sweep_1")["tags"] == {"best": "yes"} and one.show("sweep_0")["tags"] == {}
    for verb in ("share", "unshare"):
        done = one.run("job", verb, "sweep/1")
        assert done.returncode == 0 and b"job 'sweep_1' is " in done.stderr, done
    for verb in ("delete", "archive", "restore"):
        done = one.run("job", verb, "sweep/1")
        assert done.returncode == 1 and b"'sweep_1' is step '1' of pipeline 'sweep'" in done.stderr, done
    done = one.run("job", "resume", "sweep/1")
    assert done.returncode == 1 and b"job 'sweep_1' has saved no checkpoint" in done.stderr, done
    done = one.run("environment", "log", "sweep/1")
    assert done.returncode == 1 and b"log: sweep_1 has no environment" in done.stderr, done
    done = one.run("environment", "log", "sweep")
    assert done.returncode == 1 and b"name one as sweep/INDEX" in done.stderr, done
    for words in (("events",), ("update", "--priority", "low"), ("delete",), ("share",), ("archive",), ("resume",), ("compare", "sweep/0")):
        done = one.run("job", *words, "sweep/9")
        assert done.returncode == 1 and f"job {words[0]}: sweep has no task '9'; its tasks: 0, 1" in done.stderr.decode(), done


def test_tasks_and_steps_begin_with_another_jobs_checkpoint(one):
    one.ok("run", "--name", "first", "--", "bash", "-c", "echo here > $LOCKSTEP_CHECKPOINT_DIR/state")
    small = ("--cpus", "1", "--memory", "64m", "--gpus", "0")
    read = "cat $LOCKSTEP_CHECKPOINT_DIR/state"
    done = one.run("run", "--name", "on", *small, "--array", "0-1", "--from-checkpoint-of", "first", "--", "bash", "-c", read)
    assert done.returncode == 0 and done.stdout.decode().count("here") == 2, done
    create(one, "type: pipeline\njobs: {a: {command: cat $LOCKSTEP_CHECKPOINT_DIR/state, lockstep: {from_checkpoint_of: first}}}\n", "p")
    assert ended(one, "p")["status"] == "Completed" and one.logs("p_a") == b"here\n"
    none = one.run("run", "--name", "no", *small, "--array", "0-1", "--from-checkpoint-of", "nobody", "--", "true")
    assert none.returncode == 125 and "jobs.0: " in none.stderr.decode() and "no job 'nobody'" in none.stderr.decode(), none
    rebuilt = one.run("run", *small, "--array", "0-1", "--pip", "six", "--rebuild", "--", "true")
    assert rebuilt.returncode == 2 and "--array cannot be combined with --rebuild" in rebuilt.stderr.decode(), rebuilt


def create_array(site, name, command, indices):
    site.ok("run", "--detach", "--name", name, "--cpus", "1", "--memory", "64m", "--gpus", "0", "--array", indices, "--", "bash", "-c", command)
    wait_until(lambda: site.json("job", "list", "--parent", name), 20)
    return name
