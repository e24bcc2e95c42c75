"""Clusters whose machines are pods: a real launcher and API server, agents in namespaces of their own, real MPI."""
import json
import random
import re
import subprocess
import time

import pytest
from harness import kube
from harness.site import wait_until


class KubeCluster:
    """A launcher that pods reach, with its kubeconfig where only its account puts files."""

    def __init__(self, site, kubelet, address):
        self.site, self.kubelet, self.api, self.address = site, kubelet, kubelet.api, address
        self.kubelet.network, self.launcher = True, None
        self.start()
        folder = site.home / "launcher/providers"
        folder.mkdir(exist_ok=True)
        (folder / "lab.kubeconfig").write_text(self.api.kubeconfig().read_text())

    def start(self):
        home = self.site.home / "launcher"
        with open(self.site.directory / "lockstepd.log", "ab") as log:
            self.launcher = subprocess.Popen(
                [self.site.bin / "lockstepd", "--home", home, "--listen", f"tcp://{self.address}:7070", "--allow-root"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.site.environment(), start_new_session=True)
        wait_until(lambda: (home / "endpoint.json").exists() and self.site.run("status").returncode == 0, "the launcher answers")

    def kill(self):
        self.launcher.kill()
        self.launcher.wait()

    def spec(self, **keys):
        pods = {"image": "debian:12", "bundle_image": "bundle:1", "kubeconfig": "lab.kubeconfig", "cpus": 1, "memory": "400m"}
        return {"name": "lab", "type": "kubernetes", "namespace": self.kubelet.namespace, "max_instances": 2,
                "idle_time_before_scale_down": 2, **keys, "lockstep": {"kubernetes": pods}}

    def create(self, **keys):
        self.site.ok("compute", "create", "-f", self.site.write("lab.json", json.dumps(self.spec(**keys))))

    def show(self):
        return self.site.json("compute", "show", "lab")

    def left(self):
        namespace = self.kubelet.namespace
        return [*self.api.names("pods", namespace), *self.api.names("secrets", namespace)]

    def until_empty(self):
        wait_until(lambda: not self.left() and not self.show()["machines"], "no pod and no Secret is left", 60)


@pytest.fixture
def cluster(site, kubelet):
    with kube.bridge() as address:
        made = KubeCluster(site, kubelet, address)
        yield made
        site.down()
        made.launcher.wait(timeout=30)
        kubelet.stop()


def finished(cluster, job):
    """The job when it has ended; if it does not, the reason is in the failure."""
    site = cluster.site
    try:
        return site.wait_for_status(job, "Completed", "Failed", deadline_s=90)
    except AssertionError:
        pytest.fail(site.ok("job", "explain", job) + site.ok("compute", "show", "lab") + site.ok("compute", "log", "lab"))


def test_two_pods_run_mpi_and_go(cluster):
    site = cluster.site
    cluster.create()
    program = site.install_program("mpi_hello")
    site.submit("--compute", "lab", "-N", "2", "--name", "hello", "--distribution", "mpi", "--", program)
    done = finished(cluster, "hello")
    assert done["status"] == "Completed", (done["reason"], site.ok("compute", "log", "lab"))
    assert sorted(re.findall(r"rank (\d+) of 2", site.logs("hello").decode())) == list("01")
    [attempt] = done["attempts"]
    assert sorted(part["node_name"] for part in attempt["parts"]) == ["lab-1", "lab-2"]
    cluster.until_empty()


def test_a_pod_that_is_deleted_is_a_preemption(cluster):
    site = cluster.site
    cluster.create(tier="low_priority", max_instances=1)
    script = "if [ $LOCKSTEP_ATTEMPT = 1 ]; then echo begun; sleep 300; fi; echo attempt $LOCKSTEP_ATTEMPT"
    site.submit("--compute", "lab", "--name", "victim", "--", "sh", "-c", script)
    wait_until(lambda: b"begun" in site.logs("victim"), "it runs", 60)
    cluster.kubelet.delete("lab-1")
    done = finished(cluster, "victim")
    assert done["status"] == "Completed" and "attempt 2" in site.logs("victim").decode(), done
    cluster.until_empty()


def test_a_job_that_waits_says_what_the_scheduler_says_and_goes_on(cluster):
    site = cluster.site
    cluster.kubelet.capacity = 0
    cluster.create(max_instances=1)
    site.submit("--compute", "lab", "--name", "waits", "--", "true")
    wait_until(lambda: "Insufficient nvidia.com/gpu" in site.ok("compute", "show", "lab"), "the target says why", 60)
    wait_until(lambda: "Insufficient nvidia.com/gpu" in site.show("waits")["reason"], "the job says why", 30)
    cluster.kubelet.capacity = 1
    assert finished(cluster, "waits")["status"] == "Completed"


def test_deleting_a_target_leaves_no_pod_and_no_secret(cluster):
    cluster.create(min_instances=1)
    wait_until(lambda: len(cluster.left()) == 1, "its token is deleted when it has joined", 20)
    cluster.site.ok("compute", "delete", "lab", "--yes")
    assert cluster.left() == []


def test_a_launcher_that_is_killed_while_it_makes_pods_leaks_none(cluster):
    site = cluster.site
    cluster.create()
    for number in range(3):
        name = f"gang-{number}"
        site.submit("--compute", "lab", "-N", "2", "--name", name, "--", "true")
        wait_until(cluster.left, "it makes pods", 30)
        time.sleep(random.uniform(0, 1.5))
        cluster.kill()
        cluster.start()
        assert finished(cluster, name)["status"] == "Completed"
        cluster.until_empty()


@pytest.mark.parametrize("name, words", [
    ("../../lab.kubeconfig", "is not the name of a file: it may not have '/'"),
    ("/root/.kube/config", "is not the name of a file: it may not have '/'"),
])
def test_a_kubeconfig_is_named_without_a_folder(cluster, name, words):
    spec = cluster.spec()
    spec["lockstep"]["kubernetes"]["kubeconfig"] = name
    done = cluster.site.run("compute", "create", "-f", cluster.site.write("lab.json", json.dumps(spec)))
    assert done.returncode != 0 and words in done.stderr.decode(), done.stderr


def test_a_kubeconfig_that_others_may_write_is_not_used(cluster):
    site = cluster.site
    (site.home / "launcher/providers/lab.kubeconfig").chmod(0o666)
    file = site.write("lab.json", json.dumps(cluster.spec(max_instances=1)))
    done = site.run("compute", "create", "-f", file)
    assert done.returncode == 1 and b"others may write it" in done.stderr, done
    site.ok("compute", "create", "-f", file, "--no-check")
    site.submit("--compute", "lab", "--name", "waits", "--", "true")
    wait_until(lambda: "others may write it; the launcher does not use it" in site.ok("compute", "show", "lab"), "the reason", 30)
    site.ok("job", "cancel", "waits")
