"""Ranks of TensorFlow and Ray, the variables of other frameworks, cpus of ranks, Slurm's scripts."""
import json
import os
import re
import shutil

import pytest
from harness.site import wait_until

# Binds its own port of TF_CONFIG and connects to all others.
TF_ECHO = """
import json, os, socket, time
config = json.loads(os.environ["TF_CONFIG"])
task, cluster = config["task"], config["cluster"]
own = cluster[task["type"]][task["index"]]
host, port = own.rsplit(":", 1)
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((host, int(port)))
server.listen(16)
others = [one for kind in cluster.values() for one in kind if one != own]
for other in others:
    for _ in range(200):
        try:
            socket.create_connection((other.rsplit(":", 1)[0], int(other.rsplit(":", 1)[1])), 5).close()
            break
        except OSError:
            time.sleep(0.1)
    else:
        raise SystemExit(f"cannot reach {other}")
for _ in others:
    server.accept()
print("TF", json.dumps({"rank": os.environ["LOCKSTEP_RANK"], "node": os.environ["LOCKSTEP_NODE_RANK"],
                        "config": config}), flush=True)
"""


def test_tensorflow_processes_of_two_nodes_reach_each_other(any_site):
    any_site.up(2)
    any_site.write("tf.py", TF_ECHO)
    any_site.write("job.yml", "code: .\ncommand: /usr/bin/python3 tf.py\nresources: {instance_count: 2}\n"
                   "distribution: {type: tensorflow, worker_count: 2, parameter_server_count: 1}\n")
    out = any_site.ok("job", "create", "-f", "job.yml", "--stream")
    said = {row["rank"]: row for row in map(json.loads, re.findall(r"TF (\{.*\})", out))}
    tasks = {rank: (row["node"], row["config"]["task"]["type"], row["config"]["task"]["index"])
             for rank, row in said.items()}
    assert tasks == {"0": ("0", "worker", 0), "1": ("0", "ps", 0), "2": ("1", "worker", 1)}, out
    cluster = said["0"]["config"]["cluster"]
    assert [len(cluster["worker"]), len(cluster["ps"])] == [2, 1]
    assert all(row["config"]["cluster"] == cluster for row in said.values())
    assert said["0"]["config"]["environment"] == "cloud"
    job = any_site.json("job", "list")[0]["name"]
    parts = any_site.show(job)["attempts"][-1]["parts"]
    assert [(part["first_rank"], part["ranks"]) for part in parts] == [(0, 2), (2, 1)]
    assert b"TF" in any_site.logs(job, "--rank", "2")


def test_workers_alone_have_no_ps(site):
    site.up(2)
    out = site.ok("run", "-N", "2", "--distribution", "tensorflow", "--", "sh", "-c", "echo $TF_CONFIG")
    configs = [json.loads(text) for text in re.findall(r"\{.*\}", out)]
    assert sorted(config["task"]["index"] for config in configs) == [0, 1]
    assert all(list(config["cluster"]) == ["worker"] for config in configs), "an empty ps list fails"


# What the runner needs of Ray: a head and workers that stay, and the head's health.
FAKE_RAY = """#!/bin/bash
echo "$LOCKSTEP_RANK $RAY_TMPDIR $*" >> "$RAY_CALLS"
case "$1 $2" in
  "health-check --address") [ -e "$RAY_CALLS.head" ] ;;
  "start --head") touch "$RAY_CALLS.head"; sleep 1000 & ;;
  "start --address"*) touch "$RAY_CALLS.worker"; exec sleep 1000 ;;
esac
"""


def ray_job(site, command, settings=""):
    calls = site.work / "calls"
    site.write("bin/ray", FAKE_RAY, mode=0o755)
    site.write("job.yml", f"command: {command}\nresources: {{instance_count: 2}}\n"
               f"distribution: {{type: ray{settings}}}\nenvironment_variables:\n"
               f"  PATH: {site.work}/bin:/usr/bin:/bin\n  RAY_CALLS: {calls}\n")
    return calls


def test_ray_runs_the_command_on_the_head_and_ends_with_it(any_site):
    any_site.up(2)
    calls = ray_job(any_site, "'while [ ! -e $RAY_CALLS.worker ]; do sleep 0.1; done; "
                    "echo at $LOCKSTEP_RANK of $RAY_ADDRESS'",
                    ", port: 7777, head_node_additional_args: \"--labels 'a=b c'\"")
    out = any_site.ok("job", "create", "-f", "job.yml", "--stream")
    assert re.findall(r"at (\d+) of (\S+)", out) == [("0", "127.0.0.1:7777")], out
    rows = calls.read_text().splitlines()
    head = [row for row in rows if " start --head" in row]
    worker = [row for row in rows if " start --address" in row]
    assert len(head) == 1 and len(worker) == 1, rows
    assert head[0].startswith("0 /tmp/ls-ray.") and head[0].endswith("--labels a=b c"), head
    assert "--port=7777" in head[0] and worker[0].startswith("1 ") and "=127.0.0.1:7777" in worker[0]
    job = any_site.json("job", "list")[0]["name"]
    assert any_site.show(job)["status"] == "Completed"
    # The runner of the node that made it removes it, perhaps after the other node's has reported.
    wait_until(lambda: not os.path.lexists(head[0].split()[1]), "the link to Ray's files is gone")


def test_a_command_that_fails_ends_rays_workers(site):
    site.up(2)
    ray_job(site, "exit 7")
    done = site.run("job", "create", "-f", "job.yml", "--stream")
    assert done.returncode == 7, done.stderr


def test_ray_is_named_where_it_is_missing(site):
    site.up(1)
    done = site.run("run", "--distribution", "ray", "--", "true")
    assert done.returncode == 127 and b"needs an environment with the package ray" in done.stdout + done.stderr


def test_a_real_ray_cluster_has_both_nodes(site):
    folder = os.environ.get("LOCKSTEP_RAY") or os.path.dirname(shutil.which("ray") or "")
    if not folder:
        pytest.skip("needs ray from PyPI: its folder in LOCKSTEP_RAY")
    site.up(2)
    site.write("count.py", "import ray, time\nray.init()\n"
               "while len(ray.nodes()) < 2: time.sleep(0.2)\n"
               "@ray.remote\ndef double(x): return 2 * x\n"
               "print('sum', sum(ray.get([double.remote(x) for x in range(10)])), 'nodes', len(ray.nodes()))\n")
    out = site.ok("run", "-N", "2", "--distribution", "ray", "--env", f"PATH={folder}:/usr/bin:/bin",
                  "--", "python", "count.py", timeout=300)
    assert "sum 90 nodes 2" in out, out


def test_mpi_ranks_have_torchruns_variables_too(site):
    site.up(2)
    out = site.ok("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", "sh", "-c",
                  "echo v $RANK $WORLD_SIZE $LOCAL_RANK $NODE_RANK ${MASTER_ADDR:+a} ${MASTER_PORT:+p}")
    assert sorted(re.findall(r"v (.*)", out)) == ["0 4 0 0 a p", "1 4 1 0 a p", "2 4 0 1 a p", "3 4 1 1 a p"]


def cpus_of(text):
    return [set(eval(found)) for found in re.findall(r"cpus (\[.*?\])", text)]  # pylint: disable=eval-used


SHOW_CPUS = "import os; print('cpus', sorted(os.sched_getaffinity(0)))"


@pytest.mark.parametrize("binding", ["none", "numa", "core"])
def test_ranks_are_bound_as_the_job_says(site, binding):
    site.up(1)
    everything = set(os.sched_getaffinity(0))
    name = f"bound-{binding}"
    out = site.ok("run", "--name", name, "-n", "2", "--binding", binding, "--", "/usr/bin/python3", "-c", SHOW_CPUS)
    sets = cpus_of(out)
    assert len(sets) == 2 and all(one <= everything for one in sets), out
    if binding == "none":
        assert all(one == everything for one in sets), out
    assert f"lockstep.binding: {binding}" in site.ok("job", "explain", name)
    assert site.show(name)["lockstep"]["binding"] == binding


def test_a_slurm_script_runs_with_its_options(site):
    site.up(2)
    site.write("job.sbatch", "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=2\n#SBATCH --job-name=hello\n"
               "#SBATCH --output=%j.out --time=10\n\necho ran $LOCKSTEP_RANK $1 $0\n")
    done = site.run("run", "--name", "scripted", "--sbatch", "job.sbatch", "--", "word")
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"ran (\d) word job.sbatch", done.stdout.decode())) == ["0", "1", "2", "3"]
    assert b"job.sbatch:4: #SBATCH --output is not used" in done.stderr
    assert site.show("scripted")["display_name"] == "hello"
    assert site.show("scripted")["limits"]["timeout"] == 600
