"""What a running job has written so far: quiet files at once, growing ones piece by piece, marked as partial; links."""
import json
import pathlib
import subprocess
import tempfile

from harness.site import wait_until

# metrics.csv grows all the time, and last.json is written anew in place; model.pt is written once.
GROWS = """import itertools, os, sys, time
os.makedirs('outputs/deep', exist_ok=True)
open('outputs/deep/model.pt', 'wb').write(b'weights' * 1000)
state = open('outputs/last.json', 'w')
state.write('complete'); state.flush()
began = time.monotonic()
with open('outputs/metrics.csv', 'a') as metrics:
    for row in itertools.count():
        metrics.write(f'{row},' + 'x' * 200 + '\\n'); metrics.flush()
        if time.monotonic() - began > 4:
            state.seek(0); state.truncate(); state.write(f'torn {row}'); state.flush()
        if os.path.exists(sys.argv[1]):
            break
        time.sleep(0.1)
print(row + 1)
"""


def files(site, name, *words):
    listed = site.run("job", "files", name, "-o", "json", *words)
    if listed.returncode != 0:
        return {}
    return {file["path"]: file for file in json.loads(listed.stdout)["files"]}


def cat(site, name, path, *words):
    done = site.run("job", "cat", name, path, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def grow(site, name, *words):
    site.write("grows.py", GROWS)
    flag = site.directory / f"{name}.flag"
    site.submit("--name", name, *words, "--", "python3", "grows.py", str(flag))
    site.wait_for_status(name, "Running")
    return flag


def store_bytes(site):
    return sum(path.stat().st_size for path in (site.home / "launcher").rglob("*")
               if path.is_file() and "blobs" in path.parts)


def test_quiet_files_are_there_at_once_and_a_growing_one_is_partial(site):
    site.up(1)
    flag = grow(site, "j")
    wait_until(lambda: "outputs/deep/model.pt" in files(site, "j"), "the quiet file is there", 15)
    assert cat(site, "j", "outputs/deep/model.pt") == b"weights" * 1000
    wait_until(lambda: "outputs/metrics.csv.partial" in files(site, "j"), "the growing file is there", 25)
    first = files(site, "j")["outputs/metrics.csv.partial"]
    assert first["partial"] and "outputs/metrics.csv" not in files(site, "j")
    wait_until(lambda: files(site, "j")["outputs/metrics.csv.partial"]["size"] > first["size"], "it grows", 25)
    done = site.run("job", "cat", "j", "outputs/metrics.csv")
    assert done.stdout.startswith(b"0,xxx") and b"is partial" in done.stderr, done
    assert "(partial: was being written)" in site.ok("job", "files", "j")
    # Rewriting is not appending: the last complete version stays.
    wait_until(lambda: "outputs/last.json.partial" in files(site, "j"), "the torn version is there", 25)
    done = site.run("job", "cat", "j", "outputs/last.json")
    assert done.stdout == b"complete" and b"last complete version" in done.stderr, done
    assert cat(site, "j", "outputs/last.json.partial").startswith(b"torn ")
    part = site.show("j")["attempts"][0]["parts"][0]["outputs"][0]
    assert part["kind"] == "outputs" and part["partial"] == 2, part
    said = site.json("job", "download", "j", "-p", "got")
    assert sorted(said["outputs"][0]["partial"]) == ["last.json.partial", "metrics.csv.partial"]
    got = site.work / "got/artifacts/outputs"
    assert (got / "last.json").read_text() == "complete"
    assert (got / "metrics.csv.partial").read_text().startswith("0,xxx") and not (got / "metrics.csv").exists()
    # In the end all is whole.
    flag.touch()
    site.wait_for_status("j", "Completed")
    assert set(files(site, "j")) == {"outputs/deep/model.pt", "outputs/last.json", "outputs/metrics.csv"}
    assert not any(file["partial"] for file in files(site, "j").values())
    rows = cat(site, "j", "outputs/metrics.csv").splitlines()
    assert len(rows) == int(site.logs("j", "--stdout")) and rows[-1].startswith(b"%d," % (len(rows) - 1))


def test_a_lost_node_leaves_what_it_had_sent(site):
    site.up(2)
    flag = grow(site, "lost", "--retry", "0")
    wait_until(lambda: {"outputs/metrics.csv.partial", "outputs/deep/model.pt"} <= set(files(site, "lost")),
               "both are sent", 30)
    before = files(site, "lost")
    node = site.show("lost")["attempts"][0]["parts"][0]["node_name"]
    site.kill([*site.agent_pids(node), *site.runner_pids("lost")])
    job = site.wait_for_status("lost", "Failed")
    assert job["attempts"][0]["parts"][0]["outputs"][0]["partial"] >= 1, job
    after = files(site, "lost")
    assert after["outputs/metrics.csv.partial"]["partial"]
    assert after["outputs/metrics.csv.partial"]["size"] >= before["outputs/metrics.csv.partial"]["size"]
    assert cat(site, "lost", "outputs/deep/model.pt") == b"weights" * 1000
    assert cat(site, "lost", "outputs/metrics.csv").startswith(b"0,xxx")
    # Facts and files stay over a restart of the launcher.
    site.kill(site.launcher_pids())
    site.up(2)
    assert files(site, "lost") == after
    flag.touch()


# Writes a file of outputs and one of the checkpoint, and after 4 s rewrites both in place until it is killed.
TEARS = """import itertools, os, time
checkpoint = os.environ['LOCKSTEP_CHECKPOINT_DIR'] + '/last.pt'
if os.path.exists(checkpoint):
    print('resumed from', open(checkpoint).read(), flush=True)
files = [open(name, 'w') for name in ('outputs/model.pt', checkpoint)]
for file in files:
    file.write('complete'); file.flush()
time.sleep(4)
for step in itertools.count():
    for file in files:
        file.seek(0); file.truncate(); file.write(f'torn {step}'); file.flush()
    time.sleep(0.05)
"""


def test_what_a_killed_rank_was_rewriting_is_not_what_it_wanted(site):
    site.up(1)
    site.write("tears.py", TEARS)
    lockstep = {"checkpoint": {"every": "1s"}, "retry": {"max": 1}}
    file = site.write("torn.json", json.dumps({"name": "torn", "code": ".", "command": "python3 tears.py",
                                               "lockstep": lockstep}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: "outputs/model.pt.partial" in files(site, "torn"), "it is rewritten", 40)
    site.kill(site.runner_pids("torn"))
    wait_until(lambda: b"resumed from complete" in site.run("job", "logs", "torn").stdout, "it resumed", 60)
    assert cat(site, "torn", "outputs/model.pt", "--attempt", "1") == b"complete"
    wait_until(lambda: "outputs/model.pt.partial" in files(site, "torn"), "it is rewritten again", 40)
    site.ok("job", "cancel", "torn")
    site.wait_for_status("torn", "Canceled")
    left = files(site, "torn")
    assert left["outputs/model.pt.partial"]["partial"] and not left["outputs/model.pt"]["partial"], left
    done = site.run("job", "cat", "torn", "outputs/model.pt")
    assert done.stdout == b"complete" and b"last complete version" in done.stderr, done
    assert cat(site, "torn", "outputs/model.pt.partial").startswith(b"torn ")
    assert "was being rewritten when its rank was killed" in site.ok("job", "show", "torn")
    site.ok("job", "download", "torn", "-p", "torn")
    assert (site.work / "torn/artifacts/outputs/model.pt").read_text() == "complete"


def test_a_growing_file_is_sent_once(site):
    site.up(1)
    flag = site.directory / "once.flag"
    script = ("import os, sys, time\n"
              "with open('outputs/log', 'ab') as log:\n"
              "    while not os.path.exists(sys.argv[1]):\n"
              "        log.write(os.urandom(50000)); log.flush(); time.sleep(0.1)\n")
    before = store_bytes(site)
    site.submit("--name", "once", "--", "python3", "-c", script, str(flag))
    wait_until(lambda: files(site, "once").get("outputs/log.partial", {}).get("size", 0) > 5_000_000, "it grew", 60)
    size = files(site, "once")["outputs/log.partial"]["size"]
    sent = store_bytes(site) - before
    assert sent < 1.5 * size + 1_000_000, f"{sent} bytes are stored of a file of {size}"
    flag.touch()
    site.wait_for_status("once", "Completed")


def lines_about(site, name, word):
    done = site.run("job", "events", name)
    return [line for line in done.stdout.decode().splitlines() if word in line]


def test_outputs_may_be_a_link_to_a_folder_of_ones_own(any_site):
    site = any_site
    site.up(1)
    flag = site.directory / "link.flag"
    with tempfile.TemporaryDirectory(prefix="ls-scratch-", dir="/tmp") as scratch:
        folder = pathlib.Path(scratch) / "mine"
        pathlib.Path(scratch).chmod(0o777)
        script = (f"mkdir -p {folder} results; rmdir outputs logs; ln -s {folder} outputs; ln -s ./results logs; "
                  f"echo weights > outputs/model; echo line > logs/l; while [ ! -e {flag} ]; do sleep 0.1; done")
        site.submit("--name", "links", "--", "sh", "-c", script)
        wait_until(lambda: {"outputs/model", "logs/l"} <= set(files(site, "links")), "both are sent while it runs", 20)
        flag.touch()
        job = site.wait_for_status("links", "Completed")
        assert cat(site, "links", "outputs/model") == b"weights\n" and cat(site, "links", "logs/l") == b"line\n"
        part = job["attempts"][0]["parts"][0]
        assert not part["not_kept"] and not any(output["problems"] for output in part["outputs"]), part
        subprocess.run(["rm", "-rf", folder], check=True)


def test_what_outputs_cannot_be_is_said_while_the_job_runs(any_site):
    site = any_site
    site.up(1)
    for name, make, why in (("dangling", "ln -s /nowhere/at/all outputs", "/nowhere/at/all, which does not exist"),
                            ("cycle", "ln -s . outputs", "contains the job's own working directory"),
                            ("file", "echo x > outputs", "is not a folder")):
        flag = site.directory / f"{name}.flag"
        site.submit("--name", name, "--", "sh", "-c",
                    f"rmdir outputs; {make}; while [ ! -e {flag} ]; do sleep 0.1; done")
        wait_until(lambda: lines_about(site, name, "OutputNotKept"), "it is an event", 20)
        assert why in lines_about(site, name, "OutputNotKept")[0]
        assert site.show(name)["status"] == "Running"
        assert why in site.ok("job", "show", name)
        flag.touch()
        job = site.wait_for_status(name, "Completed")
        assert why in job["attempts"][0]["parts"][0]["outputs"][0]["problems"][0], job
        assert len(lines_about(site, name, "OutputNotKept")) == 1
