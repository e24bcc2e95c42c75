"""The first screen that a person sees of each of these troubles, whole: cause, place and remedy; troubles/ has more, and
harness/first_screen.py how they are kept.
"""
import os
import time

import pytest
from harness.first_screen import finished, judge, screen
from harness.site import wait_until


def test_a_missing_module(site):
    judge("missing-module", screen(site, site.run("run", "--name", "train", "--", "python3", "-c",
                                                  "import a_module_that_is_not_there")))


def test_out_of_memory(site):
    if os.getuid() != 0:
        pytest.skip("no cgroup is writable: memory is not limited")
    judge("out-of-memory", screen(site, site.run("run", "--name", "train", "--memory", "100m", "--", "python3", "-c",
                                                 "x = bytearray(400_000_000); print(len(x))")))


def test_more_gpus_than_any_node_has(site):
    site.up(1)
    judge("no-such-gpus", screen(site, site.run("run", "--name", "train", "--gpus", "4", "--", "true")))


@pytest.mark.parametrize("name, text", [
    ("tab", "command: python3 train.py\nresources:\n\tinstance_count: 2\n"),
    ("indentation", "command: python3 train.py\nresources:\n  instance_count: 2\n shm_size: 2g\n"),
    ("no-colon", "command python3 train.py\nname: train\n"),
    ("value-for-a-mapping", "command: python3 train.py\nresources: instance_count: 2\n"),
    ("unknown-key", "comand: python3 train.py\n"),
    ("unknown-keys-below", "command: python3 train.py\nenvironment: {image: x, conda_fil: y}\nlockstep: {retrry: {}}\n"),
    ("quote", "command: \"python3 train.py\nname: train\n"),
])
def test_a_job_file_that_is_wrong(site, name, text):
    site.write("job.yml", text)
    judge(f"yaml-{name}", screen(site, site.run("job", "create", "-f", "job.yml")))


def test_a_rank_that_fails_tells_ranks_that_were_ended_from_one_that_ended_by_itself(site):
    script = "case $LOCKSTEP_RANK in 0) exit 0;; 1) sleep 1; echo 'loss is nan' >&2; exit 3;; *) sleep 100;; esac"
    judge("then-terminated", screen(site, site.run("run", "--name", "train", "-n", "3", "--", "sh", "-c", script)))


def test_variables_that_steer_the_network(site):
    site.ok("run", "--name", "train", "-e", "NCCL_SOCKET_IFNAME=eth7", "-e", "GLOO_SOCKET_IFNAME=lo", "--", "true")
    lines = [line for line in site.ok("job", "show", "train").splitlines() if line.startswith("network")]
    judge("network-variables", "\n".join(lines) + "\n")


def test_an_index_that_is_not_reached(site):
    site.write("needs.txt", "--index-url http://127.0.0.1:9/simple\nnumpy\n")
    done = site.run("run", "--name", "train", "--requirements", "needs.txt", "--", "true")
    lines = [line for line in screen(site, done).splitlines() if "not reached" in line or "cannot reach" in line]
    assert done.returncode != 0 and lines, done.stderr.decode()
    judge("index-not-reached", "\n".join(lines[-2:]) + "\n", "correct the index")


def test_writes_that_failed_on_a_full_disk_are_shown_after_a_cancel(site):
    site.submit("--name", "train", "--", "sh", "-c", "python3 -c \"open('/dev/full', 'w').write('x' * 99999)\"; sleep 100")
    site.wait_for_status("train", "Running")
    wait_until(lambda: b"No space left" in site.run("job", "logs", "train").stderr, "the rank has failed to write")
    following = site.start("job", "stream", "train")
    time.sleep(0.5)
    site.ok("job", "cancel", "train")
    text = screen(site, finished(following))
    judge("full-disk", text)


def test_a_launcher_that_has_ended(site):
    site.up(1)
    site.submit("--name", "train", "--", "sleep", "1000")
    site.wait_for_status("train", "Running")
    endpoint = site.home / "launcher/endpoint.json"
    kept = endpoint.read_text()
    site.kill(site.launcher_pids())
    other = site.directory / "endpoint.json"
    other.write_text(kept)
    other.chmod(0o600)
    done = site.run("job", "list", env={"LOCKSTEP_LAUNCHER": str(other)})
    judge("launcher-has-ended", screen(site, done))
