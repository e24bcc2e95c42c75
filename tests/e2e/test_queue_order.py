"""Which job goes first: priority, backfill, and what a job waits for."""
import json


def test_a_short_job_goes_before_a_wide_one_that_waits(site):
    site.up(2)
    blocker = site.submit("--name", "blocker", "--timeout", "10m", "--", "sleep", "1000")
    site.wait_for_status(blocker, "Running")
    pair = site.submit("-N", "2", "--name", "pair", "--", "true")
    reason = site.show(pair)["reason"]
    assert "at the latest, when job 'blocker' reaches its time limit" in reason, reason
    quick = site.submit("--name", "quick", "--timeout", "1m", "--", "true")
    site.wait_for_status(quick, "Completed")
    assert site.show(pair)["status"] == "Queued"
    slow = site.submit("--name", "slow", "--", "true")
    text = site.ok("job", "explain", slow)
    assert "position 2 in the queue" in text and "ahead of it: job 'pair'" in text, text
    assert "is kept for job 'pair'" in text and "could run the job now" not in text, text
    assert "with a limits.timeout of at most 9m" in text, text
    site.ok("job", "cancel", blocker)
    site.wait_for_status(slow, "Completed")
    jobs = {name: site.show(name) for name in (pair, slow)}
    assert jobs[pair]["attempts"][0]["placed"] <= jobs[slow]["attempts"][0]["placed"]


def test_priority_decides_and_can_be_changed(site):
    site.up(1)
    blocker = site.submit("--name", "blocker", "--", "sleep", "1000")
    site.wait_for_status(blocker, "Running")
    low = site.submit("--name", "low", "--priority", "low", "--", "true")
    medium = site.submit("--name", "medium", "--", "true")
    (site.directory / "high.yml").write_text(
        "name: high\ncommand: 'true'\n"
        "queue_settings: {priority: High, job_tier: Standard}\n")
    done = site.run("job", "create", "-f", str(site.directory / "high.yml"))
    assert done.returncode == 0 and b"job_tier 'standard' is not used" in done.stderr, done.stderr
    job = site.show("high")
    assert job["queue_settings"] == {"priority": "high", "job_tier": "standard"}
    assert job["queue_position"] == 1
    done = site.run("job", "update", low, "--priority", "high")
    assert done.returncode == 0 and b"job 'low' has priority high" in done.stderr, done.stderr
    assert site.show(low)["queue_position"] == 1, "it was submitted first"
    wrong = site.run("job", "update", low, "--priority", "urgent")
    assert wrong.returncode == 2 and b"'urgent' is not low, medium or high" in wrong.stderr
    wrong = site.run("job", "update", blocker, "--priority", "low")
    assert wrong.returncode == 1 and b"only while it is Queued" in wrong.stderr, wrong.stderr
    site.ok("job", "cancel", blocker)
    for name in (low, "high", medium):
        site.wait_for_status(name, "Completed")
    placed = [site.show(name)["attempts"][0]["placed"] for name in (low, "high", medium)]
    assert placed == sorted(placed)


def test_a_job_waits_for_others_and_for_its_time(site):
    site.up(1)
    blocker = site.submit("--name", "blocker", "--", "sleep", "1000")
    site.wait_for_status(blocker, "Running")
    good = site.submit("--name", "good", "--", "true")
    bad = site.submit("--name", "bad", "--", "false")
    (site.directory / "both.yml").write_text(
        "name: both\ncommand: 'true'\nlockstep:\n  after: [good, {job: bad, when: ended}]\n")
    site.ok("job", "create", "-f", str(site.directory / "both.yml"))
    never = site.submit("--name", "never", "--after", f"{good},{bad}", "--", "true")
    later = site.submit("--name", "later", "--begin", "3s", "--", "true")
    job = site.show("both")
    assert job["reason"] == "waits for job 'good' to complete, and for 1 more job", job["reason"]
    assert job["lockstep"]["after"] == [{"job": "good", "when": "completed"},
                                        {"job": "bad", "when": "ended"}]
    assert job["queue_position"] == 0
    assert "does not start before" in site.show(later)["reason"]
    begin = site.show(later)["lockstep"]["not_before"]
    site.ok("job", "cancel", blocker)
    site.wait_for_status("both", "Completed")
    site.wait_for_status(never, "Canceled")
    assert "job 'bad' had completed, and that job is Failed" in site.show(never)["reason"]
    site.wait_for_status(later, "Completed")
    assert site.show(later)["attempts"][0]["placed"] >= begin
    unknown = site.run("run", "--after", "nobody", "--", "true")
    assert unknown.returncode == 125 and b"there is no job 'nobody'" in unknown.stderr
    wrong = site.run("run", "--begin", "noon", "--", "true")
    assert wrong.returncode == 2 and b"'noon' is neither a time from now" in wrong.stderr
    names = [j["name"] for j in json.loads(site.ok("job", "list", "-o", "json"))]
    assert len(names) == 6, names
