"""Jobs in containers of a real engine: what ranks see, how they end, and that nothing of them is left."""
import io
import json
import os
import pathlib
import pwd
import signal
import stat
import subprocess
import tarfile

import pytest
from harness.engine import Docker, Podman, import_busybox
from harness.site import wait_until

VARIABLES = {"GREETING": "of the image"}


@pytest.fixture(scope="module")
def docker():
    engine = Docker()
    import_busybox(engine, "base:1", VARIABLES)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def podman():
    engine = Podman()
    import_busybox(engine, "base:1", VARIABLES)
    yield engine
    engine.close()


@pytest.fixture(params=["docker", "podman"])
def engine(request):
    made = request.getfixturevalue(request.param)
    yield made
    wait_until(lambda: not made.containers(), "no container is left")


@pytest.fixture
def there(site, engine):
    """Two nodes that have an engine."""
    site.ok("up", "--nodes", "2", env=engine.environment)
    site.engine = engine
    return site


@pytest.fixture
def verbs():
    """Device files as of an RDMA device of this machine; each is another /dev/null."""
    folder = pathlib.Path("/dev/infiniband")
    if folder.exists():
        yield sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(("uverbs", "rdma_cm")))
        return
    folder.mkdir()
    try:
        # Other modules have the same /dev, and their containers must not get what is gone in a moment.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755,size=64k", "verbs", folder], check=True)
        try:
            for name in ("uverbs0", "rdma_cm", "umad0"):
                os.mknod(folder / name, stat.S_IFCHR, os.makedev(1, 3))
                (folder / name).chmod(0o600 if name == "umad0" else 0o666)
            yield ["rdma_cm", "uverbs0"]
        finally:
            subprocess.run(["umount", "-l", folder], check=False)
    finally:
        folder.rmdir()


ASK_RDMA = 'echo $(ls /dev/infiniband) memlock=$(ulimit -H -l)'


def judge_rdma(site, job, out, verbs):
    """Of two nodes: what each has of RDMA, and what it says is missing."""
    said = rows(out)
    assert len(said) == 2 and said[0].split()[:-1] == verbs, said
    for part in site.show(job)["attempts"][0]["parts"]:
        limited = [note for note in part["notes"] if "can lock only a limited amount of memory" in note]
        assert len(limited) == (0 if said[0].endswith("memlock=unlimited") else 1), (said, part["notes"])


def test_jobs_that_may_use_rdma_have_its_devices(there, verbs):
    words = ["--image", "base:1", "--", "sh", "-c", ASK_RDMA]
    out = there.ok("run", "-N", "2", "--name", "j", "--rdma", "preferred", *words)
    judge_rdma(there, "j", out, verbs)
    out = there.ok("run", "-N", "2", "--name", "unasked", *words)
    assert {row.rpartition(" ")[0] for row in rows(out)} == {" ".join(verbs)}, out
    alone = there.ok("run", "--name", "alone", *words)
    assert not any(name in alone for name in verbs), alone


def need_limits():
    """As an ordinary user, podman gives containers a cgroup on cgroup v2 alone."""
    if os.getuid() != 0 and not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        pytest.skip("no cgroup is writable for an ordinary user on cgroup v1")


def rows(out):
    """What ranks printed, without what `run` puts before each line where there are several."""
    return sorted(line.split(" | ", 1)[-1] for line in out.splitlines())


def test_ranks_see_what_they_see_on_the_host(there):
    ask = 'echo "$PWD|$(pwd)|$(id -u)|$HOME|$GREETING|$AZUREML_NODE_COUNT|$(cat data)" && touch $HOME/mine /tmp/mine'
    there.write("data", "of the source\n")
    first = rows(there.ok("run", "-N", "2", "--name", "first", "--image", "base:1", "--", "sh", "-c", ask))
    assert len(first) == 2 and first[0] == first[1], first
    directory, actual, uid, home, greeting, nodes, data = first[0].split("|")
    assert directory == actual and uid == str(os.getuid()) and home == pwd.getpwuid(os.getuid()).pw_dir
    assert (greeting, nodes, data) == ("of the image", "2", "of the source")
    on_host = rows(there.ok("run", "--name", "host", "--", "sh", "-c", 'echo "$(pwd)"'))
    assert os.path.dirname(on_host[0]) == os.path.dirname(directory)
    # Neither the image nor its container is made ready again.
    there.ok("run", "--name", "second", "--image", "base:1", "--", "true")
    [part] = there.show("second")["attempts"][0]["parts"]
    assert "ready since" in part["environment"]["how"], part
    assert "docker" in there.ok("job", "explain", "second")


@pytest.mark.parametrize("command,code,cause", [
    (["sh", "-c", "echo oh >&2; exit 3"], 3, "exit_code"),
    (["no-such-program"], 127, "command_not_found"),
    (["/etc"], 126, "command_not_executable"),
    (["sh", "-c", "kill -SEGV $$"], 128 + signal.SIGSEGV, "signal"),
])
def test_ends_are_told_as_on_the_host(there, command, code, cause):
    done = there.run("run", "--name", "j", "--image", "base:1", "--", *command)
    assert done.returncode == code, done
    report = there.show("j")["attempts"][0]["report"]
    assert report["cause"] == cause, report


def test_outputs_come_from_inside(there):
    there.ok("run", "--name", "j", "--image", "base:1", "--", "sh", "-c", "echo of it > outputs/made")
    there.ok("job", "download", "j", "-p", "got")
    made = next((there.work / "got").rglob("made"))
    assert made.read_text() == "of it\n" and made.stat().st_uid == os.getuid()


def test_cancel_leaves_no_container(there):
    name = there.submit("-N", "2", "--image", "base:1", "--", "sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000")
    there.wait_for_status(name, "Running")
    wait_until(lambda: len(there.engine.containers()) == 2, "one container for each node")
    there.ok("job", "cancel", name)
    there.wait_for_status(name, "Canceled")
    wait_until(lambda: not there.engine.containers(), "no container is left")


def test_a_killed_runner_takes_its_container_along(there):
    name = there.submit("--image", "base:1", "--", "sleep", "1000")
    there.wait_for_status(name, "Running")
    there.kill(there.runner_pids(name))
    wait_until(lambda: len(there.engine.containers()) <= 1, "the first one is gone")
    there.ok("job", "cancel", name)
    there.wait_for_status(name, "Canceled")


def test_a_killed_agent_finds_its_containers_again(there):
    there.write("go", "no\n")
    name = there.submit("-N", "2", "--image", "base:1", "--", "sh", "-c", "until [ -e /tmp/go ]; do sleep 0.1; done; echo went")
    there.wait_for_status(name, "Running")
    # The engine may still be removing that of the job before.
    wait_until(lambda: len(there.engine.containers()) == 2, "each node has a container of this job")
    before = sorted(there.engine.containers())
    there.kill(there.agent_pids())
    there.ok("up", "--nodes", "2", env=there.engine.environment)
    assert sorted(there.engine.containers()) == before
    for container in before:
        there.engine.ok("exec", container, "touch", "/tmp/go")
    there.wait_for_status(name, "Completed")
    assert there.logs(name).decode().count("went") == 2
    assert len(there.show(name)["attempts"]) == 1


def test_out_of_memory_is_called_so(there):
    need_limits()
    there.write("job.yml", """
command: tail /dev/zero
environment: {image: 'base:1'}
lockstep:
  resources: {memory: 64m}
  retry: {max: 0}
""")
    there.run("job", "create", "-f", "job.yml", "--name", "j", "--stream")
    report = there.wait_for_status("j", "Failed")["attempts"][0]["report"]
    assert report["cause"] == "out_of_memory", report


def test_arguments_of_the_engine_are_an_allow_list(there):
    ask = 'df -k /dev/shm | tail -1; echo "$FROM_ARGS|$(ulimit -n)"'
    out = there.ok("run", "--image", "base:1", "--shm-size", "33m", "--docker-args",
                   "--ulimit nofile=77:77 --ulimit nproc=4000:4000 -e 'FROM_ARGS=a b'", "--", "sh", "-c", ask)
    assert "33792" in out and "a b|77" in out, out
    for words, advice in (("--privileged", "--allow-docker-args"), ("-v /etc:/etc", "--allow-docker-args"),
                          ("--network none", "network"), ("--name x", "name"), ("--shm-sise 1g", "--shm-size"),
                          ("--ulimit 'nofile", "quote")):
        done = there.run("run", "--image", "base:1", "--docker-args", words, "--", "true")
        assert done.returncode not in (0, 1) and advice in done.stderr.decode(), (words, done)
    there.ok("run", "--image", "base:1", "--", "true")


@pytest.mark.parametrize("words", ["--cap-drop BOGUS", "--tmpfs /x:bogus"])
def test_what_the_engine_refuses_fails_the_job_at_once(there, words):
    done = there.run("run", "--name", "j", "--image", "base:1", "--docker-args", words, "--", "true")
    said = done.stderr.decode()
    assert done.returncode == 125 and said.count("look at it with: lockstep environment log j") == 1, done
    assert "refuses the job's resources.docker_args" in said and "bogus" in said.lower(), said
    job = there.show("j")
    assert len(job["attempts"]) == 1 and job["attempts"][0]["report"]["cause"] == "environment_failed", job
    assert "bogus" in there.ok("environment", "log", "j").lower()
    assert f"container:    {words}\n" in there.ok("job", "show", "j")


def test_a_text_for_a_shell_needs_an_image_that_has_one(there):
    """An image of one static program, as distroless ones are."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add("/bin/busybox", "only/busybox")
    there.engine.ok("import", "-", "bare:1", input=packed.getvalue())
    there.write("job.yml", "command: echo never\nenvironment: {image: 'bare:1'}\n")
    done = there.run("job", "create", "-f", "job.yml", "--name", "j", "--stream")
    assert done.returncode == 125 and "the image bare:1 has no shell (/bin/bash, /bin/sh)" in done.stderr.decode(), done
    assert len(there.show("j")["attempts"]) == 1
    there.write("env.yml", "image: bare:1\n")
    there.ok("environment", "prepare", "-f", "env.yml")
    assert rows(there.ok("run", "--image", "bare:1", "--", "/only/busybox", "echo", "words")) == ["words"]


def test_a_paused_container_is_canceled_too(there):
    need_limits()
    name = there.submit("--image", "base:1", "--", "sh", "-c", "trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done")
    there.wait_for_status(name, "Running")
    wait_until(there.engine.containers, "its container is there")
    there.engine.ok("pause", *there.engine.containers())
    there.ok("job", "cancel", name)
    there.wait_for_status(name, "Canceled")
    assert not there.engine.containers()
    assert "saved" in there.logs(name).decode()


def test_a_job_ends_with_its_containers(there):
    for _ in range(3):
        there.ok("run", "-N", "2", "--image", "base:1", "--", "true")
        assert not there.engine.containers()


def test_an_image_that_is_nowhere_is_said(there):
    there.write("job.yml", "command: 'true'\nenvironment: {image: 'localhost:9/no/such:1'}\nlockstep: {retry: {max: 0}}\n")
    there.ok("job", "create", "-f", "job.yml", "--name", "j")
    message = there.wait_for_status("j", "Failed")["attempts"][0]["report"]["message"]
    assert "localhost:9/no/such:1 is not in " in message and "(network error)" in message, message
    assert "\n" not in message, message
    there.ok("run", "--image", "base:1", "--", "true")


def test_a_build_is_made_once_and_again_when_its_context_changes(there):
    there.write("context/Dockerfile", "FROM base:1\nCOPY said /said\nRUN cat /said > /built\n")
    there.write("context/said", "one\n")
    there.write("job.yml", "command: cat /built\nenvironment: {build: {path: context}}\nresources: {instance_count: 2}\n")

    def run(name):
        there.ok("job", "create", "-f", "job.yml", "--name", name)
        there.wait_for_status(name, "Completed")
        return there.logs(name).decode()

    assert run("first").count("one") == 2
    run("second")
    assert all("ready since" in part["environment"]["how"] for part in there.show("second")["attempts"][0]["parts"])
    there.write("context/said", "two\n")
    assert run("third").count("two") == 2
    there.write("context/Dockerfile", "FROM base:1\nRUN echo this fails && exit 7\n")
    there.ok("job", "create", "-f", "job.yml", "--name", "fourth")
    there.wait_for_status("fourth", "Failed")
    log = there.ok("environment", "log", "fourth")
    assert "this fails" in log
    report = there.show("fourth")["attempts"][0]["report"]
    assert report["cause"] == "environment_failed", report


def test_the_images_own_path_counts_and_our_variables_stay(there):
    there.write("context/tool", "#!/bin/sh\necho the tool in $TMPDIR\n", mode=0o755)
    there.write("context/Dockerfile", "FROM base:1\nCOPY tool /opt/own/tool\n"
                                      "ENV PATH=/opt/own:/bin TMPDIR=/nowhere USER=nobody\n")
    there.write("job.yml", "command: tool && touch $TMPDIR/x\nenvironment: {build: {path: context}}\n")
    out = there.ok("job", "create", "-f", "job.yml", "--stream")
    assert "the tool in /" in out and "nowhere" not in out, out


def test_a_name_that_means_another_image_now_is_told(there):
    import_busybox(there.engine, "moving:1", {"N": "one"})
    assert "one" in there.ok("run", "--image", "moving:1", "--", "sh", "-c", "echo $N")
    import_busybox(there.engine, "moving:1", {"N": "two"})
    there.ok("run", "--name", "j", "--image", "moving:1", "--", "true")
    assert "moving:1 now names another image" in there.ok("environment", "log", "j")
    assert "two" in there.ok("run", "--rebuild", "--image", "moving:1", "--", "sh", "-c", "echo $N")


def test_a_container_that_somebody_removes_is_told(there):
    there.write("job.yml", "command: sleep 1000\nenvironment: {image: 'base:1'}\nlockstep: {retry: {max: 0}}\n")
    there.ok("job", "create", "-f", "job.yml", "--name", "j")
    there.wait_for_status("j", "Running")
    there.engine.ok("rm", "--force", *there.engine.containers())
    report = there.wait_for_status("j", "Failed")["attempts"][0]["report"]
    assert "the container was stopped or removed" in report["message"], report


def test_a_build_reads_nothing_outside_its_folder(there):
    secret = there.directory / "secret"
    secret.write_text("[not a pattern\n")
    for name in ("Dockerfile", ".dockerignore"):
        there.write("context/Dockerfile", "FROM base:1\n")
        (there.work / "context" / name).unlink(missing_ok=True)
        (there.work / "context" / name).symlink_to(secret)
        there.write("job.yml", "command: 'true'\nenvironment: {build: {path: context}}\nlockstep: {retry: {max: 0}}\n")
        done = there.run("job", "create", "-f", "job.yml", "--stream")
        said = (done.stdout + done.stderr).decode()
        assert done.returncode != 0 and "not a pattern" not in said and name in said, said
        (there.work / "context" / name).unlink()


def test_what_goes_from_the_cache_goes_from_the_engine(there):
    for name in there.engine.names():  # of nodes that are no more
        if "lockstep/env" in name:
            there.engine.ok("rmi", name)
    there.ok("run", "-N", "2", "--image", "base:1", "--", "true")
    assert any("lockstep/env" in name for name in there.engine.names())
    wait_until(lambda: not list(there.home.glob("nodes/*/attempts/*")), "no attempt needs it any more")
    there.ok("environment", "prune", "--unused-for", "0s")
    wait_until(lambda: not any("lockstep/env" in name for name in there.engine.names()), "our tags are gone")
    assert any("base:1" in name for name in there.engine.names())
    there.ok("run", "--image", "base:1", "--", "true")


def test_an_image_that_was_removed_is_looked_for_again(there):
    import_busybox(there.engine, "gone:1")
    there.ok("run", "--image", "gone:1", "--", "true")
    for name in there.engine.names():
        if "lockstep/env" in name or "gone:1" in name:
            there.engine.ok("rmi", "--force", name)
    done = there.run("run", "--image", "gone:1", "--", "true")
    assert done.returncode != 0 and "gone:1" in done.stderr.decode(), done
    import_busybox(there.engine, "gone:1")
    there.ok("run", "--rebuild", "--image", "gone:1", "--", "true")


def test_an_engine_that_is_not_there_is_said(site):
    site.ok("up", "--nodes", "1", env={"LOCKSTEP_CONTAINER_ENGINE": "/no/such/docker"})
    assert site.json("node", "show", "local-0")["inventory"]["container_engine"] == ""
    assert "no engine" in site.ok("node", "show", "local-0")
    done = site.run("run", "--image", "base:1", "--", "true")
    assert done.returncode == 1 and "needs a container engine on a node" in done.stderr.decode(), done
    assert "install one" in done.stderr.decode() and site.json("job", "list") == []
    site.ok("run", "--", "true")


def test_a_daemon_that_is_away_is_said_and_comes_back(site):
    engine = Docker()
    try:
        import_busybox(engine, "base:1")
        site.ok("up", "--nodes", "1", env=engine.environment)
        site.ok("run", "--image", "base:1", "--", "true")
    finally:
        engine.close()
    site.write("job.yml", "command: 'true'\nenvironment: {image: 'base:1'}\nlockstep: {retry: {max: 0}}\n")
    site.ok("job", "create", "-f", "job.yml", "--name", "j")
    report = site.wait_for_status("j", "Failed")["attempts"][0]["report"]
    assert "docker" in report["message"].lower(), report
    # Another engine has other images: it is no substitute for the one that was named.
    site.down()
    site.ok("up", "--nodes", "1", env={"DOCKER_HOST": engine.own["DOCKER_HOST"]})
    site.ok("job", "create", "-f", "job.yml", "--name", "k", "--set", "environment.image=other:1")
    report = site.wait_for_status("k", "Failed")["attempts"][0]["report"]
    assert "docker does not answer" in report["message"] and "pulled" not in report["message"], report


def test_outputs_belong_to_the_user_without_root(site, shared_bin, ordinary_user):
    """Rootless podman: the node's agent, its engine and the ranks are an ordinary user's."""
    from conftest import _close, _site
    mine = _site(ordinary_user, shared_bin)
    engine = None
    try:
        engine = Podman(ordinary_user)
        import_busybox(engine, "base:1")
        mine.ok("up", "--nodes", "2", env=engine.environment)
        out = mine.ok("run", "-N", "2", "--name", "j", "--image", "base:1", "--", "sh", "-c",
                      "id -u; echo of it > outputs/made; touch $HOME/x")
        uid = pwd.getpwnam(ordinary_user).pw_uid
        assert rows(out) == [str(uid)] * 2
        mine.ok("job", "download", "j", "-p", "got")
        assert {path.stat().st_uid for path in (mine.work / "got").rglob("made")} == {uid}
        assert json.loads(mine.ok("job", "show", "j", "-o", "json"))["status"] == "Completed"
    finally:
        _close(mine)
        if engine:
            engine.close()


def test_rdma_devices_without_root(site, shared_bin, ordinary_user, verbs):
    """Rootless podman passes what its user may open, and a node says it where that is nothing."""
    from conftest import _close, _site
    mine = _site(ordinary_user, shared_bin)
    engine = None
    try:
        engine = Podman(ordinary_user)
        import_busybox(engine, "base:1")
        mine.ok("up", "--nodes", "2", env=engine.environment)
        words = ["-N", "2", "--rdma", "preferred", "--image", "base:1", "--", "sh", "-c", ASK_RDMA]
        judge_rdma(mine, "open", mine.ok("run", "--name", "open", *words), verbs)
        if os.path.isdir("/sys/class/infiniband"):
            return  # these are no files of ours
        for name in verbs:
            os.chmod(f"/dev/infiniband/{name}", 0o600)
        out = mine.ok("run", "--name", "closed", *words)
        assert not any(name in out for name in verbs), out
        for part in mine.show("closed")["attempts"][0]["parts"]:
            assert any("the agent's user may not open /dev/infiniband/uverbs*" in note for note in part["notes"]), part
    finally:
        _close(mine)
        if engine:
            engine.close()


def test_inputs_are_mounted_or_copied_into_a_container(there):
    there.write("set/a.txt", "first\n")
    there.write("job.yml", "command: cat ${{inputs.d}}/a.txt; touch ${{inputs.d}}/x || echo refused; "
                           "cat ${{inputs.c}}/a.txt && echo mine > ${{inputs.c}}/a.txt && cat ${{inputs.c}}/a.txt\n"
                           "environment: {image: 'base:1'}\n"
                           "inputs: {d: {path: set}, c: {path: set, mode: download}}\n")
    there.ok("job", "create", "-f", "job.yml", "--name", "j", "--set", "resources.instance_count=2")
    there.wait_for_status("j", "Completed")
    for rank in ("0", "1"):
        assert there.ok("job", "logs", "j", "--rank", rank, "--stdout") == "first\nrefused\nfirst\nmine\n"
