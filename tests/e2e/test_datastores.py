"""Datastores: names that the operator gives to directories and to remotes of rclone. Real servers: rclone's own of SFTP and WebDAV."""
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

import pytest
from harness.accounts import GROUP, PEOPLE, Neighbour, existing
from harness import moto as moto_server
from harness.remotes import name_stores, own, section, serving

CAT = "command: cat ${{{{inputs.d}}}}{file}{more}\ninputs: {{d: {{path: '{path}'{how}}}}}\nlockstep: {{retry: {{max: 0}}}}\n"


def submit(site, name, path, file="/a.txt", how="", more=""):
    site.write("job.yml", CAT.format(path=path, file=file, how=how, more=more))
    return site.run("job", "create", "-f", "job.yml", "--name", name)


def read(site, name, path, status="Completed", **how):
    done = submit(site, name, path, **how)
    assert done.returncode == 0, done.stderr.decode()
    return site.wait_for_status(name, status)


def refusal(site, path, **how):
    done = submit(site, "refused", path, **how)
    assert done.returncode in (1, 2), done
    assert site.run("job", "show", "refused").returncode != 0
    return done.stderr.decode()


@pytest.fixture
def stores(any_site):
    """scratch and fixed: directories that every local node has."""
    site = any_site
    for name in ("scratch", "fixed"):
        folder = site.directory / name
        (folder / "set/sub").mkdir(parents=True)
        (folder / "set/a.txt").write_text(name + "\n")
        (folder / "set/sub/b.txt").write_text("below\n")
        own(site, folder)
    name_stores(site, f"scratch:\n  directory: {site.directory}/scratch\n"
                      f"fixed: {{directory: {site.directory}/fixed/, read_only: true}}\n")
    return site.up(2)


def test_a_path_that_is_not_there_is_tried_once(stores):
    stores.write("job.yml", "command: cat ${{inputs.d}}/a\n"
                            "inputs: {d: {path: 'azureml://datastores/scratch/paths/none'}}\n")
    stores.ok("job", "create", "-f", "job.yml", "--name", "gone")
    job = stores.wait_for_status("gone", "Failed")
    assert len(job["attempts"]) == 1 and "scratch/none does not exist on this node" in job["reason"], job["reason"]


def test_a_directory_is_read_in_place(stores):
    job = read(stores, "j", "azureml://datastores/scratch/paths/set",
               more="; cat ${{inputs.d}}/sub/b.txt; echo new > ${{inputs.d}}/new || echo refused; echo ${{inputs.d}}")
    out = stores.logs("j").decode()
    assert out.splitlines()[:2] == ["scratch", "below"] and "refused" in out and "/.lockstep/inputs/d" in out, out
    assert job["inputs"]["d"] == {"type": "uri_folder", "mode": "ro_mount", "digest": None,
                                  "path": "azureml://datastores/scratch/paths/set"}
    long = "azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/scratch/paths/set/"
    read(stores, "k", long, file="/sub/b.txt", how=", mode: direct", more="; echo ${{inputs.d}}")
    assert stores.logs("k").decode() == f"below\n{stores.directory}/scratch/set\n"
    read(stores, "f", "azureml://datastores/fixed/paths/set/a.txt", file="", how=", type: uri_file",
         more="; basename ${{inputs.d}}; echo x >> ${{inputs.d}} || echo refused")
    assert "fixed\na.txt\n" in stores.logs("f").decode() and b"refused" in stores.logs("f")
    read(stores, "all", "azureml://datastores/fixed", file="/set/a.txt")
    assert stores.logs("all") == b"fixed\n"


def test_a_directory_is_changed_in_place_or_copied(stores):
    here = "azureml://datastores/scratch/paths/set"
    read(stores, "j", here, how=", mode: rw_mount", more="; echo more >> ${{inputs.d}}/a.txt; mkdir ${{inputs.d}}/new")
    assert (stores.directory / "scratch/set/a.txt").read_text() == "scratch\nmore\n"
    made = (stores.directory / "scratch/set/new").stat()
    assert made.st_uid == (stores.directory / "scratch").stat().st_uid
    read(stores, "k", here, how=", mode: download", more="; echo mine > ${{inputs.d}}/a.txt && rm -r ${{inputs.d}}/sub; "
                                                          "cat ${{inputs.d}}/a.txt")
    assert stores.logs("k") == b"scratch\nmore\nmine\n"
    assert (stores.directory / "scratch/set/sub/b.txt").exists()
    said = refusal(stores, "azureml://datastores/fixed/paths/set", how=", mode: rw_mount")
    assert "datastore 'fixed' is read-only" in said, said


def test_what_leads_out_or_is_not_there_is_said_with_its_node(stores):
    folder = stores.directory / "scratch"
    (folder / "out").symlink_to("/etc")
    (folder / "in").symlink_to("set")
    for name, path, says in (
            ("none", "no/such", f"datastore 'scratch': {folder}/no/such does not exist on this node"),
            ("out", "out", "leads out of the datastore's directory"),
            ("deep", "out/passwd", "leads out of the datastore's directory"),
            ("file", "set/a.txt", "is a file on this node; write type: uri_file")):
        job = read(stores, name, f"azureml://datastores/scratch/paths/{path}", status="Failed")
        assert says in job["report"]["message"] and "input 'd'" in job["report"]["message"], job["report"]
        assert "local-" in str(job["report"]), job["report"]
    read(stores, "in", "azureml://datastores/scratch/paths/in")
    assert stores.logs("in") == b"scratch\n"


def test_what_cannot_be_named_is_refused(stores):
    for path, how, says in (
            ("azureml://datastores/scrach/paths/set", "", "no datastore 'scrach' for you; did you mean 'scratch'?"),
            ("azureml://datastores/scratch/paths/../x", "", "may not have '..'"),
            ("azureml://datastores/:sftp,host=x:/paths/y", "", "is not azureml://datastores/DATASTORE/paths/PATH"),
            ("./set", ", mode: rw_mount", "rw_mount changes files in place"),
            ("azureml://datastores/scratch", ", type: uri_file", "write type: uri_folder")):
        said = refusal(stores, path, how=how)
        assert says in said, said


def test_a_file_of_data_or_a_model_is_refused_with_the_place_of_its_path(stores):
    stores.write("asset.yml", "name: faces\npath: azureml://datastores/lost/paths/x\n")
    for kind in ("data", "model"):
        done = stores.run(kind, "create", "-f", "asset.yml")
        said = done.stderr.decode()
        assert done.returncode == 1 and "lockstep: asset.yml:2:7: path: azureml://datastores/lost/paths/x: " in said, said
        done = stores.run(kind, "create", "-n", "faces", "--path", "azureml://datastores/lost/paths/x")
        assert done.stderr.startswith(b"lockstep: --path azureml://datastores/lost/paths/x: "), done


def test_outputs_are_written_to_a_datastore(stores):
    stores.write("job.yml", """
command: >-
  echo $LOCKSTEP_NODE_RANK > ${{outputs.model}}/part.$LOCKSTEP_NODE_RANK; mkdir ${{outputs.model}}/sub;
  echo same > ${{outputs.model}}/sub/x; [ $LOCKSTEP_NODE_RANK != 0 ] || echo 0.9 > ${{outputs.score}}; echo lost > ${{outputs.bad}}/x
outputs:
  model: {path: "azureml://datastores/scratch/paths/runs/${{ name }}/${{output_name}}"}
  score: {type: uri_file, path: "azureml://datastores/scratch/paths/scores/${{name}}.txt", mode: upload}
  bad: {path: azureml://datastores/scratch/paths/set/a.txt/below}
resources: {instance_count: 2}
""")
    stores.ok("job", "create", "-f", "job.yml", "--name", "j")
    job = stores.wait_for_status("j", "Completed")
    folder = stores.directory / "scratch"
    assert sorted(p.name for p in (folder / "runs/j/model").rglob("*")) == ["part.0", "part.1", "sub", "x"]
    assert (folder / "scores/j.txt").read_text() == "0.9\n"
    assert (folder / "runs/j/model/part.1").stat().st_uid == folder.stat().st_uid
    problems = [p for part in job["attempts"][0]["parts"] for o in part["outputs"] for p in o["problems"]]
    assert len(problems) == 2 and "it was not written to azureml://datastores/scratch/paths/set/a.txt/below" in problems[0]
    assert "it was not written to" in stores.ok("job", "show", "j")
    stores.ok("job", "download", "j", "--all", "--download-path", "got")
    assert list((stores.work / "got").rglob("part.1")), "the outputs stay in Lockstep"
    stores.write("job.yml", "command: 'true'\noutputs: {o: {path: azureml://datastores/fixed/paths/x}}\n")
    done = stores.run("job", "create", "-f", "job.yml")
    assert b"datastore 'fixed' is read-only" in done.stderr, done


def test_files_of_two_nodes_that_differ_are_kept_beside_each_other(stores):
    here = "azureml://datastores/scratch/paths/both"
    stores.write("job.yml", "command: echo $LOCKSTEP_NODE_RANK > ${{outputs.o}}/differs; echo x > ${{outputs.o}}/same\n"
                            f"outputs: {{o: {{path: '{here}'}}}}\nresources: {{instance_count: 2}}\n")
    folder = stores.directory / "scratch/both"
    for name in ("first", "again"):  # the second job replaces what the first wrote
        done = stores.run("job", "create", "-f", "job.yml", "--name", name, "--stream")
        assert done.returncode == 0, done.stderr.decode()
        files = {p.name: p.read_text() for p in folder.iterdir()}
        beside = next(f"differs.node{rank}" for rank in (0, 1) if f"differs.node{rank}" in files)
        assert files["same"] == "x\n" and files[beside] == f"{beside[-1]}\n" and files["differs"] == f"{1 - int(beside[-1])}\n", files
        says = f"in {here}: differs differs between nodes: that of node rank {beside[-1]} was kept as {beside}"
        assert says in done.stderr.decode() and says in stores.ok("job", "show", name), done.stderr.decode()
        (folder / beside).unlink()
    assert sorted(p.name for p in folder.iterdir()) == ["differs", "same"]


def test_names_are_the_operators(site):
    stores = site.up(1)
    assert [s["name"] for s in site.json("datastore", "list")] == ["workspaceartifactstore", "workspaceblobstore"]
    name_stores(stores, "scratch: {directory: /tmp}\nlake: {rclone: 'mem:x/y', config: rclone.conf, users: [root]}\n")
    assert [s["name"] for s in site.json("datastore", "list")][:2] == ["lake", "scratch"]
    assert site.json("datastore", "show", "lake")["remote"] == "mem:x/y"
    assert "azureml://datastores/scratch/paths/PATH" in site.ok("datastore", "show", "scratch")
    done = site.run("datastore", "show", "lak")
    assert done.returncode == 1 and b"did you mean 'lake'?" in done.stderr, done
    for text, says in (("a: {directory: x}\n", "datastores.yml:1:16: 'a.directory': x is not an absolute path"),
                       ("a: {rclone: ':sftp,host=h:x', config: c}\n", "datastores.yml:1:13: 'a.rclone': :sftp,host=h:x is not REMOTE:PATH"),
                       ("b:\n  directory: /x\n  readonly: true\n", "datastores.yml:3:3: unknown key 'b.readonly'; did you mean 'read_only'?")):
        name_stores(stores, text)
        done = site.run("datastore", "list")
        assert done.returncode == 1 and says in done.stderr.decode(), done
    path = site.home / "datastores.yml"
    path.write_text("a: {directory: /tmp}\n")
    path.chmod(0o666)
    assert b"can be changed by others" in site.run("datastore", "list").stderr


def test_a_launcher_of_the_command_line_has_azures_datastores(site):
    """A file with default datastore paths runs without a line in datastores.yml, which may name other folders."""
    site.up(1)
    site.write("write.yml", "command: echo x > ${{outputs.a}}/x; echo y > ${{outputs.b}}/y\noutputs:\n"
                            "  a: {path: 'azureml://datastores/workspaceblobstore/paths/azureml/${{name}}/a'}\n"
                            "  b: {path: 'azureml://datastores/${{default_datastore}}/paths/b'}\n")
    site.ok("job", "create", "-f", "write.yml", "--name", "writes", "--stream")
    store = site.home / "datastores/workspaceblobstore"
    assert (store / "azureml/writes/a/x").read_text() == "x\n" and (store / "b/y").read_text() == "y\n"
    read(site, "reads", "azureml://datastores/workspaceblobstore/paths/azureml/writes/a", file="/x")
    assert site.logs("reads") == b"x\n"
    name_stores(site, f"workspaceblobstore: {{directory: {site.directory}/own}}\n")
    assert site.json("datastore", "show", "workspaceblobstore")["directory"] == f"{site.directory}/own"


def test_a_root_agent_gives_nobody_more_than_their_own_rights(site):
    """Neither the files nor whether they exist; and a datastore that one may not use does not exist."""
    if os.getuid() != 0:
        pytest.skip("not root")
    folder = site.directory / "store"
    (folder / "closed/set").mkdir(parents=True)
    (folder / "closed/set/a.txt").write_text("secret\n")
    (folder / "open").mkdir()
    (folder / "open/a.txt").write_text("open\n")
    (folder / "closed").chmod(0o700)
    site.directory.chmod(0o755)
    name_stores(site, f"store: {{directory: {folder}}}\nonly-bob: {{directory: {folder}, users: [lockstep-bob]}}\n")
    with existing(*PEOPLE, group=GROUP):
        site.up(1)
        alice = Neighbour(site, PEOPLE[0])
        assert {s["name"] for s in alice.json("datastore", "list")} == {
            "store", "workspaceartifactstore", "workspaceblobstore"}
        assert "no datastore 'only-bob' for you" in refusal(alice, "azureml://datastores/only-bob/paths/open")
        read(alice, "open", "azureml://datastores/store/paths/open", more="; id -un")
        assert alice.logs("open").decode().split() == ["open", "lockstep-alice"]
        messages = []
        for number, path in enumerate(("closed/set", "closed/none", "closed")):
            for mode in ("ro_mount", "download", "rw_mount", "direct"):
                job = read(alice, f"j{number}{mode}", f"azureml://datastores/store/paths/{path}", status="Failed", how=f", mode: {mode}")
                messages.append(job["report"]["message"].replace(path, "PATH"))
                assert "lockstep-alice may not read" in messages[-1], messages
        assert len(set(messages)) == 1, "it does not tell what is there"


# ---- remotes ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def served():
    if not shutil.which("rclone"):
        pytest.skip("there is no rclone: apt-get install rclone")
    with tempfile.TemporaryDirectory(prefix="ls-served-") as name:
        folder = pathlib.Path(name)
        (folder / "base/set/sub").mkdir(parents=True)
        yield folder


@pytest.fixture(params=["sftp", "webdav"])
def lake(request, any_site, served):
    """The datastore `lake`: the folder base of a server."""
    site = any_site
    shutil.rmtree(served / "base/set")
    (served / "base/set/sub").mkdir(parents=True)
    for name, text in (("a.txt", "lake\n"), ("sub/b.txt", "below\n"), ("-dash", "d"), ("co:lon", "c"), ("empty", "")):
        (served / "base/set" / name).write_text(text)
    with serving(request.param, served) as (port, process):
        conf = site.home / "rclone.conf"
        name_stores(site, "lake: {rclone: 'there:base', config: rclone.conf}\nwrong: {rclone: 'wrong:base', config: rclone.conf}\n"
                          "unknown: {rclone: 'unknown:base', config: rclone.conf}\n")
        conf.write_text(section("there", request.param, port) + section("wrong", request.param, port, "other-word"))
        conf.chmod(0o600)
        own(site, conf)
        site.remote, site.conf = process, conf
        yield site.up(2)


def fetched_trees(site):
    return sorted(p.name for p in (site.home / "launcher/remote/trees").glob("*"))


def test_a_remote_is_fetched_once(lake, served):
    here = "azureml://datastores/lake/paths/set"
    job = read(lake, "j", here, more="; cat ${{inputs.d}}/sub/b.txt; ls ${{inputs.d}}")
    assert lake.logs("j").decode().split() == ["lake", "below", "-dash", "a.txt", "co:lon", "empty", "sub"]
    digest = job["inputs"]["d"]["digest"]
    assert len(digest) == 64 and job["inputs"]["d"]["path"] == here
    assert read(lake, "k", here, how=", mode: download")["inputs"]["d"]["digest"] == digest
    assert len(fetched_trees(lake)) == 1
    (served / "base/set/a.txt").write_text("changed\n")
    assert read(lake, "l", here)["inputs"]["d"]["digest"] != digest
    assert lake.logs("l") == b"changed\n" and len(fetched_trees(lake)) == 2
    read(lake, "f", here + "/co:lon", file="", how=", type: uri_file", more="; basename ${{inputs.d}}")
    assert lake.logs("f") == b"cco:lon\n"
    assert lake.ok("data", "create", "-n", "set", "--path", here) == "set:1\n"
    read(lake, "m", "azureml:set:1")
    assert lake.logs("m") == b"changed\n"
    assert not list((lake.home / "launcher/remote/fetching").glob("*"))


def test_what_a_remote_does_not_give_is_said(lake):
    for path, says in (("lake/paths/none", "there is nothing at azureml://datastores/lake/paths/none"),
                       ("wrong/paths/set", "it cannot be fetched"), ("unknown/paths/set", "it cannot be fetched")):
        said = refusal(lake, f"azureml://datastores/{path}")
        assert says in said and "inputs.d: azureml://datastores/" in said, said
        assert "127.0.0.1" not in said and "secret-word" not in said and "there:" not in said and "wrong:" not in said, said
    said = refusal(lake, "azureml://datastores/lake/paths/set", how=", mode: rw_mount")
    assert "datastore 'lake' is a remote" in said, said
    lake.conf.chmod(0o644)
    assert "open to other accounts" in refusal(lake, "azureml://datastores/lake/paths/set")
    lake.conf.chmod(0o600)
    lake.remote.kill()
    lake.remote.wait()
    said = refusal(lake, "azureml://datastores/lake/paths/set")
    assert "it cannot be fetched" in said and "127.0.0.1" not in said, said
    assert not list((lake.home / "launcher/remote/fetching").glob("*"))


@pytest.mark.usefixtures("moto")
def test_s3_is_fetched(site, tmp_path):
    if not shutil.which("rclone"):
        pytest.skip("there is no rclone: apt-get install rclone")
    conf = site.home / "rclone.conf"
    conf.write_text("[there]\ntype = s3\nprovider = Other\naccess_key_id = key-of-s3\nsecret_access_key = secret-of-s3\n"
                    f"region = us-east-1\nendpoint = http://127.0.0.1:{moto_server.PORT}\n")
    conf.chmod(0o600)
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("lake\n")
    (tmp_path / "sub/b.txt").write_text("below\n")
    subprocess.run(["rclone", "--config", conf, "copy", tmp_path, "there:bucket/base/set"], check=True,
                   env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    name_stores(site, "lake: {rclone: 'there:bucket/base', config: rclone.conf}\n")
    site.up(1)
    here = "azureml://datastores/lake/paths/set"
    digest = read(site, "j", here, more="; cat ${{inputs.d}}/sub/b.txt")["inputs"]["d"]["digest"]
    assert site.logs("j") == b"lake\nbelow\n"
    assert read(site, "k", here)["inputs"]["d"]["digest"] == digest and len(fetched_trees(site)) == 1
    read(site, "f", here + "/a.txt", file="", how=", type: uri_file")
    assert site.logs("f") == b"lake\n"
    said = refusal(site, "azureml://datastores/lake/paths/none")
    assert "there is nothing at azureml://datastores/lake/paths/none" in said or "there are no files at" in said, said


class Hostile(http.server.BaseHTTPRequestHandler):
    """A WebDAV server whose folder has the entry `name`; its files end in the middle."""

    name = "x"

    def do_PROPFIND(self):
        entry = ("<d:response><d:href>{}</d:href><d:propstat><d:prop><d:resourcetype>{}</d:resourcetype><d:getcontentlength>"
                 "9</d:getcontentlength></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")
        body = '<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">'
        folder = self.path.rstrip("/") + "/"
        body += entry.format(folder, "<d:collection/>")
        if self.headers.get("Depth") == "1":
            body += entry.format(folder + Hostile.name, "")
        self.answer(207, (body + "</d:multistatus>").encode())

    def do_GET(self):
        self.answer(200, b"half", 9)

    def answer(self, code, body, length=None):
        self.send_response(code)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def hostile(site):
    if not shutil.which("rclone"):
        pytest.skip("there is no rclone: apt-get install rclone")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name_stores(site, "lake: {rclone: 'there:', config: rclone.conf}\n")
    conf = site.home / "rclone.conf"
    conf.write_text(section("there", "webdav", server.server_port))
    conf.chmod(0o600)
    yield site.up(1)
    server.shutdown()
    server.server_close()


def test_a_hostile_server_writes_nothing_elsewhere(hostile):
    for name in ("../../../../../../tmp/ls-out", "%2e%2e/%2e%2e/ls-out", "half"):
        Hostile.name = name
        said = refusal(hostile, "azureml://datastores/lake/paths/set")
        assert "inputs.d: azureml://datastores/lake/paths/set: " in said, said
        assert not list(hostile.home.rglob("ls-out")) and not os.path.exists("/tmp/ls-out")
    assert fetched_trees(hostile) == [] and not list((hostile.home / "launcher/remote/fetching").glob("*"))
