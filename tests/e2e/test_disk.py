"""Disks that are small, full, read-only or damaged: what is refused, by what words, and what goes on."""
import contextlib
import os
import subprocess

import pytest
from harness.site import wait_until

STORE_REFUSED = 4


@pytest.fixture
def disk(site):
    """mount(path, megabytes) makes a disk of its own there; all are gone afterwards."""
    if os.getuid() != 0:
        pytest.skip("mounting needs root")
    mounted = []

    def mount(path, megabytes):
        path.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "lockstep-e2e", path],
                       check=True)
        mounted.append(path)
        return path

    yield mount
    site.down()
    for path in mounted:
        subprocess.run(["umount", path], check=True)


def fill(path, leave=0):
    """At once, so that the space of the reserve, which is given back when little is left, is not filled as well."""
    space = os.statvfs(path.parent)
    with open(path, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):  # then block by block
            os.posix_fallocate(file.fileno(), 0, max(1, (space.f_bavail - 1) * space.f_frsize))
        file.seek(0, os.SEEK_END)
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass
        file.truncate(max(0, file.tell() - leave))


def test_a_launcher_with_little_space_takes_nothing_new_and_goes_on_by_itself(site, disk):
    home = disk(site.home / "launcher", 64)
    site.up(1)
    flag = site.directory / "flag"
    names = [site.submit("-N", "1", "--name", f"j{i}", "--", "sh", "-c", f"until [ -e {flag} ]; do sleep 0.05; done; echo done {i}")
             for i in range(3)]
    wait_until(lambda: site.show(names[0])["status"] == "Running", "the first job runs")
    fill(home / "ballast", leave=4 << 20)
    wait_until(lambda: site.json("status")["disk"]["low"], "the status says so")
    assert "below" in site.ok("status")
    refused = site.run("run", "--detach", "--name", "later", "--", "true")
    assert refused.returncode != 0
    assert b"the launcher's disk is low" in refused.stderr and str(home).encode() in refused.stderr
    assert b"--low-space" in refused.stderr
    flag.touch()
    for name in names:
        site.wait_for_status(name, "Completed")
    (home / "ballast").unlink()
    wait_until(lambda: not site.json("status")["disk"]["low"], "there is space again")
    site.wait_for_status(site.submit("-N", "1", "--name", "later", "--", "true"), "Completed")


def test_jobs_end_on_a_launcher_whose_disk_is_full(site, disk):
    home = disk(site.home / "launcher", 64)
    site.up(1)
    flag = site.directory / "flag"
    name = site.submit("-N", "1", "--name", "talks", "--", "sh", "-c",
                       f"until [ -e {flag} ]; do sleep 0.05; done; seq 100000")
    wait_until(lambda: site.show(name)["status"] == "Running", "the job runs")
    fill(home / "ballast")
    wait_until(lambda: not (home / "reserve").exists(), "the reserve is given back")
    flag.touch()
    wait_until(lambda: site.show(name)["attempts"][0]["parts"][0]["state"] == "finished",
               "its end is recorded on a full disk")
    (home / "ballast").unlink()
    site.wait_for_status(name, "Completed")
    assert site.logs(name) == b"".join(b"%d\n" % i for i in range(1, 100_001))
    wait_until(lambda: (home / "reserve").exists(), "the reserve is there again")
    assert len(site.show(name)["attempts"]) == 1


def test_a_node_with_little_space_gets_no_new_part_and_says_why(site, disk):
    nodes = disk(site.home / "nodes", 64)
    site.up(1)
    fill(nodes / "ballast", leave=3 << 20)
    wait_until(lambda: "its disk is low" in (site.json("node", "list")[0]["reason"] or ""), "the node says so")
    name = site.submit("-N", "1", "--name", "waits", "--", "true")
    assert "its disk is low" in site.ok("job", "explain", name)
    (nodes / "ballast").unlink()
    site.wait_for_status(name, "Completed")


def test_a_job_ends_on_a_node_whose_disk_is_full(site, disk):
    """Its runner kept space for the report; what the node needs for logs and outputs comes back later."""
    nodes = disk(site.home / "nodes", 64)
    site.up(1)
    flag = site.directory / "flag"
    name = site.submit("-N", "1", "--name", "quiet", "--", "sh", "-c",
                       f"until [ -e {flag} ]; do sleep 0.05; done; exit 7")
    wait_until(lambda: site.show(name)["status"] == "Running", "the job runs")
    fill(nodes / "ballast")
    flag.touch()
    # It may be collected, and its folder be gone, before we look.
    wait_until(lambda: [f for f in nodes.glob("*/attempts/quiet.1/final_report.pb") if f.stat().st_size] or
               site.show(name)["status"] == "Failed", "its report is on the full disk")
    (nodes / "ballast").unlink()
    site.wait_for_status(name, "Failed")
    [attempt] = site.show(name)["attempts"]
    assert (attempt["report"]["cause"], attempt["report"]["exit_code"]) == ("exit_code", 7), attempt


def test_who_only_reads_needs_no_space_or_hears_what_to_do(site, disk):
    home = disk(site.home, 60)
    site.up(1)
    name = site.submit("-N", "1", "--", "true")
    site.wait_for_status(name, "Completed")
    wait_until(lambda: not any(home.glob("nodes/*/attempts/*")), "the node has removed the attempt")

    def fill_all():
        fill(home / f"ballast-{len(list(home.iterdir()))}")

    fill_all()
    wait_until(lambda: not (home / "launcher" / "reserve").exists(), "the reserve is given back")
    verbs = [("job", "show", name), ("job", "list"), ("job", "events", name), ("status",), ("node", "list")]
    for words in verbs:
        fill_all()
        site.ok(*words)
    site.kill(site.launcher_pids() + site.agent_pids())  # or the agent's own files make room
    for words in verbs[:2]:
        fill_all()
        done = site.run(*words)
        assert done.returncode != 0
        assert b"the disk of %s is full" % str(home).encode() in done.stderr, done.stderr
        assert b"free space there" in done.stderr and b".tmp-" not in done.stderr, done.stderr
    for ballast in home.glob("ballast-*"):
        ballast.unlink()
    assert site.show(name)["status"] == "Completed"


def test_outputs_that_do_not_fit_wait_and_say_so_once(site, disk):
    home = disk(site.home / "launcher", 60)
    site.up(1)
    site.submit("-N", "1", "--name", "big", "--", "sh", "-c", "head -c 70000000 /dev/urandom > outputs/big")
    follower = site.start("job", "stream", "big")
    wait_until(lambda: "No space left" in (site.show("big")["reason"] or ""), "it waits for space")
    said = set()

    def has_ended():
        reason = site.show("big")["reason"] or ""
        if "waits" in reason:
            said.add(reason)
        return follower.poll() is not None

    with pytest.raises(AssertionError):
        wait_until(has_ended, "it ends", deadline_s=6)
    assert all("free space there" in reason and "/tmp/" not in reason.replace(str(home), "") for reason in said), said
    assert len([reason for reason in said if "No space left" in reason]) == 1, said
    subprocess.run(["mount", "-o", "remount,size=200m", home], check=True)
    site.wait_for_status("big", "Completed")
    _, err = follower.communicate(timeout=60)
    assert err.count(b"No space left") <= 1, err


def test_a_cancel_ends_a_job_whose_outputs_do_not_fit(site, disk):
    """What fits is kept; what does not is named in the job's end, with the reason and what to do."""
    home = disk(site.home / "launcher", 60)
    site.up(1)
    # At once: of a file that grows, the launcher gets pieces while the job runs, and these take the space.
    site.submit("-N", "1", "--name", "big", "--", "sh", "-c",
                "head -c 70000000 /dev/urandom > big; echo small > logs/small; mv big outputs/big")
    wait_until(lambda: "No space left" in (site.show("big")["reason"] or ""), "it waits for space")
    assert site.show("big")["status"] == "Finalizing"
    site.ok("job", "cancel", "big")
    assert site.show("big")["status"] == "CancelRequested"
    job = site.wait_for_status("big", "Canceled")
    assert job["exit_code"] == 130
    for word in ("canceled by", "./outputs of node local-0: was not kept", "free space there", str(home)):
        assert word in job["reason"], job["reason"]
    assert "no space left" in job["reason"].lower(), job["reason"]
    outputs = {o["kind"]: o for o in job["attempts"][0]["parts"][0]["outputs"]}
    assert outputs["outputs"]["digest"] is None and "was not kept" in outputs["outputs"]["problems"][0]
    assert outputs["logs"]["files"] == 1 and not outputs["logs"]["problems"]
    got = site.directory / "got"
    site.ok("job", "download", "big", "-p", got)
    assert (got / "artifacts/logs/small").read_text() == "small\n"
    wait_until(lambda: not list((site.home / "nodes/local-0/attempts").iterdir()), "the node is rid of it")


def test_a_cancel_ends_jobs_whose_logs_do_not_fit(site, disk):
    """Those that had ended before stay what they are; what was lost is named with its size."""
    home = disk(site.home / "launcher", 64)
    site.up(1)
    flag = site.directory / "flag"
    site.submit("-N", "1", "--name", "ends", "--cpus", "1", "--memory", "32m", "--", "sh", "-c",
                f"until [ -e {flag} ]; do sleep 0.05; done; seq 100000")
    site.submit("-N", "1", "--name", "runs", "--cpus", "1", "--memory", "32m", "--", "sh", "-c",
                f"until [ -e {flag} ]; do sleep 0.05; done; seq 100000; sleep 1000")
    for name in ("ends", "runs"):
        wait_until(lambda name=name: site.show(name)["status"] == "Running", f"{name} runs")
    fill(home / "ballast")
    wait_until(lambda: not (home / "reserve").exists(), "the reserve is given back")
    flag.touch()
    wait_until(lambda: site.show("ends")["status"] == "Finalizing", "its end is recorded")
    site.ok("job", "cancel", "ends")
    site.ok("job", "cancel", "runs")
    assert site.wait_for_status("ends", "Completed")["exit_code"] == 0
    site.wait_for_status("runs", "Canceled")
    for name in ("ends", "runs"):
        reason = site.show(name)["report"]["message"]
        assert "of its logs on node local-0 were not kept" in reason and "KiB" in reason, reason
    wait_until(lambda: not list((site.home / "nodes/local-0/attempts").iterdir()), "the node is rid of them")


def test_an_upload_that_does_not_fit_makes_way_for_others(site, disk):
    """Also while a job runs, and without anybody doing anything."""
    home = disk(site.home / "launcher", 60)
    site.up(1)
    flag = site.directory / "flag"
    runs = site.submit("-N", "1", "--cpus", "1", "--memory", "32m", "--", "sh", "-c",
                       f"until [ -e {flag} ]; do sleep 0.05; done")
    source = site.directory / "big"
    source.mkdir()
    for i in range(320):
        (source / f"f{i}").write_bytes(os.urandom(1 << 18))
    assert site.run("run", "--detach", "--code", source, "--", "true").returncode != 0
    fill(home / "ballast", leave=2 << 20)  # of what was sent last, some may have found no room
    small = ("run", "--detach", "--cpus", "1", "--memory", "32m", "--", "true")
    wait_until(lambda: site.json("status")["disk"]["low"], "the launcher has seen it")
    refused = site.run(*small)
    assert refused.returncode != 0 and b"are removed automatically within a minute" in refused.stderr, refused.stderr
    wait_until(lambda: site.run(*small).returncode == 0, "there is space again", 90)
    flag.touch()
    site.wait_for_status(runs, "Completed")


def test_down_with_cancel_ends_on_a_full_disk_and_says_what_it_waits_for(site, disk):
    home = disk(site.home / "launcher", 64)
    site.up(1)
    name = site.submit("-N", "1", "--", "sh", "-c", "while seq 1000; do sleep 0.01; done")
    wait_until(lambda: site.show(name)["status"] == "Running", "the job runs")
    fill(home / "ballast")
    wait_until(lambda: not (home / "reserve").exists(), "the reserve is given back")
    done = site.run("down", "--cancel", timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"waiting for job {name} to end".encode()) == 1, done.stderr
    assert not site.launcher_pids()


def test_a_read_only_home_is_refused_by_name(site, disk):
    home = disk(site.home / "launcher", 16)
    subprocess.run(["mount", "-o", "remount,ro", home], check=True)
    done = subprocess.run([site.bin / "lockstepd", "--home", home], capture_output=True, timeout=60)
    assert done.returncode == STORE_REFUSED
    assert b"Read-only file system" in done.stderr and str(home).encode() in done.stderr
    assert b"give it a directory that it can write to" in done.stderr


def test_a_flipped_bit_of_the_journal_is_named(site):
    site.up(1)
    site.wait_for_status(site.submit("-N", "1", "--name", "ends", "--", "true"), "Completed")
    site.down()
    journal = site.home / "launcher" / "journal.db"
    content = bytearray(journal.read_bytes())
    at = content.rindex(b"ends")
    content[at] ^= 1
    journal.write_bytes(content)
    done = subprocess.run([site.bin / "lockstepd", "--home", journal.parent], capture_output=True, timeout=60)
    assert done.returncode == STORE_REFUSED
    message = done.stderr.decode()
    assert str(journal) in message and "row " in message and "(byte " in message
    assert "lockstepd fsck" in message
