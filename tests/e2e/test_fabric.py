"""The network of nodes and the settings of ranks, with real daemons: what a node reports, what ranks get and why."""
import json

from harness.schema import problems


def settings_of(site, name, *words):
    printed = json.loads(site.ok("job", "explain", name, "--env", *words, "-o", "json"))
    assert not problems("explanation", printed)
    return printed["settings"]


def by_name(settings):
    return {one["name"]: one for one in settings["variables"]}


def test_a_node_reports_its_fabric_and_lists_leave_it_out(site):
    site.up(1)
    [listed] = site.json("node", "list")
    assert listed["inventory"]["fabric"] is None
    shown = site.json("node", "show", listed["name"])
    assert not problems("node", shown)
    fabric = shown["inventory"]["fabric"]
    [loopback] = [one for one in fabric["interfaces"] if one["loopback"]]
    assert {"address": "127.0.0.1", "prefix": 8} in loopback["addresses"] and not loopback["virtual"]
    text = site.ok("node", "show", listed["name"], "--fabric")
    assert f"interface:    {loopback['name']} 127.0.0.1/8" in text and "memlock:" in text, text
    rank = " ".join(text.partition("What rank 0 of an MPI job of two nodes gets here")[2].split())
    route = [one["name"] for one in fabric["interfaces"] if one["default_route"]]
    if route:
        assert f"NCCL_SOCKET_IFNAME ={route[0]} (fixed): the route to the other nodes begins there" in rank, text
    if not fabric["rdma_ports"]:
        assert "OMPI_MCA_pml ob1 (fixed): this node has no RDMA device" in rank, text


def test_each_variable_of_a_gang_has_its_value_source_and_reason(site):
    site.up(2)
    out = site.ok("run", "--name", "pair", "-q", "-N", "2", "-n", "2", "--distribution", "mpi", "-e", "NCCL_SOCKET_IFNAME=nosuch0",
                  "--", "sh", "-c", "env | grep -E '^(NCCL|GLOO|TP|OMPI_MCA_btl|OMPI_MCA_pml|FI)_' | sort")
    settings = settings_of(site, "pair")
    variables = by_name(settings)
    assert (settings["rank"], settings["absent"], settings["elsewhere"]) == (0, None, []), settings
    assert variables["GLOO_SOCKET_IFNAME"]["value"] == "lo" and "one machine" in variables["GLOO_SOCKET_IFNAME"]["reason"]
    mine = variables["NCCL_SOCKET_IFNAME"]
    assert (mine["value"], mine["source"]) == ("nosuch0", "user")
    assert mine["warning"].startswith("no interface of this node begins with nosuch0")
    lines = [line.split(" | ", 1)[1] for line in out.splitlines()]
    for name in ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "FI_TCP_IFACE", "OMPI_MCA_btl_tcp_if_include", "NCCL_SOCKET_IFNAME"):
        assert lines.count(f"{name}={variables[name]['value']}") == 4, (name, lines)
    assert settings_of(site, "pair", "--rank", "3")["node_name"] != settings["node_name"]
    text = site.ok("job", "explain", "pair", "--env")
    assert "  NCCL_SOCKET_IFNAME" in text and " warning: no interface of this node begins with nosuch0" in text, text


def test_a_warning_is_said_once_in_run(site):
    site.up(2)
    done = site.run("run", "-N", "2", "-e", "GLOO_SOCKET_IFNAME==lo", "--", "true")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0 and said.count("GLOO_SOCKET_IFNAME (set by the job or its environment): '=' before "
                                             "a name is NCCL's; write lo; leave it out, and the ranks use lo") == 1, said


def test_settings_that_are_not_there_say_why(site):
    site.up(1)
    site.ok("run", "--name", "one", "--", "true")
    done = site.run("job", "explain", "one", "--env", "--rank", "5")
    assert done.returncode == 2 and b"one has no rank 5; its only rank is 0" in done.stderr, done
    done = site.run("job", "explain", "one", "--rank", "1")
    assert done.returncode == 2 and b"--env" in done.stderr, done
    assert "one: no network settings of rank 0: its ranks are on one node" in site.ok("job", "explain", "one", "--env")
