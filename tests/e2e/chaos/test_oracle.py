"""The oracle itself: a good run pleases it, and each way to falsify that run must make it object."""
import hashlib
import json
import shutil
import struct

import pytest
from chaos import oracle, schedule

WORLD = 2
TEXT = {0: b"rank 0 says \x00\xff binary\n", 1: b"rank 1, no newline"}
OUTPUT = b"trained"


def report(cause="completed", **more):
    return {"cause": cause, "exit_code": 0, "rank": None, "node_name": None, "message": cause} | more


def parts():
    return [{"node_name": f"n{r + 1}", "first_rank": r, "ranks": 1} for r in range(WORLD)]


def said_of(name, status="Completed", attempts=(report(),)):
    return {"name": name, "status": status, "reason": "", "report": attempts[-1],
            "attempts": [{"number": i + 1, "report": r, "parts": parts()} for i, r in enumerate(attempts)]}


def submitted_of(name, **more):
    return {"name": name, "nodes": WORLD, "ranks_per_node": 1, "code": 0, "failing_rank": -1,
            "accepted": True, "cancel_asked": False} | more


class Run:
    """A run's evidence, made by hand: job `good` completed at once, `again` in its second attempt,
    `bad` failed as it should, `gone` was canceled."""

    def __init__(self, folder):
        self.folder = folder
        self.said = [said_of("good"), said_of("again", attempts=(report("runner_lost"), report())),
                     said_of("bad", "Failed", (report("exit_code", rank=1, exit_code=7),)),
                     said_of("gone", "Canceled", (report("canceled"),))]
        self.submitted = [submitted_of("good"), submitted_of("again"),
                          submitted_of("bad", code=7, failing_rank=1),
                          submitted_of("gone", cancel_asked=True)]
        self.faults = [{"kind": "runner_kill", "machine": "n1", "job": "again", "attempt": 1, "owed": 0}]
        self.remains = []
        for name, attempts in (("good", 1), ("again", 2), ("bad", 1), ("gone", 1)):
            for attempt in range(1, attempts + 1):
                ended = name == "good" or (name, attempt) == ("again", 2)
                for rank in range(WORLD):
                    code = 7 if (name, rank) == ("bad", 1) else 0 if ended else None
                    self.rank(name, attempt, rank, code)
            if name in ("good", "again"):
                self.download(name)
        self.save()

    def rank(self, job, attempt, rank, code, unique="1-1"):
        home = self.home(job, attempt, rank, unique)
        home.mkdir(parents=True)
        start = {"job": job, "attempt": attempt, "rank": rank, "world": WORLD, "host": f"n{rank + 1}",
                 "time": 1.0, "others": []}
        (home / "start.json").write_text(json.dumps(start))
        (home / "stdout").write_bytes(TEXT[rank])
        (home / "stderr").write_bytes(b"")
        (home / "counts").write_bytes(struct.pack("qq", len(TEXT[rank]), 0))
        if code is not None:
            (home / "end.json").write_text(json.dumps({"code": code, "time": 2.0}))
        if code == 0:
            digest = hashlib.sha256(OUTPUT).hexdigest()
            (home / "outputs.json").write_text(json.dumps({f"of_{rank}": digest}))
        self.log(job, attempt, rank).parent.mkdir(parents=True, exist_ok=True)
        self.log(job, attempt, rank).write_bytes(TEXT[rank])

    def download(self, job):
        artifacts = self.folder / "downloads" / job / "artifacts"
        for name in ("outputs", "user_logs"):
            (artifacts / name).mkdir(parents=True)
        for rank in range(WORLD):
            (artifacts / "outputs" / f"of_{rank}").write_bytes(OUTPUT)
            (artifacts / "user_logs" / f"std_log_process_{rank}.txt").write_bytes(TEXT[rank])

    def home(self, job, attempt, rank, unique="1-1"):
        return self.folder / "witness" / job / str(attempt) / f"rank_{rank}.{unique}"

    def log(self, job, attempt, rank):
        return self.folder / "logs" / job / str(attempt) / f"rank_{rank}.stdout"

    def change(self, path, **values):
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    def job(self, name):
        return next(j for j in self.said if j["name"] == name)

    def save(self):
        for name in ("said", "submitted", "faults", "remains"):
            (self.folder / f"{name}.json").write_text(json.dumps(getattr(self, name)))
        return self

    def objections(self):
        return oracle.judge(self.save().folder)[0]


@pytest.fixture(autouse=True)
def nothing_left():
    """No daemon is started here."""


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def cut(path, length=3):
    path.write_bytes(path.read_bytes()[:-length])


def flip(path):
    data = bytearray(path.read_bytes())
    data[2] ^= 1
    path.write_bytes(bytes(data))


def test_a_good_run_pleases(run):
    assert run.objections() == []


def lost_job(run):
    run.said.remove(run.job("good"))


def never_final(run):
    run.job("good")["status"] = "Running"


def unknown_job(run):
    run.said.append(said_of("ghost"))


def doubled_rank(run):
    run.rank("good", 1, 0, 0, "2-2")


def missing_rank(run):
    shutil.rmtree(run.home("good", 1, 1))


def rank_that_failed_in_a_completed_job(run):
    run.change(run.home("good", 1, 1) / "end.json", code=1)


def rank_that_never_ended_in_a_completed_job(run):
    (run.home("good", 1, 1) / "end.json").unlink()


def changed_byte_in_a_log(run):
    flip(run.log("good", 1, 0))


def doubled_log(run):
    path = run.log("good", 1, 0)
    path.write_bytes(path.read_bytes() * 2)


def log_cut_short(run):
    cut(run.log("good", 1, 0))


def log_of_a_failed_job_cut_short(run):
    cut(run.log("bad", 1, 0))


def log_missing(run):
    run.log("good", 1, 1).unlink()


def log_lost_with_the_runner_of_another_node(run):
    cut(run.log("again", 1, 1))


def downloaded_log_changed(run):
    flip(run.folder / "downloads/good/artifacts/user_logs/std_log_process_0.txt")


def output_changed(run):
    flip(run.folder / "downloads/good/artifacts/outputs/of_0")


def output_missing(run):
    (run.folder / "downloads/again/artifacts/outputs/of_1").unlink()


def output_of_nobody(run):
    (run.folder / "downloads/again/artifacts/outputs/of_9").write_bytes(b"")


def download_failed(run):
    shutil.rmtree(run.folder / "downloads/good")


def wrong_exit_code(run):
    run.job("bad")["report"]["exit_code"] = 8


def wrong_rank_blamed(run):
    run.job("bad")["report"]["rank"] = 0


def failure_of_a_rank_that_should_not(run):
    run.submitted[2]["failing_rank"] = -1


def completed_although_a_rank_should_fail(run):
    run.submitted[0]["failing_rank"] = 1


def failed_by_the_platform(run):
    run.job("bad")["report"] = report("node_lost", node_name="n1")


def signal_that_nobody_sent(run):
    run.job("bad")["report"] = report("signal", rank=1, exit_code=137)


def canceled_by_nobody(run):
    run.submitted[3]["cancel_asked"] = False


def retried_after_a_user_error(run):
    run.job("again")["attempts"][0]["report"] = report("exit_code", rank=0, exit_code=1)


def attempt_that_nobody_knows(run):
    run.rank("good", 2, 0, 0)


def attempt_number_skipped(run):
    run.job("again")["attempts"][1]["number"] = 3


def rank_on_another_node(run):
    run.change(run.home("good", 1, 0) / "start.json", host="n3")


def wrong_world_size(run):
    run.change(run.home("good", 1, 0) / "start.json", world=4)


def overlap_on_one_node(run):
    run.change(run.home("again", 2, 0) / "start.json", others=[[1, 0, "n1"]])


def overlap_with_a_node_that_was_not_lost(run):
    run.change(run.home("again", 2, 0) / "start.json", others=[[1, 1, "n2"]])


def something_left_behind(run):
    run.remains.append("n1: process 7 lockstep-runner")


@pytest.mark.parametrize("falsify", [
    lost_job, never_final, unknown_job, doubled_rank, missing_rank, rank_that_failed_in_a_completed_job,
    rank_that_never_ended_in_a_completed_job, changed_byte_in_a_log, doubled_log, log_cut_short,
    log_of_a_failed_job_cut_short, log_missing, log_lost_with_the_runner_of_another_node,
    downloaded_log_changed, output_changed, output_missing, output_of_nobody, download_failed,
    wrong_exit_code, wrong_rank_blamed, failure_of_a_rank_that_should_not,
    completed_although_a_rank_should_fail, failed_by_the_platform, signal_that_nobody_sent,
    canceled_by_nobody, retried_after_a_user_error, attempt_that_nobody_knows, attempt_number_skipped,
    rank_on_another_node, wrong_world_size, overlap_on_one_node, overlap_with_a_node_that_was_not_lost,
    something_left_behind])
def test_it_objects_to(run, falsify):
    falsify(run)
    assert run.objections(), falsify.__name__


def test_what_a_killed_runner_had_in_its_pipe_may_be_missing(run):
    cut(run.log("again", 1, 0))
    assert run.objections() == []


def test_the_same_seed_gives_the_same_schedule():
    assert schedule.as_text(7, 3) == schedule.as_text(7, 3)
    assert schedule.as_text(7, 3) != schedule.as_text(8, 3)
    assert {f.kind for n in range(40) for f in schedule.phase(1, n)[0]} == set(schedule.KINDS)
