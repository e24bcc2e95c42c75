"""Submits the jobs of a schedule through the real command line, again and again until each is
accepted, and cancels those that shall be canceled."""
import concurrent.futures
import dataclasses
import json
import pathlib
import shutil
import threading
import time

RANKS = pathlib.Path(__file__).with_name("ranks")
MOST_UNFINISHED = 8
RETRY_S = 0.5
DISTRIBUTIONS = {"mpi": "mpi", "ddp": "pytorch", "talk": "pytorch"}


class Workload:
    def __init__(self, site, witness, log):
        self.site, self.witness, self.log = site, pathlib.Path(witness), log
        self.jobs = {}  # name -> what the oracle must know
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.pending = []
        self.lock = threading.Lock()
        self.stopping = False
        self.code = site.work / "code"
        shutil.copytree(RANKS, self.code, ignore=shutil.ignore_patterns("__pycache__"))

    def _file(self, job):
        if job.kind == "sh":
            command = f"sh rank.sh {self.witness} {max(1, round(job.seconds))}"
        else:
            command = f"exec /usr/bin/python3 rank.py {self.witness} {job.kind} {job.seconds}"
            if job.failing_rank >= 0:
                command += f" {job.code} {job.failing_rank}"
        text = {"name": job.name, "command": command, "code": str(self.code),
                "resources": {"instance_count": job.nodes},
                "lockstep": {"resources": {"cpus": 1, "memory": "768m", "gpus": 0},
                             "retry": {"max": 1000}}}
        if job.kind in DISTRIBUTIONS:
            text["distribution"] = {"type": DISTRIBUTIONS[job.kind],
                                    "process_count_per_instance": job.ranks_per_node}
        return self.site.write(f"{job.name}.yml", json.dumps(text))

    def submit(self, job):
        entry = dataclasses.asdict(job) | {"accepted": False, "cancel_asked": False}
        with self.lock:
            self.jobs[job.name] = entry
        self.pending.append(self.pool.submit(self._submit, job, entry))

    def _submit(self, job, entry):
        file = self._file(job)
        while not self.stopping:
            try:
                done = self.site.run("job", "create", "-f", file, timeout=60)
            except Exception as error:  # a client that hangs is an objection, see `stuck`
                self.log(f"submit {job.name}: {error!r}")
                continue
            told = done.stderr.decode(errors="replace")
            if done.returncode == 0 or "exists already" in told:
                entry["accepted"] = True
                entry["accepted_at"] = time.monotonic()
                break
            self.log(f"submit {job.name}: exit {done.returncode}: {told.strip()[:160]}")
            time.sleep(RETRY_S)
        if job.cancel_after and entry["accepted"]:
            time.sleep(job.cancel_after)
            self._cancel(job.name, entry)

    def _cancel(self, name, entry):
        entry["cancel_asked"] = True
        while not self.stopping:
            done = self.site.run("job", "cancel", name, timeout=60)
            told = done.stderr.decode(errors="replace")
            if done.returncode == 0 or "already" in told:
                return
            self.log(f"cancel {name}: exit {done.returncode}: {told.strip()[:160]}")
            time.sleep(RETRY_S)

    def settled(self):
        """True when every submission and cancellation so far has its answer."""
        self.pending = [f for f in self.pending if not f.done() or f.result()]
        return not self.pending

    def unfinished(self):
        return sum(1 for f in self.pending if not f.done())

    def stop(self):
        self.stopping = True
        self.pool.shutdown(wait=True)
