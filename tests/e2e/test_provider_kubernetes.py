"""lockstep-provider kubernetes against a real API server: pods become nodes, wait, are taken away, and leave nothing."""
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import time

import pytest
from harness.engine import Docker, import_busybox
from harness.kube import NOBODY
from harness.provider import KubeTarget, create_target, new_token
from harness.site import ROOT, wait_until

OTHER = "lockstep-token-2.of-nobody"


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


@pytest.fixture
def target(kubelet, tmp_path):
    made = KubeTarget(kubelet, tmp_path)
    yield made
    made.variables = {}
    made.call("remove")


def pods(target):
    return target.api.objects("pods", target.kubelet.namespace)


def test_a_pod_becomes_a_node_with_a_token_that_nobody_sees(lab, target, bundle):
    token = new_token(lab)
    said = target.done("create", bundle=bundle, token=token)
    assert said["state"] == "running" and said["about"]["node"] == "worker-1", said
    [pod] = pods(target)
    assert token not in json.dumps(pod) and pod["metadata"]["labels"]["lockstep.machine"] == "vm1"
    assert pod["spec"]["automountServiceAccountToken"] is False and pod["spec"]["restartPolicy"] == "Never"
    assert target.api.names("secrets", target.kubelet.namespace) == [], "it is of use once"
    mounted = target.kubelet.pod("vm1").folder / "token/token"
    assert stat.S_IMODE(mounted.stat().st_mode) == 0o400
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"


def test_a_pod_with_a_deadline_says_how_long_it_lives_and_what_is_left(lab, target, bundle):
    about = target.done("create", bundle=bundle, token=new_token(lab), active_deadline_seconds=600)["about"]
    assert about["lifetime"] == "600" and 400 < int(about["left"]) <= 600, about
    assert pods(target)[0]["spec"]["activeDeadlineSeconds"] == 600


def test_a_pod_that_no_node_has_is_pending_with_the_schedulers_words(lab, target, bundle):
    target.kubelet.capacity = 0
    token, begun = new_token(lab), time.monotonic()
    said, first = target.done("create", bundle=bundle, token=token), time.monotonic() - begun
    assert said["state"] == "pending" and said["about"]["reason"] == "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    [secret] = target.api.objects("secrets", target.kubelet.namespace)
    [pod] = pods(target)
    assert secret["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    token, begun = new_token(lab), time.monotonic()
    assert target.done("create", bundle=bundle, token=token)["state"] == "pending"
    assert time.monotonic() - begun < first, "a machine that waited is not waited for again"
    assert [one["metadata"]["uid"] for one in pods(target)] == [pod["metadata"]["uid"]], "it keeps its place"
    target.kubelet.capacity = 1
    assert target.done("create", bundle=bundle, token=new_token(lab))["state"] == "running"


def test_a_pod_that_started_with_the_token_of_an_earlier_call_is_replaced(lab, target, bundle):
    target.kubelet.capacity = 0
    assert target.done("create", bundle=bundle, token=OTHER)["state"] == "pending"
    target.kubelet.capacity = 1
    wait_until(lambda: pods(target)[0]["status"]["phase"] == "Failed", "its agent is refused")
    assert target.done("create", bundle=bundle, token=new_token(lab))["state"] == "running"


@pytest.mark.parametrize("reason, message", [
    ("ImagePullBackOff", 'Back-off pulling image "bundle:1"'),
    ("InvalidImageName", "couldn't parse image reference"),
    ("CreateContainerError", "context deadline exceeded"),
])
def test_a_pod_that_cannot_start_is_an_error_with_the_kubelets_text(target, bundle, reason, message):
    target.kubelet.images["bundle:1"] = (reason, message)
    error = target.error("create", bundle=bundle, token=OTHER)
    assert error["code"] == "unsupported" and f"{reason}: {message}" in error["message"], error
    wait_until(lambda: target.leftovers() == [], "it is given back")


def test_an_image_without_an_agent_says_what_to_set(target, bundle):
    error = target.error("create", bundle=bundle, token=OTHER, bundle_image="")
    assert error["code"] == "unsupported" and "set the target's bundle_image" in error["message"], error


def test_a_pod_that_was_evicted_is_said_and_made_again(lab, target, bundle):
    target.done("create", bundle=bundle, token=new_token(lab))
    target.kubelet.evict("vm1")
    said = target.done("list")
    assert said["state"] == "stopped" and "Evicted: The node was low on resource" in said["about"]["reason"], said
    assert target.done("list", machines=[])["machine"] == "vm1", "what is left of it is found"
    assert target.done("create", bundle=bundle, token=new_token(lab))["state"] == "running"


def test_pods_of_others_with_our_labels_are_left_as_they_are(target):
    labels = {"lockstep.launcher": "a1b2", "lockstep.target": "vms", "lockstep.machine": "vm1"}
    path = f"/api/v1/namespaces/{target.kubelet.namespace}/pods"
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "elsewhere"}
    for name, machine in (("theirs", "vm1"), ("lockstep-a1b2-vms-vm2", "vm1"), ("other", "x" * 60)):
        target.api.ask("POST", path, {"metadata": {"name": name, "labels": {**labels, "lockstep.machine": machine}}, "spec": spec})
    assert target.state() == "absent"
    target.done("remove")
    assert len(pods(target)) == 3
    for name in target.api.names("pods", target.kubelet.namespace):
        target.api.ask("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0})


def fake_kubectl(target, script):
    folder = target.directory / "programs"
    folder.mkdir()
    (folder / "kubectl").write_text("#!/bin/sh\n" + script)
    (folder / "kubectl").chmod(0o755)
    target.variables = {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.mark.parametrize("script, words", [
    ("echo garbage", "did not print a list of pods, but 'garbage'"),
    ("printf '\\377\\376\\033[2J'", "did not print a list of pods"),
    ("echo '{\"items\": 7}'", "did not print a list of pods"),
    ("exec head -c 300000000 /dev/zero", "did not print a list of pods"),
    ("exit 3", "kubectl failed and said nothing"),
    ("kill -9 $$", "kubectl failed and said nothing"),
    ("echo 'error: exec plugin: no such program' >&2; exit 1", "exec plugin"),
])
def test_a_kubectl_that_misbehaves_is_an_error_for_its_machine(target, script, words):
    fake_kubectl(target, script)
    for verb in ("list", "remove"):
        error = target.error(verb)
        assert error["machine"] == "vm1" and words in error["message"], error


def test_items_that_have_any_form_are_passed_over(target):
    items = [None, 7, [], {"metadata": 3}, {"metadata": {"name": [], "labels": {"lockstep.machine": {}}}}]
    fake_kubectl(target, f"echo '{json.dumps({'items': items})}'")
    assert target.state() == "absent"


def test_a_kubectl_that_hangs_ends_with_its_provider(target):
    fake_kubectl(target, f"echo $$ > {target.directory}/pid; exec sleep 1000")
    process = target.start("list")
    process.stdin.write(json.dumps(target.request()))
    process.stdin.close()
    pid = wait_until(lambda: (path := target.directory / "pid").exists() and path.read_text().strip(), "it runs")
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}/cmdline").exists() or
               b"sleep" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes(), "it has ended")


@pytest.mark.parametrize("change, code, words", [
    ({"context": "nowhere"}, "unsupported", 'context "nowhere" does not exist'),
    ({"kubeconfig": "/nowhere/config"}, "unsupported", "/nowhere/config"),
    ({"namespace": "nowhere"}, "unsupported", 'namespaces "nowhere" not found'),
    ({"priority_class": "nowhere"}, "unsupported", "no PriorityClass with name nowhere"),
    ({"annotations": ["a=" + "x" * 900], "labels": ["kubernetes.io/x=y"]}, None, ""),
    ({"resources": ["cheese=1"]}, "unsupported", "cheese"),
])
def test_check_makes_nothing_and_says_what_the_cluster_says(target, change, code, words):
    if code is None:
        assert target.done("check", **change)["state"] == "absent"
    else:
        error = target.error("check", **change)
        assert error["code"] == code and words in error["message"], error
    assert target.leftovers() == []


def test_check_says_who_may_not_and_where(target):
    error = target.error("check", kubeconfig=str(target.api.kubeconfig(NOBODY)))
    assert error["code"] == "no_permission" and 'User "nobody" cannot list resource "pods"' in error["message"], error
    error = target.error("check", kubeconfig=str(target.api.kubeconfig("wrong")))
    assert error["code"] == "unauthenticated", error
    target.variables = {"PATH": "/nowhere"}
    assert "there is no kubectl on the launcher's machine" in target.error("check")["message"]


def test_check_says_that_pods_do_not_reach_a_launcher_on_the_loopback(target):
    target.endpoints = {key: "tcp://127.0.0.1:7070" for key in ("control", "bulk", "join")}
    error = target.error("check", host_network=False)
    assert error["code"] == "launcher_unreachable" and "--listen" in error["message"], error
    assert target.done("check", host_network=True)["state"] == "absent"


@pytest.mark.parametrize("change, words", [
    ({"image": ""}, "settings.image is missing"),
    ({"image": "-v"}, "settings.image is wrong"),
    ({"namespace": "Upper"}, "settings.namespace"),
    ({"namespace": "a/../kube-system"}, "settings.namespace"),
    ({"kubeconfig": "relative"}, "not an absolute path"),
    ({"context": "a\nb"}, "settings.context"),
    ({"labels": ["lockstep.target=other"]}, "which Lockstep sets itself"),
    ({"labels": ["a b=c"]}, "settings.labels"),
    ({"node_selector": ["zone=a b"]}, "settings.node_selector"),
    ({"tolerations": ["gpu:Sometimes"]}, "KEY[=VALUE][:NoSchedule"),
    ({"tolerations": ["=x"]}, "settings.tolerations"),
    ({"resources": ["cpu=1"]}, "settings of their own"),
    ({"resources": ["rdma/hca=many"]}, "settings.resources"),
    ({"capabilities": ["SYS_ADMIN"]}, "not SYS_PTRACE or IPC_LOCK"),
    ({"image_pull_policy": "Sometimes"}, "Always, IfNotPresent, Never"),
    ({"host_network": "yes"}, "not true or false"),
    ({"cpus": 0}, "settings.cpus"),
    ({"gpus": 0.5}, "not a whole number"),
    ({"memory": 5}, "settings.memory"),
    ({"service_account": "a;b"}, "settings.service_account"),
    ({"colour": "red"}, "unknown key 'colour'"),
])
def test_settings_that_kubernetes_could_misread_are_refused(target, change, words):
    code, events, errors = target.call("check", **change)
    assert (code, events) == (2, []), events
    assert words in errors


EVERYTHING = {
    "cpus": 1.5, "memory": 1 << 30, "shm_size": 1 << 28, "gpus": 2, "resources": ["rdma/hca=1", "ephemeral-storage=2Gi"],
    "capabilities": ["SYS_PTRACE", "IPC_LOCK"], "service_account": "trainer", "image_pull_secrets": ["registry"],
    "image_pull_policy": "Always", "priority_class": "high", "scheduler": "volcano", "runtime_class": "nvidia", "queue": "team",
    "node_selector": ["zone=a", "gpu.site/kind=A100"], "tolerations": ["*", "gpu:NoSchedule", "team=ml:NoExecute", "any"],
    "labels": ["team=ml"], "annotations": ["site.org/note=any text: {}"], "host_network": True, "active_deadline_seconds": 7200}
VALIDATORS = {"1.20.0": ("1.20",), "1.37.0": ("1.25", "1.28", "1.31", "1.34", "1.37")}
VALIDATE = """import json, sys, kubernetes_validate
for line in sys.stdin:
    kubernetes_validate.validate(json.loads(line), sys.argv[1], strict=True)"""
LEAST = {"cpus": None, "memory": None, "bundle_image": "", "host_network": False}


@pytest.fixture(scope="module")
def validators():
    """{version of Kubernetes: folder of a kubernetes-validate that has its schemas}"""
    given = os.environ.get("LOCKSTEP_TEST_KUBERNETES_VALIDATE")  # a folder in which they are already
    found = {}
    with tempfile.TemporaryDirectory(prefix="ls-validate-") as name:
        for release, versions in VALIDATORS.items():
            folder = pathlib.Path(given or name) / release
            done = folder.exists() or subprocess.run(
                ["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", folder, f"kubernetes-validate=={release}"],
                capture_output=True, text=True, check=False)
            if done is not True and done.returncode != 0:
                pytest.skip("kubernetes-validate cannot be installed: " + done.stderr.strip().splitlines()[-1])
            found.update(dict.fromkeys(versions, folder))
        yield found


@pytest.mark.parametrize("changes", [LEAST, {}, EVERYTHING], ids=["least", "usual", "everything"])
def test_manifests_keep_the_published_schemas(target, validators, changes):
    target.settings = {key: value for key, value in {**target.settings, **changes}.items() if value is not None}
    fake_kubectl(target, f"""case "$*" in
      *labelSelector*) echo '{{"items": []}}' ;;
      *can-i*) echo yes ;;
      *) cat >> {target.directory}/manifests; echo >> {target.directory}/manifests ;;
    esac""")
    assert target.done("check")["state"] == "absent"
    manifests = (target.directory / "manifests").read_text()
    assert [json.loads(line)["kind"] for line in manifests.splitlines()] == ["Pod", "Secret"]
    for version, path in validators.items():
        done = subprocess.run(["/usr/bin/python3", "-c", VALIDATE, version], input=manifests, capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": str(path)})
        assert done.returncode == 0, done.stderr


def test_the_image_of_the_guide_gives_an_agent_to_any_other(unpacked_bundle, bundle, tmp_path):
    engine = Docker()
    try:
        import_busybox(engine, "busybox:stable", accounts="root:x:0:0:root:/root:/bin/sh\n")
        context = tmp_path / "context"
        context.mkdir()
        (context / "lockstep-node-0.1-x86_64.tar.gz").write_bytes(pathlib.Path(bundle).read_bytes())
        engine.run("build", "--network=none", "-t", "site/lockstep-node:1", "-f", ROOT / "examples/kubernetes/Dockerfile", context)
        shared = tmp_path / "shared"
        shared.mkdir()
        manifest = copy_command(tmp_path)
        engine.ok("run", "--rm", "--network=none", "-v", f"{shared}:/opt/lockstep-node", "site/lockstep-node:1", *manifest)
        said = engine.ok("run", "--rm", "--network=none", "-v", f"{shared}:/opt/lockstep-node:ro", "busybox:stable",
                         "/opt/lockstep-node/bin/lockstep-agent", "--version")
        assert said.startswith("lockstep-agent ")
    finally:
        engine.close()


def copy_command(tmp_path):
    """The command of the init container."""
    target = KubeTarget.__new__(KubeTarget)
    target.directory, target.wrap, target.endpoints, target.variables = tmp_path, lambda words: words, None, {}
    target.settings = {"image": "any", "bundle_image": "site/lockstep-node:1"}
    fake_kubectl(target, f"""case "$*" in
      *labelSelector*) echo '{{"items": []}}' ;;
      *can-i*) echo yes ;;
      *secrets*) ;;
      *) cat > {tmp_path}/pod ;;
    esac""")
    target.done("check")
    return json.loads((tmp_path / "pod").read_text())["spec"]["initContainers"][0]["command"]
