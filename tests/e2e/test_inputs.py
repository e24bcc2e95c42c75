"""Data inputs: what the submitter has on disk is where the ranks look for it, and stays as it was."""
import base64
import http.server
import os
import pathlib
import subprocess
import threading

import pytest
from harness.site import wait_until

FOLDER = """
command: >-
  cat ${{inputs.data}}/a.txt ${{inputs.data.path}}/sub/b.txt; echo "same $([ ${{inputs.data}} = $AZURE_ML_INPUT_data ] && echo yes)";
  echo "var $WHERE"; echo more >> ${{inputs.data}}/a.txt || echo refused; touch ${{inputs.data}}/new || echo refused
inputs:
  data:
    type: uri_folder
    path: ./set
environment_variables:
  WHERE: "${{inputs.data}}/a.txt"
"""


@pytest.fixture
def data(any_site):
    site = any_site.up(2)
    site.write("set/a.txt", "first\n", 0o600)
    site.write("set/sub/b.txt", "second\n", 0o640)
    if site.user:
        subprocess.run(["chown", "-R", f"{site.user}:", site.work / "set"], check=True)
    return site


@pytest.fixture
def up_site(site):
    return site.up(1)


def run(site, text, name, *words, status="Completed"):
    site.write("job.yml", text)
    site.ok("job", "create", "-f", "job.yml", "--name", name, *words)
    return site.wait_for_status(name, status)


def trees(site):
    """Trees of inputs that the nodes' caches hold."""
    return sorted(path.name for path in (site.home / "nodes").glob("*/cache/trees/*.all"))


def test_a_folder_is_read_on_every_node_and_nobody_writes_to_it(data):
    job = run(data, FOLDER, "j", "--set", "resources.instance_count=2")
    assert job["inputs"]["data"]["path"] == "./set" and job["inputs"]["data"]["mode"] == "ro_mount"
    assert len(job["inputs"]["data"]["digest"]) == 64
    for rank in (0, 1):
        out = data.ok("job", "logs", "j", "--rank", str(rank), "--stdout")
        assert out.splitlines()[:3] == ["first", "second", "same yes"], out
        assert out.splitlines()[3].endswith("/.lockstep/inputs/data/a.txt"), out
        assert out.count("refused") == 2, out
    assert (data.work / "set/a.txt").read_text() == "first\n"
    assert "data: ./set (uri_folder, ro_mount)" in data.ok("job", "show", "j")
    before = trees(data)
    assert before, "a tree for all jobs"
    run(data, FOLDER, "again", "--set", "resources.instance_count=2")
    assert trees(data) == before
    wait_until(lambda: not list(data.home.glob("nodes/*/attempts/*")), "nothing is left of the attempts")


def test_a_change_is_seen_by_the_next_job(data):
    run(data, FOLDER, "j")
    data.write("set/a.txt", "third\n")
    run(data, FOLDER, "k")
    assert data.logs("j").startswith(b"first\n") and data.logs("k").startswith(b"third\n")


def test_one_file_keeps_its_name(data):
    run(data, "command: cat ${{inputs.f}}; basename ${{inputs.f}}; ls -A $(dirname ${{inputs.f}})\n"
              "inputs: {f: {type: uri_file, path: 'file:./set/a.txt'}}\n", "j")
    assert data.logs("j") == b"first\na.txt\na.txt\n"


def test_one_file_may_be_named_by_a_symlink(data):
    (data.work / "newest.txt").symlink_to("set/a.txt")
    run(data, "command: cat ${{inputs.f}}; basename ${{inputs.f}}\n"
              "inputs: {f: {type: uri_file, path: newest.txt}}\n", "j")
    assert data.logs("j") == b"first\nnewest.txt\n"


def test_a_download_is_a_copy_of_ones_own(data):
    run(data, "command: echo mine >> ${{inputs.d}}/a.txt && rm -r ${{inputs.d}}/sub && cat ${{inputs.d}}/a.txt\n"
              "inputs: {d: {path: set, mode: download}}\n", "j", "--set", "resources.instance_count=2")
    assert data.ok("job", "logs", "j", "--rank", "1").count("first\nmine\n") == 1
    run(data, FOLDER, "k")
    assert data.logs("k").startswith(b"first\nsecond\n"), "the node's tree is as it was"
    assert (data.work / "set/sub/b.txt").exists()


class Web(http.server.BaseHTTPRequestHandler):
    """/sets/a.csv, /moved -> it, /to-file -> a file of the machine, /short: cut off."""

    asked = []
    authorized = []
    words = []  # of all processes, as everybody here reads them

    def do_GET(self):
        Web.asked.append(self.path)
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                Web.words.append(path.read_bytes())
            except OSError:
                pass  # it has ended
        if "Authorization" in self.headers:
            Web.authorized.append(self.headers["Authorization"])
        if self.path.startswith("/sets/a.csv"):
            self.answer(200, b"1,2\n")
        elif self.path in ("/moved", "/to-file"):
            self.send_response(302)
            self.send_header("Location", "/sets/a.csv" if self.path == "/moved" else "file:///etc/passwd")
            self.end_headers()
        elif self.path == "/short":
            self.answer(200, b"x", length=10)
        else:
            self.answer(404, b"none")

    def answer(self, code, body, length=None):
        self.send_response(code)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Web.asked.clear()
    Web.authorized.clear()
    Web.words.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_file_of_the_web_is_fetched_once(data, web):
    job = run(data, "command: cat ${{inputs.f}}; basename ${{inputs.f}}\nresources: {instance_count: 2}\n"
                    f"inputs: {{f: {{type: uri_file, path: '{web}/sets/a.csv?raw=1'}}}}\n", "j")
    for rank in ("0", "1"):
        assert data.ok("job", "logs", "j", "--rank", rank, "--stdout") == "1,2\na.csv\n"
    assert Web.asked == ["/sets/a.csv?raw=1"]
    assert job["inputs"]["f"]["path"] == f"{web}/sets/a.csv?raw=***" and len(job["inputs"]["f"]["digest"]) == 64
    run(data, f"command: cat ${{{{inputs.f}}}}\ninputs: {{f: {{type: uri_file, path: '{web}/moved'}}}}\n", "k")
    assert data.logs("k") == b"1,2\n"
    assert list((data.home / "fetched").iterdir()) == []


def test_what_an_address_may_have_of_credentials_is_not_shown(data, web):
    secret = web.replace("://", "://me:pass-word@") + "/sets/a.csv?sig=SECRET&raw=1"
    shown = web.replace("://", "://***@") + "/sets/a.csv?sig=***&raw=***"
    job = run(data, f"command: cat ${{{{inputs.f}}}}\ninputs: {{f: {{type: uri_file, path: '{secret}'}}}}\n", "j")
    assert data.logs("j") == b"1,2\n" and Web.asked == ["/sets/a.csv?sig=SECRET&raw=1"]
    assert any(words.startswith(b"curl\0") for words in Web.words)
    assert not any(b"SECRET" in words or b"pass-word" in words for words in Web.words)
    assert Web.authorized == ["Basic " + base64.b64encode(b"me:pass-word").decode()]
    assert job["inputs"]["f"]["path"] == shown
    for verb in (["job", "show", "j"], ["job", "show", "j", "-o", "json"], ["job", "explain", "j"], ["job", "list", "-o", "json"]):
        said = data.ok(*verb)
        assert "SECRET" not in said and "pass-word" not in said, said
    data.write("none.yml", f"command: 'true'\ninputs: {{f: {{type: uri_file, path: '{secret.replace('a.csv', 'none')}'}}}}\n")
    done = data.run("job", "create", "-f", "none.yml")
    assert done.returncode == 1 and b"cannot fetch " in done.stderr, done
    assert b"SECRET" not in done.stderr and b"pass-word" not in done.stderr, done
    journal = b"".join(path.read_bytes() for path in (data.home / "launcher").rglob("*") if path.is_file())
    assert b"raw=***" in journal and b"SECRET" not in journal and b"pass-word" not in journal


def test_what_the_web_does_not_give_is_said(up_site, web):
    for path, says in (("/none.csv", "404"), ("/to-file", "file"), ("/short", "")):
        up_site.write("job.yml", f"command: 'true'\ninputs: {{d: {{type: uri_file, path: '{web}{path}'}}}}\n")
        done = up_site.run("job", "create", "-f", "job.yml")
        said = done.stderr.decode()
        assert done.returncode == 1 and "job.yml:2:" in said and f"cannot fetch {web}{path}: curl: (" in said, done
        assert says in said
    assert list((up_site.home / "fetched").iterdir()) == []


def test_a_direct_path_is_used_in_place(data):
    run(data, "command: cat ${{inputs.d}}/a.txt; echo ${{inputs.d}}; echo ${{inputs.w}}\n"
              "inputs:\n  d: {path: set, mode: direct}\n"
              "  w: {type: uri_file, mode: direct, path: 'https://example.com/a.csv'}\n", "j")
    assert data.logs("j").decode().splitlines() == ["first", str(data.work / "set"), "https://example.com/a.csv"]
    assert not trees(data)


def test_a_direct_path_that_a_node_lacks_is_said(data):
    job = run(data, "command: 'true'\ninputs: {d: {path: /no/such/set, mode: direct}}\n", "j", status="Failed")
    assert "input 'd': /no/such/set does not exist on this node" in job["report"]["message"], job["report"]
    assert len(job["attempts"]) == 1, "not there is no outage"


def test_inputs_lie_beside_a_source_tree(data):
    """Which is an overlay on the node; the other tests have none."""
    data.write("src/own.txt", "own\n")
    job = run(data, FOLDER.replace("command: >-\n", "command: >-\n  cat own.txt; echo changed > own.txt; cat own.txt;"), "j",
              "--set", "code=src", "--set", "inputs.data.mode=download", "--set", "resources.instance_count=2")
    assert data.ok("job", "logs", "j", "--rank", "1", "--stdout").startswith("own\nchanged\nfirst\nsecond\nsame yes\n")
    run(data, FOLDER.replace("command: >-\n", "command: >-\n  cat own.txt;"), "k", "--set", "code=src")
    assert data.logs("k").startswith(b"own\nfirst\nsecond\nsame yes\n") and data.logs("k").count(b"refused") == 2
    assert not any(part["not_kept"] and "inputs" in str(part["not_kept"]) for part in job["attempts"][0]["parts"])


@pytest.mark.parametrize("value, says", [
    ("{path: ./none}", "'inputs.d.path': {work}/none does not exist"),
    ("{path: ./set, type: uri_file}", "'inputs.d.path': {work}/set is a folder; write type: uri_folder"),
    ("{path: ./set/a.txt}", "'inputs.d.path': {work}/set/a.txt is a file; write type: uri_file"),
    ("{path: ./pipe, type: uri_file}", "'inputs.d.path': {work}/pipe is neither a file nor a folder"),
    ("{path: ./set, type: mltable}", "{work}/set has no file MLTable, so it is no mltable"),
    ("{path: ./set, type: mlflow_model}", "{work}/set has no file MLmodel, so it is no mlflow_model"),
    ("{path: ./with-pipe}", "{work}/with-pipe/pipe cannot be uploaded: a fifo"),
])
def test_what_cannot_be_an_input_is_said_with_its_place(up_site, value, says):
    up_site.write("set/a.txt", "first\n")
    (up_site.work / "with-pipe").mkdir()
    for pipe in ("pipe", "with-pipe/pipe"):
        os.mkfifo(up_site.work / pipe)
    up_site.write("job.yml", "command: 'true'\ncode: set\ninputs:\n  d: " + value + "\n")
    done = up_site.run("job", "create", "-f", "job.yml")
    said = done.stderr.decode()
    assert done.returncode in (1, 2) and said.startswith("lockstep: job.yml:4:"), said
    assert says.format(work=up_site.work) in said, said
    assert up_site.json("job", "list") == []


def test_the_ranks_user_cannot_change_what_others_read(data):
    """Not by force either, but for root, who may do anything to the node."""
    force = "umount ${{inputs.d}}; mount -o remount,bind,rw ${{inputs.d}}; " if data.user else ""
    run(data, f"command: chmod -R u+w ${{{{inputs.d}}}}; echo x > ${{{{inputs.d}}}}/a.txt; rm -rf ${{{{inputs.d}}}}/sub; {force}"
              "echo x > ${{inputs.d}}/a.txt; cat ${{inputs.d}}/a.txt\ninputs: {d: {path: set}}\n", "j")
    assert data.ok("job", "logs", "j", "--stdout").splitlines()[-1] == "first"
    run(data, FOLDER, "k")
    assert data.logs("k").startswith(b"first\nsecond\n")


def test_a_running_jobs_tree_outlives_its_source(data):
    flag = data.directory / "flag"
    data.write("job.yml", f"command: while [ ! -e {flag} ]; do sleep 0.1; done; cat ${{{{inputs.d}}}}/a.txt\n"
                          "inputs: {d: {path: set}}\n")
    data.ok("job", "create", "-f", "job.yml", "--name", "j")
    data.wait_for_status("j", "Running")
    for path in sorted((data.work / "set").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    pathlib.Path(flag).write_text("")
    data.wait_for_status("j", "Completed")
    assert data.logs("j") == b"first\n"


def test_inputs_survive_a_killed_launcher_and_agent(data):
    flag = data.directory / "flag"
    data.write("job.yml", f"command: while [ ! -e {flag} ]; do sleep 0.1; done; cat ${{{{inputs.d}}}}/a.txt\n"
                          "inputs: {d: {path: set}}\n")
    data.ok("job", "create", "-f", "job.yml", "--name", "j")
    data.wait_for_status("j", "Running")
    data.kill(data.launcher_pids() + data.agent_pids())
    data.ok("up", "--nodes", "2")
    wait_until(lambda: data.json("status")["nodes"] == {"ALIVE": 2}, "the nodes are back")
    pathlib.Path(flag).write_text("")
    data.wait_for_status("j", "Completed")
    assert data.logs("j") == b"first\n"


WRITES = """
command: >-
  echo model $LOCKSTEP_NODE_RANK > ${{outputs.model}}/weights.$LOCKSTEP_NODE_RANK; echo both > ${{outputs.model}}/common;
  echo $LOCKSTEP_NODE_RANK > ${{outputs.model}}/differs; [ $LOCKSTEP_NODE_RANK != 0 ] || echo report > ${{outputs.report}};
  mkdir -p outputs/deep; echo deep > outputs/deep/file
outputs:
  model:
  report: {type: uri_file}
  nothing:
resources: {instance_count: 2}
"""


def test_the_outputs_of_two_nodes_are_one_input_of_the_next_job(data):
    run(data, WRITES, "first")
    job = run(data, "command: cd ${{inputs.model}}; ls; cat weights.0 weights.1 common differs; cat ${{inputs.report}} "
                    "${{inputs.deep}}/file; cat ${{inputs.one}}; ls ${{inputs.folder}}\n"
                    "inputs:\n"
                    "  model: {path: azureml://jobs/first/outputs/model}\n"
                    "  report: {type: uri_file, path: azureml://jobs/first/outputs/report}\n"
                    "  deep: {path: azureml://jobs/first/outputs/artifacts/paths/outputs/deep/}\n"
                    "  one: {type: uri_file, path: azureml://jobs/first/outputs/model/paths/weights.1}\n"
                    "  folder: {path: azureml://jobs/first/outputs/report, mode: download}\n", "second")
    assert data.logs("second").decode().split() == [
        "common", "differs", "differs.node1", "weights.0", "weights.1", "model", "0", "model", "1", "both", "0",
        "report", "deep", "model", "1", "report"]
    assert job["inputs"]["model"]["path"] == "azureml://jobs/first/outputs/model"
    assert len(job["inputs"]["model"]["digest"]) == 64


NOT_THERE = (
    ("azureml://jobs/none/outputs/model", "there is no job 'none'"),
    ("azureml://jobs/first/outputs/modl", "job first has no output 'modl'; it has model, report, nothing and"),
    ("azureml://jobs/first/outputs/nothing", "job first wrote nothing to output 'nothing'"),
    ("azureml://jobs/first/outputs/model/paths/weights.7", "it has no weights.7"),
    ("azureml://jobs/first/outputs/model/paths/common/x", "common is a file, not a folder"),
    ("azureml://jobs/first/outputs/model/paths/common", "it is a file; write type: uri_file"),
    ("azureml://jobs/first/outputs/artifacts", "artifacts are artifacts/paths/outputs and artifacts/paths/logs"),
    ("azureml://jobs/runs/outputs/model", "job runs has not ended"),
)


def test_an_output_that_is_not_there_is_said(up_site):
    run(up_site, WRITES.replace("instance_count: 2", "instance_count: 1"), "first")
    up_site.write("job.yml", "command: sleep 1000\noutputs: {model: }\n")
    up_site.ok("job", "create", "-f", "job.yml", "--name", "runs")
    for path, says in NOT_THERE:
        up_site.write("job.yml", f"command: 'true'\ninputs: {{d: {{path: '{path}'}}}}\n")
        done = up_site.run("job", "create", "-f", "job.yml", "--name", "refused")
        said = done.stderr.decode()
        assert done.returncode in (1, 2, 5), done
        assert f"inputs.d: {path}: " in said and says in said, said
        assert up_site.run("job", "show", "refused").returncode != 0
    up_site.ok("job", "cancel", "runs")
