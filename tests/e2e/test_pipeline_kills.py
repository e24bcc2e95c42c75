"""kill -9 of the launcher and of agents, ten times while a pipeline of twenty steps runs.

Nobody ends a runner, so each rank runs once, and all that comes out is what comes out without kills. The moments and
the victims come from a seed, which LOCKSTEP_KILLS_SEED changes: a failure prints the one that it had.
"""
import hashlib
import json
import os
import random
import time

import pytest
from harness.site import wait_until

SEED = int(os.environ.get("LOCKSTEP_KILLS_SEED", "20"))
NODES, KILLS = 3, 10
PIPELINE = "p"
LAST = "last"
LINES = 5  # that each rank prints

# step.sh NAME SECONDS OUTPUT [INPUT…]: reads its inputs, and writes to its output, as `Expected` does. The files in
# $KEPT are outside of Lockstep: `ran` has a line for each begin and each end of a rank.
STEP = r"""
name=$1 pause=$2 out=$3 rank=$LOCKSTEP_NODE_RANK
shift 3
echo "begin $name $rank" >> "$KEPT/ran"
files() { find -L "$1" -type f | LC_ALL=C sort; }
digest() { files "$1" | while read -r file; do echo "${file#"$1"}"; cat "$file"; done | sha256sum; }
for i in 1 2 3 4 5; do echo "$name $rank line $i"; sleep "$pause"; done
text() { echo "$name $1"; for input in "$@"; do [ "$input" = "$1" ] || digest "$input"; done; }
if [ "$name" = mid.table ]; then
  text both "$@" > "$out"
else
  mkdir "$out/deep"
  text both "$@" > "$out/both"
  text "$rank" "$@" > "$out/$rank"
  files "$1" | while read -r file; do cat "$file"; done |
    LC_ALL=C tr '\000-\377' '\001-\377\000' > "$out/deep/$rank.bytes"
fi
mkdir -p outputs
echo "$name $rank" > "outputs/kept-$rank"
if [ "$name" = last ]; then until [ -e "$KEPT/all-killed" ]; do sleep 0.05; done; fi
echo "$name $rank is done" >&2
echo "end $name $rank" >> "$KEPT/ran"
"""

# What each step reads, in layers: a step of the pipeline `mid`, or of `mid.deep` in it, has their names before its own.
READS = {
    "a0": ["faces"], "a1": ["faces", "salt"], "a2": ["salt"], "a3": ["faces"],
    "mid.b0": ["a0", "a1"], "mid.b1": ["a1", "a2"], "mid.b2": ["a2", "a3"], "mid.b3": ["a3", "a0"],
    "mid.all": ["mid.b0", "mid.b1", "mid.b2", "mid.b3"], "mid.table": ["mid.b1", "mid.b2"],
    "mid.deep.d0": ["mid.all", "mid.table"], "mid.deep.d1": ["mid.table"],
    "e0": ["mid.deep.d0"], "e1": ["mid.deep.d1"], "e2": ["mid.deep.d0", "mid.deep.d1"], "e3": ["mid.table"],
    "e4": ["a0", "mid.deep.d0"], "e5": ["salt", "mid.all"],
    "gather": ["e0", "e1", "e2", "e3", "e4", "e5"],
    LAST: ["gather", "mid.deep.d1", "gather/artifacts"],
}
ON_TWO_NODES = ("a1", "mid.b3", "mid.all", "e5", "gather")
FILES = ("salt", "mid.table")  # of type uri_file; all others are folders
RANKS = [(step, rank) for step in READS for rank in range(2 if step in ON_TWO_NODES else 1)]


def inner(step):
    return step.rpartition(".")[2]


def kind(source):
    return {"type": "uri_file" if source in FILES else "uri_folder"}


class Pipeline:
    """The job file, as Python's lists and dictionaries; JSON is YAML."""

    def __init__(self, chance, kept):
        self.chance, self.kept = chance, kept

    def document(self):
        return {
            "type": "pipeline", **self.body(""), "inputs": {"faces": {**kind("faces"), "path": "./faces"},
                                                            "salt": {**kind("salt"), "path": "./salt"}},
            "outputs": {"result": "${{parent.jobs.last.outputs.o}}", "table": "${{parent.jobs.mid.outputs.table}}"}}

    def body(self, around):
        """The steps of the pipeline `around` ("mid."), and what that reads and writes."""
        own = [s for s in READS if s.startswith(around) and "." not in s[len(around):]]
        jobs = {inner(step): self.step(around, step) for step in own}
        for nested in dict.fromkeys(s[len(around):].split(".")[0] for s in READS
                                    if s.startswith(around) and s not in own):
            jobs[nested] = self.nested(around, nested)
        return {"jobs": jobs}

    def nested(self, around, name):
        below = f"{around}{name}."
        read = dict.fromkeys(r for s, reads in READS.items() if s.startswith(below)
                             for r in reads if not r.startswith(below))
        written = dict.fromkeys(r for s, reads in READS.items() if not s.startswith(below)
                                for r in reads if r.startswith(below))
        return {"type": "pipeline", **self.body(below),
                "inputs": {inner(r): self.bound(around, r) for r in read},
                "outputs": {inner(w): "${{parent.jobs.%s}}" % self.output(below, w) for w in written}}

    def step(self, around, step):
        inputs = {f"i{i}": self.bound(around, source) for i, source in enumerate(READS[step])}
        words = [step, f"{self.chance.uniform(0.02, 0.2):.3f}", "${{outputs.o}}", *("${{inputs.%s}}" % i for i in inputs)]
        return {"command": "sh step.sh " + " ".join(words), "code": "./code", "inputs": inputs,
                "outputs": {"o": kind(step), "artifacts": None},
                "resources": {"instance_count": 2 if step in ON_TWO_NODES else 1},
                "lockstep": {"resources": {"cpus": 1, "memory": "50M", "gpus": 0}},
                "environment_variables": {"KEPT": str(self.kept)}}

    def bound(self, around, source):
        if not source.startswith(around) or source in ("faces", "salt"):
            return "${{parent.inputs.%s}}" % inner(source)
        return "${{parent.jobs.%s}}" % self.output(around, source)

    @staticmethod
    def output(around, source):
        """STEP.outputs.NAME, of a step in the pipeline `around` or of a pipeline in it."""
        step, _, artifacts = source[len(around):].partition("/")
        if "." in step:
            return f"{step.split('.')[0]}.outputs.{inner(step)}"
        return f"{step}.outputs.{artifacts or 'o'}"


class Expected:
    """What each step writes: {path in its output: bytes}; the path of a file that is the output is ""."""

    def __init__(self, faces, salt):
        self.written = {"faces": faces, "salt": {"": salt}}
        for step in READS:
            self.written[step] = self.output(step)
            self.written[f"{step}/artifacts"] = self.artifacts(step)

    @staticmethod
    def ranks(step):
        return [rank for one, rank in RANKS if one == step]

    def output(self, step):
        both = self.text(step, "both")
        if step in FILES:
            return {"": both}
        rotated = bytes((byte + 1) % 256 for byte in range(256))
        first = b"".join(data for _, data in self.files(READS[step][0])).translate(rotated)
        found = {"both": both}
        for rank in self.ranks(step):
            found |= {f"{rank}": self.text(step, rank), f"deep/{rank}.bytes": first}
        return found

    def artifacts(self, step):
        return {f"outputs/kept-{rank}": f"{step} {rank}\n".encode() for rank in self.ranks(step)}

    def downloaded(self, step):
        """A file has the name of the step's output."""
        return {path or "o": data for path, data in self.written[step].items()}

    def files(self, source):
        named = {f"/{path}" if path else "": data for path, data in self.written[source].items()}
        return sorted(named.items(), key=lambda item: item[0].encode())

    def text(self, step, who):
        lines = [f"{step} {who}"]
        for source in READS[step]:
            data = b"".join(f"{path}\n".encode() + data for path, data in self.files(source))
            lines.append(hashlib.sha256(data).hexdigest() + "  -")
        return ("\n".join(lines) + "\n").encode()


def at(folder):
    """{path below it: bytes}."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def victims(site, chance):
    """Processes to kill, and how they are called."""
    launcher, agents = site.launcher_pids(), {f"local-{n}": site.agent_pids(f"local-{n}") for n in range(NODES)}
    node = chance.choice(sorted(agents))
    choice = chance.random()
    if choice < 0.35:
        return launcher, "launcher"
    if choice < 0.7:
        return agents[node], node
    if choice < 0.9:
        return launcher + agents[node], f"launcher and {node}"
    return launcher + sum(agents.values(), []), "all"


def kill_ten_times(site, chance, kept):
    """Kills are spread over the pipeline by how many lines `ran` has. The last step waits for the last kill."""
    ran = kept / "ran"
    moments = sorted(chance.randrange(2 * len(RANKS) - 1) for _ in range(KILLS))
    for number, lines in enumerate(moments):
        wait_until(lambda: len(ran.read_text().splitlines()) >= lines, f"kill {number}: there are {lines} lines")
        time.sleep(chance.uniform(0, 0.5))  # to any moment of a step
        pids, names = victims(site, chance)
        print(f"kill {number}, at {len(ran.read_text().splitlines())} lines: {names}", flush=True)
        site.kill(pids)
        if number == KILLS - 1:
            (kept / "all-killed").touch()
        time.sleep(chance.uniform(0, 1))  # a step may begin or end before they are back
        site.up(NODES)


@pytest.fixture
def kept(site):
    """Outside of Lockstep: `ran`, and the flag of the last step."""
    folder = site.directory / "kept"
    folder.mkdir()
    (folder / "ran").touch()
    return folder


def create(site, chance, kept):
    """Writes the pipeline with its inputs, submits it, and returns what its steps shall write."""
    faces = {f"{name}.bin": chance.randbytes(chance.randrange(1, 30_000)) for name in ("a", "b/c", "b/d", "z")}
    salt = b"".join(b"%d\n" % chance.randrange(10**9) for _ in range(100))
    for name, data in faces.items():
        site.write(f"faces/{name}", "").write_bytes(data)
    site.write("salt", "").write_bytes(salt)
    site.write("code/step.sh", STEP)
    site.write("pipeline.yml", json.dumps(Pipeline(chance, kept).document(), indent=1))
    site.ok("job", "create", "-f", "pipeline.yml", "--name", PIPELINE)
    return Expected(faces, salt)


def job_of(step):
    return f"{PIPELINE}_{step.replace('.', '_')}"


def check_jobs(site, whole, kept):
    """Each step: one job, one attempt, each rank once."""
    assert len(READS) == 20 and whole["status"] == "Completed", whole["report"]
    assert {name: step["phase"] for name, step in whole["jobs"].items()} == dict.fromkeys(READS, "Completed")
    listed = [job["name"] for job in site.json("job", "list", "--parent", PIPELINE, "--all-results")]
    assert sorted(listed) == sorted(map(job_of, READS))
    attempts = {name: [attempt.get("report") for attempt in site.show(name)["attempts"]] for name in listed}
    assert all(len(those) == 1 for those in attempts.values()), attempts
    assert sorted((kept / "ran").read_text().splitlines()) == sorted(
        f"{what} {step} {rank}" for step, rank in RANKS for what in ("begin", "end"))


def printed(step, rank):
    return [f"{step} {rank} line {i + 1}" for i in range(LINES)]


def check_files(site, expected):
    """What all steps left, and what they printed, byte by byte."""
    site.ok("job", "download", PIPELINE, "--all", "-p", "got")
    got = site.work / "got" / PIPELINE
    assert at(got / "named-outputs" / "result") == expected.downloaded(LAST)
    assert at(got / "named-outputs" / "table") == expected.downloaded("mid.table")
    for step in READS:
        assert at(got / step / "named-outputs" / "o") == expected.downloaded(step), step
        left = at(got / step / "artifacts")
        logs = {}
        for rank in expected.ranks(step):
            logs[f"user_logs/std_log_process_{rank}.txt"] = "".join(f"{line}\n" for line in printed(step, rank)).encode()
            logs[f"user_logs/std_err_process_{rank}.txt"] = f"{step} {rank} is done\n".encode()
        assert left == expected.artifacts(step) | logs, step


def check_stream(stream):
    """It went through all the restarts, and each line came once, in the order of its rank."""
    out, err = stream.communicate(timeout=120)
    assert stream.returncode == 0, err.decode()
    came = {}
    for line in out.decode().splitlines():
        shown, _, text = line.partition(" | ")
        step, _, rank = shown.strip().partition(":")
        came.setdefault((step, int(rank or 0)), []).append(text)
    assert came == {(step, rank): printed(step, rank) for step, rank in RANKS}, err.decode()


@pytest.mark.parametrize("watched", [False, True], ids=["alone", "watched"])
def test_ten_kills_in_the_middle_of_twenty_steps_change_nothing(site, kept, watched):
    """Once more with a `job stream`, which by itself starts again what was killed."""
    print(f"LOCKSTEP_KILLS_SEED={SEED}")
    chance = random.Random(SEED)
    site.up(NODES)
    expected = create(site, chance, kept)
    stream = site.start("job", "stream", PIPELINE) if watched else None
    try:
        kill_ten_times(site, chance, kept)
        whole = site.wait_for_status(PIPELINE, "Completed", "Failed", "Canceled")
        check_jobs(site, whole, kept)
        check_files(site, expected)
        if watched:
            check_stream(stream)
    finally:
        if watched and stream.poll() is None:
            stream.kill()
            stream.communicate()
