"""Outputs that the launcher writes to datastores that are remotes of rclone. Real servers: rclone's of SFTP and WebDAV, moto's S3."""
import shutil
import subprocess

import pytest
from harness import moto as moto_server
from harness.remotes import free_port, name_stores, own, section, serving
from harness.site import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("rclone"), reason="there is no rclone: apt-get install rclone")
LAKE = "azureml://datastores/lake/paths"


def configure(site, text, more="", option=""):
    conf = site.home / "rclone.conf"
    conf.write_text(text)
    conf.chmod(0o600)
    own(site, conf)
    name_stores(site, f"lake: {{rclone: 'there:base', config: rclone.conf{option}}}\n{more}")


def create(site, name, text):
    site.write("job.yml", text)
    return site.run("job", "create", "-f", "job.yml", "--name", name)


def written(site, job, output="model"):
    return site.show(job)["outputs"][output]["written"]


def wait_written(site, job, output="model"):
    wait_until(lambda: written(site, job, output)["state"] == "written", f"{output} of {job} is written")
    return written(site, job, output)


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


TWO_NODES = """
command: >-
  echo $LOCKSTEP_NODE_RANK > ${{outputs.model}}/part.$LOCKSTEP_NODE_RANK; mkdir ${{outputs.model}}/sub; echo same > ${{outputs.model}}/sub/x;
  ln -s /etc/passwd ${{outputs.model}}/link; [ $LOCKSTEP_NODE_RANK != 0 ] || echo %s > ${{outputs.score}}
outputs:
  model: {path: "azureml://datastores/lake/paths/runs/${{ name }}/${{output_name}}"}
  score: {type: uri_file, path: azureml://datastores/lake/paths/scores/newest.txt, mode: upload}
resources: {instance_count: 2}
"""


@pytest.mark.parametrize("kind", ["sftp", "webdav"])
def test_outputs_are_written(site, tmp_path, kind):
    base = tmp_path / "base"
    (base / "scores").mkdir(parents=True)
    (base / "scores/other.txt").write_text("stays\n")
    with serving(kind, tmp_path) as (port, _):
        configure(site, section("there", kind, port))
        site.up(2)
        assert site.json("datastore", "show", "lake")["read_only"] is False
        assert create(site, "j", TWO_NODES % "0.9").returncode == 0
        job = site.wait_for_status("j", "Completed")
        assert job["outputs"]["model"]["path"] == LAKE + "/runs/${{name}}/${{output_name}}"
        done = wait_written(site, "j")
        assert done["to"] == LAKE + "/runs/j/model" and done["failed_tries"] == 0 and done["at"], done
        wait_written(site, "j", "score")
        assert below(base) == ["runs/j/model/part.0", "runs/j/model/part.1", "runs/j/model/sub/x", "scores/newest.txt", "scores/other.txt"]
        assert (base / "runs/j/model/part.1").read_text() == "1\n"
        assert f"output 'model' to {LAKE}/runs/j/model at" in site.ok("job", "show", "j")
        # Of the same size, and a server of WebDAV has neither times nor hashes.
        assert create(site, "k", TWO_NODES % "0.7").returncode == 0
        site.wait_for_status("k", "Completed")
        wait_written(site, "k")
        wait_written(site, "k", "score")
        assert (base / "scores/newest.txt").read_text() == "0.7\n"
        assert not list((site.home / "launcher/remote/writing").glob("*"))


PIPELINE = """
type: pipeline
jobs:
  a:
    type: command
    command: echo made > ${{outputs.model}}/x
    outputs: {model: {path: "azureml://datastores/lake/paths/${{name}}"}}
  b:
    type: command
    command: cat ${{inputs.model}}/x
    inputs: {model: "${{parent.jobs.a.outputs.model}}"}
"""


def test_a_remote_that_is_away_holds_nobody_and_is_tried_again(site, tmp_path):
    (tmp_path / "base").mkdir()
    port = free_port()
    configure(site, section("there", "webdav", port))
    site.up(1)
    assert create(site, "p", PIPELINE).returncode == 0
    site.wait_for_status("p", "Completed")
    assert site.logs("p_b") == b"made\n"
    wait_until(lambda: written(site, "p_a")["failed_tries"] > 0, "the first try failed")
    waits = written(site, "p_a")
    assert waits["state"] == "waiting" and waits["again_at"] and waits["at"] is None, waits
    assert "it cannot be written" in waits["reason"] and "127.0.0.1" not in waits["reason"], waits
    shown = site.ok("job", "show", "p_a")
    assert f"output 'model' not yet to {LAKE}/p_a: " in shown and "failed, the last one: it cannot be written" in shown, shown
    site.kill(site.launcher_pids())
    site.up(1)
    assert written(site, "p_a")["failed_tries"] >= waits["failed_tries"]
    with serving("webdav", tmp_path, port):
        wait_written(site, "p_a")
        assert (tmp_path / "base/p_a/x").read_text() == "made\n"
    assert "OutputWritten" in site.ok("job", "events", "p_a")


def test_what_may_not_be_written_is_refused(site, tmp_path):
    configure(site, section("there", "webdav", free_port()),
              "fixed: {rclone: 'there:x', config: rclone.conf, read_only: true}\nhers: {rclone: 'there:y', config: rclone.conf, users: [nobody-else]}\n")
    site.up(1)
    for store, how, says in (("fixed/paths/x", "", "datastore 'fixed' is read-only"), ("hers/paths/x", "", "there is no datastore 'hers' for you"),
                             ("lake", "type: uri_file, ", "name a file"), ("lake/paths/../x", "", "/../x is not azureml://datastores/NAME/paths/PATH")):
        done = create(site, "refused", f"command: 'true'\noutputs: {{o: {{{how}path: azureml://datastores/{store}}}}}\n")
        assert done.returncode in (1, 2) and says in done.stderr.decode(), done
    assert site.run("job", "show", "refused").returncode != 0
    # The operator's file decides again when the output is written.
    job = "command: sleep 1; echo x > ${{outputs.model}}/x\noutputs: {model: {path: azureml://datastores/lake/paths/x}}\n"
    assert create(site, "late", job).returncode == 0
    configure(site, "", option=", read_only: true")
    site.wait_for_status("late", "Completed")
    wait_until(lambda: written(site, "late")["failed_tries"] > 0, "it is refused")
    assert written(site, "late")["reason"] == "datastore 'lake' is read-only now"
    site.ok("job", "delete", "late")


@pytest.mark.usefixtures("moto")
def test_s3_is_written_and_read_again(site):
    configure(site, "[there]\ntype = s3\nprovider = Other\naccess_key_id = key-of-s3\nsecret_access_key = secret-of-s3\n"
                    f"region = us-east-1\nendpoint = http://127.0.0.1:{moto_server.PORT}\n")
    subprocess.run(["rclone", "--config", site.home / "rclone.conf", "mkdir", "there:base"], check=True,
                   env={"PATH": "/usr/bin:/bin", "HOME": str(site.home)})
    site.up(1)
    assert create(site, "j", f"command: echo deep > ${{{{outputs.model}}}}/x\noutputs: {{model: {{path: '{LAKE}/m/${{{{name}}}}'}}}}\n").returncode == 0
    site.wait_for_status("j", "Completed")
    wait_written(site, "j")
    assert create(site, "k", f"command: cat ${{{{inputs.m}}}}/x\ninputs: {{m: {{path: {LAKE}/m/j}}}}\n").returncode == 0
    site.wait_for_status("k", "Completed")
    assert site.logs("k") == b"deep\n"
