"""Slurm from Debian as several nodes on this machine. Needs root."""
import os
import pathlib
import subprocess
import time

from .checkout import covering

PORT = 16817
ADDRESS = "192.0.2.1/32"  # for documentation; nobody has it


class Slurm:
    def __init__(self, directory, nodes=2, cpus=16, lines=()):
        """`lines`: more of its configuration."""
        self.base = pathlib.Path(directory)
        self.nodes = [f"n{i}" for i in range(1, nodes + 1)]
        self.cpus = cpus  # that each node says to have
        self.lines = lines
        self.processes = []
        self.has_address = False

    def environment(self):
        return {**os.environ, "SLURM_CONF": str(self.base / "etc/slurm.conf")}

    def _start(self, *words, **options):
        log = open(self.base / "log" / f"{len(self.processes)}.log", "wb")
        self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                               env=self.environment(), start_new_session=True,
                                               **options))

    def _need_an_address(self):
        """Slurm resolves even 127.0.0.1 only where there is an address that is none of the loopback."""
        if not subprocess.run(["ip", "-o", "-4", "address", "show", "scope", "global"], capture_output=True,
                              check=True).stdout:
            subprocess.run(["ip", "address", "add", ADDRESS, "dev", "lo"], check=True)
            self.has_address = True

    def start(self):
        base = self.base
        self._need_an_address()
        for name in ("etc", "munge", "state", "run", "log", "tmpfs", "spool"):
            (base / name).mkdir(parents=True, exist_ok=True)
        for node in self.nodes:
            (base / "tmpfs" / node).mkdir()
            (base / "spool" / node).mkdir()
        base.chmod(0o755)
        key = base / "munge/munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        (base / "munge").chmod(0o711)
        hosts = pathlib.Path("/etc/hosts").read_text()
        hosts += "".join(f"127.0.0.{10 + i} {n}\n" for i, n in enumerate(self.nodes, 1))
        (base / "etc/hosts.ns").write_text(hosts)
        (base / "etc/slurm.conf").write_text(self._configuration())
        munge = base / "munge"
        self._start("munged", "-F", f"--socket={munge}/munge.socket", f"--key-file={key}",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed",
                    "--num-threads=4", "--force")
        self._wait(lambda: (munge / "munge.socket").exists(), "munged")
        self._start("slurmctld", "-D")
        for node in self.nodes:
            self._start("unshare", "-u", "-m", "-i", "sh", "-c",
                        f"hostname {node}; mount --bind {base}/etc/hosts.ns /etc/hosts; "
                        f"{covering('/dev/shm', '-t', 'tmpfs', 'tmpfs')}; exec slurmd -D -N {node}")
        self._wait(lambda: subprocess.run(["srun", "-N", str(len(self.nodes)), "true"],
                                          env=self.environment(), capture_output=True).returncode == 0,
                   "Slurm's nodes are idle", 60)
        return self

    def _configuration(self):
        base, host = self.base, os.uname().nodename
        lines = [
            "ClusterName=t", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={PORT}",
            f"SlurmdPort={PORT + 1}", "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge",
            f"AuthInfo=socket={base}/munge/munge.socket", "CredType=cred/munge",
            f"StateSaveLocation={base}/state", f"SlurmdSpoolDir={base}/spool/%n",
            f"SlurmctldPidFile={base}/run/slurmctld.pid", f"SlurmdPidFile={base}/run/slurmd.%n.pid",
            f"SlurmctldLogFile={base}/log/slurmctld.log", f"SlurmdLogFile={base}/log/slurmd.%n.log",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny", f"TmpFS={base}/tmpfs/%n",
            "MpiDefault=none", "SwitchType=switch/none", "SchedulerType=sched/backfill",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "SlurmdParameters=config_overrides", "ReturnToService=2", "KillWait=5",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,"
            "default_queue_depth=1000,bf_interval=1"]
        lines += [f"NodeName={n} NodeAddr=127.0.0.{10 + i} CPUs={self.cpus} State=UNKNOWN"
                  for i, n in enumerate(self.nodes, 1)]
        lines.append(f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES "
                     "MaxTime=INFINITE State=UP")
        return "\n".join([*lines, *self.lines]) + "\n"

    def run(self, *words):
        """Demands exit code 0; returns what it printed."""
        done = subprocess.run([str(word) for word in words], env=self.environment(), capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    @staticmethod
    def _wait(condition, what, deadline_s=20):
        end = time.monotonic() + deadline_s
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"{what}: not within {deadline_s} s")
            time.sleep(0.1)

    def stop(self):
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, 15)
                process.wait(timeout=10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                try:
                    os.killpg(process.pid, 9)
                except ProcessLookupError:
                    continue
        if self.has_address:
            subprocess.run(["ip", "address", "del", ADDRESS, "dev", "lo"], check=True)
