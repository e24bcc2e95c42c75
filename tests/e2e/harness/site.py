"""A Lockstep installation for one test: a home of its own, a launcher, local nodes."""
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build"))
PROGRAMS = BUILD / "tests" / "programs"
DEADLINE_S = 120.0


def wait_until(condition, what, deadline_s=DEADLINE_S):
    """Waits for `condition()` to be true and returns its value; fails by name after the deadline."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {deadline_s} s: {what}")


class Site:
    """Runs `lockstep …` with LOCKSTEP_HOME in `directory`, as `user` (None: whoever we are)."""

    def __init__(self, directory, user=None, bin_directory=None):
        self.directory = pathlib.Path(directory)
        self.user = user
        self.home = self.directory / "home"
        self.work = self.directory / "work"
        for path in (self.home, self.work):
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o755)
        self.bin = pathlib.Path(bin_directory or BUILD / "bin")
        if user:
            entry = pwd.getpwnam(user)
            for path in (self.directory, self.home, self.work):
                os.chown(path, entry.pw_uid, entry.pw_gid)

    def environment(self):
        entry = pwd.getpwnam(self.user) if self.user else pwd.getpwuid(os.getuid())
        return {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name,
                "PATH": f"{self.bin}:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
                # Hosts of a test are parts of this machine, and each offers all of it.
                "LOCKSTEP_SHARED_MACHINES": "1",
                "LOCKSTEP_HOME": str(self.home), "TERM": "dumb"}

    def _argv(self, words):
        prefix = []
        if self.user:
            entry = pwd.getpwnam(self.user)
            prefix = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}",
                      "--init-groups"]
        return prefix + [str(self.bin / "lockstep")] + [str(w) for w in words]

    def run(self, *words, cwd=None, timeout=DEADLINE_S, env=None, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE):
        """Runs to the end; returns CompletedProcess with bytes in stdout and stderr."""
        return subprocess.run(self._argv(words), cwd=cwd or self.work, stdin=stdin,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=timeout,
                              env={**self.environment(), **(env or {})}, check=False)

    def start(self, *words, cwd=None, **options):
        """Starts and returns Popen; the caller waits for it."""
        return subprocess.Popen(self._argv(words), cwd=cwd or self.work, env=self.environment(),
                                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                   "stderr": subprocess.PIPE, **options})

    def ok(self, *words, **options):
        """Runs and demands exit code 0; returns stdout as text."""
        done = self.run(*words, **options)
        assert done.returncode == 0, (
            f"lockstep {' '.join(map(str, words))} exited {done.returncode}\n"
            f"{done.stdout.decode(errors='replace')}\n{done.stderr.decode(errors='replace')}\n"
            f"{self.diagnosis()}")
        return done.stdout.decode(errors="replace")

    def json(self, *words):
        return json.loads(self.ok(*words, "-o", "json"))

    def up(self, nodes=2):
        self.ok("up", "--nodes", str(nodes))
        return self

    def show(self, name):
        return self.json("job", "show", name)

    def wait_for_status(self, name, *statuses, deadline_s=DEADLINE_S):
        return wait_until(lambda: (job := self.show(name))["status"] in statuses and job,
                          f"job {name} is {' or '.join(statuses)}", deadline_s)

    def submit(self, *words, **options):
        """`run --detach`: returns the job's name."""
        text = self.ok("run", "--detach", "-o", "json", *words, **options)
        return json.loads(text)["name"]

    def logs(self, name, *words):
        return self.run("job", "logs", name, *words).stdout

    def write(self, name, text, mode=0o644):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)
        return path

    def example(self, name):
        """Copies one of the examples into the work directory: the checkout may be closed to the site's user."""
        shutil.copytree(ROOT / "examples" / name, self.work / name,
                        ignore=shutil.ignore_patterns("build-cc", "__pycache__"))
        subprocess.run(["chmod", "-R", "a+rX", self.work / name], check=True)
        return self.work / name

    def install_program(self, name):
        """Copies a compiled test program into the work directory (it travels with the snapshot)."""
        shutil.copy(PROGRAMS / name, self.work / name)
        return f"./{name}"

    # ---- the parts, for killing --------------------------------------------------------------
    def _pids(self, program, needle):
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            if stat.rpartition(")")[2].split()[:1] == ["Z"]:
                continue
            if os.path.basename(words[0]).decode() == program and needle in b" ".join(words).decode():
                found.append(int(entry))
        return found

    def launcher_pids(self):
        return self._pids("lockstepd", str(self.home))

    def agent_pids(self, node=""):
        return self._pids("lockstep-agent", f"{self.home}/nodes/{node}" if node else str(self.home))

    def runner_pids(self, job=""):
        return [p for p in self._pids("lockstep-runner", str(self.home))
                if not job or f"/{job}." in pathlib.Path(f"/proc/{p}/cmdline").read_bytes().decode()]

    def rank_pids(self, job):
        """{rank: pid} of the processes that have the job's id in their environment."""
        found = {}
        for entry in os.listdir("/proc"):
            try:
                data = pathlib.Path(f"/proc/{entry}/environ").read_bytes() if entry.isdigit() else b""
            except OSError:
                continue
            variables = dict(v.split(b"=", 1) for v in data.split(b"\0") if b"=" in v)
            if variables.get(b"AZUREML_RUN_ID") == job.encode():
                rank = int(variables[b"AZUREML_PROCESS_NAME"].rpartition(b"_")[2])
                found.setdefault(rank, int(entry))
        return found

    @staticmethod
    def command_of(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            return "(gone)"

    def kill(self, pids, sig=signal.SIGKILL):
        assert pids, "nothing to kill"
        for pid in pids:
            os.kill(pid, sig)
        if sig == signal.SIGKILL:
            wait_until(lambda: not any(alive(p) for p in pids), f"{pids} are gone")

    def diagnosis(self):
        """Tails of all daemons' logs, for a failing test's message."""
        parts = []
        for path in sorted(self.home.rglob("*.log")):
            tail = path.read_bytes()[-2500:].decode(errors="replace")
            parts.append(f"--- {path}\n{tail}")
        return "\n".join(parts)[-12000:]

    def down(self):
        if self.launcher_pids() or self.agent_pids():
            self.ok("down", "--cancel")
        # A runner may need a moment to leave after its final report.
        end = time.monotonic() + 5
        while self.runner_pids() and time.monotonic() < end:
            time.sleep(0.05)


def alive(pid):
    """False once no thread runs: a dead leader is a zombie while its threads still hold its files."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        stats = [pathlib.Path(f"/proc/{pid}/task/{t}/stat").read_text() for t in threads]
    except OSError:
        return os.path.exists(f"/proc/{pid}/task")
    return any(stat.rpartition(")")[2].split()[:1] != ["Z"] for stat in stats)
