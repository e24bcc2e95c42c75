"""Names that others could take first, and values that others could read."""
import os
import pathlib
import pwd
import secrets

import pytest
from harness import squat
from harness.site import wait_until


@pytest.fixture
def squatted(ordinary_user):
    with squat.taken_by(pwd.getpwnam(ordinary_user).pw_uid):
        yield


def test_folders_that_another_user_made_in_tmp_break_no_job_of_root(squatted, site):
    site.up(2)
    name = site.submit("-N", "2", "--distribution", "pytorch", "--", "sh", "-c", "pwd; echo $MASTER_PORT")
    job = site.wait_for_status(name, "Completed", "Failed")
    assert job["status"] == "Completed", job
    lines = site.logs(name).decode().splitlines()
    assert sum(line.endswith(f"/run/lockstep/jobs/{name}.1") for line in lines) == 2, lines
    info = os.stat("/run/lockstep/jobs")
    assert (info.st_uid, info.st_mode & 0o777) == (0, 0o755)


def test_a_value_of_an_env_file_stands_on_no_command_line(site):
    canary = "canary-" + secrets.token_hex(8)
    site.up(1)
    file = site.write("job.env", f"# a token\nTOKEN={canary}\nOURS\n", 0o600)
    running = site.submit("-n", "1", "--env-file", file, "--env", "OURS", "--", "sh", "-c",
                          'echo "$TOKEN $OURS"; exec sleep 1000', env={"OURS": f"{canary}-too"})
    wait_until(lambda: f"{canary} {canary}-too" in site.logs(running).decode(), "the rank has both")
    seen = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            seen += [entry] if canary.encode() in entry.read_bytes() else []
        except OSError:
            continue
    site.ok("job", "cancel", running)
    site.wait_for_status(running, "Canceled")
    assert not seen


def test_a_home_that_others_may_write_to_starts_no_agent(site):
    site.up(1)
    site.ok("down")
    home = site.home / "nodes/local-0"
    assert home.stat().st_mode & 0o777 == 0o711
    home.chmod(0o777)
    done = site.run("up", "--nodes", "1", timeout=180)
    text = done.stderr.decode() + (home / "agent.log").read_text()
    assert f"chmod 0711 {home}" in text, text
    home.chmod(0o711)
    site.run("down")
