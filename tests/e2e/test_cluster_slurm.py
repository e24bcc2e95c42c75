"""Clusters whose machines are jobs of Slurm: a real launcher, real slurmctld and slurmd, real agents in their jobs.

What one machine does is in test_provider_slurm.py; what many ends of machines do, in test_cluster.py."""
import json
import os
import pathlib
import pwd
import subprocess
import tempfile

import pytest
from harness.site import Site, wait_until
from test_compute_ssh import launch, liveness


class SlurmCluster:
    """A launcher whose target `lab` has one machine at most: a job of Slurm with a time limit of two minutes."""

    def __init__(self, site, slurm, bundle, directory):
        self.site, self.slurm = site, slurm
        self.shared = directory / "shared"
        self.shared.mkdir()
        self.variables = {"SLURM_CONF": slurm.environment()["SLURM_CONF"], "LOCKSTEP_NODE_BUNDLE": str(bundle)}

    def up(self):
        self.site.ok("up", "--nodes", "1", env=self.variables)

    def file(self, **settings):
        spec = {"name": "lab", "type": "amlcompute", "max_instances": 1, "idle_time_before_scale_down": 60,
                "lockstep": {"slurm": {"directory": str(self.shared), "time": "2", **settings}}}
        return self.site.write("lab.json", json.dumps(spec))

    def jobs(self):
        return self.slurm.run("squeue", "--noheader").split()

    def close(self):
        listed = self.site.run("job", "list", "-o", "json")
        if listed.returncode == 0:
            self.site.run("job", "cancel", *(job["name"] for job in json.loads(listed.stdout)))
        self.site.run("compute", "delete", "lab", "--yes", "--timeout", "60s")
        self.slurm.run("scancel", f"--user={self.site.user or 'root'}")
        wait_until(lambda: not self.jobs(), "Slurm has ended all jobs")


@pytest.fixture
def cluster(site, slurm, bundle, tmp_path):
    made = SlurmCluster(site, slurm, bundle, tmp_path)
    made.up()
    yield made
    made.close()


def said(done):
    return " ".join(done.stderr.decode().split())


def about_of(site, attempt):
    """What the provider said of the machine of this attempt."""
    [part] = attempt["parts"]
    return {m["name"]: m["about"] for m in site.json("compute", "show", "lab")["machines"]}[part["node_name"]]


def explained(site, name):
    return " ".join(site.ok("job", "explain", name).split())


def test_a_job_that_the_time_limit_cuts_off_goes_on_in_another_allocation_uncharged(cluster):
    site = cluster.site
    site.ok("compute", "create", "-f", cluster.file())
    refused = site.run("run", "--compute", "lab", "--timeout", "170s", "--", "true")
    assert refused.returncode != 0 and "may run for 2m50s" in said(refused), refused
    assert "ends after 2m" in said(refused) and "lockstep.slurm.time=TIME" in said(refused), refused
    assert not cluster.jobs(), "nothing was asked of Slurm"
    script = "if [ $LOCKSTEP_ATTEMPT = 1 ]; then echo begun; sleep 600; fi; echo attempt $LOCKSTEP_ATTEMPT"
    file = site.write("endless.json", json.dumps({"name": "endless", "compute": "azureml:lab", "command": script,
                                                  "lockstep": {"retry": {"max": 0}}}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in site.logs("endless"), "it runs", 60)
    first = site.show("endless")["attempts"][0]
    wait_until(lambda: "node" in about_of(site, first), "the provider's word of the machine that joined", 30)
    about = about_of(site, first)
    assert about["node"] == "n1" and about["job"] in cluster.jobs(), about
    # It would fit into a new machine. What is left of this one is too little.
    site.submit("--compute", "lab", "--name", "tight", "--timeout", "119s", "--", "true")
    wait_until(lambda: "and the job may run for 1m59s (limits.timeout)" in explained(site, "tight"),
               "what is left of the machine is too little", 40)
    assert not site.show("tight")["attempts"]
    site.ok("job", "cancel", "tight")
    ended = site.wait_for_status("endless", "Completed", "Failed", deadline_s=200)
    assert ended["status"] == "Completed" and b"attempt 2" in site.logs("endless"), ended
    report = ended["attempts"][0]["report"]
    assert report["cause"] == "preempted" and "its machine ends after 2m" in report["message"], report
    assert "its machine's time was over, which does not count as a retry" in site.ok("job", "events", "endless")
    second = ended["attempts"][1]
    wait_until(lambda: "job" in about_of(site, second), "the provider's word of the second machine", 30)
    assert about_of(site, second)["job"] != about["job"], "another job of Slurm"
    site.ok("compute", "delete", "lab", "--yes")
    assert not list(cluster.shared.iterdir())


def test_a_job_of_slurm_follows_a_launcher_that_moved(cluster):
    """What runs there goes on: the launcher has its agent told before the node counts as LOST."""
    site, flag = cluster.site, cluster.site.directory / "go"
    site.ok("compute", "create", "-f", cluster.file(time="10"))
    site.submit("--compute", "lab", "--name", "goes-on", "--", "sh", "-c",
                f"while [ ! -e {flag} ]; do sleep 0.1; done; echo survived")
    site.wait_for_status("goes-on", "Running", deadline_s=60)
    [part] = site.show("goes-on")["attempts"][0]["parts"]
    jobs = cluster.jobs()
    site.kill(site.launcher_pids())
    moved = launch(site, 17710, **cluster.variables)
    try:
        wait_until(lambda: liveness(site, part["node_name"]) == "ALIVE", "its agent follows", 50)
        flag.touch()
        assert site.wait_for_status("goes-on", "Completed", "Failed", deadline_s=60)["status"] == "Completed"
        assert b"survived" in site.logs("goes-on") and len(site.show("goes-on")["attempts"]) == 1
        assert cluster.jobs()[0] == jobs[0], "the same job of Slurm"
        site.ok("compute", "delete", "lab", "--yes")
    finally:
        moved.terminate()
        moved.wait(timeout=30)


@pytest.fixture
def ordinary_cluster(slurm, bundle, ordinary_user, shared_bin):
    """The launcher of an ordinary user, who may submit jobs to Slurm."""
    bundle.parent.chmod(0o755)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    directory.chmod(0o755)
    site = Site(directory, user=ordinary_user, bin_directory=shared_bin)
    made = SlurmCluster(site, slurm, bundle, directory)
    owner = pwd.getpwnam(ordinary_user)
    os.chown(made.shared, owner.pw_uid, owner.pw_gid)
    made.up()
    try:
        yield made
        made.close()
    finally:
        site.down()
        subprocess.run(["rm", "-rf", "--one-file-system", directory], check=True)


def test_a_launcher_without_root_is_refused_a_target_for_people_with_other_accounts(ordinary_cluster, ordinary_user):
    """Slurm would run everybody's jobs as the launcher's account."""
    site = ordinary_cluster.site
    site.ok("user", "add", "ls-erin", "--role", "viewer")
    site.ok("compute", "create", "-f", ordinary_cluster.file(time="5"))  # she only looks on
    job = site.submit("--compute", "lab", "--", "id", "-un")
    assert site.wait_for_status(job, "Completed", "Failed", deadline_s=100)["status"] == "Completed", explained(site, job)
    assert site.logs(job).decode().strip() == ordinary_user
    site.ok("compute", "delete", "lab", "--yes")
    site.ok("user", "role", "ls-erin", "submitter")
    refused = site.run("compute", "create", "-f", ordinary_cluster.file(time="5"))
    assert refused.returncode == 1, refused
    for word in (f"the launcher runs as {ordinary_user}", "users of this launcher have others (ls-erin)",
                 "Run lockstepd as root"):
        assert word in said(refused), refused
    assert [target["name"] for target in site.json("compute", "list")] == ["local"]
    assert not list(ordinary_cluster.shared.iterdir())
    wait_until(lambda: not ordinary_cluster.jobs(), "Slurm has cleaned up after the target's one job, and has no other")
