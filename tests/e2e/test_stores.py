"""What the launcher keeps: jobs are deleted, files that nobody needs go, a backup comes back, and damage is named."""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess

import pytest
from harness.site import wait_until
from test_operators import Operator


@pytest.fixture
def operator(site):
    made = Operator(site)
    yield made
    made.close()


def launcher_home(site):
    return site.home / "launcher"


def tool(site, *words):
    """`lockstepd fsck|backup|restore …`: (exit code, standard output, standard error)."""
    prefix = site._argv([])[:-1]  # as the site's user
    done = subprocess.run([*prefix, str(site.bin / "lockstepd"), *map(str, words)], cwd="/",
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          env=site.environment(), check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def fsck(site, *words):
    code, out, err = tool(site, "fsck", "--home", launcher_home(site), "-o", "json", *words)
    assert code in (0, 1), (code, out, err)
    return code, json.loads(out)


def disk_bytes(path):
    return sum(p.stat().st_blocks * 512 for p in pathlib.Path(path).rglob("*") if p.is_file())


def jobs(site):
    return sorted(job["name"] for job in site.json("job", "list"))


def end_launcher(site):
    """As a service manager does it: the jobs go on."""
    site.kill(site.launcher_pids(), signal.SIGTERM)
    wait_until(lambda: not site.launcher_pids(), "the launcher has left")


# ---- job delete ----------------------------------------------------------------------------------

def test_a_job_is_deleted_with_its_logs_and_its_name_is_free(any_site):
    any_site.up(1)
    any_site.ok("run", "--name", "first", "--", "echo", "hello")
    any_site.ok("run", "--name", "other", "--", "true")
    logs = launcher_home(any_site) / "logs"
    assert (logs / "first").is_dir()
    assert any_site.json("job", "delete", "first") == {"deleted": ["first"], "kept": []}
    assert jobs(any_site) == ["other"]
    assert any_site.run("job", "show", "first").returncode == 1
    assert b"no job 'first'" in any_site.run("job", "logs", "first").stderr
    wait_until(lambda: not (logs / "first").exists(), "its logs are gone")
    any_site.ok("run", "--name", "first", "--", "echo", "again")
    assert any_site.logs("first") == b"again\n"
    assert any_site.show("first")["attempts"][0]["number"] == 1
    any_site.ok("job", "delete", "first", "other")
    assert jobs(any_site) == []


def test_what_has_not_ended_is_kept(site):
    site.up(1)
    site.submit("--name", "runs", "--", "sleep", "600")
    done = site.run("job", "delete", "runs", "nobody")
    assert done.returncode == 1
    assert b"lockstep job cancel runs" in done.stderr and b"no job 'nobody'" in done.stderr
    assert site.run("job", "delete").returncode == 2
    assert site.run("job", "delete", "--older-than", "soon").returncode == 2
    site.ok("job", "cancel", "runs")
    site.wait_for_status("runs", "Canceled")
    assert site.json("job", "delete", "--older-than", "30d")["deleted"] == []
    assert site.json("job", "delete", "--all-final")["deleted"] == ["runs"]


def test_limits_of_what_is_kept(site, operator):
    code, _, error = tool(site, "--home", launcher_home(site), "--keep-logs", "10")
    assert code == 2 and "--keep-logs: '10' without a unit means 10 B; did you mean 10g?" in error, error
    operator.launcher("--keep-jobs-for", "3s", "--keep-logs", "1g")
    assert site.json("status")["keeps"]["jobs_for_seconds"] == 3
    assert "for 3.0s" in site.ok("status")
    operator.agent("n1", "--token-file", operator.token())
    site.ok("run", "--name", "short", "--", "true")
    wait_until(lambda: jobs(site) == [], "it was deleted")
    said = "job short is deleted: it ended longer ago than --keep-jobs-for 3"
    assert said in (site.directory / "by-hand.log").read_text()


# ---- collection ----------------------------------------------------------------------------------

def test_what_no_job_refers_to_is_removed_from_disk(site, operator):
    operator.launcher("--blob-lease", "1s", "--compact-after", "20")
    operator.agent("n1", "--token-file", operator.token())
    (site.work / "large").write_bytes(os.urandom(8 << 20))
    for i in range(300):
        (site.work / f"small{i}").write_bytes(os.urandom(4096))
    site.ok("run", "--name", "big", "--", "sh", "-c", "mkdir -p outputs; head -c 3000000 /dev/urandom > outputs/m")
    (site.work / "large").unlink()
    for i in range(1, 300):
        (site.work / f"small{i}").unlink()
    site.ok("run", "--name", "little", "--", "cat", "small0")
    blobs = launcher_home(site) / "blobs"
    assert disk_bytes(blobs) > 11 << 20
    site.ok("job", "delete", "big")
    wait_until(lambda: disk_bytes(blobs) < 1 << 20, "its files are gone")
    assert site.ok("job", "logs", "little").encode(errors="replace")
    rows = lambda: "compacted the journal" in (site.directory / "by-hand.log").read_text()
    for _ in range(6):
        site.ok("run", "--", "true")
    wait_until(rows, "the journal was compacted")
    site.ok("run", "--name", "after", "--", "cat", "small0")
    end_launcher(site)
    code, report = fsck(site)
    assert (code, report["problems"]) == (0, [])
    operator.launcher()
    assert "after" in jobs(site)


def test_deleting_many_says_what_was_kept_in_few_lines(site):
    site.up(1)
    done = site.run("job", "delete", "--all-final")
    assert done.returncode == 0 and b"no job of yours has ended: nothing was deleted" in done.stderr, done.stderr
    for name in ("a", "b"):
        site.ok("run", "--name", name, "--", "true")
    done = site.run("job", "delete", "a", "b", *(f"nobody-{i}" for i in range(25)))
    assert done.returncode == 1 and done.stdout == b"a\nb\n"
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 12 and "and 15 more are kept; -o json lists them all" in lines[-2], lines
    assert lines[-1].endswith("2 jobs deleted, 25 kept")


# ---- fsck ----------------------------------------------------------------------------------------

def test_fsck_of_a_whole_home_and_of_one_in_use(any_site):
    any_site.up(1)
    any_site.write("train.py", "print('x' * 1000)\n")
    any_site.ok("run", "--name", "whole", "--", "python3", "train.py")
    code, _, err = tool(any_site, "fsck", "--home", launcher_home(any_site))
    assert code == 3 and f"pid {any_site.launcher_pids()[0]}" in err
    end_launcher(any_site)
    code, report = fsck(any_site)
    assert (code, report["problems"], report["clean"]) == (0, [], True)
    assert report["jobs"] == 1 and report["blobs"] >= 2
    code, out, _ = tool(any_site, "fsck", "--home", launcher_home(any_site))
    assert code == 0 and "clean" in out
    if any_site.user:  # what root writes there the launcher could not read
        done = subprocess.run([any_site.bin / "lockstepd", "fsck", "--home", launcher_home(any_site), "--repair"],
                              capture_output=True, check=False)
        assert done.returncode == 4 and b"only this account may change it" in done.stderr
        assert subprocess.run([any_site.bin / "lockstepd", "fsck", "--home", launcher_home(any_site)],
                              capture_output=True, check=False).returncode == 0
        any_site.ok("run", "--", "true")
        end_launcher(any_site)
    code, _, err = tool(any_site, "fsck", "--home", any_site.work)
    assert code == 2 and "not the home of a launcher" in err


def test_fsck_of_a_home_that_is_closed_to_its_user_says_so(site):
    if os.getuid() != 0:
        pytest.skip("becoming another account needs root")
    site.up(1)
    site.ok("down")
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", site.bin / "lockstepd",
                           "fsck", "--home", launcher_home(site)], cwd="/", capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 4 and "you may not read" in done.stderr, done


def test_fsck_of_what_is_not_there_is_a_usage_error(site):
    code, out, err = tool(site, "fsck", "--home", "/nope")
    assert (code, out) == (2, "") and "there is no /nope" in err and err.count("\n") == 1, err
    code, _, err = tool(site, "backup", site.directory / "to", "--home", "/nope")
    assert code == 2 and "there is no /nope" in err


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


def test_a_flipped_blob_is_named_and_moved_aside(site):
    site.up(1)
    (site.work / "data").mkdir()
    (site.work / "data" / "weights.bin").write_bytes(os.urandom(1 << 20))
    site.ok("run", "--name", "train", "--", "true")
    end_launcher(site)
    blobs = launcher_home(site) / "blobs"
    large = [p for p in blobs.rglob("*") if p.is_file() and p.stat().st_size > 1 << 20]
    assert len(large) == 1
    flip(large[0], 600_000)
    code, report = fsck(site)
    assert code == 1 and len(report["problems"]) == 1
    assert "job train" in report["problems"][0] and "data/weights.bin" in report["problems"][0]
    code, report = fsck(site, "--repair")
    assert code == 1 and "blobs/bad/" in report["repaired"][0]
    code, report = fsck(site)
    assert code == 1 and "missing" in report["problems"][0]
    # Whoever has it sends it again.
    site.ok("run", "--name", "again", "--", "true")
    end_launcher(site)
    assert fsck(site)[0] == 0


def test_a_damaged_page_of_the_journal_is_one_problem_in_one_line(site):
    site.up(1)
    for number in range(5):
        site.ok("run", "--name", f"j{number}", "--", "true")
    end_launcher(site)
    journal = launcher_home(site) / "journal.db"
    subprocess.run(["/usr/bin/python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1])"
                    ".execute('pragma wal_checkpoint(truncate)')", journal], check=True)
    page = 4096 * (journal.stat().st_size // 4096 - 1)
    with open(journal, "r+b") as file:
        file.seek(page)
        file.write(b"\xff" * 16)
    code, out, _ = tool(site, "fsck", "--home", launcher_home(site))
    assert code == 1
    lines = out.splitlines()
    assert all(line.startswith(("problem: ", "note: ")) for line in lines[:-1]), out
    problems = [line for line in lines if line.startswith("problem: ")]
    assert len(problems) == len(set(problems)) and "*** in database" not in out, out
    site.kill(site.agent_pids())  # `down` would need the launcher


def test_a_flipped_byte_of_the_journal_is_named_and_never_cut_silently(site):
    site.up(1)
    site.ok("run", "--name", "first", "--", "true")
    site.ok("run", "--name", "second", "--", "true")
    site.kill(site.launcher_pids() + site.agent_pids())
    home = launcher_home(site)
    journal = sqlite3.connect(home / "journal.db")
    last, = journal.execute("select max(sequence) from journal").fetchone()
    rows = journal.execute("select sequence, payload from journal order by sequence")
    row, payload = next((number, bytes_) for number, bytes_ in rows if b"second" in bytes_)
    journal.execute("update journal set payload = ? where sequence = ?",
                    (payload.replace(b"second", b"sEcond"), row))
    journal.commit()
    journal.close()
    done = site.run("up")
    assert done.returncode != 0
    code, report = fsck(site)
    assert code == 1 and report["facts"] == row - 1
    assert any(f"journal row {row}:" in p and "checksum" in p for p in report["problems"])
    assert any(f"--truncate-journal-at {row}" in p for p in report["problems"])
    assert fsck(site, "--repair")[1]["facts"] == row - 1
    for wrong in (0, row - 1, row + 1, last + 1):
        code, _, err = tool(site, "fsck", "--home", home, "--truncate-journal-at", wrong)
        assert code == 2 and "nothing was changed" in err, err
    code, report = fsck(site, "--truncate-journal-at", str(row))
    assert (code, report["problems"]) == (0, []), report
    code, _, err = tool(site, "fsck", "--home", home, "--truncate-journal-at", 1)
    assert code == 2 and "the journal is intact" in err, err
    kept = home / f"journal.db.before-{row}"
    copy = sqlite3.connect(kept)
    assert copy.execute("select max(sequence) from journal").fetchone() == (last,)
    copy.close()
    site.up(1)
    assert jobs(site) == ["first"]


def test_a_newer_state_is_refused_with_both_versions(site):
    site.up(1)
    site.kill(site.launcher_pids() + site.agent_pids())
    home = launcher_home(site)
    (home / "version").write_text("7\n")
    assert b"version 7" in start_refused(site) and b"up to 2" in start_refused(site)
    (home / "version").unlink()  # as in a home of before
    journal = sqlite3.connect(home / "journal.db")
    journal.execute("pragma user_version = 9")
    journal.commit()
    journal.close()
    assert b"journal version 9" in start_refused(site)
    journal = sqlite3.connect(home / "journal.db")
    journal.execute("pragma user_version = 2")
    journal.commit()
    journal.close()
    site.up(1)


def start_refused(site):
    """As the user whose home it is: any other is refused for that."""
    words = site._argv([])[:-1]
    done = subprocess.run([*words, site.bin / "lockstepd", "--home", launcher_home(site),
                           "--started-by-lockstep"], timeout=60, capture_output=True,
                          env=site.environment(), check=False)
    assert done.returncode == 4
    return done.stderr


@pytest.mark.parametrize("lost", ["journal.db-wal", "journal.db", "journal.db*"])
def test_a_lost_journal_is_never_begun_anew(any_site, lost):
    site = any_site
    site.up(1)
    for name in ("first", "second"):
        site.ok("run", "--name", name, "--", "echo", "hello")
    home, away = launcher_home(site), site.directory / "away"
    site.kill(site.launcher_pids())
    away.mkdir()
    for path in home.glob(lost):
        path.rename(away / path.name)
    logs = sorted(home.glob("logs/*/*/*"))
    assert logs
    refused = start_refused(site).decode()
    assert f"journal {home / 'journal.db'}" in refused and "restore a backup" in refused, refused
    done = site.run("up")
    assert done.returncode != 0 and b"restore a backup" in done.stderr, done.stderr
    code, out, err = tool(site, "fsck", "--home", home)
    assert code in (1, 4) and "restore a backup" in out + err, (code, out, err)
    assert tool(site, "backup", site.directory / "copy", "--home", home)[0] == 4
    assert sorted(home.glob("logs/*/*/*")) == logs, "nothing was removed"

    for path in home.glob(lost):
        path.unlink()
    for path in away.iterdir():  # as its own
        path.rename(home / path.name)
    site.up(1)
    assert jobs(site) == ["first", "second"]
    assert site.logs("first") == b"hello\n"


def test_facts_that_were_lost_with_a_wal_can_be_given_up(site):
    site.up(1)
    site.ok("run", "--name", "first", "--", "echo", "hello")
    end_launcher(site)
    site.ok("run", "--name", "second", "--", "echo", "hello")
    home = launcher_home(site)
    site.kill(site.launcher_pids())
    (home / "journal.db-wal").unlink()
    code, report = fsck(site)
    assert code == 1 and len(report["problems"]) == 1, report
    row = re.search(r"--truncate-journal-at (\d+)", report["problems"][0]).group(1)
    assert f"--truncate-journal-at {row}".encode() in start_refused(site)
    code, report = fsck(site, "--truncate-journal-at", row)
    assert code == 0 and any("second" in note and "kept" in note for note in report["notes"]), report
    site.up(1)
    assert jobs(site) == ["first"]
    kept = "has logs of jobs that are not in the journal; these logs are kept: second/1"
    wait_until(lambda: kept in (home / "lockstepd.log").read_text(), "that is said")
    assert (home / "logs" / "second").is_dir()


# ---- backup and restore --------------------------------------------------------------------------

def test_a_backup_of_a_busy_launcher_comes_back(any_site):
    site = any_site
    site.up(2)
    site.write("talk.py", "import time\nfor i in range(60):\n    print('line', i, flush=True)\n    time.sleep(0.01)\n")
    site.ok("run", "--name", "before", "--", "echo", "kept")
    names = [f"job-{i:02}" for i in range(50)]
    for name in names:
        site.submit("--name", name, "--cpus", "1", "--", "python3", "talk.py")
    wait_until(lambda: any(j["status"] == "Running" for j in site.json("job", "list")), "some run")
    backup = site.directory / "backup"
    backup.mkdir()
    if site.user:
        shutil.chown(backup, site.user)
    code, out, err = tool(site, "backup", "--home", launcher_home(site), backup)
    assert code == 0, err
    assert "keys" in out and (backup / "keys" / "launcher.key").stat().st_mode & 0o777 == 0o600
    code, _, err = tool(site, "backup", "--home", launcher_home(site), backup)
    assert code == 2 and "not empty" in err

    # More happens, which nobody will remember.
    site.ok("job", "cancel", names[-1])
    site.submit("--name", "lost", "--cpus", "1", "--", "sleep", "600")
    site.kill(site.launcher_pids())
    code, _, err = tool(site, "restore", backup, "--home", launcher_home(site))
    assert code == 2 and "not empty" in err
    shutil.rmtree(launcher_home(site))
    code, out, err = tool(site, "restore", backup, "--home", launcher_home(site))
    assert code == 0, err
    assert fsck(site)[0] == 0

    agents = site.agent_pids()
    site.up(2)
    assert site.agent_pids() == agents, "the agents found the launcher again by themselves"
    assert sorted(jobs(site)) == sorted(["before", *names])
    assert site.logs("before") == b"kept\n"
    # What ran meanwhile under this name is not taken for this.
    site.submit("--name", "lost", "--cpus", "1", "--", "echo", "mine")
    for name in [*names, "lost"]:
        site.wait_for_status(name, "Completed", deadline_s=300)
    assert site.logs("lost") == b"mine\n"
    for name in names:
        assert site.logs(name).decode().splitlines() == [f"line {i}" for i in range(60)], name
