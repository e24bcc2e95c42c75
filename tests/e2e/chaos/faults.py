"""Does to a WiredCluster what a schedule says, undoes it, and keeps a journal of what was really hit."""
import os
import pathlib
import re
import signal
import struct
import time

from harness.site import alive, wait_until

from .schedule import LAUNCHER

RUNNER, SPAWN = "lockstep-runner", "lockstep-spawn"
WINDOW_S = 1.0  # how long a stopped daemon is waited for to owe an acknowledgement


def written(counts):
    """Bytes that the rank's write(2) took: (stdout, stderr)."""
    try:
        return struct.unpack("qq", counts.read_bytes())
    except (OSError, struct.error):
        return (0, 0)


class Faults:
    def __init__(self, cluster, witness, log):
        self.cluster, self.witness, self.log = cluster, pathlib.Path(witness), log
        self.journal = []      # dicts: what was hit, for the oracle
        self.lasting = []      # (until, what is hit, how to undo it)
        self.down_until = {}   # machine name -> monotonic time
        self.killed_daemon = set()

    # ---- the schedule's kinds ----------------------------------------------------------------
    def begin(self, fault):
        nodes = self.cluster.nodes
        machines = [self.cluster.launcher] if fault.target == LAUNCHER else [nodes[fault.target]]
        if fault.kind.startswith(("runner_", "spawn_", "rank_")):  # on the next node that has one
            machines = nodes[fault.target:] + nodes[:fault.target]
        for machine in machines:
            try:
                hit = getattr(self, "_" + fault.kind)(machine, fault)
            except ProcessLookupError:
                hit = None
            if hit is not None:
                break
        else:
            self.log(f"{fault.kind}: nothing there to hit")
            return
        entry = {"time": time.monotonic(), "kind": fault.kind, "machine": machine.name,
                 "seconds": fault.seconds, "value": fault.value}
        entry.update(hit)
        self.journal.append(entry)
        self.log(f"{fault.kind} {machine.name} {fault.seconds:g} s {fault.value:g} {hit or ''}")

    def tick(self):
        now = time.monotonic()
        for item in [i for i in self.lasting if i[0] <= now]:
            self.lasting.remove(item)
            item[2]()

    def heal(self):
        for _, _, undo in self.lasting:
            undo()
        self.lasting.clear()
        self.down_until.clear()
        for machine in self.cluster.machines:
            machine.link("up")
            machine.free_disk()
            machine.skew(wall_s=0, sync_s=0)
            machine.cable("out")
            machine.cable("in")
        self.cluster.order_proxy(drop_request=0, drop_reply=0, cut=0)
        for node in self.cluster.nodes:
            self.cluster.order_proxy(name=node.address, drop_request=0, drop_reply=0, cut=0)

    def _lasts(self, fault, what, undo):
        """`what` is hit until then; a later fault of the same takes over."""
        self.lasting = [item for item in self.lasting if item[1] != what]
        self.lasting.append((time.monotonic() + fault.seconds, what, undo))
        return {}

    # ---- kill and stop -----------------------------------------------------------------------
    def owed(self, machine):
        """Bytes that ranks (on this node; of all, for the launcher) wrote and the launcher's log store
        does not have: surely unacknowledged."""
        total = 0
        for start in self.witness.glob("*/*/rank_*/start.json"):
            if (start.parent / "end.json").exists():
                continue
            if machine is not self.cluster.launcher and \
                    f'"host": "{machine.name}"' not in start.read_text():
                continue
            job, attempt, rank = start.parts[-4], start.parts[-3], start.parts[-2].split(".")[0]
            for name, size in zip(("stdout", "stderr"), written(start.parent / "counts")):
                stored = self.cluster.launcher.home / "logs" / job / attempt / f"{rank}.{name}"
                have = stored.stat().st_size if stored.exists() else 0
                total += max(0, size - have)
        return total

    def _kill_daemon(self, machine, fault):
        pid = machine.daemon_pid()
        if not pid:
            return None
        owed = 0
        if fault.pick < 0.7:  # into the window between a write and its acknowledgement
            os.kill(pid, signal.SIGSTOP)
            end = time.monotonic() + WINDOW_S
            while not (owed := self.owed(machine)) and time.monotonic() < end:
                time.sleep(0.02)
        self.down_until[machine.name] = time.monotonic() + fault.seconds
        self.killed_daemon.add(machine.name)
        machine.kill_daemon()
        return {"owed": owed}

    _agent_kill = _launcher_kill = _agent_away = _kill_daemon

    def _reboot(self, machine, fault):
        self.down_until[machine.name] = time.monotonic() + fault.seconds
        self.killed_daemon.add(machine.name)
        machine.reboot()
        return {}

    @staticmethod
    def _choose(found, fault):
        return found[int(fault.pick * len(found))] if found else None

    def _part(self, machine, program, fault):
        """(pid, hit) of a runner or spawn; the attempt stands in its, or its parent's, command line."""
        chosen = self._choose(machine.programs(program), fault)
        if not chosen:
            return None, None
        pid, command = chosen
        runner = command
        if program == SPAWN:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            runner = machine._command(int(re.search(r"PPid:\t(\d+)", status)[1]))
        found = re.search(r"/attempts/([\w-]+)\.(\d+)", runner)
        return pid, {"job": found[1], "attempt": int(found[2])} if found else {}

    def _rank(self, machine, fault):
        """(pid, hit) of a rank here: the process that says it is one and has no parent that does."""
        found = []
        for pid in sorted(machine.pids()):
            try:
                data = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            variables = dict(v.split(b"=", 1) for v in data.split(b"\0") if b"=" in v)
            if b"LOCKSTEP_RANK" in variables and SPAWN in machine._command(int(parent)):
                found.append((pid, {"job": variables[b"LOCKSTEP_JOB"].decode(),
                                    "attempt": int(variables[b"LOCKSTEP_ATTEMPT"]),
                                    "rank": int(variables[b"LOCKSTEP_RANK"])}))
        return self._choose(found, fault) or (None, None)

    def _kill_part(self, found):
        pid, hit = found
        if not pid:
            return None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(pid), f"{pid} is gone", 20)
        return hit

    def _runner_kill(self, machine, fault):
        return self._kill_part(self._part(machine, RUNNER, fault))

    def _spawn_kill(self, machine, fault):
        return self._kill_part(self._part(machine, SPAWN, fault))

    def _rank_kill(self, machine, fault):
        return self._kill_part(self._rank(machine, fault))

    def _stop(self, machine, pid, hit, fault):
        if not pid:
            return None
        os.kill(pid, signal.SIGSTOP)

        def go_on():
            if alive(pid):
                os.kill(pid, signal.SIGCONT)
            if pid == machine.daemon_pid():
                machine.wake_nsenter()
        self._lasts(fault, ("stopped", pid), go_on)
        return hit

    def _agent_stop(self, machine, fault):
        return self._stop(machine, machine.daemon_pid(), {}, fault)

    _launcher_stop = _agent_stop

    def _runner_stop(self, machine, fault):
        return self._stop(machine, *self._part(machine, RUNNER, fault), fault=fault)

    def _spawn_stop(self, machine, fault):
        return self._stop(machine, *self._part(machine, SPAWN, fault), fault=fault)

    def _rank_stop(self, machine, fault):
        return self._stop(machine, *self._rank(machine, fault), fault=fault)

    # ---- the cable ---------------------------------------------------------------------------
    def _link_down(self, machine, fault):
        machine.link("down")
        return self._lasts(fault, ("link", machine), lambda: machine.link("up"))

    def _on_cable(self, machine, fault, ways=("out", "in"), **what):
        for way in ways:
            machine.cable(way, **what)
            self._lasts(fault, ("cable", machine, way), lambda way=way: machine.cable(way))
        return {}

    def _link_out(self, machine, fault):
        return self._on_cable(machine, fault, ("out",), loss=1.0)

    def _link_in(self, machine, fault):
        return self._on_cable(machine, fault, ("in",), loss=1.0)

    def _loss(self, machine, fault):
        return self._on_cable(machine, fault, loss=fault.value)

    def _delay(self, machine, fault):
        return self._on_cable(machine, fault, delay_ms=fault.value / 2, jitter_ms=fault.value)

    def _duplicate(self, machine, fault):
        return self._on_cable(machine, fault, duplicate=fault.value)

    # ---- the proxy ---------------------------------------------------------------------------
    def _on_proxy(self, machine, fault, **what):
        if machine.name not in self.cluster.proxied:
            return None
        self.cluster.order_proxy(name=machine.address, **what)
        return self._lasts(fault, ("proxy", machine),
                           lambda: self.cluster.order_proxy(name=machine.address))

    def _drop_request(self, machine, fault):
        return self._on_proxy(machine, fault, drop_request=fault.value)

    def _drop_reply(self, machine, fault):
        return self._on_proxy(machine, fault, drop_reply=fault.value)

    def _deliver_and_cut(self, machine, fault):
        if machine.name not in self.cluster.proxied:
            return None
        self.cluster.order_proxy(name=machine.address, cut=1 + int(fault.pick * 5))
        return {}

    # ---- disk and clock ----------------------------------------------------------------------
    def _disk_full(self, machine, fault):
        machine.fill_disk()
        return self._lasts(fault, ("disk", machine), machine.free_disk)

    def _disk_slow(self, machine, fault):
        machine.skew(sync_s=fault.value / 1000)
        return self._lasts(fault, ("sync", machine), lambda: machine.skew(sync_s=0))

    def _wall_jump(self, machine, fault):
        machine.skew(wall_s=fault.value)
        return self._lasts(fault, ("wall", machine), lambda: machine.skew(wall_s=0))
