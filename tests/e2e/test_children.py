"""Jobs that running jobs submit, with the credential of their attempt."""
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import time

import pytest
from harness.accounts import Neighbour
from harness.engine import Docker, import_debian
from harness.site import wait_until

SHARE = ("--cpus", "1", "--memory", "128m", "--gpus", "0")
WORDS = " ".join(SHARE)
FINAL = ("Completed", "Failed", "Canceled")


def children_of(site, name):
    return [job["name"] for job in site.json("job", "list", "--parent", name)]


def text_of(site, name):
    return site.logs(name).decode()


def home_of(site, name):
    """The folder with the credential of the job's attempt, seen from outside."""
    found, = (site.home / "nodes").glob(f"*/attempts/{name}.*/lockstep")
    return found


@contextlib.contextmanager
def running(site, name, script, *words):
    """A job that has printed "up" and waits until it is canceled."""
    site.submit("--name", name, "--retry", "0", *SHARE, *words, "--", "bash", "-c",
                script + "; echo up; sleep 600 & wait")
    try:
        wait_until(lambda: "up\n" in text_of(site, name) or site.show(name)["status"] in FINAL, f"{name} runs")
        assert site.show(name)["status"] == "Running", text_of(site, name)
        yield name
    finally:
        site.run("job", "cancel", name)
        site.wait_for_status(name, *FINAL)


def test_a_job_submits_streams_and_gets_the_exit_code(any_site):
    site = any_site.up(1)
    site.write("child.yml", "command: echo from-a-file\nlockstep: {resources: {cpus: 1, memory: 128m, gpus: 0}}\n")
    script = f"""
      lockstep run {WORDS} --name one -- bash -c 'echo said-by-one; exit 7'; echo "code $?"
      lockstep job create -f child.yml --name two --stream; echo "code $?"
      lockstep job show one | grep -q 'child of: *parent' && echo knows-its-parent
      lockstep job list --parent parent -o json | grep -c '"name"'
      tr '\\0' '\\n' < /proc/self/environ | grep -E '^LOCKSTEP_(HOME|LAUNCHER)='
      grep -q "$(sed -n 's/secret //p' $LOCKSTEP_HOME/keys/user.key)" /proc/self/environ && echo LEAKED
      stat -c '%a %U' $LOCKSTEP_HOME $LOCKSTEP_HOME/keys $LOCKSTEP_HOME/keys/user.key"""
    site.submit("--name", "parent", *SHARE, "--", "bash", "-c", script)
    site.wait_for_status("parent", *FINAL)
    said = text_of(site, "parent")
    assert site.show("parent")["status"] == "Completed", said
    account = site.user or pwd.getpwuid(os.getuid()).pw_name
    for line in ("said-by-one", "code 7", "from-a-file", "code 0", "knows-its-parent",
                 f"700 {account}", f"600 {account}"):
        assert line in said, f"{line}: {said}"
    assert "LEAKED" not in said
    assert sorted(children_of(site, "parent")) == ["one", "two"]
    one = site.show("one")
    assert one["status"] == "Failed" and one["lockstep"]["parent"] == "parent"
    assert one["creation_context"] and one["creation_context"]["created_by"] == \
        site.show("parent")["creation_context"]["created_by"]
    assert "2; lockstep job list --parent parent" in site.ok("job", "show", "parent")
    listed = [job["name"] for job in site.json("job", "list")]
    assert listed == ["parent"], "children are listed with their parent alone"
    deleted = site.run("job", "delete", "parent", "--yes")
    assert deleted.returncode == 0 and b"1 job deleted, with 2 children and all below them" in deleted.stderr, deleted.stderr
    assert site.run("job", "show", "one").returncode == 1


def test_children_end_with_their_parent_and_survive_launcher_and_agent(any_site):
    site = any_site.up(1)
    script = f"lockstep run --detach {WORDS} --name kid -- sleep 600"
    with running(site, "parent", script):
        site.kill(site.launcher_pids())
        site.ok("up")
        site.kill(site.agent_pids())
        site.ok("up")
        site.wait_for_status("kid", "Running")
        assert children_of(site, "parent") == ["kid"]
        # Its credential counts as before.
        home = home_of(site, "parent")
        key = {"LOCKSTEP_HOME": str(home), "LOCKSTEP_LAUNCHER": str(home / "endpoint.json")}
        done = site.run("job", "show", "kid", env=key)
        assert done.returncode == 0, done.stderr.decode()
    kid = site.wait_for_status("kid", "Canceled")
    assert "job parent" in json.dumps(kid)


def test_a_child_that_needs_what_its_parent_holds_is_refused_with_the_way_out(any_site):
    """If the parent waits for it, neither would ever go on."""
    site = any_site.up(1)
    site.write("env.yml", "interpreter: python3\n")
    script = ("lockstep run --name kid -- true 2>&1; lockstep environment prepare -f env.yml -N 1 2>&1; "
              "echo \"EXIT=$?\"; lockstep run --detach --name later -- true 2>&1")
    site.submit("--name", "parent", "--retry", "0", "--", "bash", "-c", script)
    site.wait_for_status("parent", "Completed")
    said = text_of(site, "parent")
    waited, later = said.split("EXIT=")
    assert "job 'parent', which submits it, holds so much of target 'local' (local-0)" in waited, said
    assert waited.count("would wait for each other for ever") == 2 and "--cpus" in waited, said
    assert not later.startswith("0\n") and "it starts when that has ended" in later, said
    site.wait_for_status("later", "Completed")
    assert site.run("job", "show", "kid").returncode == 1


def test_a_rank_that_waits_for_its_child_ends_with_it_when_its_job_is_canceled(any_site):
    """It was killed after the grace time, though its child had ended."""
    site = any_site.up(1)
    saves = "trap 'sleep 1; echo saved; exit 3' TERM; echo up; sleep 600 & wait"
    site.submit("--name", "parent", "--retry", "0", "--grace", "90", *SHARE, "--",
                "lockstep", "run", "--name", "kid", *SHARE, "--", "bash", "-c", saves)
    wait_until(lambda: "up\n" in text_of(site, "parent"), "the child's output is in its parent's")
    began = time.monotonic()
    site.ok("job", "cancel", "parent")
    parent = site.wait_for_status("parent", *FINAL)
    assert parent["status"] == "Canceled" and site.show("kid")["status"] == "Canceled", parent
    assert time.monotonic() - began < 60, "it waited for the end of the grace time"
    rank, = parent["attempts"][0]["parts"][0]["rank_states"]
    assert rank["exit_code"] != 137, f"it was killed: {rank}"
    assert "saved\n" in text_of(site, "parent"), "it showed the child's output to the end"


def test_a_credential_is_for_its_job_alone_and_ends_with_it(any_site):
    site = any_site.up(1)
    other = site.submit("--name", "other", *SHARE, "--", "true")
    site.wait_for_status(other, "Completed")
    site.write("x.yml", "command: 'true'\nenvironment_variables: {T: '${{secrets.TOKEN}}'}\n")
    with running(site, "parent", ":"):
        stolen = site.work / "stolen"
        shutil.copytree(home_of(site, "parent"), stolen)
        if site.user:
            subprocess.run(["chown", "-R", site.user, str(stolen)], check=True)
        key = {"LOCKSTEP_HOME": str(stolen), "LOCKSTEP_LAUNCHER": str(stolen / "endpoint.json")}
        site.run("secret", "set", "TOKEN", stdin=open("/proc/sys/kernel/ostype", encoding="utf8"))
        assert json.loads(site.ok("job", "list", "-o", "json", env=key))[0]["name"] == "parent"
        assert "other" not in site.ok("job", "list", env=key)
        for words in (("job", "show", "other"), ("job", "logs", "other"), ("job", "cancel", "other"),
                      ("job", "delete", "other", "--yes"), ("job", "delete", "parent", "--yes"),
                      ("job", "share", "parent"), ("secret", "list"), ("user", "list"), ("down",),
                      ("node", "drain", "local-0"), ("node", "token"),
                      ("run", "--detach", "--project", "elsewhere", "--", "true"),
                      ("job", "create", "-f", "x.yml")):
            done = site.run(*words, env=key)
            assert done.returncode != 0, (words, done.stdout.decode())
            assert b"canary" not in done.stdout
    for words in (("job", "show", "parent"), ("run", "--detach", "--", "true")):
        done = site.run(*words, env=key)
        assert done.returncode != 0, words
    assert "other" in site.ok("job", "list"), "nothing of its owner's was harmed"


@pytest.fixture
def neighbours(site, two_accounts):
    site.up(1)
    return [Neighbour(site, account) for account in ("lockstep-alice", "lockstep-bob")]


def test_no_other_account_reads_the_key(site, neighbours):
    alice, bob = neighbours
    script = f"lockstep run --detach {WORDS} --name hers -- id -un; stat -c %U $LOCKSTEP_HOME/keys/user.key"
    with running(alice, "parent", script):
        assert "lockstep-alice" in alice.logs("parent").decode()
        home, = (site.home / "nodes").glob("*/attempts/parent.*/lockstep")
        for path in (home, home / "keys", home / "keys" / "user.key"):
            look = bob.python("import os, sys\ntry:\n    os.listdir(sys.argv[1]) if os.path.isdir(sys.argv[1]) "
                              "else open(sys.argv[1]).read()\n    print('OPEN')\nexcept OSError as e:\n"
                              "    print(type(e).__name__)\n", str(path))
            assert "OPEN" not in str(look)
        alice.wait_for_status("hers", "Completed")
        assert alice.logs("hers").decode().strip() == "lockstep-alice"


def test_in_a_container_the_credential_is_there(site, shared_bin):
    with contextlib.ExitStack() as undo:
        engine = Docker()
        undo.callback(engine.close)
        import_debian(engine, "small:1")
        site.ok("up", "--nodes", "1", env=engine.environment)
        undo.callback(site.down)
        script = "stat -c '%a %u' $LOCKSTEP_HOME/keys/user.key; cat $LOCKSTEP_LAUNCHER"
        site.submit("--name", "boxed", *SHARE, "--image", "small:1", "--", "bash", "-c", script)
        site.wait_for_status("boxed", *FINAL)
        said = text_of(site, "boxed")
        assert site.show("boxed")["status"] == "Completed", said
        assert "600 " in said and "public_key" in said


def test_in_a_container_of_a_node_with_a_bundle_the_command_is_there(site, bundle):
    with contextlib.ExitStack() as undo:
        folder = pathlib.Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="ls-bundle-")))
        folder.chmod(0o755)
        subprocess.run(["tar", "-xf", bundle, "-C", folder, "--strip-components=1"], check=True)
        site.bin = folder / "bin"
        engine = Docker()
        undo.callback(engine.close)
        import_debian(engine, "small:1")
        site.ok("up", "--nodes", "1", env=engine.environment)
        undo.callback(site.down)
        script = f"lockstep run {WORDS} --name one -- bash -c 'echo said-by-one; exit 7'; echo code $?"
        site.submit("--name", "boxed", *SHARE, "--image", "small:1", "--", "bash", "-c", script)
        site.wait_for_status("boxed", *FINAL)
        said = text_of(site, "boxed")
        assert site.show("boxed")["status"] == "Completed", said
        assert "said-by-one" in said and "code 7" in said, said
        assert children_of(site, "boxed") == ["one"]
