"""Attempts that survive lost machines: retries, checkpoints, leases; with real nodes and real training."""
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from harness.namespaces import Cluster
from harness.site import ROOT, wait_until

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

# A deterministic training with DistributedDataParallel on two CPUs. It saves each epoch; the first attempt
# stops after `pause`, in the middle of the job, until somebody ends it. Prints a digest of the parameters.
TRAINING = """
import hashlib, os, sys, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

pause, epochs = int(sys.argv[1]), 6
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Sequential(
    torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
data = torch.randn(200, 16, generator=torch.Generator().manual_seed(rank))
path = os.path.join(os.environ["LOCKSTEP_CHECKPOINT_DIR"], "training.pt")
done = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    done = saved["epoch"]
print("attempt", os.environ["LOCKSTEP_ATTEMPT"], "begins after epoch", done, flush=True)
for epoch in range(done + 1, epochs + 1):
    for start in range(0, 200, 20):
        batch = data[start:start + 20]
        optimizer.zero_grad()
        (model(batch) ** 2).mean().backward()
        optimizer.step()
    if rank == 0:
        torch.save({"epoch": epoch, "model": model.module.state_dict(),
                    "optimizer": optimizer.state_dict()}, path + ".part")
        os.replace(path + ".part", path)
    dist.barrier()
    print("epoch", epoch, flush=True)
    while epoch == pause and os.environ["LOCKSTEP_ATTEMPT"] == "1":
        time.sleep(0.05)
flat = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
print("parameters", hashlib.sha256(flat.numpy().tobytes()).hexdigest(), flush=True)
dist.barrier()
"""

WAITS = "echo attempt $LOCKSTEP_ATTEMPT; while [ ! -e {} ]; do sleep 0.05; done"


def parameters(text):
    found = set(re.findall(r"parameters ([0-9a-f]{64})", text))
    assert len(found) == 1, text
    return found.pop()


def saved_checkpoints(attempt):
    return [o for p in attempt["parts"] for o in p["outputs"] if o["kind"] == "checkpoint"]


def create(site, name, command, **keys):
    """A job file's job, detached; `keys` are --set paths with '__' for '.'."""
    sets = []
    for key, value in keys.items():
        sets += ["--set", f"{key.replace('__', '.')}={value}"]
    site.write(f"{name}.yml", f"command: {command}\ncode: .\n")
    site.ok("job", "create", "-f", f"{name}.yml", "--name", name, *sets)


@pytest.fixture
def make_cluster(shared_bin):
    made = []

    def make(*launcher_flags, nodes=3):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
        directory.chmod(0o755)
        cluster = Cluster(directory, shared_bin, nodes, launcher_flags)
        made.append(cluster)
        return cluster.create()

    yield make
    for cluster in made:
        cluster.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(cluster.directory)], check=False)


def ranks_on(host):
    """Processes of jobs in the host's network namespace."""
    done = subprocess.run(["ip", "netns", "pids", host.namespace], capture_output=True, text=True, check=True)
    found = []
    for pid in done.stdout.split():
        try:
            words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        attempt = [w.partition(b"=")[2].decode() for w in words if w.startswith(b"LOCKSTEP_ATTEMPT=")]
        if attempt:
            found.append((int(pid), int(attempt[0])))
    return found


@needs_root
def test_a_training_survives_a_pulled_link_with_the_same_result(make_cluster):
    cluster = make_cluster()
    site = cluster.site
    site.write("train.py", TRAINING)
    shape = {"distribution__type": "pytorch", "resources__instance_count": 2,
             "lockstep__checkpoint__every": "1s", "environment_variables__OMP_NUM_THREADS": 1}
    create(site, "undisturbed", "python3 train.py 0", **shape)
    site.wait_for_status("undisturbed", "Completed")
    expected = parameters(site.logs("undisturbed", "--stdout").decode())

    create(site, "disturbed", "python3 train.py 3", **shape)
    wait_until(lambda: site.logs("disturbed").count(b"epoch 3") == 2, "it is in the middle")
    wait_until(lambda: saved_checkpoints(site.show("disturbed")["attempts"][0]), "it is saved")
    first = site.show("disturbed")["attempts"][0]
    # The node that writes the checkpoints: what it saved must come from the launcher.
    gone = next(h for h in cluster.nodes if h.name == first["parts"][0]["node_name"])
    gone.link("down")
    wait_until(lambda: site.json("node", "show", gone.name)["liveness"] == "UNKNOWN", "it is UNKNOWN", 6)
    wait_until(lambda: site.json("node", "show", gone.name)["liveness"] == "LOST", "it is LOST", 20)
    job = site.wait_for_status("disturbed", "Completed")
    second = job["attempts"][1]
    assert len(job["attempts"]) == 2 and job["restarts"] == 1
    assert job["attempts"][0]["report"]["cause"] == "node_lost"
    assert "retry 1 of 3" in job["attempts"][0]["retried"]
    names = [p["node_name"] for p in second["parts"]]
    assert gone.name not in names
    assert names[1] == first["parts"][1]["node_name"], "who stayed keeps its node rank"
    assert second["checkpoint"]["attempt"] == 1 and second["checkpoint"]["files"] == 1
    text = site.logs("disturbed", "--stdout").decode()
    assert text.count("attempt 2 begins after epoch 3") == 2, text
    assert parameters(text) == expected
    shown = site.ok("job", "show", "disturbed")
    assert "begins with the checkpoint of attempt 1, saved " in shown, shown
    site.ok("job", "download", "disturbed", "--checkpoint", "-p", "got")
    assert (site.work / "got/checkpoint/training.pt").stat().st_size > 0

    # The stale ranks still run there; when the node is back they go, before it gets anything else.
    stale = [pid for pid, _ in ranks_on(gone)]
    assert stale
    gone.link("up")
    flag = cluster.directory / "next.flag"
    name = site.submit("-N", "3", "--name", "next", "--", "sh", "-c", WAITS.format(flag))
    wait_until(lambda: site.logs(name).count(b"attempt 1") == 3, "the next job runs on all nodes")
    assert not set(stale) & {pid for pid, _ in ranks_on(gone)}
    flag.write_text("")
    site.wait_for_status(name, "Completed")


@needs_root
def test_after_fence_never_runs_two_attempts_at_once(make_cluster):
    cluster = make_cluster("--fence-lease", "15s")
    site = cluster.site
    flag = cluster.directory / "fence.flag"
    create(site, "fenced", WAITS.format(flag), lockstep__retry__on_lost="after_fence")
    wait_until(lambda: site.logs("fenced").count(b"attempt 1"), "it runs")
    used = site.show("fenced")["attempts"][0]["parts"][0]["node_name"]
    gone = next(h for h in cluster.nodes if h.name == used)
    gone.link("down")
    job = wait_until(lambda: (j := site.show("fenced"))["retry_at"] and j, "it waits for the fence", 30)
    assert job["status"] == "Queued" and "on_lost: after_fence" in job["reason"], job["reason"]
    assert ranks_on(gone), "its lease has not run out"
    wait_until(lambda: not ranks_on(gone), "its node ended it by itself", 30)
    assert len(site.show("fenced")["attempts"]) == 1
    job = wait_until(lambda: len((j := site.show("fenced"))["attempts"]) == 2 and j, "it is retried", 40)
    assert job["attempts"][1]["parts"][0]["node_name"] != gone.name
    flag.write_text("")
    site.wait_for_status("fenced", "Completed")


@needs_root
def test_a_node_that_comes_back_ends_the_wait_for_its_lease(make_cluster):
    cluster = make_cluster("--fence-lease", "10m", nodes=2)
    site = cluster.site
    flag = cluster.directory / "back.flag"
    create(site, "back", WAITS.format(flag), lockstep__retry__on_lost="after_fence")
    wait_until(lambda: site.logs("back").count(b"attempt 1"), "it runs")
    used = site.show("back")["attempts"][0]["parts"][0]["node_name"]
    gone = next(h for h in cluster.nodes if h.name == used)
    gone.link("down")
    wait_until(lambda: site.show("back")["retry_at"], "it waits for the fence", 30)
    assert [a for _, a in ranks_on(gone)] and len(site.show("back")["attempts"]) == 1
    gone.link("up")
    wait_until(lambda: len(site.show("back")["attempts"]) == 2, "it is retried", 60)
    assert 1 not in [a for host in cluster.nodes for _, a in ranks_on(host)]
    flag.write_text("")
    site.wait_for_status("back", "Completed")


def test_exit_codes_are_retried_as_the_job_says(any_site):
    any_site.up(1)
    create(any_site, "codes", "echo attempt $LOCKSTEP_ATTEMPT; [ $LOCKSTEP_ATTEMPT = 3 ] || exit 75",
           lockstep__retry__on="[node_lost, 75]", lockstep__retry__backoff="0")
    job = any_site.wait_for_status("codes", "Completed")
    assert [a["number"] for a in job["attempts"]] == [1, 2, 3]
    assert [a["report"]["exit_code"] for a in job["attempts"]] == [75, 75, 0]
    assert "retry 2 of 3" in job["attempts"][1]["retried"]
    assert job["lockstep"]["retry"] == {"max": 3, "on": ["node_lost", 75], "backoff": 0,
                                        "on_lost": "immediately"}
    listed = any_site.ok("job", "list").splitlines()
    assert listed[1][listed[0].index("RESTARTS"):].split()[0] == "2", listed
    done = any_site.run("run", "--retry-on", "never", "--name", "once", "--", "sh", "-c", "exit 75")
    assert done.returncode == 75 and len(any_site.show("once")["attempts"]) == 1


def test_a_checkpoint_is_restored_after_a_killed_runner_and_after_a_cancel(any_site):
    any_site.up(1)
    script = ("echo attempt $LOCKSTEP_ATTEMPT finds $(cat $LOCKSTEP_CHECKPOINT_DIR/steps); "
              "trap 'echo saved >> $LOCKSTEP_CHECKPOINT_DIR/steps; exit 1' TERM; "
              "echo step$LOCKSTEP_ATTEMPT >> $LOCKSTEP_CHECKPOINT_DIR/steps; "
              "while [ ! -e {} ]; do sleep 0.05; done")
    flag = any_site.directory / "checkpoint.flag"
    any_site.write("steps.sh", script.format(flag))
    name = any_site.submit("--name", "steps", "--", "bash", "steps.sh")
    wait_until(lambda: any_site.logs(name).count(b"attempt 1"), "it runs")
    # Nothing was sent while it ran (60 s): it is collected after the runner is dead.
    any_site.kill(any_site.runner_pids(name))
    wait_until(lambda: any_site.logs(name, "--stdout").count(b"attempt 2 finds step1"), "it finds it")
    any_site.ok("job", "cancel", name)
    job = any_site.wait_for_status(name, "Canceled")
    assert job["attempts"][1]["checkpoint"]["attempt"] == 1
    any_site.ok("job", "download", name, "--checkpoint", "-p", "kept")
    assert (any_site.work / "kept/checkpoint/steps").read_text().split() == ["step1", "step2", "saved"]


def test_jobs_outlive_an_absent_launcher(any_site):
    any_site.up(2)
    flag = any_site.directory / "absent.flag"
    name = any_site.submit("-N", "2", "--name", "absent", "--", "sh", "-c",
                           WAITS.format(flag) + "; echo result > outputs/result; echo done")
    wait_until(lambda: any_site.logs(name).count(b"attempt 1") == 2, "it runs")
    ranks = any_site.rank_pids(name)
    any_site.kill(any_site.launcher_pids())
    flag.touch(0o644)
    wait_until(lambda: not any_site.rank_pids(name), "it ends without a launcher")
    assert len(ranks) == 2
    any_site.up(2)
    job = any_site.wait_for_status(name, "Completed")
    assert len(job["attempts"]) == 1
    assert any_site.logs(name, "--stdout").count(b"done") == 2
    assert len([o for p in job["attempts"][0]["parts"] for o in p["outputs"]]) == 2


def test_the_example_goes_on_where_it_was(tmp_path):
    """Plain files, and no Lockstep."""
    def train(epochs, folder=None):
        env = {**os.environ, "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": "29517", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        env.pop("LOCKSTEP_CHECKPOINT_DIR", None)
        if folder:
            env["LOCKSTEP_CHECKPOINT_DIR"] = str(folder)
        done = subprocess.run(["/usr/bin/python3", "train_ddp.py", "--epochs", str(epochs)], env=env,
                              cwd=ROOT / "examples/digits", capture_output=True, text=True, timeout=120,
                              check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    whole = train(4)
    train(2, tmp_path)
    rest = train(4, tmp_path)
    assert "goes on after epoch 2" in rest
    assert parameters(rest) == parameters(whole)


COUNTS = ('import os, pathlib\n'
          'folder = pathlib.Path(os.environ["LOCKSTEP_CHECKPOINT_DIR"])\n'
          'before = sorted(path.name for path in folder.iterdir())\n'
          'print("found", *before)\n'
          '(folder / str(len(before))).write_text(os.environ.get("WORD", ""))\n'
          'raise SystemExit(int(os.environ.get("CODE", "0")))\n')


def test_a_job_begins_with_the_checkpoint_of_another(any_site):
    site = any_site
    site.write("counts.py", COUNTS)
    run = ("run", "--retry", "0", "-e", "WORD=a secret word")
    assert site.run(*run, "--name", "first", "-e", "CODE=3", "--", "python3", "counts.py").returncode == 3
    assert "found 0\n" in site.ok(*run, "--name", "second", "--from-checkpoint-of", "first", "--", "python3", "counts.py")
    site.ok("job", "delete", "first")  # what began with its checkpoint has it all the same
    # The same again, its variables too; the source is that of then.
    site.write("counts.py", "raise SystemExit(77)")
    assert "found 0 1\n" in site.ok("job", "resume", "second", "--name", "third", "--stream")
    third = site.show("third")
    begun = third["attempts"][0]["checkpoint"]
    assert (begun["job"], begun["attempt"], begun["files"]) == ("second", 1, 2)
    assert third["lockstep"]["from_checkpoint_of"] == "second" and third["display_name"] == "third"
    assert third["environment_variables"]["WORD"] == "a secret word"
    assert "begins with the checkpoint of attempt 1 of job second, saved " in site.ok("job", "show", "third")
    site.write("job.yml", "command: ls $LOCKSTEP_CHECKPOINT_DIR\ncode: .\nlockstep: {from_checkpoint_of: third}\n")
    assert site.ok("job", "create", "-f", "job.yml", "--stream").split() == ["0", "1", "2"]


def refused(site, *words):
    done = site.run(*words)
    assert done.returncode not in (0, -6, -11), done
    return done.stderr.decode()


def test_a_checkpoint_that_is_not_there_is_said(any_site):
    site = any_site
    run = ("run", "--name", "new", "--from-checkpoint-of")
    assert "there is no job 'none'" in refused(site, *run, "none", "--", "true")
    assert "is not a job name" in refused(site, *run, "../x", "--", "true")
    site.ok("run", "--name", "empty", "--", "true")
    want = "job 'empty' has saved no checkpoint: its ranks wrote nothing to $LOCKSTEP_CHECKPOINT_DIR"
    assert want in refused(site, *run, "empty", "--", "true")
    assert want in refused(site, "job", "resume", "empty")
    site.submit("--name", "long", "--", "sleep", "600")
    assert "goes on by itself" in refused(site, "job", "resume", "long")
    site.ok("job", "cancel", "long")
    assert [job["name"] for job in site.json("job", "list")] == ["long", "empty"]
