"""examples/providers: EC2 against PyPI's moto server, Azure against a program az that remembers its VMs in a file."""
import http.server
import json
import os
import pathlib
import shutil
import stat
import subprocess
import threading

import pytest
from harness.moto import PORT
from harness.provider import ProviderTarget
from harness.site import ROOT, wait_until

EXAMPLES = ROOT / "examples/providers"
TOKEN = "lockstep-token-of-nobody"


class Ec2Target(ProviderTarget):
    def __init__(self, venv, directory):
        super().__init__(directory)
        self.words = (venv / "bin/python", EXAMPLES / "ec2.py")

    def settings_with(self, **changes):
        return {"region": "eu-central-1", "image_id": "ami-12c6146b", "instance_type": "t2.micro",
                "endpoint_url": f"http://127.0.0.1:{PORT}", "bundle_url": "https://example.com/bundle.tar.gz",
                "bundle_sha256": "0" * 64, **changes}

    def environment(self):
        return {**super().environment(), "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
                "AWS_MAX_ATTEMPTS": "1"}

    def away(self):
        return {"endpoint_url": "http://127.0.0.1:1"}


AZ = r"""#!/usr/bin/env python3
import json, os, pathlib, re, sys
store = pathlib.Path(os.environ["AZ_STORE"])
vms = json.loads(store.read_text()) if store.exists() else {}
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
if value("--resource-group") != "mine":
    sys.exit("ERROR: (ResourceNotFound) there is no such group")
if words[:2] == ["vmss", "show"]:
    print(json.dumps({"orchestrationMode": "Flexible"}))
elif words[:2] == ["vm", "list"]:
    wanted = dict(re.findall(r'tags\."([^"]+)"==\'([^\']+)\'', value("--query")))
    print(json.dumps([vm for vm in vms.values() if wanted.items() <= vm["tags"].items()]))
elif words[:2] == ["vm", "create"]:
    data = pathlib.Path(value("--custom-data"))
    assert data.stat().st_mode & 0o77 == 0 and "TOKEN" in data.read_text()
    tags = dict(word.split("=", 1) for word in words[words.index("--tags") + 1:] if "=" in word)
    vms[value("--name")] = {"name": value("--name"), "tags": tags, "provisioningState": "Succeeded",
                            "powerState": "VM running"}
elif words[:2] == ["vm", "delete"]:
    del vms[value("--name")]
else:
    sys.exit(f"ERROR: {words}")
store.write_text(json.dumps(vms))
""".replace("TOKEN", TOKEN)


class AzureTarget(ProviderTarget):
    words = ("/usr/bin/python3", EXAMPLES / "azure_vmss.py")

    def __init__(self, directory):
        super().__init__(directory)
        (directory / "bin").mkdir()
        program = directory / "bin/az"
        program.write_text(AZ)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def settings_with(self, **changes):
        return {"resource_group": "mine", "scale_set": "nodes", "image": "Ubuntu2204", "size": "Standard_D4s_v3",
                "bundle_url": "https://example.com/bundle.tar.gz", "bundle_sha256": "0" * 64, **changes}

    def environment(self):
        return {**super().environment(), "PATH": f"{self.directory}/bin:/usr/bin:/bin",
                "AZ_STORE": str(self.directory / "vms.json")}

    def away(self):
        shutil.rmtree(self.directory / "bin")
        return {}


@pytest.fixture
def target(request, tmp_path):
    return AzureTarget(tmp_path) if request.param == "azure" else Ec2Target(request.getfixturevalue("moto"), tmp_path)


BOTH = pytest.mark.parametrize("target", ["azure", "ec2"], indirect=True)


@BOTH
def test_a_machine_is_made_once_listed_and_removed(target):
    assert target.done("check")["state"] == "absent"
    two = [{"name": "vm1", "token": TOKEN}, {"name": "vm2", "token": TOKEN}]
    code, events, errors = target.call("create", machines=two, token=TOKEN)
    assert code == 0, (events, errors)
    told = {event["machine"]: event for event in events if event["event"] == "machine"}
    assert {event["state"] for event in told.values()} <= {"running", "pending"} and len(told) == 2
    code, again, _ = target.call("create", machines=two, token=TOKEN)
    mark = {"ec2": "instance"}.get(target.words[1].stem, "vm")
    assert {event["machine"]: event["about"][mark] for event in again} == {
        name: event["about"][mark] for name, event in told.items()}, "they stay"
    code, events, _ = target.call("list", machines=[])
    assert (code, sorted(event["machine"] for event in events)) == (0, ["vm1", "vm2"])
    assert target.done("remove")["state"] == "absent"
    code, events, _ = target.call("list", machines=[])
    assert [event["machine"] for event in events] == ["vm2"]
    assert target.done("create", token=TOKEN)["state"] in ("running", "pending"), "made anew"
    assert target.call("remove", machines=two)[0] == 0 and target.call("remove", machines=two)[0] == 0
    assert target.call("list", machines=[])[1] == []


@BOTH
def test_a_cloud_that_does_not_answer_is_unreachable(target):
    changes = target.away()
    for verb in ("check", "create", "list", "remove"):
        error = target.error(verb, token=TOKEN, **changes)
        assert (error["machine"], error["code"]) == ("vm1", "unreachable"), error


@BOTH
def test_a_request_that_is_not_understood_changes_nothing(target):
    good = target.request()
    for request in ("", "[]", json.dumps({**good, "contract": 2}), json.dumps({**good, "machines": [{"name": "../x"}]})):
        done = subprocess.run([*target.words, "create"], input=request, capture_output=True, text=True, check=False,
                              env=target.environment())
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.strip(), done


@pytest.mark.parametrize("target, change, code", [
    ("ec2", {"image_id": "ami-00000000"}, "unsupported"), ("azure", {"resource_group": "other"}, "unsupported")],
    indirect=["target"])
def test_what_the_cloud_does_not_know_is_unsupported(target, change, code):
    assert target.error("create", token=TOKEN, **change)["code"] == code


@pytest.mark.parametrize("cloud, path, body, words", [
    ("ec2", "/latest/meta-data/spot/instance-action", {"action": "terminate", "time": "2020-01-01T00:00:00Z"},
     "EC2 will terminate this spot instance"),
    ("azure", "/metadata/scheduledevents?api-version=2020-07-01",
     {"Events": [{"EventType": "Freeze"}, {"EventType": "Preempt", "NotBefore": ""}]}, "Azure: Preempt of this VM")])
def test_a_notice_of_the_cloud_reaches_the_agent(tmp_path, cloud, path, body, words):
    asked = []

    class Metadata(http.server.BaseHTTPRequestHandler):
        def answer(self):
            asked.append(self.path)
            there = self.path == path and asked.count(path) > 1  # nothing is planned at first
            empty = cloud == "azure" and self.path == path
            self.send_response(200 if there or empty or self.command == "PUT" else 404)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode() if there else b"{}")

        do_GET = do_PUT = answer

        def log_message(self, *words):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Metadata) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        agent = tmp_path / "agent"
        agent.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/told\n")
        agent.chmod(0o755)
        done = subprocess.run(["/usr/bin/python3", EXAMPLES / "watch_notice.py", "--cloud", cloud, "--home", "/h",
                               "--agent", agent, "--every", "0.1", "--metadata",
                               f"http://127.0.0.1:{server.server_port}"], timeout=20)
        server.shutdown()
    assert done.returncode == 0
    assert (tmp_path / "told").read_text().splitlines() == ["notice", "--home", "/h", "--seconds", "1", "--reason", words]
