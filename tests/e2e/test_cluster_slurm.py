"""Clusters whose machines are jobs of Slurm: a real launcher, real slurmctld and slurmd, real agents in their jobs.

What one machine does is in test_provider_slurm.py; what many ends of machines do, in test_cluster.py."""
import json

import pytest
from harness.site import wait_until


class SlurmCluster:
    """A launcher whose target `lab` has one machine at most: a job of Slurm with a time limit of a minute."""

    def __init__(self, site, slurm, bundle, directory):
        self.site, self.slurm = site, slurm
        self.shared = directory / "shared"
        self.shared.mkdir()
        self.variables = {"SLURM_CONF": slurm.environment()["SLURM_CONF"], "LOCKSTEP_NODE_BUNDLE": str(bundle)}

    def up(self):
        self.site.ok("up", "--nodes", "1", env=self.variables)

    def file(self, **settings):
        spec = {"name": "lab", "type": "amlcompute", "max_instances": 1, "idle_time_before_scale_down": 60,
                "lockstep": {"slurm": {"directory": str(self.shared), "time": "1", **settings}}}
        return self.site.write("lab.json", json.dumps(spec))

    def jobs(self):
        return self.slurm.run("squeue", "--noheader").split()

    def close(self):
        self.site.run("job", "cancel", *(job["name"] for job in self.site.json("job", "list")))
        self.site.run("compute", "delete", "lab", "--yes", "--timeout", "60s")
        self.slurm.run("scancel", "--user=root")
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
    assert "ends after 1m" in said(refused) and "lockstep.slurm.time=TIME" in said(refused), refused
    assert not cluster.jobs(), "nothing was asked of Slurm"
    script = "if [ $LOCKSTEP_ATTEMPT = 1 ]; then echo begun; sleep 300; fi; echo attempt $LOCKSTEP_ATTEMPT"
    file = site.write("endless.json", json.dumps({"name": "endless", "compute": "azureml:lab", "command": script,
                                                  "lockstep": {"retry": {"max": 0}}}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in site.logs("endless"), "it runs", 60)
    about = about_of(site, site.show("endless")["attempts"][0])
    assert about["node"] == "n1" and about["job"] in cluster.jobs(), about
    # It would fit into a new machine. What is left of this one is too little.
    site.submit("--compute", "lab", "--name", "tight", "--timeout", "59s", "--", "true")
    wait_until(lambda: "and the job may run for 59s (limits.timeout)" in explained(site, "tight"),
               "what is left of the machine is too little", 40)
    assert not site.show("tight")["attempts"]
    site.ok("job", "cancel", "tight")
    ended = site.wait_for_status("endless", "Completed", "Failed", deadline_s=100)
    assert ended["status"] == "Completed" and b"attempt 2" in site.logs("endless"), ended
    report = ended["attempts"][0]["report"]
    assert report["cause"] == "preempted" and "its machine ends after 1m" in report["message"], report
    assert "its machine's time was over, which does not count as a retry" in site.ok("job", "events", "endless")
    assert about_of(site, ended["attempts"][1])["job"] != about["job"], "another job of Slurm"
    site.ok("compute", "delete", "lab", "--yes")
    assert not list(cluster.shared.iterdir())
