"""Runners are forked from a template: kill -9 of it, and of its agent, costs no job anything."""
import os
import pathlib
import signal

from harness.site import alive, wait_until


def templates(site):
    """The pids of the templates of this site's agents, without the process that each has for its next order."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
            program = os.readlink(f"/proc/{entry}/exe")
            if words.startswith(b"lockstep-template\0") and program.startswith(str(site.bin)):
                parents[int(entry)] = parent(entry)
        except OSError:
            continue
    return {pid for pid in parents if parents[pid] not in parents}


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def start(site, name):
    """A job that waits for a file; returns the pid of its runner."""
    flag = site.directory / f"{name}.flag"
    site.ok("run", "--detach", "--name", name, "--", "sh", "-c",
            f"echo begun; while [ ! -e {flag} ]; do sleep 0.05; done; echo ended")
    wait_until(lambda: b"begun" in site.logs(name), "its rank runs")
    return site.runner_pids(name)[0]


def finish(site, name):
    (site.directory / f"{name}.flag").write_text("")
    site.wait_for_status(name, "Completed")
    assert site.logs(name, "--stdout") == b"begun\nended\n"
    assert len(site.show(name)["attempts"]) == 1


def test_a_forked_runner_outlives_its_agent_and_its_template(any_site):
    any_site.up(1)
    ours = wait_until(lambda: templates(any_site), "the template is there")
    runner = start(any_site, "forked")
    assert parent(runner) in ours
    any_site.kill(any_site.agent_pids())
    wait_until(lambda: not any(alive(pid) for pid in ours), "the template ends with its agent")
    assert alive(runner)
    any_site.ok("status")
    any_site.ok("up", "--nodes", "1")
    wait_until(lambda: templates(any_site), "the next agent has a template of its own")
    assert any_site.runner_pids("forked") == [runner]
    finish(any_site, "forked")


def test_a_killed_template_is_replaced_and_its_runners_go_on(any_site):
    any_site.up(1)
    old = wait_until(lambda: templates(any_site), "the template is there")
    first = start(any_site, "first")
    any_site.kill(old, signal.SIGKILL)
    assert alive(first)
    finish(any_site, "first")
    second = start(any_site, "second")
    assert parent(second) not in old
    wait_until(lambda: templates(any_site) - old, "there is another template")
    finish(any_site, "second")
    third = start(any_site, "third")
    assert parent(third) in templates(any_site)
    finish(any_site, "third")


def test_down_leaves_no_template(any_site):
    any_site.up(2)
    wait_until(lambda: len(templates(any_site)) == 2, "each agent has a template")
    any_site.ok("run", "--", "true")
    any_site.ok("down")
    wait_until(lambda: not templates(any_site), "the templates end with their agents", 10)
