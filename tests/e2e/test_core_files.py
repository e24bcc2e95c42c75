"""Ranks that crash: where they did, by their core file (lockstep.core, decision 083), as root and as an ordinary user.

Where the kernel gives cores to a program that has them for itself (kernel.core_pattern), the job says so instead.
"""
import pathlib
import subprocess

import pytest

PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
NONE_HERE = PATTERN.startswith(("|", "@")) or not PATTERN
CRASH = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *waits(void *nothing) { sleep(1000); return nothing; }
void boom(int *where) { *where = 1; }
void deep_inside(void) { boom((int *)8); }
int main(int argc, char **argv) {
  pthread_t other;
  pthread_create(&other, 0, waits, 0);
  if (argc > 1 && getenv("LOCKSTEP_RANK")[0] != argv[1][0]) sleep(1000);
  deep_inside();
}
"""


@pytest.fixture
def crashing(any_site):
    any_site.up(1)
    any_site.write("crash.c", CRASH)
    subprocess.run(["cc", "-g", "-O0", "-o", any_site.work / "crash", any_site.work / "crash.c", "-pthread"], check=True)
    return any_site


def run(site, name, *words):
    """Its report, and what was printed about it."""
    done = site.run("run", "--name", name, *words, timeout=200)
    assert done.returncode == 139, done
    return site.show(name)["attempts"][0]["report"], done.stderr.decode()


def kept(site, name):
    done = site.run("job", "download", name, "-p", f"got-{name}", "--all")
    assert done.returncode == 0 or b"has no files" in done.stderr, done
    return sorted(path for path in (site.work / f"got-{name}").rglob("core*") if path.is_file())


def judge_trace(site, name, report, said):
    if NONE_HERE:
        notes = str(site.show(name)["attempts"][0]["parts"])
        assert not report["backtrace"] and "core_pattern" in notes, (report, notes)
        return
    trace = report["backtrace"]
    assert trace.index("boom") < trace.index("deep_inside") < trace.index("main"), report
    assert "crash.c:6" in trace, report
    assert "waits" not in trace, "of the thread that failed alone"
    assert "the stack of the thread that failed:" in said and "boom" in said, said


def test_the_stack_of_the_thread_that_failed_is_in_the_report(crashing):
    report, said = run(crashing, "backtrace", "--core", "backtrace", "--", "./crash")
    judge_trace(crashing, "backtrace", report, said)
    assert kept(crashing, "backtrace") == [], "it was read, and removed"
    assert crashing.show("backtrace")["lockstep"]["core"] == "backtrace"


def test_of_several_ranks_the_one_that_failed_is_read(crashing):
    """The others are ended, which makes no core file."""
    report, said = run(crashing, "second", "-n", "3", "--core", "backtrace", "--", "./crash", "1")
    assert report["rank"] == 1, report
    judge_trace(crashing, "second", report, said)


def test_a_core_file_may_be_kept(crashing):
    crashing.write("job.yml", "code: .\ncommand: ./crash\nlockstep: {core: keep, retry: {max: 0}}\n")
    done = crashing.run("job", "create", "-f", "job.yml", "--name", "keep", "--stream", timeout=200)
    assert done.returncode == 139, done
    judge_trace(crashing, "keep", crashing.show("keep")["attempts"][0]["report"], done.stderr.decode())
    if not NONE_HERE:
        [core] = kept(crashing, "keep")
        assert core.name == "core.rank0" and core.read_bytes()[:4] == b"\x7fELF", core


def test_without_a_word_nobody_looks(crashing):
    report, said = run(crashing, "off", "--", "./crash")
    assert not report["backtrace"] and "stack of the thread" not in said, (report, said)
    assert crashing.show("off")["lockstep"]["core"] == "off"


def test_a_rank_that_fails_without_a_crash_has_none(crashing):
    done = crashing.run("run", "--name", "code", "--core", "backtrace", "--", "sh", "-c", "exit 3")
    report = crashing.show("code")["attempts"][0]["report"]
    assert done.returncode == 3 and not report["backtrace"], report
