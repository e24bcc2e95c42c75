"""Many jobs: order, reasons, refusal."""
import json

from harness.site import wait_until


def test_a_hundred_queued_jobs_run_in_order_of_submission(site):
    site.up(2)
    order = site.directory / "order"
    names = [f"job-{i:03}" for i in range(100)]
    for name in names:
        site.ok("run", "--detach", "--name", name, "--", "sh", "-c",
                f"echo $AZUREML_RUN_ID >> {order}")
    for name in names:
        site.wait_for_status(name, "Completed", deadline_s=180)
    jobs = {j["name"]: j for j in site.json("job", "list")}
    placed = [jobs[n]["attempts"][0]["placed"] for n in names]
    assert placed == sorted(placed)
    assert sorted(order.read_text().split()) == names


def test_a_job_that_can_never_run_is_refused_with_the_way_out(any_site):
    any_site.up(2)
    done = any_site.run("run", "-N", "5", "--", "true")
    assert done.returncode == 1
    assert b"5 nodes" in done.stderr and b"lockstep up --nodes 5" in done.stderr, done.stderr
    assert any_site.json("job", "list") == []


def test_what_waits_in_vain_waits_where_that_is_asked_for(site):
    site.up(1)
    site.ok("run", "--detach", "--name", "wide", "-N", "2", "--wait-anyway", "--", "true")
    assert site.show("wide")["status"] == "Queued"
    array = site.run("run", "--array", "0-2", "-N", "2", "--", "true")
    assert array.returncode == 1 and b"only 1 node of target 'local' can ever take it" in array.stderr, array.stderr
    site.write("job.yml", "command: 'true'\nresources: {instance_count: 2}\n")
    refused = site.run("job", "validate", "-f", "job.yml")
    assert refused.returncode == 2 and b"can ever take it" in refused.stderr, refused.stderr
    site.ok("job", "validate", "-f", "job.yml", "--wait-anyway")
    created = site.ok("job", "create", "-f", "job.yml", "--wait-anyway").strip()
    assert site.show(created)["status"] == "Queued"
    site.ok("job", "cancel", "wide", created)


def test_to_resume_and_to_prepare_do_not_wait_in_vain(site):
    """They waited for ever, or were refused with no way out."""
    site.up(1)
    site.ok("run", "--detach", "--name", "wide", "--array", "0-1", "-N", "2", "--wait-anyway", "--", "true")
    site.ok("job", "cancel", "wide")
    site.wait_for_status("wide", "Canceled")
    site.write("env.yml", "interpreter: python3\n")
    for words in (("job", "resume", "wide", "--stream"), ("environment", "prepare", "-f", "env.yml", "-N", "2")):
        done = site.run(*words)
        assert done.returncode == 1, done.stderr
        assert b"can ever take it" in done.stderr and b"--wait-anyway waits" in done.stderr, done.stderr
    again = site.ok("job", "resume", "wide", "--wait-anyway").strip()
    site.ok("job", "cancel", again)
    site.wait_for_status(again, "Canceled")


def test_a_waiting_job_says_why(site):
    site.up(2)
    blocker = site.submit("-N", "2", "--name", "blocker", "--", "sleep", "1000")
    site.wait_for_status(blocker, "Running")
    waiting = site.submit("--name", "waiting", "--", "true")
    job = site.show(waiting)
    assert job["status"] == "Queued" and job["reason"], job
    text = site.ok("job", "explain", waiting)
    assert "blocker" in text or "busy" in text or "free" in text, text
    site.ok("job", "cancel", blocker)
    site.wait_for_status(waiting, "Completed")


def test_down_refuses_while_jobs_run(any_site):
    any_site.up(1)
    name = any_site.submit("--", "sleep", "1000")
    any_site.wait_for_status(name, "Running")
    done = any_site.run("down")
    assert done.returncode != 0 and b"--cancel" in done.stderr, done.stderr
    assert any_site.show(name)["status"] == "Running"
    any_site.ok("down", "--cancel")
    wait_until(lambda: not any_site.launcher_pids() and not any_site.agent_pids(), "all is down")


def test_the_state_survives_down_and_up(any_site):
    any_site.up(1)
    name = any_site.submit("--", "echo", "kept")
    any_site.wait_for_status(name, "Completed")
    any_site.ok("down")
    any_site.up(1)
    assert [j["name"] for j in any_site.json("job", "list")] == [name]
    assert b"kept" in any_site.logs(name)


def test_two_clis_at_once_start_one_launcher(any_site):
    starts = [any_site.start("run", "-q", "--", "true") for _ in range(4)]
    for start in starts:
        _, err = start.communicate(timeout=60)
        assert start.returncode == 0, err
    assert len(any_site.launcher_pids()) == 1 and len(any_site.agent_pids()) == 1


def test_a_name_is_given_once(any_site):
    any_site.up(1)
    any_site.ok("run", "--name", "same", "--", "true")
    done = any_site.run("run", "--name", "same", "--", "true")
    assert done.returncode != 0 and b"same" in done.stderr
    assert json.loads(any_site.ok("job", "list", "-o", "json"))[0]["status"] == "Completed"
