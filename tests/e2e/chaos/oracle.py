"""Judges one run: what the ranks themselves wrote down against what Lockstep says. It reads nothing but
the evidence folder, so that a kept one can be judged again:

  submitted.json  [{name, nodes, ranks_per_node, code, failing_rank, accepted,
                  cancel_asked}]
  said.json       `job show -o json` of all jobs
  faults.json     what was really hit, see faults.py
  witness/        see ranks/rank.py
  logs/JOB/ATTEMPT/rank_K.{stdout,stderr}   the launcher's own copies
  downloads/JOB/  `job download --all` of each completed job
  remains.json    what did not come to rest or was left behind, in words

What may be missing from a log is decided in docs/decisions/014-chaos.md.
"""
import hashlib
import json
import pathlib
import struct

FINAL = ("Completed", "Failed", "Canceled")
PLATFORM = ("workspace_failed", "start_failed", "port_taken", "runner_lost", "node_lost")
PIPE_BYTES = 512 << 10  # a full pipe, and what the runner had read of it
KILL = 9


class Rank:
    """One process that said that it is a rank."""

    def __init__(self, home):
        self.home = home
        self.start = json.loads((home / "start.json").read_text())
        end = home / "end.json"
        text = end.read_text() if end.exists() else ""
        self.end = json.loads(text) if text.endswith("}") else None
        self.counts = struct.unpack("qq", (home / "counts").read_bytes())
        outputs = home / "outputs.json"
        self.outputs = json.loads(outputs.read_text()) if outputs.exists() else {}

    @property
    def code(self):
        return self.end["code"] if self.end else None


class Evidence:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.submitted = {j["name"]: j for j in self._load("submitted.json")}
        self.said = {j["name"]: j for j in self._load("said.json")}
        self.faults = self._load("faults.json")
        self.remains = self._load("remains.json")
        self.ranks = {}  # (job, attempt) -> {rank: [Rank]}
        for start in sorted(self.folder.glob("witness/*/*/rank_*/start.json")):
            rank = Rank(start.parent)
            attempt = self.ranks.setdefault((rank.start["job"], rank.start["attempt"]), {})
            attempt.setdefault(rank.start["rank"], []).append(rank)

    def _load(self, name):
        return json.loads((self.folder / name).read_text())

    def hits(self, *kinds, **where):
        return [f for f in self.faults if f["kind"] in kinds and
                all(f.get(k) == v for k, v in where.items())]


class Oracle:
    def __init__(self, folder):
        self.evidence = Evidence(folder)
        self.objections = []
        self.notes = {"jobs": 0, "attempts": 0, "ranks": 0, "log bytes": 0, "output files": 0,
                      "log bytes lost with a pipe": 0, "overlaps with a lost node": 0,
                      "kills between write and acknowledgement": 0}

    def judge(self):
        e = self.evidence
        self.notes["kills between write and acknowledgement"] = sum(
            1 for f in e.faults if f.get("owed", 0) > 0)
        self.objections += e.remains
        for name, job in e.submitted.items():
            if name in e.said:
                self.notes["jobs"] += 1
                self._job(job, e.said[name])
            elif job["accepted"]:
                self._object(name, "was accepted, and Lockstep does not know it")
        for name in e.said.keys() - e.submitted.keys():
            self._object(name, "was never submitted")
        for job, attempt in e.ranks:
            numbers = [a["number"] for a in e.said.get(job, {}).get("attempts", [])]
            if attempt not in numbers:
                self._object(job, f"ranks ran in attempt {attempt}, which Lockstep does not know")
        return self.objections

    def _object(self, name, text):
        self.objections.append(f"{name}: {text}")

    # ---- one job -----------------------------------------------------------------------------
    def _job(self, job, said):
        name, status = said["name"], said["status"]
        if status not in FINAL:
            return self._object(name, f"is {status} ({said['reason']}), not at an end")
        numbers = [a["number"] for a in said["attempts"]]
        if numbers != list(range(1, len(numbers) + 1)):
            self._object(name, f"has the attempts {numbers}")
        for attempt in said["attempts"]:
            self._attempt(job, said, attempt)
        for attempt in said["attempts"][:-1]:
            cause = (attempt["report"] or {}).get("cause")
            if cause not in PLATFORM:
                self._object(name, f"attempt {attempt['number']} ended by {cause} and was followed by "
                                   "another")
        {"Completed": self._completed, "Failed": self._failed,
         "Canceled": self._canceled}[status](job, said)

    def _completed(self, job, said):
        ranks = self._last_ranks(said)
        world = job["nodes"] * job["ranks_per_node"]
        for rank in range(world):
            codes = [r.code for r in ranks.get(rank, [])]
            if codes != [0]:
                self._object(said["name"], f"is Completed, but rank {rank} ended with {codes}")
        if job["failing_rank"] >= 0:
            self._object(said["name"], "is Completed, although a rank of it was to fail")
        self._outputs(said, ranks)

    def _failed(self, job, said):
        name, report = said["name"], said["report"]
        cause, rank = report["cause"], report["rank"]
        number = said["attempts"][-1]["number"]
        codes = [r.code for r in self._last_ranks(said).get(rank, [])]
        if cause == "exit_code":
            if codes != [report["exit_code"]]:
                self._object(name, f"Failed since rank {rank} exited with {report['exit_code']}; it "
                                   f"ended with {codes}")
            if job["failing_rank"] != rank and not self._excused_exception(said, number):
                self._object(name, f"rank {rank} failed by itself: {report['message']}")
        elif cause == "signal":
            hit = self.evidence.hits("rank_kill", job=name, attempt=number)
            if report["exit_code"] != 128 + KILL or rank not in [h["rank"] for h in hit]:
                self._object(name, f"Failed by a signal that nobody sent: {report['message']}")
        elif not self._excused_exception(said, number):
            self._object(name, f"Failed by {cause}: {report['message']}")

    def _excused_exception(self, said, number):
        """A rank may fail by itself when one of its gang was killed, or its disk was full."""
        job = self.evidence.submitted[said["name"]]
        if self.evidence.hits("rank_kill", job=said["name"], attempt=number):
            return True
        hosts = {p["node_name"] for p in said["attempts"][-1]["parts"]}
        full = {f["machine"] for f in self.evidence.hits("disk_full")}
        return bool(hosts & full) and job["failing_rank"] < 0

    def _canceled(self, job, said):
        if not job["cancel_asked"]:
            self._object(said["name"], "is Canceled, and nobody asked for it")

    def _last_ranks(self, said):
        number = said["attempts"][-1]["number"] if said["attempts"] else 0
        return self.evidence.ranks.get((said["name"], number), {})

    # ---- one attempt -------------------------------------------------------------------------
    def _attempt(self, job, said, attempt):
        name, number = said["name"], attempt["number"]
        self.notes["attempts"] += 1
        world = job["nodes"] * job["ranks_per_node"]
        place = {r: p["node_name"] for p in attempt["parts"]
                 for r in range(p["first_rank"], p["first_rank"] + p["ranks"])}
        for number_of_rank, processes in self.evidence.ranks.get((name, number), {}).items():
            if len(processes) > 1:
                self._object(name, f"rank {number_of_rank} ran {len(processes)} times in attempt {number}")
            for rank in processes:
                self.notes["ranks"] += 1
                start = rank.start
                if start["world"] != world or place.get(start["rank"]) != start["host"]:
                    self._object(name, f"rank {start['rank']} of {start['world']} ran on "
                                       f"{start['host']} in attempt {number}, against "
                                       f"{world} and {place}")
                self._overlaps(said, attempt, rank)
                self._logs(said, attempt, rank)

    def _overlaps(self, said, attempt, rank):
        for other, other_rank, host in rank.start["others"]:
            earlier = next((a for a in said["attempts"] if a["number"] == other), None)
            report = earlier["report"] if earlier else {"cause": "", "node_name": ""}
            lost = report["cause"] == "node_lost" and report["node_name"] == host
            if host == rank.start["host"] or not lost:
                self._object(said["name"], f"rank {rank.start['rank']} of attempt {attempt['number']} "
                                           f"started on {rank.start['host']} while rank {other_rank} of "
                                           f"attempt {other} lived on {host}")
            else:
                self.notes["overlaps with a lost node"] += 1

    def _logs(self, said, attempt, rank):
        name, number, host = said["name"], attempt["number"], rank.start["host"]
        lost = (attempt["report"] or {}).get("cause") == "node_lost"
        cut = bool(self.evidence.hits("runner_kill", job=name, attempt=number, machine=host) or
                   self.evidence.hits("reboot", machine=host))
        complete = said["status"] == "Completed" and attempt is said["attempts"][-1]
        for count, stream in zip(rank.counts, ("stdout", "stderr")):
            who = f"{stream} of rank {rank.start['rank']}, attempt {number}"
            truth = (rank.home / stream).read_bytes()
            path = self.evidence.folder / "logs" / name / str(number) / \
                f"rank_{rank.start['rank']}.{stream}"
            stored = path.read_bytes() if path.exists() else b""
            self.notes["log bytes"] += len(stored)
            if not truth.startswith(stored):
                at = next((i for i, (a, b) in enumerate(zip(truth, stored)) if a != b),
                          min(len(truth), len(stored)))
                self._object(name, f"{who} differs from byte {at} on")
            elif complete and len(stored) != len(truth):
                self._object(name, f"{who} has {len(stored)} of {len(truth)} bytes")
            elif len(stored) < count and not lost:
                if not cut or count - len(stored) > PIPE_BYTES:
                    self._object(name, f"{who} has {len(stored)} bytes; {count} were written")
                else:
                    self.notes["log bytes lost with a pipe"] += count - len(stored)

    # ---- what came back ----------------------------------------------------------------------
    def _outputs(self, said, ranks):
        folder = self.evidence.folder / "downloads" / said["name"]
        if not folder.exists():
            return self._object(said["name"], "could not be downloaded")
        outputs = folder / "artifacts" / "outputs"
        found = {str(p.relative_to(outputs)): hashlib.sha256(p.read_bytes()).hexdigest()
                 for p in outputs.rglob("*") if p.is_file()}
        wanted = {}
        for processes in ranks.values():
            for rank in processes:
                wanted.update(rank.outputs)
        self.notes["output files"] += len(found)
        for name in sorted(found.keys() | wanted.keys()):
            if found.get(name) != wanted.get(name):
                self._object(said["name"], f"./outputs/{name} is {found.get(name)}, its rank wrote "
                                           f"{wanted.get(name)}")
        for number, processes in ranks.items():
            for stream, file in (("stdout", "std_log"), ("stderr", "std_err")):
                path = folder / "artifacts" / "user_logs" / f"{file}_process_{number}.txt"
                got = path.read_bytes() if path.exists() else b""
                if got != (processes[0].home / stream).read_bytes():
                    self._object(said["name"], f"the downloaded {path.name} is not what its rank wrote")


def judge(folder):
    """(objections, notes) of the run whose evidence lies in `folder`."""
    oracle = Oracle(folder)
    return oracle.judge(), oracle.notes


if __name__ == "__main__":
    import sys
    OBJECTIONS, NOTES = judge(sys.argv[1])
    print("\n".join(OBJECTIONS) or "no objection", NOTES, sep="\n")
    sys.exit(1 if OBJECTIONS else 0)
