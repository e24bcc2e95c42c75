"""`job files` and `job cat`: what a job left, and what it has so far."""
import pathlib

from harness.site import wait_until

MAKES = ("mkdir -p outputs/sub; echo $LOCKSTEP_NODE_RANK > outputs/rank; echo same > outputs/sub/same; : > outputs/empty; "
         "ln -sf sub/same outputs/link; head -c 3000000 /dev/zero > model.pt; echo 1 > $LOCKSTEP_CHECKPOINT_DIR/step")


def refused(site, *words):
    done = site.run(*words)
    assert done.returncode == 1, done
    return done.stderr.decode()


def temporary_folders():
    return {path for path in pathlib.Path("/tmp").iterdir() if path.name.startswith("lockstep-files-")}


def test_files_are_listed_and_printed(any_site):
    before, site = temporary_folders(), any_site
    site.up(2)
    site.ok("run", "--name", "j", "-N", "2", "--keep", "*.pt", "--", "sh", "-c", MAKES)
    listed = site.json("job", "files", "j")
    sizes = {file["path"]: file["size"] for file in listed["files"]}
    assert sizes == {"checkpoint/step": 2, "kept/model.pt": 3000000, "outputs/empty": 0, "outputs/link": None,
                     "outputs/rank": 2, "outputs/rank.node1": 2, "outputs/sub/same": 5}
    assert [file["target"] for file in listed["files"] if file["target"]] == ["sub/same"]
    shown = site.ok("job", "files", "j")
    assert "2.9 MiB  kept/model.pt\n" in shown and "link  outputs/link -> sub/same\n" in shown
    for path, want in (("outputs/sub/same", b"same\n"), ("outputs/rank.node1", b"1\n"), ("outputs/empty", b""),
                       ("kept/model.pt", bytes(3000000)), ("checkpoint/step", b"1\n")):
        done = site.run("job", "cat", "j", path)
        assert (done.returncode, done.stdout) == (0, want), (path, done.stderr)
    assert "j has no file outputs/none; `lockstep job files j` lists" in refused(site, "job", "cat", "j", "outputs/none")
    assert "is a symlink to sub/same" in refused(site, "job", "cat", "j", "outputs/link")
    assert "there is no job 'k'" in refused(site, "job", "files", "k")
    site.ok("run", "--name", "nothing", "--", "true")
    assert "nothing left no files" in refused(site, "job", "files", "nothing")
    assert temporary_folders() <= before


def test_outputs_of_a_job_that_runs_are_there_after_a_while(any_site):
    site = any_site
    site.up(1)
    flag = site.directory / "over.flag"
    site.submit("--name", "j", "--", "sh", "-c", f"echo 0.5 > outputs/loss; while [ ! -e {flag} ]; do sleep 0.1; done; "
                                                 "echo 0.1 > outputs/loss")
    site.wait_for_status("j", "Running")
    assert "the job is Running" in refused(site, "job", "files", "j")
    wait_until(lambda: site.run("job", "files", "j").returncode == 0, "its node has sent ./outputs", 40)
    assert site.run("job", "cat", "j", "outputs/loss").stdout == b"0.5\n"
    assert "so far ./outputs: 1 file" in site.ok("job", "show", "j")
    site.ok("job", "download", "j", "-p", "got")
    assert (site.work / "got/artifacts/outputs/loss").read_text() == "0.5\n"
    flag.touch()
    site.wait_for_status("j", "Completed")
    assert site.run("job", "cat", "j", "outputs/loss").stdout == b"0.1\n"
