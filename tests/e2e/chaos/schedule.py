"""What happens when, drawn from a seed alone: the same seed and duration give the same plan, whatever
the machine does with it. Times are seconds since the begin of a phase; targets are numbers that are
resolved to what is there at that moment."""
import dataclasses
import json
import random

NODES = 3
PHASE_S = 30.0          # of faults; then all is healed, and everything must come to rest
MEAN_BETWEEN_FAULTS_S = 1.5
MEAN_BETWEEN_JOBS_S = 1.8
LAUNCHER = -1           # as a target; nodes are 0, 1, …


@dataclasses.dataclass
class Fault:
    at: float
    kind: str
    target: int         # LAUNCHER or a node
    seconds: float      # how long it lasts, or how long what was killed stays down
    value: float = 0.0  # a probability, milliseconds, seconds of a jump: see faults.py
    pick: float = 0.0   # 0..1: which of several processes

    def __str__(self):
        where = "launcher" if self.target == LAUNCHER else f"n{self.target + 1}"
        return f"{self.at:6.2f}  {self.kind:14} {where:8} {self.seconds:5.2f} s  {self.value:g}"


@dataclasses.dataclass
class Job:
    at: float
    name: str
    kind: str           # talk, mpi, ddp, sh
    nodes: int
    ranks_per_node: int
    seconds: float
    code: int = 0       # of the rank that shall fail; 0: none
    failing_rank: int = -1
    cancel_after: float = 0.0  # seconds after it was submitted; 0: never


# kind: (weight, who can be hit, shortest, longest in seconds, least, greatest value)
ANY, NODE, ONLY_LAUNCHER = "any", "node", "launcher"
KINDS = {
    "agent_kill": (5, NODE, 0.1, 4, 0, 0),
    "launcher_kill": (4, ONLY_LAUNCHER, 0.1, 4, 0, 0),
    "runner_kill": (2, NODE, 0, 0, 0, 0),
    "spawn_kill": (1, NODE, 0, 0, 0, 0),
    "rank_kill": (1, NODE, 0, 0, 0, 0),
    "agent_stop": (2, NODE, 0.5, 13, 0, 0),
    "launcher_stop": (2, ONLY_LAUNCHER, 0.5, 8, 0, 0),
    "runner_stop": (1, NODE, 0.5, 6, 0, 0),
    "spawn_stop": (1, NODE, 0.5, 6, 0, 0),
    "rank_stop": (1, NODE, 0.5, 6, 0, 0),
    "agent_away": (1, NODE, 11, 14, 0, 0),  # killed, and gone for longer than until LOST
    "reboot": (1, NODE, 0, 0.5, 0, 0),
    "link_down": (3, ANY, 0.3, 13, 0, 0),
    "link_out": (2, NODE, 1, 13, 0, 0),     # one way: nothing leaves the node
    "link_in": (2, NODE, 1, 13, 0, 0),      # one way: nothing reaches it
    "loss": (3, ANY, 2, 10, 0.02, 0.25),
    "delay": (3, ANY, 2, 10, 20, 400),      # with as much jitter: frames overtake each other
    "duplicate": (2, ANY, 2, 10, 0.05, 0.5),
    "drop_request": (3, NODE, 1, 6, 0.1, 0.7),
    "drop_reply": (3, NODE, 1, 6, 0.1, 0.7),
    "deliver_and_cut": (3, NODE, 0, 0, 0, 0),
    "disk_full": (2, ANY, 1, 6, 0, 0),
    "disk_slow": (1, ANY, 2, 6, 20, 800),
    "wall_jump": (2, ANY, 2, 20, -7200, 7200),
}


def _fault(rng, at):
    kind = rng.choices(list(KINDS), [k[0] for k in KINDS.values()])[0]
    _, who, shortest, longest, least, greatest = KINDS[kind]
    node = rng.randrange(NODES)
    target = node
    if who == ONLY_LAUNCHER or (who == ANY and rng.random() < 0.3):
        target = LAUNCHER
    # Short ones more often than long ones.
    seconds = shortest + (longest - shortest) * rng.random() ** 2
    return Fault(round(at, 3), kind, target, round(seconds, 3),
                 round(rng.uniform(least, greatest), 4), round(rng.random(), 4))


def _job(rng, at, name):
    kind = rng.choices(["talk", "mpi", "sh", "ddp"], [6, 4, 2, 1])[0]
    nodes = rng.choices([1, 2, 3], [4, 4, 2])[0]
    ranks = rng.choices([1, 2], [2, 1])[0]
    job = Job(round(at, 3), name, kind, nodes, ranks, round(rng.uniform(2, 12), 2))
    if kind == "ddp":  # its start costs seconds of a core for each rank
        job.nodes, job.ranks_per_node = 2, 1
    if kind == "sh":
        job.ranks_per_node = 1
    fate = rng.random()
    if fate < 0.12 and kind == "talk":
        job.code = rng.choice([1, 2, 3, 77, 126, 255])
        job.failing_rank = rng.randrange(job.nodes * job.ranks_per_node)
    elif fate < 0.24:
        job.cancel_after = round(rng.uniform(0.1, 8), 2)
    return job


def phase(seed, number, phase_s=PHASE_S):
    """(faults, jobs) of the phase with this number, each in order of time."""
    rng = random.Random(f"{seed}/{number}")
    faults, at = [], rng.uniform(1, 3)
    while at < phase_s:
        faults.append(_fault(rng, at))
        at += rng.expovariate(1 / MEAN_BETWEEN_FAULTS_S)
    jobs, at = [], 0.0
    while at < phase_s:
        jobs.append(_job(rng, at, f"s{seed}-p{number}-{len(jobs):02}"))
        at += rng.expovariate(1 / MEAN_BETWEEN_JOBS_S)
    return faults, jobs


def as_text(seed, number):
    faults, jobs = phase(seed, number)
    lines = [f"phase {number} of seed {seed}"] + [str(f) for f in faults]
    return "\n".join(lines + [json.dumps(dataclasses.asdict(j)) for j in jobs]) + "\n"
