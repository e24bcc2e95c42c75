"""Sizes, labels, and which nodes and target a job gets, with real daemons."""
import json

from test_compute import operator  # noqa: F401 (a fixture)

SIZES = "sizes:\n- {name: lab-small, vcpus: 2, memory: 1g, price_per_hour: 0.5}\n" \
        "- {name: lab-rdma, vcpus: 64, memory: 512g, gpus: 4, ib_gbps: 200, isolated: true, approval: true}\n"


def said(done):
    return done.stderr.decode().replace("\nlockstep: ", "\n").replace("\n  ", " ")


def nodes_of(site, job):
    return [part["node_name"] for part in site.json("job", "show", job)["attempts"][-1]["parts"]]


def test_sizes_are_listed_added_granted_and_removed(site):
    names = {size["name"] for size in site.json("compute", "list-sizes", "--isolated")}
    assert {"Standard_M128ms", "Standard_F72s_v2", "Standard_NC24s_v3", "Standard_NC24rs_v3"} <= names
    assert all(size["rdma"] and size["gpus"] for size in site.json("size", "list", "--rdma", "--gpu"))
    assert "NC Promo" in site.ok("size", "list", "--series")
    site.write("sizes.yml", SIZES)
    site.ok("size", "add", "-f", "sizes.yml")
    mine = {size["name"]: size for size in site.json("size", "list") if size["own"]}
    assert set(mine) == {"lab-small", "lab-rdma"} and mine["lab-small"]["price_per_hour"] == 0.5
    assert (mine["lab-small"]["quota"], mine["lab-rdma"]["quota"]) == (None, 0)
    site.ok("size", "grant", "LAB-RDMA", "--machines", "3")
    site.ok("down")
    assert site.json("size", "show", "lab-rdma")["quota"] == 3, "it is kept over a restart"
    site.ok("size", "remove", "lab-small")
    done = site.run("size", "show", "lab-smal")
    assert done.returncode == 1 and "there is no size 'lab-smal'" in said(done), done
    site.write("bad.yml", "name: x\nvcpus: many\nmemory: 4g\n")
    done = site.run("size", "add", "-f", "bad.yml")
    assert done.returncode == 2 and "bad.yml:2:8: 'vcpus': 'many' is not a whole number" in said(done), done
    done = site.run("size", "remove", "Standard_M128ms")
    assert done.returncode == 1 and "is one of the launcher's catalogue and stays" in said(done), done


def test_labels_and_names_choose_nodes(site):
    site.up(2)
    site.ok("node", "label", "local-1", "rack=7", "example.com/zone=a", "old=x")
    site.ok("node", "label", "local-1", "old-")
    assert site.json("node", "show", "local-1")["labels"] == {"rack": "7", "example.com/zone": "a"}
    site.ok("run", "--name", "labelled", "--label", "rack=7", "--", "true")
    assert nodes_of(site, "labelled") == ["local-1"]
    site.ok("run", "--name", "named", "-w", "local-1,local-0", "--", "true")
    assert sorted(nodes_of(site, "named")) == ["local-0", "local-1"]
    site.write("job.yml", "command: 'true'\nname: file\nlockstep: {labels: {rack: 7}, nodes: [local-1]}\n")
    site.ok("job", "create", "-f", "job.yml", "--stream")
    assert nodes_of(site, "file") == ["local-1"]
    site.ok("run", "--detach", "--name", "waits", "--label", "rack=8", "--", "true")
    explained = site.ok("job", "explain", "waits")
    assert "    local-0 has no label rack\n" in explained, explained
    assert "    local-1 has the label rack=7, rack=8 asked for\n" in explained, explained
    site.ok("node", "label", "local-0", "rack=8")
    assert site.run("job", "stream", "waits").returncode == 0
    for words, why in ((("-w", "local-9"), "there is no node 'local-9'"),
                       (("--label", "rack"), "--label 'rack' has no '='"),
                       (("--rdma", "yes"), "--rdma 'yes' is not required, preferred or off"),
                       (("-N", "2", "-w", "local-0"), "-N: is 2, but --nodelist names only 1")):
        done = site.run("run", *words, "--", "true")
        assert done.returncode in (2, 125) and why in said(done), done
    done = site.run("node", "label", "local-0", "rack")
    assert done.returncode == 2 and "'rack' is neither KEY=VALUE nor KEY-" in said(done), done


def test_azures_keys_run_here_and_what_is_not_used_is_said_once(site):
    site.up(1)
    site.write("job.yml", "command: echo here\ncompute: azureml:serverless\n"
                          "resources:\n  instance_type: Standard_NC24rs_v3\n  properties: {AISuperComputer: {tier: a}}\n"
                          "lockstep: {rdma: preferred, isolated: true}\n")
    done = site.run("job", "create", "-f", "job.yml", "--stream")
    assert done.returncode == 0 and done.stdout == b"here\n", done
    text = said(done)
    assert text.count("resources.instance_type Standard_NC24rs_v3 is not used: target local has no size") == 1, text
    assert "resources.properties is not used (AISuperComputer)" in text, text
    job = site.json("job", "list")[0]
    assert (job["compute"], job["resources"]["instance_type"]) == ("local", "Standard_NC24rs_v3")
    assert (job["lockstep"]["isolated"], job["lockstep"]["rdma"]) == (True, "preferred")
    site.ok("run", "--detach", "--name", "fabric", "--rdma", "required", "--", "true")
    if not site.json("node", "show", "local-0")["inventory"]["rdma_ports"]:
        assert "local-0 has no RDMA device" in site.ok("job", "explain", "fabric")
    site.ok("job", "cancel", "fabric")


def test_a_job_without_a_target_goes_where_it_fits_best(site, operator):  # noqa: F811
    done = site.run("run", "--name", "chosen", "--", "true")
    assert done.returncode == 0, done
    assert "target lab was chosen: free now; others that fit: local (free now)" in said(done), done
    assert nodes_of(site, "chosen") == ["lab-1"]
    assert "target lab was chosen" in site.ok("job", "explain", "chosen")
    assert "target lab was chosen" in json.loads(site.ok("job", "show", "chosen", "-o", "json"))["lockstep"]["compute_why"]
    site.ok("run", "--name", "wide", "-N", "2", "--", "true")
    assert sorted(nodes_of(site, "wide")) == ["n1", "n2"]
    done = site.run("run", "--compute", "local", "-w", "lab-1", "--", "true")
    assert "node lab-1 belongs to target 'lab', but the job runs on target 'local'" in said(done), done
