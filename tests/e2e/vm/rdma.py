"""RDMA between two machines with soft-RoCE, nodes of one launcher; run inside the first of them, by test_rdma.py.

All is emulated, each core of a machine a thread of the tests' machine: nothing is fast, and deadlines are long.
"""
import os
import pathlib
import subprocess
import tempfile

import pytest

from harness.site import BUILD, Site, wait_until

SHARED = pathlib.Path("/run/shared")
COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"
JOIN_S, JOB_S = 180, 150
PAYLOAD = 1024  # of a packet of soft-RoCE, where Ethernet's MTU is 1500
# What Open MPI 4 and UCX need for a device of another maker than Mellanox, without Lockstep's settings. GID 0 is that of the
# link's IPv6 address: UCX 1.13 takes no datagram of soft-RoCE that comes from an IPv4 one.
BY_HAND = ["UCX_IB_GID_INDEX=0", "OMPI_MCA_pml=ucx", "OMPI_MCA_opal_common_ucx_devices=any", "OMPI_MCA_opal_common_ucx_tls=any",
           "UCX_NET_DEVICES=rxe0:1", "UCX_TLS=rc_verbs,ud_verbs,self,sm"]
OVER_TCP = ["OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self,vader,tcp"]


class Machines(Site):
    """The launcher and n1 are here; n2 is the other machine (rdma_node.py)."""

    def begin(self):
        self.daemons = {}
        home = self.home / "launcher"
        self._start("lockstepd", "--home", home, "--listen", "tcp://10.9.0.1:7070", "--allow-root")
        wait_until(lambda: (home / "endpoint.json").exists() and self.run("status").returncode == 0, "the launcher answers",
                   JOIN_S)
        token = self.directory / "n1.token"
        token.write_text(self.ok("node", "token"))
        token.chmod(0o600)
        self._start("lockstep-agent", "--launcher", "tcp://10.9.0.1:7070", "--home", self.directory / "n1", "--name", "n1",
                    "--token-file", token)
        (SHARED / "n2.part").write_text(self.ok("node", "token"))
        (SHARED / "n2.part").rename(SHARED / "n2.token")
        wait_until(lambda: sorted(n["name"] for n in self.json("node", "list") if n["liveness"] == "ALIVE") == ["n1", "n2"],
                   "both nodes are ALIVE", JOIN_S)
        return self

    def _start(self, program, *words):
        with open(self.directory / f"{program}.log", "ab") as log:
            self.daemons[program] = subprocess.Popen([self.bin / program, *map(str, words)], stdin=subprocess.DEVNULL,
                                                     stdout=log, stderr=log, env=self.environment(), start_new_session=True)

    def stop(self):
        (SHARED / "done").write_text("")
        for process in reversed(list(self.daemons.values())):
            process.terminate()
            process.wait(timeout=60)

    def packets(self):
        """{node: packets that its device has sent}."""
        out = self.ok("run", "-q", "-N", "2", "-n", "1", "--", "sh", "-c", f"echo $(hostname) $(cat {COUNTERS}/sent_pkts)",
                      timeout=JOB_S)
        rows = [line.split(" | ")[-1].split() for line in out.splitlines()]
        return {name: int(count) for name, count in rows}

    def run_mpi(self, name, rdma, variables, *words, more=()):
        flags = [word for variable in variables for word in ("--env", variable)]
        return self.run("run", "-N", "2", "-n", "1", "--name", name, "--rdma", rdma, "--distribution", "mpi", *flags, *more, "--",
                        *words, timeout=JOB_S)

    def notes(self, name):
        return [note for part in self.show(name)["attempts"][-1]["parts"] for note in part["notes"]]


@pytest.fixture(scope="module")
def machines():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-rdma-"))
    made = Machines(directory, bin_directory=BUILD / "bin")
    try:
        yield made.begin()
    finally:
        made.stop()
        subprocess.run(["rm", "-rf", str(directory)], check=False)


def test_devices_are_found(machines):
    for name in ("n1", "n2"):
        inventory = machines.json("node", "show", name)["inventory"]
        [port] = inventory["rdma_ports"]
        assert (port["device"], port["state"], port["link_layer"]) == ("rxe0", "ACTIVE", "Ethernet"), port
        [port] = inventory["fabric"]["rdma_ports"]
        assert (port["device"], port["netdev"]) == ("rxe0", "eth0"), port
        gids = {gid["gid"]: gid["type"] for gid in port["gids"]}
        assert any(gid.endswith(("10.9.0.1", "10.9.0.2", "0a09:0001", "0a09:0002")) for gid in gids), gids
        assert set(gids.values()) == {"RoCE v2"}, gids
        text = machines.ok("node", "show", name, "--fabric")
        assert "rxe0" in text and "eth0" in text, text


@pytest.mark.parametrize("how", ["by-lockstep", "by-hand"])
def test_an_mpi_job_runs_over_rdma(machines, how):
    """The devices' own counters say so. By hand with the variables that a person would look up; by Lockstep with
    those that it sets."""
    megabytes = 16
    program = machines.install_program("mpi_hello")
    before = machines.packets()
    done = machines.run_mpi(f"over-rdma-{how}", "required", BY_HAND if how == "by-hand" else [], program, "2", str(megabytes))
    assert done.returncode == 0, done.stdout.decode()[-1000:] + done.stderr.decode()[-5000:]
    sent = {name: count - before[name] for name, count in machines.packets().items()}
    assert set(sent) == {"n1", "n2"} and min(sent.values()) >= megabytes * (1 << 20) // PAYLOAD // 2, sent
    assert not machines.notes(f"over-rdma-{how}"), machines.notes(f"over-rdma-{how}")


def test_sockets_where_rdma_is_required_are_a_failure_with_its_cause(machines):
    program = machines.install_program("mpi_exchange")
    done = machines.run_mpi("over-tcp", "required", OVER_TCP, program, "100", "4")
    report = machines.show("over-tcp")["attempts"][0]["report"]
    assert done.returncode == 125 and report["cause"] == "no_rdma", (done, report)
    assert "OMPI_MCA_pml=ob1 of the job keeps it from RDMA" in report["message"], report
    assert "keeps it from RDMA" in done.stderr.decode(), done.stderr.decode()
    assert len(machines.show("over-tcp")["attempts"]) == 1, "another try would end as this one did"


def test_sockets_where_rdma_is_preferred_are_a_note(machines):
    """Also where ranks are not compared."""
    program = machines.install_program("mpi_exchange")
    done = machines.run_mpi("rather-tcp", "preferred", OVER_TCP, program, "100", "4", more=["--hang-after", "off"])
    assert done.returncode == 0, done
    notes = machines.notes("rather-tcp")
    assert any("RDMA is preferred, but its ranks talk over TCP, not RDMA (MPI): OMPI_MCA_pml=ob1" in note
               for note in notes), notes


def test_a_wrong_gid_index_is_named_before_the_start(machines):
    done = machines.run_mpi("wrong-gid", "required", ["NCCL_IB_GID_INDEX=99"], "sh", "-c", "echo started")
    report = machines.show("wrong-gid")["attempts"][0]["report"]
    assert done.returncode == 125 and b"started" not in done.stdout and report["cause"] == "no_rdma", (done, report)
    assert "NCCL_IB_GID_INDEX=99 of the job is not the index of a GID" in report["message"], report


def test_a_device_that_is_taken_away_is_missed_at_the_start(machines):
    """The launcher may not have heard of it yet: the runner looks again."""
    subprocess.run(["rdma", "link", "delete", "rxe0"], check=True)
    try:
        name = machines.submit("-N", "2", "-n", "1", "--name", "gone", "--rdma", "required", "--", "true")

        def reason():
            job = machines.show(name)
            said = [attempt["report"]["message"] for attempt in job["attempts"] if attempt.get("report")]
            return [text for text in [*said, machines.ok("job", "explain", name)]
                    if "no active RDMA port" in text or "no RDMA device" in text]
        wait_until(reason, "the job says what is missing", JOB_S)
        machines.ok("job", "cancel", name)
    finally:
        subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0"], check=True)
    assert os.path.exists("/sys/class/infiniband/rxe0")
