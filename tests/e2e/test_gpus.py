"""GPUs as jobs see them, on a machine without any: the agent loads tests/fakes/nvml, which has eight."""
import pathlib

import pytest

from harness.site import BUILD, wait_until

GOLDEN = pathlib.Path(__file__).parent / "golden" / "gpu_environment.txt"
FAKE_NVML = BUILD / "tests" / "fakes" / "nvml" / "libfake_nvml.so"
SHARE = ("--cpus", "1", "--memory", "64m")  # so that a second job fits beside it
# What CUDA, NCCL's and PyTorch's users look at to choose a device.
SHOW = "env | grep -E '^(CUDA_|NVIDIA_|AZ_BATCHAI_GPU|LOCAL_|RANK=|WORLD_SIZE)' | sort | tr '\\n' ' '; echo"


@pytest.fixture
def gpu_site(site):
    """Starts `nodes` local nodes that share eight GPUs."""
    variables = {"LOCKSTEP_NVML_LIBRARY": str(FAKE_NVML)}

    def up(nodes=1):
        site.ok("up", "--nodes", str(nodes), env=variables)
        return site

    return up


def environments(text):
    """Each rank's variables, by rank."""
    rows = (dict(word.split("=", 1) for word in line.rpartition("| ")[2].split()) for line in
            text.splitlines())
    return {int(row["RANK"]): row for row in rows}


def held_gpus(site, name):
    """The GPUs of the newest attempt, as the launcher accounts for them."""
    return [gpu for part in site.show(name)["attempts"][-1]["parts"] for gpu in part["gpus"]]


def hold(site, name, gpus, *words):
    """A job that holds `gpus` GPUs until it is ended."""
    site.submit("--name", name, "--gpus", str(gpus), *SHARE, *words, "--", "sh", "-c",
                "echo $CUDA_VISIBLE_DEVICES; exec sleep 1000")
    site.wait_for_status(name, "Running")


def visible(site, *words):
    return site.ok("run", "-q", *words, "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES").strip()


def test_every_rank_sees_all_gpus_of_its_job_in_pci_order(gpu_site):
    site = gpu_site()
    gpus = site.json("node", "list")[0]["inventory"]["gpus"]
    assert [gpu["index"] for gpu in gpus] == list(range(8))
    buses = [gpu["pci_bus_id"] for gpu in gpus]
    assert buses == sorted(buses) and len(set(buses)) == 8
    ranks = environments(site.ok("run", "-q", "-n", "8", "--distribution", "pytorch", "--", "sh", "-c",
                                 SHOW))
    seen = "".join(f"rank {rank}: {' '.join(f'{k}={v}' for k, v in sorted(row.items()))}\n"
                   for rank, row in sorted(ranks.items()))
    assert seen == GOLDEN.read_text(encoding="utf-8")
    for row in ranks.values():  # set_device(LOCAL_RANK)
        assert int(row["LOCAL_RANK"]) < len(row["CUDA_VISIBLE_DEVICES"].split(","))


def test_two_jobs_at_once_hold_disjoint_gpus(gpu_site):
    site = gpu_site()
    hold(site, "one", 4)
    hold(site, "two", 4)
    one, two = held_gpus(site, "one"), held_gpus(site, "two")
    assert len(one) == len(two) == 4 and sorted(one + two) == list(range(8))
    for name, gpus in (("one", one), ("two", two)):
        line = ",".join(map(str, gpus)).encode()
        wait_until(lambda n=name, text=line: site.logs(n).strip() == text, f"{name} sees {gpus}")
    for name in ("one", "two"):
        assert site.show(name)["status"] == "Running"
        site.ok("job", "cancel", name)
        site.wait_for_status(name, "Canceled")
    assert visible(site) == "0,1,2,3,4,5,6,7"


def test_a_job_waits_for_gpus_that_another_holds_and_says_so(gpu_site):
    site = gpu_site()
    hold(site, "holder", 6)
    site.submit("--name", "waits", "--gpus", "4", *SHARE, "--", "true")
    job = site.show("waits")
    assert job["status"] == "Queued" and \
        "2 of its 8 gpus free, 4 asked for" in site.ok("job", "explain", "waits"), job
    site.ok("job", "cancel", "holder")
    site.wait_for_status("waits", "Completed")


def test_more_gpus_than_any_node_has_are_refused_with_the_reason(gpu_site):
    done = gpu_site().run("run", "--gpus", "9", "--", "true")
    assert done.returncode == 1 and b"has 8 gpus, 9 asked for" in done.stderr, done.stderr


def test_isolated_gpus_are_one_for_each_rank(gpu_site):
    site = gpu_site()
    site.write("job.yml", f"command: {SHOW!r}\n"
               "distribution: {type: pytorch, process_count_per_instance: 4}\n"
               "lockstep: {gpus_per_rank: isolated, resources: {gpus: 4, cpus: 1, memory: 64m}}\n")
    hold(site, "before", 4)
    ranks = environments(site.ok("job", "create", "-f", "job.yml", "--stream", "-q"))
    assert {rank: row["CUDA_VISIBLE_DEVICES"] for rank, row in ranks.items()} == \
        {0: "4", 1: "5", 2: "6", 3: "7"}


def test_local_nodes_divide_the_gpus(gpu_site):
    site = gpu_site(nodes=2)
    offered = {node["name"]: [gpu["pci_bus_id"] for gpu in node["inventory"]["gpus"]]
               for node in site.json("node", "list")}
    assert sorted(map(len, offered.values())) == [4, 4]
    assert len({bus for buses in offered.values() for bus in buses}) == 8
    rows = environments(site.ok("run", "-q", "-N", "2", "-n", "4", "--distribution", "pytorch", "--",
                                "sh", "-c", SHOW))
    lists = {rank: row["CUDA_VISIBLE_DEVICES"] for rank, row in rows.items()}
    halves = [{lists[rank] for rank in ranks} for ranks in (range(4), range(4, 8))]
    assert sorted(halves, key=min) == [{"0,1,2,3"}, {"4,5,6,7"}]
    assert all(int(row["LOCAL_RANK"]) < 4 for row in rows.values())


@pytest.mark.parametrize("victim", ["rank", "runner"])
def test_what_is_killed_gives_its_gpus_back(gpu_site, victim):
    site = gpu_site()
    site.write("job.yml", "name: killed\ncommand: exec sleep 1000\n"
               "lockstep: {resources: {gpus: 8}, retry: {max: 0}}\n")
    site.ok("job", "create", "-f", "job.yml")
    site.wait_for_status("killed", "Running")
    pids = site.runner_pids("killed") if victim == "runner" else \
        wait_until(lambda: list(site.rank_pids("killed").values()), "the rank has started")
    site.kill(pids)
    site.wait_for_status("killed", "Failed")
    assert visible(site, "--gpus", "8") == "0,1,2,3,4,5,6,7"
