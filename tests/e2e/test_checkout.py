"""The tests run from a checkout anywhere: below /tmp, and where nobody else may look."""
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from harness.checkout import COVER
from harness.site import ROOT, alive, wait_until

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
# Stands for scripts/test.
SAYS = """#!/usr/bin/env bash
echo words: "$@"
cat
cd "$(dirname "$0")/.."
pwd -P
stat -c %a ..
echo *
if [ -n "$STAY" ]; then touch "$STAY"; sleep 100; fi
echo "5 passed, 1 failed, 0 skipped"
exit 3
"""


@needs_root
def test_what_covers_a_folder_leaves_the_checkout_and_the_build_there(tmp_path):
    covered = tmp_path / "covered"
    private = covered / "not for others"
    checkout, build = private / "a checkout", covered / "build"
    (checkout / "tests/e2e").mkdir(parents=True)
    (build / "bin").mkdir(parents=True)
    private.chmod(0o700)
    shutil.copy(COVER, checkout / "tests/e2e")
    (covered / "hidden").touch()
    look = (f'"$1" {covered} -t tmpfs -o mode=1777 tmpfs && "$1" {covered} -t tmpfs tmpfs && cd {covered} && find . | sort && '
            f'stat -c "%a %n" . * && "$1" --kept {covered}')
    done = subprocess.run(["unshare", "-m", "sh", "-c", look, "sh", checkout / "tests/e2e/cover"], capture_output=True,
                          text=True, env={**os.environ, "LOCKSTEP_BUILD": str(build)}, check=True)
    assert done.stdout.splitlines() == [
        ".", "./build", "./build/bin", "./not for others", "./not for others/a checkout",
        "./not for others/a checkout/tests", "./not for others/a checkout/tests/e2e",
        "./not for others/a checkout/tests/e2e/cover", "1777 .", "755 build", "700 not for others", str(checkout), str(build)]
    assert done.stderr == "" and (covered / "hidden").exists()


class Ci:
    """.ci/run of a repository of its own, whose scripts/test only says what it sees."""

    def __init__(self, directory):
        self.repository, self.place = directory / "repository", directory / "place"
        for path in (".ci/run", "scripts/lib/common.sh"):
            (self.repository / path).parent.mkdir(parents=True)
            shutil.copy(ROOT / path, self.repository / path)
        (self.repository / "scripts/test").write_text(SAYS)
        (self.repository / "scripts/test").chmod(0o755)
        self._git("init", "-q")
        self.commit()

    def _git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", self.repository, *words], check=True)

    def commit(self):
        self._git("add", "-A")
        self._git("commit", "-qm", "All")

    def start(self, *words, stay=""):
        return subprocess.Popen([self.repository / ".ci/run", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "LOCKSTEP_CI_PLACE": str(self.place), "STAY": str(stay)})

    def where(self, *words):
        """The folder in which the tests ran."""
        run = self.start(*words)
        out, errors = run.communicate("not for the tests", timeout=60)
        assert (run.returncode, errors) == (3, ""), (out, errors)
        first, where, mode, listed, last = out.splitlines()
        assert first == " ".join(["words:", *words])
        assert (mode, listed, last) == ("700", "scripts", "5 passed, 1 failed, 0 skipped")
        return pathlib.Path(where)


@pytest.fixture
def ci(tmp_path):
    made = Ci(tmp_path)
    if os.getuid() == 0:  # as where another account checked it out
        subprocess.run(["chown", "-R", "12345", made.repository], check=True)
    return made


def test_ci_tests_what_is_committed_in_a_clone_of_one_name_and_removes_it(ci):
    assert ci.where("--unit", "-k", "a") == ci.place / "lockstep"
    assert not ci.place.exists()
    (ci.repository / "not-committed").touch()
    (ci.place / "lockstep").mkdir(parents=True)  # of a run that was killed
    ci.place.chmod(0o700)
    assert ci.where() == ci.place / "lockstep"
    assert not ci.place.exists()


def test_ci_trusts_no_folder_of_that_name_unless_it_is_its_own_alone(ci, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir(0o700)

    def open_to_others():
        ci.place.mkdir()
        ci.place.chmod(0o770)

    for taken in (lambda: ci.place.symlink_to(theirs), open_to_others, ci.place.touch):
        taken()
        where = ci.where()
        assert where.parent != ci.place and where.parent.name.startswith("place-") and not where.parent.exists()
        assert ci.place.is_symlink() or ci.place.exists(), "it is left alone"
        subprocess.run(["rm", "-rf", ci.place], check=True)
    assert list(theirs.iterdir()) == []


def test_ci_that_is_ended_ends_the_tests_and_leaves_nothing(ci, tmp_path):
    stay = tmp_path / "begun"
    run = ci.start(stay=stay)
    wait_until(stay.exists, "the tests run")
    assert ci.where() != ci.place / "lockstep", "two at once do not share a clone"
    tests, = [int(pid) for pid in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=60) == 143
    assert not alive(tests) and not ci.place.exists()
    run.communicate()
