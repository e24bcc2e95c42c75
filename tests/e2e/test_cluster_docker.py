"""Clusters whose machines are containers: a real launcher, a real dockerd, real agents in containers, real MPI."""
import json
import os
import pathlib
import pwd
import re
import signal
import subprocess
import tempfile
import time

import pytest
from harness.engine import Docker, import_busybox, import_debian
from harness.site import Site, wait_until
from test_compute_ssh import launch, liveness

ROOT_ACCOUNT = "root:x:0:0:root:/root:/bin/sh\n"


@pytest.fixture(scope="module")
def engine():
    made = Docker()
    import_busybox(made, "base:1", accounts=ROOT_ACCOUNT)
    import_debian(made, "mpi:1", "libopenmpi3", "dash")
    yield made
    made.close()


class DockerCluster:
    def __init__(self, site, engine, bundle):
        self.site, self.engine = site, engine
        site.ok("up", "--nodes", "1", env={**engine.environment, "LOCKSTEP_NODE_BUNDLE": str(bundle)})

    def file(self, image="base:1", **keys):
        spec = {"name": "lab", "type": "amlcompute", "max_instances": 3, "idle_time_before_scale_down": 2, **keys,
                "lockstep": {"docker": {"image": image, "cpus": 1, "memory": "400m"}}}
        return self.site.write("lab.json", json.dumps(spec))

    def create(self, image="base:1", **keys):
        self.site.ok("compute", "create", "-f", self.file(image, **keys))

    def until_empty(self):
        wait_until(lambda: not self.engine.containers() and
                   not self.site.json("compute", "show", "lab")["machines"], "no container is left", 60)


@pytest.fixture
def cluster(site, engine, bundle):
    made = DockerCluster(site, engine, bundle)
    yield made
    for container in engine.containers():
        engine.ok("rm", "-f", "-v", container)


def finished(site, job):
    """The job when it has ended; if it does not, the reason is in the failure."""
    try:
        return site.wait_for_status(job, "Completed", "Failed", deadline_s=60)
    except AssertionError:
        pytest.fail(site.ok("job", "explain", job) + site.ok("job", "events", job) + site.ok("compute", "show", "lab"))


def test_three_containers_run_mpi_and_go(cluster):
    site = cluster.site
    cluster.create("mpi:1")
    program = site.install_program("mpi_hello")
    site.submit("--compute", "lab", "-N", "3", "--name", "hello", "--distribution", "mpi", "--", program)
    done = finished(site, "hello")
    assert done["status"] == "Completed", (done["reason"], site.ok("compute", "log", "lab"))
    assert sorted(re.findall(r"rank (\d+) of 3", site.logs("hello").decode())) == list("012")
    [attempt] = done["attempts"]
    assert sorted(part["node_name"] for part in attempt["parts"]) == ["lab-1", "lab-2", "lab-3"]
    cluster.until_empty()


def sized_cluster(cluster, size, **docker):
    """The one node of a cluster with this size, and the limits of its container."""
    site = cluster.site
    site.ok("size", "add", "-f", site.write("size.json", json.dumps({"name": "lab-size", **size})))
    spec = {"name": "lab", "type": "amlcompute", "size": "lab-size", "min_instances": 1,
            "lockstep": {"docker": {"image": "base:1", **docker}}}
    site.ok("compute", "create", "-f", site.write("lab.json", json.dumps(spec)))
    [container] = cluster.engine.containers()
    limits = cluster.engine.ok("inspect", "--format", "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}", container)
    return site.json("node", "show", "lab-1"), [int(number) for number in limits.split()]


def test_a_container_is_as_big_as_the_size_of_its_target(cluster):
    node, limits = sized_cluster(cluster, {"vcpus": 1, "memory": "300m"})
    assert limits == [10**9, 300 << 20]
    offer = node["inventory"]
    assert (len(offer["cpus"]), offer["memory"], node["reason"]) == (1, 300 << 20, ""), node
    cluster.site.ok("run", "--compute", "lab", "--name", "one", "--", "true")


def test_a_container_is_no_bigger_than_the_machine(cluster):
    here = os.cpu_count()
    node, limits = sized_cluster(cluster, {"vcpus": here + 1, "memory": "64g"}, memory="300m")
    assert limits == [here * 10**9, 300 << 20], "settings go first"
    assert len(node["inventory"]["cpus"]) == here and f"its size lab-size has {here + 1}" in node["reason"], node
    log = cluster.site.ok("compute", "log", "lab")
    assert f"size lab-size has {here + 1} cpus, but this machine has {here} cpus" in log, log


def test_a_container_that_is_killed_is_a_preemption(cluster):
    site = cluster.site
    cluster.create(tier="low_priority", max_instances=1)
    script = ("if [ -f $LOCKSTEP_CHECKPOINT_DIR/begun ]; then echo goes on, attempt $LOCKSTEP_ATTEMPT; exit; fi; "
              "touch $LOCKSTEP_CHECKPOINT_DIR/begun; echo begun; sleep 300")
    file = site.write("victim.json", json.dumps({"name": "victim", "compute": "azureml:lab", "command": script,
                                                 "lockstep": {"checkpoint": {"every": "1s"}}}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in site.logs("victim"), "it runs")
    time.sleep(5)  # it is collected every second
    [container] = cluster.engine.containers()
    cluster.engine.ok("kill", container)
    done = site.wait_for_status("victim", "Completed", "Failed", deadline_s=100)
    assert done["status"] == "Completed" and "goes on, attempt 2" in site.logs("victim").decode(), done
    cluster.until_empty()


SAVES = ("if [ -f $LOCKSTEP_CHECKPOINT_DIR/state ]; then echo goes on with $(cat $LOCKSTEP_CHECKPOINT_DIR/state), "
         "attempt $LOCKSTEP_ATTEMPT; exit; fi; trap 'echo work > $LOCKSTEP_CHECKPOINT_DIR/state; exit 0' TERM; "
         "echo begun; while :; do sleep 0.1; done")
NOTICE = ("/opt/lockstep-node/bin/lockstep-agent", "notice", "--home", "/var/lib/lockstep/agent", "--seconds", "60",
          "--reason", "spot reclaim")


@pytest.mark.parametrize("take, reason", [(lambda engine, it: engine.ok("stop", it), "SIGTERM"),
                                          (lambda engine, it: engine.ok("exec", it, *NOTICE), "spot reclaim")],
                         ids=["docker-stop", "notice"])
def test_a_job_saves_its_work_when_its_container_is_taken_with_notice(cluster, take, reason):
    site = cluster.site
    cluster.create(tier="low_priority", max_instances=1)
    file = site.write("saves.json", json.dumps({
        "name": "saves", "compute": "azureml:lab", "command": SAVES,
        "lockstep": {"checkpoint": {"every": "1h"}, "retry": {"max": 0}}}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in site.logs("saves"), "it runs", 60)
    take(cluster.engine, *cluster.engine.containers())
    done = site.wait_for_status("saves", "Completed", "Failed", deadline_s=60)
    assert done["status"] == "Completed" and "goes on with work, attempt 2" in site.logs("saves").decode(), done
    first, second = done["attempts"]
    assert first["report"]["cause"] == "preempted" and reason in first["report"]["message"], first["report"]
    assert "does not count as a retry" in site.ok("job", "events", "saves")
    assert (first["parts"][0]["node_name"], second["parts"][0]["node_name"]) == ("lab-1", "lab-2")
    cluster.until_empty()


def test_a_container_follows_a_launcher_that_moved(cluster, bundle):
    """What runs there goes on: the launcher has it told before its node counts as LOST."""
    site, engine = cluster.site, cluster.engine
    cluster.create(min_instances=1, max_instances=1)
    script = "while [ ! -e /tmp/go ]; do sleep 0.1; done; echo survived"
    site.submit("--compute", "lab", "--name", "goes-on", "--", "sh", "-c", script)
    site.wait_for_status("goes-on", "Running")
    [container] = engine.containers()
    site.kill(site.launcher_pids())
    moved = launch(site, 17690, LOCKSTEP_NODE_BUNDLE=str(bundle), **engine.environment)
    try:
        wait_until(lambda: liveness(site, "lab-1") == "ALIVE", "the container follows", 50)
        engine.ok("exec", container, "touch", "/tmp/go")
        assert site.wait_for_status("goes-on", "Completed", "Failed", deadline_s=60)["status"] == "Completed"
        assert b"survived" in site.logs("goes-on") and len(site.show("goes-on")["attempts"]) == 1
        assert engine.containers() == [container], "the same one"
        site.ok("compute", "delete", "lab", "--yes")
    finally:
        moved.terminate()
        moved.wait(timeout=30)


def test_deleting_a_busy_cluster_needs_its_jobs_to_end_and_leaves_no_container(cluster):
    site = cluster.site
    cluster.create(min_instances=1)
    assert len(cluster.engine.containers()) == 1
    site.submit("--compute", "lab", "--name", "busy", "--", "sleep", "300")
    site.wait_for_status("busy", "Running")
    assert site.run("compute", "delete", "lab", "--yes").returncode != 0
    site.ok("job", "cancel", "busy")
    site.wait_for_status("busy", "Canceled")
    site.ok("compute", "delete", "lab", "--yes")
    assert not cluster.engine.containers() and cluster.engine.ok("volume", "ls", "--quiet") == ""


@pytest.fixture
def ordinary_cluster(engine, bundle, ordinary_user, shared_bin):
    """As `cluster`; the launcher runs as an ordinary user, who may use the engine."""
    os.chmod(engine.folder / "socket", 0o666)
    bundle.parent.chmod(0o755)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    directory.chmod(0o755)
    site = Site(directory, user=ordinary_user, bin_directory=shared_bin)
    try:
        yield DockerCluster(site, engine, bundle)
    finally:
        site.down()
        for container in engine.containers():
            engine.ok("rm", "-f", "-v", container)
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def test_jobs_of_an_ordinary_users_launcher_run_as_that_user(ordinary_cluster, ordinary_user):
    site = ordinary_cluster.site
    ordinary_cluster.create(max_instances=1)
    site.submit("--compute", "lab", "--name", "who", "--", "id", "-un")
    assert finished(site, "who")["status"] == "Completed"
    assert site.logs("who").decode().split()[-1] == ordinary_user
    site.ok("compute", "delete", "lab", "--yes")


class Colleague:
    """Somebody with a key of their own, who uses the launcher of an ordinary user's site."""

    def __init__(self, site, name, *words):
        self.site, self.name = site, name
        home = site.directory / f"home-{name}"
        home.mkdir()
        owner = pwd.getpwnam(site.user)
        os.chown(home, owner.pw_uid, owner.pw_gid)
        self.environment = {"LOCKSTEP_HOME": str(home), "LOCKSTEP_LAUNCHER": str(site.home / "launcher/endpoint.json")}
        key = site.ok("user", "key", "show", env=self.environment).strip()
        site.ok("user", "add", name, "--key", key, *words)

    def whoami(self):
        """What `id` says in a job of theirs on the cluster."""
        done = self.site.run("run", "--compute", "lab", "--name", f"as-{self.name}", "--", "id", env=self.environment)
        assert done.returncode == 0, (done, self.site.ok("job", "explain", f"as-{self.name}"),
                                      self.site.ok("compute", "log", "lab"))
        return done.stdout.decode()


def test_an_ordinary_users_launcher_runs_each_persons_jobs_as_that_person(ordinary_cluster, ordinary_user, two_accounts):
    """In the container the agent is root: bob, whom this machine knows, has his uid, and ls-erin, whom it does not, one
    of her own. Who only looks on has no account there, nor has anybody else of this machine."""
    site, (alice, bob) = ordinary_cluster.site, two_accounts
    ordinary_cluster.create(min_instances=1, max_instances=1)
    said = Colleague(site, "bob", "--account", bob).whoami()
    assert f"uid={pwd.getpwnam(bob).pw_uid}({bob})" in said, said
    erin = Colleague(site, "ls-erin").whoami()
    assert re.search(r"uid=(2|3|4|5)\d{4}\(ls-erin\)", erin), erin
    Colleague(site, "ls-vic", "--role", "viewer")
    Colleague(site, "ls-fred")  # brings the container up to date
    [container] = ordinary_cluster.engine.containers()

    def known():
        lines = ordinary_cluster.engine.ok("exec", container, "cat", "/etc/passwd").splitlines()
        return {line.split(":")[0]: line.split(":")[2] for line in lines}

    wait_until(lambda: "ls-fred" in known(), "the container knows who came last", 60)
    assert known().keys() == {"root", ordinary_user, bob, "ls-erin", "ls-fred"}, known()
    assert f"uid={known()['ls-erin']}(" in erin, "her id is the same as before"
    assert alice not in known()
    site.ok("compute", "delete", "lab", "--yes")


def test_jobs_run_as_users_whom_this_machine_does_not_know(cluster):
    """By name, with an id of their own; also in a container that was there before the user."""
    site = cluster.site

    def runs_as_itself(name):
        home = site.directory / f"home-{name}"
        home.mkdir()
        person = {"LOCKSTEP_HOME": str(home), "LOCKSTEP_LAUNCHER": str(site.home / "launcher/endpoint.json")}
        key = site.run("user", "key", "show", env=person).stdout.decode().strip()
        site.ok("user", "add", name, "--key", key)
        done = site.run("run", "--compute", "lab", "--name", f"as-{name}", "--", "id", env=person)
        assert done.returncode == 0, (done, site.ok("job", "explain", f"as-{name}"), site.ok("compute", "log", "lab"))
        assert re.search(rf"uid=(2|3|4|5)\d{{4}}\({name}\)", done.stdout.decode()), done

    cluster.create(min_instances=1, max_instances=1)
    runs_as_itself("ls-carol")
    runs_as_itself("ls-dave")
    assert len(cluster.engine.containers()) == 1


def test_an_image_that_is_not_there_is_said_where_the_job_waits(cluster):
    site = cluster.site
    file = cluster.file("nowhere.invalid/image:1")
    done = site.run("compute", "create", "-f", file)
    assert done.returncode == 1 and b"nowhere.invalid/image:1" in done.stderr, done
    site.ok("compute", "create", "-f", file, "--no-check")
    site.submit("--compute", "lab", "--name", "waits", "--", "true")
    reason = wait_until(lambda: "could not be made" in (why := site.show("waits")["reason"]) and why, "the reason", 60)
    assert "nowhere.invalid/image:1" in reason, reason
    started = site.start("job", "stream", "waits")
    started.send_signal(signal.SIGINT)
    started.wait(timeout=20)
    site.ok("job", "cancel", "waits")
    cluster.until_empty()
