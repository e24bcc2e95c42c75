"""What jobs leave behind comes back: ./outputs, ./logs, named outputs, the ranks' own words."""
import hashlib
import os
import pathlib
import signal
import subprocess

import pytest
from harness.site import wait_until

WRITE = ("mkdir -p outputs/$LOCKSTEP_RANK; echo rank $LOCKSTEP_RANK > outputs/$LOCKSTEP_RANK/own; "
         "echo common > outputs/common; echo node $LOCKSTEP_NODE_RANK > outputs/by-node; "
         "echo log $LOCKSTEP_RANK >> logs/$LOCKSTEP_RANK.log; ")


def tree(folder):
    """{path: content} of all files below."""
    folder = pathlib.Path(folder)
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file() and not p.is_symlink()}


def download(site, name, *words, into="got"):
    into = site.directory / into
    into.mkdir(exist_ok=True)
    into.chmod(0o777)
    return site.json("job", "download", name, "-p", into, *words), into


def run_job(site, text, name, *words, status="Completed"):
    site.write("job.yml", text)
    site.ok("job", "create", "-f", "job.yml", "--name", name, *words)
    return site.wait_for_status(name, status)


def test_every_ranks_files_of_two_nodes_come_back(any_site):
    any_site.up(2)
    any_site.ok("run", "-N", "2", "-n", "2", "--name", "j", "--", "sh", "-c",
                WRITE + "echo to stdout $LOCKSTEP_RANK; echo to stderr $LOCKSTEP_RANK >&2")
    said, got = download(any_site, "j")
    files = tree(got)
    for rank in range(4):
        assert files[f"artifacts/outputs/{rank}/own"] == b"rank %d\n" % rank
        assert files[f"artifacts/logs/{rank}.log"] == b"log %d\n" % rank
        assert files[f"artifacts/user_logs/std_log_process_{rank}.txt"] == b"to stdout %d\n" % rank
        assert files[f"artifacts/user_logs/std_err_process_{rank}.txt"] == b"to stderr %d\n" % rank
    assert files["artifacts/outputs/common"] == b"common\n"
    assert files["artifacts/outputs/by-node"] == b"node 0\n"
    assert files["artifacts/outputs/by-node.node1"] == b"node 1\n"
    assert len(files) == 4 * 4 + 3
    assert said["outputs"][0]["beside"] == [
        {"node_rank": 1, "path": "by-node", "kept_as": "by-node.node1"}]
    assert not list(got.glob(".lockstep*"))
    # Again over what is there: the same, and what is not ours stays.
    (got / "artifacts/outputs/mine").write_text("mine")
    (got / "artifacts/outputs/common").write_text("changed")
    os.chmod(got / "artifacts/outputs/common", 0o666)
    assert tree(download(any_site, "j")[1]) == {**files, "artifacts/outputs/mine": b"mine"}
    job = any_site.show("j")
    left = {(p["node_rank"], o["kind"]): o["files"] for p in job["attempts"][0]["parts"]
            for o in p["outputs"]}
    assert left == {(0, "outputs"): 4, (0, "logs"): 2, (1, "outputs"): 4, (1, "logs"): 2}
    assert b"left ./outputs: 4 files" in any_site.run("job", "show", "j").stdout


NAMED = """
command: >-
  set -e;
  echo weights $LOCKSTEP_NODE_RANK > ${{outputs.model}}/w$LOCKSTEP_NODE_RANK;
  test "$OUT" = "${{outputs.model}}/x" && test "$AZURE_ML_OUTPUT_model" = "${{outputs.model}}";
  echo accuracy > ${{outputs.report}};
  test -e outputs && test "$PWD/.lockstep/outputs/model" = "$AZURE_ML_OUTPUT_model";
  echo $PWD
environment_variables: {OUT: "${{ outputs.model }}/x"}
code: ./src
outputs:
  model:
  report: {type: uri_file, mode: upload}
  unused: {type: uri_folder}
resources: {instance_count: 2}
"""


def test_named_outputs(any_site):
    any_site.up(2)
    any_site.write("src/train.py", "x")
    job = run_job(any_site, NAMED, "named")
    assert job["outputs"]["report"] == {"type": "uri_file", "mode": "upload", "path": None, "name": None, "version": None}
    _, got = download(any_site, "named", "--output-name", "model")
    assert tree(got) == {"named-outputs/model/w0": b"weights 0\n",
                         "named-outputs/model/w1": b"weights 1\n"}
    _, got = download(any_site, "named", "--all", into="all")
    assert set(tree(got)) == {"named-outputs/model/w0", "named-outputs/model/w1",
                              "named-outputs/report/report",
                              "artifacts/user_logs/std_log_process_0.txt",
                              "artifacts/user_logs/std_log_process_1.txt"}
    for name, word in (("nope", b"it has model, report, unused"), ("unused", b"is empty")):
        done = any_site.run("job", "download", "named", "--output-name", name)
        assert done.returncode == 1 and word in done.stderr, done.stderr


WRONG = """
command: mkdir ${{outputs.report}} && echo 1 > ${{outputs.report}}/part
outputs:
  report: {type: uri_file}
  unused: {type: uri_file}
"""


def test_outputs_that_are_not_what_the_job_file_says_are_named(site):
    site.up(1)
    site.write("job.yml", WRONG)
    done = site.run("job", "create", "-f", "job.yml", "--name", "wrong", "--stream")
    assert done.returncode == 0, done.stderr
    folder = b"output 'report': its type is uri_file, but the job wrote a folder at its path"
    unused = b"output 'unused' (uri_file) was never written"
    assert folder in done.stderr and unused in done.stderr, done.stderr
    shown = site.run("job", "show", "wrong").stdout
    assert folder in shown and unused in shown, shown
    job = site.show("wrong")
    assert job["status"] == "Completed" and "'unused'" in job["warnings"][0] and len(job["warnings"]) == 1
    assert tree(download(site, "wrong", "--output-name", "report")[1]) == {
        "named-outputs/report/report/part": b"1\n"}


def test_a_download_goes_on_where_one_was_broken_off(site):
    site.up(1)
    site.ok("run", "--name", "big", "--", "sh", "-c",
            "for i in $(seq 40); do head -c 10000000 /dev/urandom > outputs/$i; done; sha256sum outputs/* > logs/sums")
    got = site.directory / "got"
    (got / "artifacts").mkdir(parents=True)
    (got / "artifacts/outputs").write_text("in the way")
    broken = site.start("job", "download", "big", "-p", got)
    begun = got / ".lockstep-download-big"
    wait_until(lambda: sum(p.stat().st_size for p in begun.glob("blobs/??/*")) > 30_000_000, "some of it is here")
    os.kill(site.launcher_pids()[0], signal.SIGSTOP)
    try:
        _, err = broken.communicate(timeout=120)
    finally:
        os.kill(site.launcher_pids()[0], signal.SIGCONT)
    assert broken.returncode == 1
    assert b"lost the launcher at tcp://127.0.0.1:" in err and b"did not answer for 30" in err, err
    assert b"nothing in %s was changed" % str(got).encode() in err and b"run the same command again to continue" in err, err
    kept = {p.name: p.stat().st_ino for p in begun.glob("blobs/??/*")}
    assert kept
    # It goes on, and meets what is in the way before it changes anything.
    blocked = site.run("job", "download", "big", "-p", got)
    assert blocked.returncode == 1 and b"artifacts/outputs is in the way" in blocked.stderr, blocked.stderr
    assert (got / "artifacts/outputs").read_text() == "in the way"
    assert sorted(p.name for p in (got / "artifacts").iterdir()) == ["outputs"]
    now = {p.name: p.stat().st_ino for p in begun.glob("blobs/??/*")}
    assert len(now) >= 40 and all(now[name] == inode for name, inode in kept.items())
    (got / "artifacts/outputs").unlink()
    site.ok("job", "download", "big", "-p", got)
    assert not begun.exists()
    subprocess.run(["sha256sum", "--quiet", "-c", "logs/sums"], cwd=got / "artifacts", check=True)


def test_two_downloads_never_mix_and_are_not_sent_along(any_site):
    site = any_site
    site.up(1)
    for name in ("owl", "pig"):
        site.ok("run", "--name", name, "--", "sh", "-c", f"echo {name} > outputs/who")
        site.ok("job", "download", name)
        assert (site.work / name / "artifacts/outputs/who").read_text() == f"{name}\n"
    assert not (site.work / "artifacts").exists()
    site.ok("job", "download", "owl")  # again
    done = site.run("run", "--name", "later", "--", "ls")
    assert b"owl" not in done.stdout and b"pig" not in done.stdout, done
    assert done.stderr.count(b"which lockstep downloaded") == 1 and b"owl/ and 1 more folder" in done.stderr, done
    assert "owl/" in site.ok("snapshot", ".", "--skipped")

    site.ok("job", "download", "owl", "-p", "results")
    mixed = site.run("job", "download", "pig", "-p", "results")
    assert mixed.returncode == 1 and b"results holds what was downloaded of owl" in mixed.stderr, mixed
    assert (site.work / "results/artifacts/outputs/who").read_text() == "owl\n"
    mine = site.work / "own"
    mine.mkdir()
    mine.chmod(0o777)
    (mine / "data").write_text("mine\n")
    site.ok("job", "download", "owl", "-p", mine)
    mixed = site.run("job", "download", "pig", "-p", mine)
    assert mixed.returncode == 1 and b"own/artifacts holds" in mixed.stderr, mixed
    assert site.ok("run", "-q", "--", "sh", "-c", "ls own") == "data\n", "a folder that was there is the user's"
    site.write("file", "")
    done = site.run("job", "download", "owl", "-p", "file")
    assert done.returncode == 1 and b"file is a file; name a folder with -p" in done.stderr, done


def test_a_job_that_left_nothing_and_one_that_is_not_there(site):
    site.up(1)
    site.ok("run", "--name", "quiet", "--", "true")
    done = site.run("job", "download", "quiet")
    assert done.returncode == 1 and b"quiet has no files" in done.stderr, done.stderr
    assert not (site.work / "artifacts").exists() and not (site.work / "quiet").exists()
    done = site.run("job", "download", "nobody")
    assert done.returncode == 1 and b"nobody" in done.stderr


def test_failed_and_canceled_attempts_keep_what_they_wrote(any_site):
    any_site.up(2)
    flag = any_site.directory / "written"
    done = any_site.run("run", "-N", "2", "--name", "failed", "--", "sh", "-c",
                        WRITE + f"if [ $LOCKSTEP_RANK = 0 ]; then touch {flag}; sleep 100; fi; "
                        f"while [ ! -e {flag} ]; do sleep 0.02; done; exit 3")
    assert done.returncode == 3
    files = tree(download(any_site, "failed", into="failed")[1])
    assert files["artifacts/outputs/0/own"] == b"rank 0\n"
    assert files["artifacts/outputs/1/own"] == b"rank 1\n"
    name = any_site.submit("--name", "canceled", "--", "sh", "-c", WRITE + "echo up; sleep 1000")
    wait_until(lambda: any_site.logs(name), "it wrote")
    any_site.ok("job", "cancel", name)
    any_site.wait_for_status(name, "Canceled")
    files = tree(download(any_site, name, into="canceled")[1])
    assert files["artifacts/outputs/0/own"] == b"rank 0\n"
    assert files["artifacts/logs/0.log"] == b"log 0\n"


def test_each_attempt_of_a_retried_job_keeps_its_own(any_site):
    any_site.up(1)
    script = ("echo $LOCKSTEP_ATTEMPT > outputs/attempt; echo up; "
              "while [ $LOCKSTEP_ATTEMPT = 1 ]; do sleep 0.05; done; touch outputs/second")
    name = any_site.submit("--name", "again", "--", "sh", "-c", script)
    wait_until(lambda: any_site.logs(name), "the first attempt wrote")
    any_site.kill(any_site.runner_pids(name))
    any_site.wait_for_status(name, "Completed")
    newest = tree(download(any_site, name, into="newest")[1])
    assert newest["artifacts/outputs/attempt"] == b"2\n" and "artifacts/outputs/second" in newest
    first = tree(download(any_site, name, "--attempt", "1", into="first")[1])
    assert first["artifacts/outputs/attempt"] == b"1\n" and "artifacts/outputs/second" not in first
    done = any_site.run("job", "download", name, "--attempt", "3")
    assert done.returncode == 1 and b"no attempt 3" in done.stderr


def test_the_source_trees_outputs_are_completed_by_what_the_job_changed(any_site):
    any_site.up(1)
    for name in ("kept", "gone", "changed", "sub/kept", "dropped/x"):
        any_site.write(f"outputs/{name}", "from the snapshot\n")
    script = "rm outputs/gone; rm -r outputs/dropped; echo new > outputs/changed; echo 1 > outputs/made"
    any_site.ok("run", "--name", "j", "--", "sh", "-c", script)
    files = tree(download(any_site, "j")[1])
    old = b"from the snapshot\n"
    assert files == {"artifacts/outputs/kept": old, "artifacts/outputs/sub/kept": old,
                     "artifacts/outputs/changed": b"new\n", "artifacts/outputs/made": b"1\n"}


def not_kept_line(done):
    return [line for line in done.stderr.decode().splitlines() if "not kept:" in line]


def not_kept(site, name, node=0):
    return site.show(name)["attempts"][-1]["parts"][node]["not_kept"]


LEAVE = ("head -c 2000000 /dev/zero > model.pt; mkdir -p checkpoints/1 a/b; "
         "head -c 3000000 /dev/zero > checkpoints/1/weights; echo deep > a/b/c; echo 2 >> train.py; "
         "mkdir -p __pycache__; echo x > __pycache__/x.pyc; echo kept > outputs/kept; ")


def test_what_ranks_made_elsewhere_is_named_at_the_end(any_site):
    any_site.up(1)
    any_site.write("train.py", "1\n")
    any_site.write("data.csv", "1\n")
    done = any_site.run("run", "--name", "j", "--", "sh", "-c", LEAVE)
    assert done.returncode == 0, done.stderr
    want = ("not kept: checkpoints/, model.pt, a/, train.py (4 files, 4.8 MiB); "
            "write to outputs/ or use --keep (lockstep.keep in a job file)")
    said, = not_kept_line(done)
    assert said.endswith(want), said
    assert not_kept(any_site, "j") == {"names": ["checkpoints/", "model.pt", "a/", "train.py"], "more": 0,
                                       "files": 4, "size": 5000009, "at_least": False}
    shown = any_site.run("job", "show", "j").stdout.decode()
    assert want.removeprefix("not kept: ") in shown, shown
    streamed, = not_kept_line(any_site.run("job", "stream", "j"))
    assert streamed.endswith(want), streamed
    # A job that failed lost as much; one that only read, and wrote where it should, nothing.
    failed = any_site.run("run", "--name", "failed", "--", "sh", "-c", "echo x > model.pt; exit 3")
    assert failed.returncode == 3 and "model.pt (1 file, 2 B)" in not_kept_line(failed)[0], failed.stderr
    quiet = any_site.run("run", "--name", "quiet", "--", "sh", "-c", "cat data.csv > outputs/x; rm data.csv")
    assert quiet.returncode == 0 and not not_kept_line(quiet), quiet.stderr
    assert not_kept(any_site, "quiet") is None


def test_a_canceled_job_says_what_it_did_not_keep(any_site):
    any_site.up(1)
    name = any_site.submit("--name", "long", "--", "sh", "-c", "echo x > model.pt; echo up; sleep 1000")
    wait_until(lambda: any_site.logs(name), "it wrote")
    any_site.ok("job", "cancel", name)
    any_site.wait_for_status(name, "Canceled")
    assert not_kept(any_site, name)["names"] == ["model.pt"]
    assert b"not kept:     model.pt (1 file, 2 B)" in any_site.run("job", "show", name).stdout


def test_files_that_patterns_keep_come_back_beside_the_outputs(any_site):
    any_site.up(1)
    any_site.write("train.py", "1\n")
    words = ["--keep", "*.pt", "--keep", "checkpoints/", "--keep", "/a/b/c", "--keep", "train.py",
             "--keep", "nothing.*"]
    done = any_site.run("run", "--name", "j", *words, "--", "sh", "-c", LEAVE + "echo log > other.log")
    assert done.returncode == 0, done.stderr
    said, = not_kept_line(done)
    assert "not kept: other.log (1 file, 4 B)" in said, said
    warning = "keep 'nothing.*' matched no file that the ranks made outside ./outputs and ./logs"
    assert warning.encode() in done.stderr, done.stderr
    job = any_site.show("j")
    assert job["warnings"] == [warning] and job["lockstep"]["keep"] == words[1::2]
    files = tree(download(any_site, "j")[1])
    assert {p: len(c) for p, c in files.items() if "/kept/" in p} == {
        "artifacts/kept/model.pt": 2000000, "artifacts/kept/checkpoints/1/weights": 3000000,
        "artifacts/kept/a/b/c": 5, "artifacts/kept/train.py": 4}
    assert files["artifacts/outputs/kept"] == b"kept\n"


KEEP = """
command: echo $LOCKSTEP_NODE_RANK > model.pt; echo $LOCKSTEP_NODE_RANK > own-$LOCKSTEP_NODE_RANK.pt; echo 1 > lost
resources: {instance_count: 2}
lockstep: {keep: ["*.pt"]}
"""


def test_kept_files_of_two_nodes_are_joined(any_site):
    any_site.up(2)
    job = run_job(any_site, KEEP, "two")
    assert [p["not_kept"]["names"] for p in job["attempts"][0]["parts"]] == [["lost"], ["lost"]]
    said, got = download(any_site, "two")
    kept = {p.removeprefix("artifacts/kept/"): c for p, c in tree(got).items() if "/kept/" in p}
    assert kept == {"model.pt": b"0\n", "model.pt.node1": b"1\n", "own-0.pt": b"0\n", "own-1.pt": b"1\n"}
    assert "lost (2 files on 2 nodes, 4 B)" in any_site.run("job", "show", "two").stdout.decode()
    # An override takes the file's place; so nothing else is kept.
    job = run_job(any_site, KEEP, "other", "--set", "lockstep.keep=lost")
    assert {o["kind"]: o["files"] for o in job["attempts"][0]["parts"][0]["outputs"]} == {"kept": 1}
    assert job["attempts"][0]["parts"][0]["not_kept"]["files"] == 2


def test_what_cannot_be_kept_is_named_and_symlinks_lead_nowhere(any_site):
    any_site.up(1)
    program = ("import os, socket\n"
               "os.chdir('outputs')\n"
               "open('good', 'w').write('1')\n"
               "os.mkfifo('pipe')\n"
               "open('secret', 'w').write('2'); os.chmod('secret', 0)\n"
               "os.symlink('/etc/shadow', 'shadow'); os.symlink('/etc', 'etc')\n"
               "os.rmdir('../logs'); os.symlink('/etc', '../logs')\n")
    done = any_site.run("run", "--name", "j", "--", "python3", "-c", program)
    assert done.returncode == 0, done.stderr
    assert b"pipe was left out: a fifo" in done.stderr, done.stderr
    as_root = any_site.user is None and os.getuid() == 0
    assert (b"secret was left out: permission denied" in done.stderr) == (not as_root)
    assert b"logs is a symlink" in done.stderr
    said, got = download(any_site, "j")
    expected = {"artifacts/outputs/good": b"1"}
    if as_root:
        expected["artifacts/outputs/secret"] = b"2"
    assert tree(got) == expected
    assert os.readlink(got / "artifacts/outputs/etc") == "/etc"
    assert os.readlink(got / "artifacts/outputs/shadow") == "/etc/shadow"
    assert len(said["problems"]) == (2 if as_root else 3)


DEEP = """import os, sys
for where in ('outputs', os.environ['LOCKSTEP_CHECKPOINT_DIR']):
    top = os.getcwd()
    os.chdir(where)
    open('model.pt', 'w').write('model')
    for _ in range(25):
        os.makedirs('p' * 200, exist_ok=True)
        os.chdir('p' * 200)
    print('found', os.path.exists('deep'), flush=True)
    open('deep', 'w').write('deep')
    os.chdir(top)
sys.exit(int(os.environ['LOCKSTEP_ATTEMPT'] == '1'))
"""


def test_paths_longer_than_the_system_takes_come_back_and_into_the_next_attempt(any_site):
    any_site.up(1)
    any_site.write("deep.py", DEEP)
    done = any_site.run("run", "--name", "j", "--retry", "1", "--retry-on", "exit_code", "--", "python3", "deep.py")
    assert done.returncode == 0, done.stderr
    assert b"left out" not in done.stderr and b"too long" not in done.stderr, done.stderr
    assert any_site.logs("j", "--stdout").count(b"found True") == 1
    for words, into in (((), "all"), (("--checkpoint",), "saved")):
        said, got = download(any_site, "j", *words, into=into)
        assert said["problems"] == []
        found = subprocess.run(["find", got, "(", "-name", "deep", "-o", "-name", "model.pt", ")", "-printf", "%f\\n"],
                               check=True, capture_output=True).stdout.split()
        assert sorted(found) == [b"deep", b"model.pt"]


def test_logs_of_a_job_that_runs_come_live(any_site):
    any_site.up(1)
    flag = any_site.directory / "live.flag"
    script = (f"echo first > logs/a; while [ ! -e {flag} ]; do date >> logs/growing; sleep 0.01; done; "
              "echo last > logs/a")
    name = any_site.submit("--name", "live", "--", "sh", "-c", script)

    def outputs():
        return [o["kind"] for a in any_site.show(name)["attempts"] for p in a["parts"]
                for o in p["outputs"]]

    wait_until(lambda: outputs() == ["logs"], "the logs so far are there", 60)
    assert any_site.show(name)["status"] == "Running"
    files = tree(download(any_site, name)[1])
    assert files["artifacts/logs/a"] == b"first\n" and files["artifacts/logs/growing"]
    flag.touch(0o644)
    any_site.wait_for_status(name, "Completed")
    assert tree(download(any_site, name)[1])["artifacts/logs/a"] == b"last\n"


def test_a_big_file_is_byte_exact(site):
    site.up(1)
    program = ("import hashlib, os\n"
               "h = hashlib.sha256()\n"
               "with open('outputs/big', 'wb') as out:\n"
               "    for _ in range(100):\n"
               "        data = os.urandom(1 << 21); out.write(data); h.update(data)\n"
               "print(h.hexdigest())\n")
    out = site.ok("run", "--name", "big", "--", "python3", "-c", program, timeout=300)
    download(site, "big")
    data = (site.directory / "got/artifacts/outputs/big").read_bytes()
    assert len(data) == 100 << 21 and hashlib.sha256(data).hexdigest() == out.strip()


def collecting_job(site, name):
    """A job whose ranks have ended, while its outputs wait for a launcher that stands still."""
    flag = site.directory / f"{name}.flag"
    script = (f"echo up; while [ ! -e {flag} ]; do sleep 0.02; done; "
              "head -c 30000000 /dev/urandom > outputs/x; sha256sum outputs/x")
    site.ok("run", "--detach", "--name", name, "--", "sh", "-c", script)
    wait_until(lambda: site.logs(name), "it runs")
    launcher = site.launcher_pids()
    site.kill(launcher, signal.SIGSTOP)
    flag.touch()
    wait_until(lambda: not site.rank_pids(name), "its ranks have ended")
    wait_until(lambda: any(p.name == "final_report.pb" for p in site.home.rglob("final_report.pb")),
               "its runner has ended")
    return launcher


def check_collected(site, name):
    site.wait_for_status(name, "Completed")
    _, got = download(site, name)
    data = (got / "artifacts/outputs/x").read_bytes()
    digest = (got / "artifacts/user_logs/std_log_process_0.txt").read_text().split()[1]
    assert len(data) == 30_000_000 and hashlib.sha256(data).hexdigest() == digest
    assert len(site.show(name)["attempts"]) == 1


@pytest.mark.parametrize("what", ["agent", "launcher", "both"])
def test_kill_while_outputs_are_collected(any_site, what):
    any_site.up(1)
    launcher = collecting_job(any_site, what)
    if what in ("agent", "both"):
        any_site.kill(any_site.agent_pids())
    if what in ("launcher", "both"):
        any_site.kill(launcher)
    else:
        any_site.kill(launcher, signal.SIGCONT)
    any_site.up(1)
    check_collected(any_site, what)
