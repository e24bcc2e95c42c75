"""A launcher that its operator starts by hand, keys that it does not know, nodes that come and go."""
import os
import pwd
import signal
import subprocess
import time

import pytest
from harness.site import alive, wait_until


class Operator:
    """lockstepd in the site's own home, and agents beside it, all started by hand."""

    def __init__(self, site):
        self.site = site
        self.started = []

    def _start(self, *words):
        with open(self.site.directory / "by-hand.log", "ab") as log:
            process = subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, env=self.site.environment())
        self.started.append(process)
        return process

    def launcher(self, *flags):
        home = self.site.home / "launcher"
        process = self._start(self.site.bin / "lockstepd", "--home", home, "--allow-root", *flags)
        wait_until(lambda: self.site.run("status").returncode == 0, "the launcher answers", 30)
        return process

    def agent_words(self, name, *flags):
        return [self.site.bin / "lockstep-agent", "--home", self.site.directory / name, "--name", name,
                "--cpus", "0-0", *flags]

    def agent(self, name, *flags):
        return self._start(*self.agent_words(name, *flags))

    def token(self, *flags):
        path = self.site.directory / "token"
        path.write_text(self.site.ok("node", "token", *flags))
        path.chmod(0o600)
        return path

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@pytest.fixture
def operator(site):
    made = Operator(site)
    yield made
    made.close()


def states(site):
    return {node["name"]: node["liveness"] for node in site.json("node", "list")}


def test_an_operators_launcher_that_died_is_not_replaced(site, operator):
    launcher = operator.launcher("--listen", "tcp://0.0.0.0:*")
    assert b"was not started by `lockstep`" in site.run("up", "--nodes", "2").stderr
    assert launcher.poll() is None
    site.submit("--name", "waits", "--", "true")
    stream = site.start("job", "stream", "waits")
    assert b"waits" in stream.stderr.readline(), "it follows the job"
    launcher.send_signal(signal.SIGKILL)
    launcher.wait(timeout=30)
    told = b""
    while b"the launcher has ended" not in told:
        told = stream.stderr.readline()
        assert told, "the stream ended"
    assert b"its operator starts it again: " in told and b"--listen 'tcp://0.0.0.0:*'" in told, told
    stream.send_signal(signal.SIGINT)
    stream.communicate(timeout=30)
    for words in (["job", "list"], ["up"], ["run", "--", "true"], ["status"]):
        done = site.run(*words)
        assert done.returncode != 0, words
        text = done.stderr.decode()
        assert "is not running (it was started at" in text, words
        assert "lockstepd --home" in text and "--listen 'tcp://0.0.0.0:*'" in text, words
    assert not site.launcher_pids() and not site.agent_pids()
    operator.launcher("--listen", "tcp://0.0.0.0:*")
    assert [job["name"] for job in site.json("job", "list")] == ["waits"]
    site.ok("job", "cancel", "waits")


def test_a_wrong_flag_of_an_agent_costs_no_token(site, operator):
    operator.launcher()
    token = operator.token()
    for flags in (["--cpus", "0"], ["--cpus", "900-901"], ["--memory", "much"], ["--gpus", "77"],
                  ["--launcher", "nowhere:1"], ["--log-level", "loud"]):
        words = [w for w in operator.agent_words("n1", "--token-file", token)]
        if flags[0] == "--cpus":
            del words[words.index("--cpus"):words.index("--cpus") + 2]
        done = subprocess.run([str(w) for w in [*words, *flags]], capture_output=True, timeout=60,
                              env=site.environment(), check=False)
        assert done.returncode != 0, flags
    operator.agent("n1", "--token-file", token)
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the token still let the node in", 30)


def test_an_agent_started_again_without_its_flags_offers_what_it_did(site, operator):
    operator.launcher()
    agent = operator.agent("n1", "--memory", "96m", "--network", "rack7", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)

    def offered():
        have = site.json("node", "show", "n1")["inventory"]
        return len(have["cpus"]), have["memory"], have["network"]

    def restart(*flags):
        nonlocal agent
        agent.send_signal(signal.SIGTERM)
        agent.wait(timeout=30)
        agent = operator._start(site.bin / "lockstep-agent", "--home", site.directory / "n1", *flags)

    limited = (1, 96 << 20, "rack7")
    assert offered() == limited
    joined = site.json("node", "show", "n1")["last_heard"]
    restart()
    wait_until(lambda: site.json("node", "show", "n1")["last_heard"] > joined, "its next agent is heard", 30)
    wait_until(lambda: "n1" in states(site) and states(site)["n1"] == "ALIVE", "the node is there again", 30)
    assert offered() == limited
    assert site.run("run", "--name", "probe", "--", "true").returncode == 0
    assert "offers --cpus 0-0, --memory 96m, --network rack7" in (site.directory / "by-hand.log").read_text()
    restart("--memory", "all", "--network", "all")
    wait_until(lambda: offered()[1] > limited[1], "all memory is offered again", 30)
    assert offered()[0] == 1 and offered()[2] != "rack7"


def test_the_address_that_the_agent_was_told_wins_and_is_remembered(site, operator):
    operator.launcher("--listen", "tcp://127.0.0.1:*", "--advertise", "203.0.113.9")
    endpoint = site.json("status")["endpoint"]
    port = endpoint.rpartition(":")[2]
    assert endpoint == f"tcp://203.0.113.9:{port}"
    agent = operator.agent("n1", "--launcher", f"tcp://127.0.0.1:{port}", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node joined through --launcher", 30)
    agent.send_signal(signal.SIGTERM)
    agent.wait(timeout=30)
    operator.agent("n1")
    wait_until(lambda: site.run("run", "--", "true").returncode == 0, "it is remembered", 60)


def test_a_removed_node_is_told_so_and_exits(site, operator):
    operator.launcher("--node-lost-timeout", "4s")
    agent = operator.agent("n1", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node joined", 30)
    refused = site.run("node", "remove", "n1")
    assert refused.returncode == 1 and b"ALIVE" in refused.stderr
    site.submit("--name", "left", "--", "sleep", "600")
    site.wait_for_status("left", "Running")
    ranks = site.rank_pids("left")
    agent.send_signal(signal.SIGTERM)
    agent.wait(timeout=30)
    wait_until(lambda: states(site) == {"n1": "LOST"}, "the node is LOST", 60)
    assert b"is removed" in site.run("node", "remove", "n1").stderr
    assert states(site) == {}
    assert b"there is no node" in site.run("node", "remove", "ghost").stderr

    # Its ranks still run: it ends them before it leaves.
    assert all(alive(pid) for pid in ranks.values())
    back = operator.agent("n1")
    assert back.wait(timeout=60) != 0
    assert b"node n1 was removed from this launcher" in (site.directory / "by-hand.log").read_bytes()
    wait_until(lambda: not any(alive(pid) for pid in ranks.values()), "its ranks have ended", 30)
    site.ok("job", "cancel", "left")


def test_an_unauthorised_key_is_told_so_at_once(site, operator, tmp_path):
    operator.launcher()
    started = time.monotonic()
    done = site.run("status", env={"LOCKSTEP_HOME": str(tmp_path),
                                   "LOCKSTEP_LAUNCHER": str(site.home / "launcher" / "endpoint.json")})
    text = done.stderr.decode()
    assert done.returncode == 1
    assert f"refused this key ({tmp_path}/keys/user.key)" in text and "authorized_users" in text
    assert time.monotonic() - started < 4


def test_fewer_local_nodes_leave_no_lost_ones(site):
    site.up(3)
    site.ok("down")
    left = site.home / "nodes" / "local-1" / "attempts" / "left.1"  # by an agent that was ended
    left.mkdir(parents=True)
    site.up(1)
    assert states(site) == {"local-0": "ALIVE"}
    assert not left.parent.exists()
    site.ok("down")
    site.up(2)
    assert states(site) == {"local-0": "ALIVE", "local-1": "ALIVE"}
    assert site.run("run", "-N", "2", "--", "true").returncode == 0


def test_down_never_waits_for_a_reply_that_is_lost(site):
    longest = 0.0
    for _ in range(8):
        site.up(1)
        started = time.monotonic()
        site.ok("down")
        longest = max(longest, time.monotonic() - started)
    assert longest < 4, "a lost reply costs 5 s"


def test_a_node_that_cannot_run_as_the_jobs_user_is_passed_over(site, operator, ordinary_user):
    operator.launcher()
    entry = pwd.getpwnam(ordinary_user)
    home, token = site.directory / "n1", operator.token()
    home.mkdir()
    for path in (home, token):
        os.chown(path, entry.pw_uid, entry.pw_gid)
    operator._start("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups",
                    *operator.agent_words("n1", "--token-file", token))
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the ordinary user's node is there", 30)
    name = site.submit("--name", "roots", "--retry", "0", "--", "true")
    job = wait_until(lambda: (j := site.show(name))["status"] == "Queued" and j["attempts"] and j,
                     "n1 cannot take it")
    assert "n1 cannot run jobs as root: its agent runs as " + ordinary_user in job["reason"], job["reason"]
    assert "n1 cannot run jobs as root" in site.ok("job", "explain", name)
    operator.agent("n2", "--token-file", operator.token())
    job = site.wait_for_status(name, "Completed")
    assert job["attempts"][-1]["parts"][0]["node_name"] == "n2"
    assert job["attempts"][0]["report"]["cause"] == "account_missing"


def test_a_node_gets_no_work_before_an_admin_has_approved_it(site, operator):
    operator.launcher("--approve-nodes")
    operator.agent("n1", "--token-file", operator.token("--uses", "2"))
    operator.agent("n2", "--token-file", site.directory / "token")
    wait_until(lambda: states(site) == {"n1": "ALIVE", "n2": "ALIVE"}, "both nodes have joined", 30)
    assert "ALIVE,unapproved" in site.ok("node", "list")
    assert all(node["waits_for_approval"] for node in site.json("node", "list"))
    name = site.submit("--", "true")
    why = "n1 waits for approval: an admin approves it with `lockstep node approve n1`"
    assert why in site.show(name)["reason"]
    assert why in site.ok("job", "explain", name)
    assert "gets no work before an admin approves it" in site.run("node", "resume", "n1").stderr.decode()
    assert site.show(name)["status"] == "Queued"
    done = site.run("node", "approve", "n1", "ghost", "n2")
    assert done.returncode == 1
    assert "there is no node 'ghost'" in done.stderr.decode()
    site.wait_for_status(name, "Completed")
    assert not any(node["waits_for_approval"] for node in site.json("node", "list"))
    entries = [entry for entry in site.json("audit") if entry["what"] == "approve node"]
    assert [(entry["object"], entry["outcome"]) for entry in entries] == [
        ("node n1", "done"), ("node ghost", "refused"), ("node n2", "done")]


def test_a_token_can_ask_for_approval(site, operator):
    operator.launcher()
    operator.agent("asked", "--token-file", operator.token("--approve"))
    wait_until(lambda: states(site) == {"asked": "ALIVE"}, "the node has joined", 30)
    operator.agent("plain", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"asked": "ALIVE", "plain": "ALIVE"}, "the other one too", 30)
    waits = {node["name"]: node["waits_for_approval"] for node in site.json("node", "list")}
    assert waits == {"asked": True, "plain": False}
    name = site.submit("--", "true")
    assert site.wait_for_status(name, "Completed")["attempts"][0]["parts"][0]["node_name"] == "plain"


def test_a_lost_node_and_a_lost_launcher_are_said_at_once(site, operator):
    launcher = operator.launcher("--node-lost-timeout", "4s", "--reconnect-grace", "1s")
    log = site.directory / "by-hand.log"
    agent = operator.agent("n1", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
    agent.send_signal(signal.SIGSTOP)
    wait_until(lambda: states(site) == {"n1": "LOST"}, "the node is lost", 60)
    said = log.read_text()
    assert "warning node n1 is UNKNOWN" in said and "warning node n1 is LOST: it has not reported for" in said, said
    agent.send_signal(signal.SIGCONT)
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "it is there again", 60)
    wait_until(lambda: "node n1 reports again after" in log.read_text(), "that is said, too")
    entries = [(e["what"], e["object"]) for e in site.json("audit", "--node", "n1")]
    assert ("lose node", "node n1") in entries and ("hear node again", "node n1") in entries, entries
    node = site.json("node", "show", "n1", "--history")
    assert [e["what"] for e in node["history"]] == ["Joined", "AgentStarted", "Lost", "Returned"], node["history"]
    assert site.json("node", "show", "n1")["history"] == []
    assert not node["other_version"] and node["agent_version"] in site.ok("node", "list")
    launcher.send_signal(signal.SIGKILL)
    launcher.wait(timeout=30)
    wait_until(lambda: "the launcher's port for nodes" in log.read_text(), "the agent says it within seconds", 20)


def test_tokens_are_listed_without_their_secrets_and_revoked(site, operator):
    operator.launcher()
    secret = operator.token("--uses", "2")
    [token] = site.json("node", "token", "list")
    assert (token["uses"], token["used"]) == (2, 0) and token["id"] not in secret.read_text()
    assert secret.read_text().strip() not in site.ok("node", "token", "list")
    operator.agent("n1", "--token-file", secret)
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
    assert site.json("node", "token", "list")[0]["used"] == 1
    done = site.run("node", "token", "revoke", token["id"][:6])
    assert done.returncode == 0 and b"1 node that joined with it stays" in done.stderr, done.stderr
    assert site.json("node", "token", "list") == [] and states(site) == {"n1": "ALIVE"}
    late = operator.agent("n2", "--token-file", secret)
    assert late.wait(timeout=60) == 1 and states(site) == {"n1": "ALIVE"}
    for words in (["--uses", "1001"], ["--valid-for", "31d"]):
        assert site.run("node", "token", *words).returncode == 2, words


SAVES = """
import signal, sys, time
def save(*_):
    time.sleep(3)
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(1000)
"""


def test_a_job_that_asks_for_more_time_outlives_the_launchers_grace(site, operator):
    """Here it is 1 s, where others have 10 s."""
    operator.launcher("--stop-grace", "1s")
    operator.agent("n1", "--token-file", operator.token())
    wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
    site.write("saves.py", SAVES)
    for name, words, saved in (("asks", ("--grace", "30s"), True), ("other", (), False)):
        site.submit("--name", name, *words, "--", "/usr/bin/python3", "saves.py")
        wait_until(lambda name=name: b"ready" in site.logs(name), f"{name} is ready", 30)
        site.ok("job", "cancel", name)
        site.wait_for_status(name, "Canceled")
        assert (b"saved" in site.logs(name)) == saved, (name, site.logs(name))
