"""First screens of who may not join or connect: wrong join tokens, a revoked key, blocked ports, another version of an
agent."""
import base64
import getpass
import json
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from harness.first_screen import judge, needs_root, only_long, plain, screen
from harness.namespaces import Cluster
from harness.site import wait_until
from test_operators import Operator, states
from test_roles import Person

PREFIX = "lockstep-token-1."


@pytest.fixture
def operator(site):
    made = Operator(site)
    yield made
    made.close()


def agent_screen(operator, name, token):
    """What an agent prints that does not get in."""
    words = [str(word) for word in operator.agent_words(name, "--token-file", token)]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
                          env=operator.site.environment())
    assert done.returncode != 0, done.stderr.decode()
    return screen(operator.site, done)


def test_a_token_that_was_copied_wrongly(operator):
    """A part of it, and one wrong character in the launcher's key."""
    operator.launcher()
    token = operator.token()
    text = token.read_text().strip()
    token.write_text(text[:len(text) // 2] + "\n")
    judge("token-cut", agent_screen(operator, "n1", token), "is cut short or damaged", "`lockstep node token`")
    inside = json.loads(base64.urlsafe_b64decode(text.removeprefix(PREFIX) + "=="))
    inside["key"] = ("a" if inside["key"][0] != "a" else "b") + inside["key"][1:]
    wrong = json.dumps(inside, separators=(",", ":")).encode()
    token.write_text(PREFIX + base64.urlsafe_b64encode(wrong).decode().rstrip("=") + "\n")
    judge("token-copied-wrongly", agent_screen(operator, "n1", token), "was copied with a mistake", "`lockstep node token`")


def test_a_token_that_was_used_before(site, operator):
    operator.launcher()
    token = operator.token("--uses", "1")
    operator.agent("n1", "--token-file", token)
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
    judge("token-used", agent_screen(operator, "n2", token), "was used 1 time", "`lockstep node token`")


def test_a_key_that_was_revoked(site):
    site.up(1)
    alice = Person(site, "alice")
    site.ok("user", "add", "alice", "--key", alice.key, "--role", "submitter", "--account", getpass.getuser())
    alice.ok("job", "list")
    site.ok("user", "key", "revoke", alice.key)
    done = alice.run("run", "--name", "train", "--", "true")
    assert done.returncode != 0, done
    judge("key-revoked", screen(site, done, {alice.key: "KEY", f"by {getpass.getuser()}": "by USER"}), "revoked")


def test_an_agent_of_another_version(site, operator):
    """Its words are read, so that it works; and whoever looks for a difference of nodes sees this one."""
    operator.launcher()
    other = site.directory / "other"
    other.mkdir()
    for program in site.bin.iterdir():
        if program.is_file():
            shutil.copy(program, other / program.name)
    agent = other / "lockstep-agent"
    own = subprocess.run([agent, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    changed = ("9" if own[0] != "9" else "8") + own[1:]
    agent.write_bytes(agent.read_bytes().replace(own.encode() + b"\0", changed.encode() + b"\0"))
    words = operator.agent_words("n1", "--token-file", operator.token())
    operator._start(agent, *words[1:])
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
    shown = [line for line in site.ok("node", "show", "n1").splitlines() if line.startswith(("state", "agent", "reason"))]
    assert f"{changed} (differs)" in site.ok("node", "list")
    judge("agent-of-another-version", plain(site, "\n".join(shown) + "\n", {changed: "VERSION", own: "LAUNCHERS"}),
          "VERSION, but the launcher has LAUNCHERS", "restart lockstep-agent")


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ports-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=1)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


@needs_root
@only_long
@pytest.mark.parametrize("name, port", [("requests", 7070), ("files", 7071)])
def test_a_port_of_the_launcher_that_is_blocked(cluster, name, port):
    def iptables(*words):
        subprocess.run(["nsenter", f"--net=/run/netns/{cluster.launcher.namespace}", "iptables", *words], check=True)

    iptables("-A", "OUTPUT", "-p", "tcp", "--dport", str(port), "-j", "DROP")
    try:
        done = cluster.site.run("run", "--name", "train", "--", "true")
    finally:
        iptables("-F")
    assert done.returncode != 0, done
    judge(f"port-for-{name}-blocked", screen(cluster.site, done), f":{port}", "firewall")
