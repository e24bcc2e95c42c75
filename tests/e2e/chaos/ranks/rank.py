"""A rank that keeps its own account, outside of Lockstep, of all that it does.

usage: rank.py WITNESS KIND SECONDS [CODE RANK]
KIND: talk, mpi, ddp; the rank RANK ends with CODE. What it did lies in
WITNESS/<job>/<attempt>/rank_<k>.<unique>/:
  start.json     who it is, where, when; which ranks of earlier attempts were alive then
  alive          locked (flock) as long as this process or a child of it lives
  stdout stderr  what it is about to write, always before it writes it
  counts         two 64-bit integers, mapped: how many bytes write(2) took, of each
  library.txt    what MPI and torch say of themselves: not ours, so not sent through Lockstep
  outputs.json   sha256 of each file in ./outputs, when that file is complete
  end.json       the exit code, and why when it is an exception; the last thing that it does
"""
import fcntl
import hashlib
import json
import mmap
import os
import pathlib
import random
import struct
import sys
import time

CHUNK_PAUSE_S = 0.01
LONG_LINE = 100_000


class Witness:
    def __init__(self, root):
        self.job = os.environ["LOCKSTEP_JOB"]
        self.attempt = int(os.environ["LOCKSTEP_ATTEMPT"])
        self.rank = int(os.environ["LOCKSTEP_RANK"])
        self.world = int(os.environ["LOCKSTEP_WORLD_SIZE"])
        self.random = random.Random(f"{self.job} {self.attempt} {self.rank}")
        job = pathlib.Path(root) / self.job
        self.home = job / str(self.attempt) / f"rank_{self.rank}.{os.getpid()}-{time.monotonic_ns()}"
        self.home.mkdir(parents=True)
        self._alive = open(self.home / "alive", "w")
        fcntl.flock(self._alive, fcntl.LOCK_EX)
        os.set_inheritable(self._alive.fileno(), True)
        self.streams = [os.dup(1), os.dup(2)]
        library = os.open(self.home / "library.txt", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        for stream in (1, 2):
            os.dup2(library, stream)
        self.copies = [open(self.home / name, "ab", buffering=0) for name in ("stdout", "stderr")]
        with open(self.home / "counts", "wb") as file:
            file.write(bytes(16))
        with open(self.home / "counts", "r+b") as file:
            self.counts = mmap.mmap(file.fileno(), 16)
        self._save("start.json", {"job": self.job, "attempt": self.attempt, "rank": self.rank,
                                  "world": self.world, "host": os.uname().nodename,
                                  "time": time.monotonic(), "others": self._others(job)})
        self.hashes = {}

    def _save(self, name, value):
        beside = self.home / (name + ".part")
        beside.write_text(json.dumps(value))
        beside.rename(self.home / name)

    def _others(self, job):
        """Ranks of earlier attempts of this job that live now: [[attempt, rank, host]]."""
        alive = []
        for start in job.glob("*/*/start.json"):
            other = json.loads(start.read_text())
            if other["attempt"] >= self.attempt:
                continue
            with open(start.parent / "alive") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    alive.append([other["attempt"], other["rank"], other["host"]])
        return alive

    def say(self, data, stream=0):
        self.copies[stream].write(data)
        while data:
            taken = os.write(self.streams[stream], data)
            data = data[taken:]
            counted = struct.unpack_from("q", self.counts, 8 * stream)[0] + taken
            struct.pack_into("q", self.counts, 8 * stream, counted)

    def chatter(self, number):
        """One piece of output: mostly a line, at times binary, half a line, or a very long one."""
        body = f"rank {self.rank} line {number} ".encode()
        body += hashlib.sha256(body).hexdigest()[:16].encode()
        kind = self.random.random()
        if kind < 0.02:
            body += b"x" * LONG_LINE
        elif kind < 0.1:
            body += self.random.randbytes(200)
        self.say(body if 0.1 <= kind < 0.15 else body + b"\n", int(self.random.random() < 0.2))

    def keep(self, name, data):
        path = pathlib.Path("outputs") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.hashes[name] = hashlib.sha256(data).hexdigest()
        self._save("outputs.json", self.hashes)

    def leave(self, code, error=""):
        self._save("end.json", {"code": code, "time": time.monotonic(), "error": error})
        os._exit(code)


def talk(witness, seconds):
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        witness.chatter(number)
        number += 1
        time.sleep(CHUNK_PAUSE_S)


def mpi(witness, seconds):
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    assert (world.rank, world.size) == (witness.rank, witness.world), (world.rank, world.size)
    number, more = 0, True
    end = time.monotonic() + seconds
    while more:
        total = world.allreduce(world.rank + number)
        assert total == sum(range(world.size)) + number * world.size, total
        witness.chatter(number)
        number += 1
        time.sleep(CHUNK_PAUSE_S)
        more = world.bcast(time.monotonic() < end, root=0)
    MPI.Finalize()


def ddp(witness, seconds):
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo")
    assert (dist.get_rank(), dist.get_world_size()) == (witness.rank, witness.world)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(witness.rank)
    steps = max(5, int(seconds * 5))
    for number in range(steps):
        optimizer.zero_grad()
        loss = model(torch.rand(4, 8, generator=generator)).square().mean()
        loss.backward()
        optimizer.step()
        witness.chatter(number)
        time.sleep(seconds / steps)
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    most, least = flat.clone(), flat.clone()
    dist.all_reduce(most, dist.ReduceOp.MAX)
    dist.all_reduce(least, dist.ReduceOp.MIN)
    assert torch.equal(most, least), "the ranks' parameters differ"
    dist.destroy_process_group()


def run(witness):
    code, failing = (int(sys.argv[4]), int(sys.argv[5])) if len(sys.argv) > 5 else (0, -1)
    {"talk": talk, "mpi": mpi, "ddp": ddp}[sys.argv[2]](witness, float(sys.argv[3]))
    if failing < 0:
        witness.keep(f"rank_{witness.rank}.bin", witness.random.randbytes(10_000))
        witness.keep(f"deep/er/of_{witness.rank}.txt", f"{witness.rank}\n".encode())
    if failing == witness.rank:
        witness.leave(code)
    if failing >= 0:
        time.sleep(600)  # until it is terminated
    witness.leave(0)


def main():
    witness = Witness(sys.argv[1])
    try:
        run(witness)
    except BaseException as error:
        witness.leave(1, repr(error))


if __name__ == "__main__":
    main()
