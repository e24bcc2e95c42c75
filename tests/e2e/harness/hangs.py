"""Programs whose ranks hang, or only take their time, and what `job show -o json` says of them."""
import pathlib
import shutil

from .site import BUILD, wait_until

HANG_AFTER = "12s"
FOUND_S = 150  # hang_after, two looks of ten seconds, a stack, and a busy machine
HAS_PY_SPY = (BUILD / "bin" / "tools" / "py-spy").exists()

# Ranks 0 and 2 of a node connect to its rank 1.
MEET = """
def meet():
    if rank == 1:
        server = socket.create_server(("127.0.0.1", 0))
        with open("port.part", "w") as port:
            port.write(str(server.getsockname()[1]))
        os.rename("port.part", "port")
        return [server.accept()[0] for _ in range(2)]
    while not os.path.exists("port"):
        time.sleep(0.05)
    return socket.create_connection(("127.0.0.1", int(open("port").read())))
"""

# Three ranks of one node. Ranks 0 and 2 wait for a byte of rank 1, which does as its argument says.
RING = """
import os, socket, sys, threading, time
rank = int(os.environ["LOCKSTEP_RANK"])

MEET

def hang():
    how = sys.argv[1]
    if how == "loop":
        while True:
            pass
    if how == "read":
        os.read(os.open("never", os.O_RDWR), 1)
    if how == "lock":
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    while True:
        time.sleep(0.2)  # until it is stopped

if rank == 1:
    peers = meet()
    for peer in peers:
        peer.sendall(b"x")
    print("all met", flush=True)
    hang()
else:
    peer = meet()
    peer.recv(1)
    peer.recv(1)
"""

# Of an MPI job; rank 1 differs.
MPI = """
import os, sys, threading, time
how = sys.argv[1]
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
if how == "no-init" and rank == 1:
    os.read(os.open("never", os.O_RDWR), 1)
from mpi4py import MPI
world = MPI.COMM_WORLD
world.allreduce(1)
if rank == 0:
    print("all met", flush=True)
if rank == 1 and how == "loop":
    while True:
        pass
if rank == 1 and how == "read":
    os.read(os.open("never", os.O_RDWR), 1)
if rank == 1 and how == "lock":
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
if rank == 1 and how == "stop":
    time.sleep(1)
    os.kill(os.getpid(), 19)
if not (rank == 1 and how == "skip"):
    world.Barrier()
"""

# Rank 1 leaves out an all-reduce, and then waits for rank 0, which is in it.
DDP = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
for step in range(3):
    model(torch.ones(2, 4)).sum().backward()
print("all met", flush=True)
if rank != 1:
    dist.all_reduce(torch.ones(1))
else:
    dist.recv(torch.ones(1), src=0)
"""

OVER_TCP = """
from mpi4py import MPI
world = MPI.COMM_WORLD
world.allreduce(1)
if world.rank == 0:
    print("all met", flush=True)
while True:
    world.allreduce(world.rank)
"""


# Ranks 0 and 2 wait for rank 1 all that time.
TAKES_TIME = """
import os, socket, subprocess, sys, time
rank = int(os.environ["LOCKSTEP_RANK"])
how, until = sys.argv[1], time.monotonic() + float(sys.argv[2])

MEET

# A lock that is taken for ever as far as the threads tell, and is let go by something else.
def alarm():
    import queue, signal
    def over(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, over)
    signal.alarm(int(until - time.monotonic()))
    try:
        queue.Queue().get()
    except TimeoutError:
        pass

def serve():
    import http.server, queue, threading
    asked = queue.Queue()
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.put(1)
            self.send_response(200)
            self.end_headers()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask = "import sys, time, urllib.request; time.sleep(float(sys.argv[1])); urllib.request.urlopen(sys.argv[2])"
    later = [sys.executable, "-c", ask, str(until - time.monotonic()), f"http://127.0.0.1:{server.server_port}"]
    subprocess.run(["sh", "-c", '"$@" &', "sh", *later])  # no child of this rank
    asked.get()

def helper():
    import signal
    stopped = subprocess.Popen(["sleep", "500"])
    os.kill(stopped.pid, signal.SIGSTOP)
    time.sleep(0.1)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(stopped.pid, signal.SIGKILL))
    signal.alarm(int(until - time.monotonic()))
    stopped.wait()

FREED = {"alarm": alarm, "serve": serve, "helper": helper}

def work():
    if how == "compile":
        with open("big.c", "w") as code:
            for i in range(2_000):
                code.write(f"int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; ++i) s += i * {i + 1} ^ x; return s; }}\\n")
    if how == "load":
        with open("data", "wb") as data:
            data.write(b"x" * (64 << 20))
    if how == "sleep":
        time.sleep(until - time.monotonic())
    if how in FREED:
        FREED[how]()
    while time.monotonic() < until:
        if how == "compile":
            subprocess.run(["cc", "-O2", "-x", "c", "-c", "-o", "/dev/null", "big.c"], check=True)
        elif how == "load":
            with open("data", "rb") as data:
                while data.read(1 << 20):
                    time.sleep(0.05)
        else:
            sum(i * i for i in range(100_000))

if rank == 1:
    peers = meet()
    print("all met", flush=True)
    work()
    for peer in peers:
        peer.sendall(b"x")
else:
    meet().recv(1)
"""


def write_programs(site):
    for name, text in (("ring.py", RING), ("mpi.py", MPI), ("ddp.py", DDP), ("tcp.py", OVER_TCP), ("slow.py", TAKES_TIME)):
        text = text.replace("\nMEET\n", MEET)
        compile(text, name, "exec")  # a slip is seen at once
        site.write(name, text)


def give_tools(bin_directory):
    """py-spy, where it could be fetched, to the node's programs."""
    tools = pathlib.Path(bin_directory) / "tools"
    if HAS_PY_SPY and not tools.exists():
        shutil.copytree(BUILD / "bin" / "tools", tools)


def submit(site, name, *words, nodes=1, ranks=3, kind=None, after=HANG_AFTER, flags=()):
    """Its ranks have a pipe that nobody writes to, and that does not travel with the sources."""
    flags = [*flags, *(["--distribution", kind] if kind else [])]
    script = f"mkfifo never 2>/dev/null; exec /usr/bin/python3 {' '.join(words)}"
    site.submit("--name", name, "-N", str(nodes), "-n", str(ranks), "--hang-after", after, *flags, "--",
                 "sh", "-c", script)
    return name


def met(site, name):
    wait_until(lambda: b"all met" in site.logs(name), f"the ranks of {name} have met", FOUND_S)


def found_of(site, name):
    attempts = site.show(name)["attempts"]
    return attempts[-1]["found"] if attempts else []


def find(site, name, kind, verdict):
    """The finding of this kind, once its verdict is so."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    got = []

    def there():
        got[:] = found_of(site, name)
        return [one for one in got if one["kind"] in kinds and one["verdict"] == verdict]
    try:
        return wait_until(there, f"{name}: {kind} is found", FOUND_S)[0]
    except AssertionError as error:
        raise AssertionError(f"{error}; found: {got}\n{site.diagnosis()}") from None


def end(site, *names):
    for name in names:
        site.run("job", "cancel", name)
    for name in names:
        site.wait_for_status(name, "Canceled", "Failed", "Completed")


def names(found):
    return [rank["rank"] for rank in found["ranks"]]


def judge_words(site, name, found):
    """What people read has the rank, its node and what to do; an alarm says so. The numbers grow meanwhile."""
    first = found["ranks"][0]
    assert found["remedy"] and found["text"].startswith("hang: ") == (found["verdict"] == "hangs"), found
    for text in (found["text"], site.ok("job", "explain", name), site.ok("job", "show", name)):
        assert f"rank {first['rank']}" in text or f"ranks {first['rank']}" in text, (found, text)
        assert first["node_name"] in text, (found, text)
    label = "hang" if found["verdict"] == "hangs" else "found"
    assert any(line.split()[:1] == [f"{label}:"] for line in site.ok("job", "show", name).splitlines()), (label, found)


def stack_of(found):
    """Where the first rank is, by file and line; None: without py-spy nobody knows lines of Python."""
    return (found["ranks"][0]["at"] or "") if HAS_PY_SPY else None


def events_of(site, name):
    return [event["what"] for event in site.json("job", "events", name)]
