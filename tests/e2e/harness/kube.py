"""A real Kubernetes API server, and a kubelet and scheduler of the tests' own: each pod is a process tree in namespaces
of its own, in a root that has this machine's /usr. Needs root."""
import contextlib
import json
import lzma
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from .site import alive, wait_until

RECIPE = ("there is no Kubernetes API server: put kube-apiserver (of 1.20 or later) on the PATH, or name it, or it packed with "
          "xz, in LOCKSTEP_TEST_KUBE_APISERVER; and apt-get install etcd-server kubernetes-client")
PACKED = "LOCKSTEP_TEST_KUBE_APISERVER"
ADMIN, NOBODY = "admin-token", "nobody-token"
NODE, BRIDGE, SUBNET = "worker-1", "ls-kube0", "10.88.0"


def _program(directory):
    named = os.environ.get(PACKED)
    if not named:
        return shutil.which("kube-apiserver")
    if not named.endswith(".xz"):
        return named
    program = directory / "kube-apiserver"
    with lzma.open(named) as packed, open(program, "wb") as out:
        shutil.copyfileobj(packed, out, 1 << 20)
    program.chmod(0o755)
    return program


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ApiServer:
    """etcd and kube-apiserver on the loopback. `kubeconfig(TOKEN)` is a file for kubectl."""

    def __init__(self, directory):
        if os.getuid() != 0:
            pytest.skip("pods of the tests need root")
        program = _program(directory)
        if not program or not shutil.which("etcd") or not shutil.which("kubectl"):
            pytest.skip(RECIPE)
        self.directory, self.processes = directory, []
        self.context = ssl._create_unverified_context()
        etcd, peer, self.port = _free_port(), _free_port(), _free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        subprocess.run(["openssl", "genrsa", "-out", directory / "sa.key", "2048"], check=True, capture_output=True)
        (directory / "tokens").write_text(f'{ADMIN},admin,1,"system:masters"\n{NOBODY},nobody,2,"people"\n')
        self._start("etcd", "etcd", "--data-dir", directory / "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                    "--advertise-client-urls", f"http://127.0.0.1:{etcd}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                    "--unsafe-no-fsync")
        self._start("apiserver", program, f"--etcd-servers=http://127.0.0.1:{etcd}", f"--secure-port={self.port}",
                    "--bind-address=127.0.0.1", f"--cert-dir={directory}/certs", "--service-account-issuer=https://lockstep",
                    f"--service-account-key-file={directory}/sa.key", f"--service-account-signing-key-file={directory}/sa.key",
                    "--service-cluster-ip-range=10.9.0.0/24", f"--token-auth-file={directory}/tokens",
                    "--authorization-mode=RBAC", "--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount")
        try:
            wait_until(self._is_ready, "the API server is ready")
        except BaseException:
            self.stop()
            raise

    def _start(self, name, *words):
        log = open(self.directory / f"{name}.log", "wb")
        self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        log.close()

    def _is_ready(self):
        if any(one.poll() is not None for one in self.processes):
            pytest.fail((self.directory / "apiserver.log").read_text()[-3000:])
        try:
            return self.ask("GET", "/readyz") == b"ok"
        except (OSError, AssertionError):
            return False

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def ask(self, method, path, body=None, kind="application/json"):
        """The answer; None: 404 or 409."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Authorization": f"Bearer {ADMIN}", "Content-Type": kind},
                                         method=method)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=20) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            if error.code in (404, 409):
                return None
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from error
        return json.loads(text) if text[:1] == b"{" else text

    def kubeconfig(self, token=ADMIN, server=None, name="kubeconfig"):
        path = self.directory / f"{name}-{token}"
        cluster = {"server": server or self.url, "insecure-skip-tls-verify": True}
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": cluster}], "users": [{"name": "test", "user": {"token": token}}]}))
        return path

    def make_namespace(self, name):
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def objects(self, kind, namespace):
        return self.ask("GET", f"/api/v1/namespaces/{namespace}/{kind}")["items"]

    def names(self, kind, namespace):
        """Of what a test or a provider made."""
        return sorted(item["metadata"]["name"] for item in self.objects(kind, namespace))


class Pod:
    """A pod that the kubelet runs: `process` is the last program of a chain that entered its namespaces."""

    def __init__(self, folder, manifest):
        self.folder, self.manifest = folder, manifest
        self.process = self.namespace = None
        self.asked_to_end = self.started_at = 0.0
        self.has_joined = False
        folder.mkdir(parents=True)

    def inner(self):
        """The pid of process 1."""
        with contextlib.suppress(OSError, AttributeError):
            text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            return int(text.split()[0]) if text.split() else None
        return None

    def signal(self, number):
        pid = self.inner()
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def end(self):
        if self.process is None:
            return
        pid = self.inner()
        self.signal(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        wait_until(lambda: not pid or not alive(pid), "the pod's processes are gone", 30)


ROOT = """
set -e
root=$1 name=$2; shift 2
hostname "$name"
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
cd "$root"
mkdir usr etc proc dev sys tmp run root opt home var var/lib var/tmp
chmod 1777 tmp var/tmp
mount --rbind /usr usr; mount -t proc proc proc; mount --rbind /dev dev; mount --bind /sys sys
for link in bin sbin lib lib64; do [ ! -L "/$link" ] || cp -P "/$link" .; done
cp -a /etc/. etc/ 2>/dev/null || true
printf '127.0.0.1 localhost\\n%s %s\\n' "$ADDRESS" "$name" > etc/hosts
while [ "$1" != -- ]; do
  mkdir -p ".$2"
  if [ "$1" = tmpfs ]; then mount -t tmpfs tmpfs ".$2"; else mount --bind "$1" ".$2"; fi
  shift 2
done
shift
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$root" "$@"
"""


class Kubelet:
    """Schedules and runs all pods of one namespace. `capacity`: how many it places; `images`: {image: (reason, message)} of
    those that cannot be used; `bundle`: the folder that is in the image named "bundle:1"."""

    def __init__(self, api, directory, namespace, bundle):
        self.api, self.directory, self.namespace, self.bundle = api, directory, namespace, bundle
        self.capacity, self.images, self.network, self.pods = 8, {}, False, {}
        self.failure, self.is_over, self.count = None, threading.Event(), 0
        self.thread = threading.Thread(target=self._work)

    def start(self):
        self.thread.start()
        return self

    def stop(self):
        self.is_over.set()
        self.thread.join()
        while self.pods:
            self._end(self.pods.popitem()[1])
        assert self.failure is None, self.failure

    def _work(self):
        while not self.is_over.wait(0.1):
            try:
                listed = {item["metadata"]["uid"]: item for item in self.api.objects("pods", self.namespace)}
                for uid in set(self.pods) - set(listed):
                    self._end(self.pods.pop(uid))
                for item in listed.values():
                    self._step(item)
            except Exception as error:  # pylint: disable=broad-except
                self.failure = error
                raise

    def _path(self, item, rest=""):
        return f"/api/v1/namespaces/{self.namespace}/pods/{item['metadata']['name']}{rest}"

    def _patch(self, item, **status):
        self.api.ask("PATCH", self._path(item, "/status"), {"status": status}, "application/merge-patch+json")

    def _state(self, item, phase, state, started=False, kind="containerStatuses", **more):
        one = {"name": "node", "state": state, "started": started, "ready": started, "image": "", "imageID": "",
               "restartCount": 0}
        self._patch(item, phase=phase, **{kind: [one]}, **more)

    def _step(self, item):
        pod = self.pods.get(item["metadata"]["uid"])
        if "deletionTimestamp" in item["metadata"]:
            self._delete(item, pod)
        elif "nodeName" not in item["spec"]:
            self._schedule(item)
        elif pod is None and item["spec"]["nodeName"] == NODE and item["status"].get("phase") == "Pending":
            self._begin(item)
        elif pod is not None:
            self._watch(item, pod)

    def _schedule(self, item):
        if len(self.pods) < self.capacity:
            self.api.ask("POST", self._path(item, "/binding"), {
                "metadata": {"name": item["metadata"]["name"]}, "target": {"kind": "Node", "name": NODE}})
        elif not item["status"].get("conditions"):
            self._patch(item, conditions=[{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}])

    def _delete(self, item, pod):
        if pod is not None and pod.process is not None and pod.process.poll() is None:
            if not pod.asked_to_end:
                pod.asked_to_end = time.monotonic()
                pod.signal(signal.SIGTERM)
                return
            if time.monotonic() - pod.asked_to_end < item["metadata"]["deletionGracePeriodSeconds"]:
                return
        if pod is not None:
            self._end(self.pods.pop(item["metadata"]["uid"]))
        self.api.ask("DELETE", self._path(item), {"gracePeriodSeconds": 0, "preconditions": {"uid": item["metadata"]["uid"]}})

    def _begin(self, item):
        images = [container["image"] for key in ("initContainers", "containers") for container in item["spec"].get(key, [])]
        for image in images:
            if image in self.images:
                reason, message = self.images[image]
                return self._state(item, "Pending", {"waiting": {"reason": reason, "message": message}})
        name = next(v["secret"]["secretName"] for v in item["spec"]["volumes"] if "secret" in v)
        secret = self.api.ask("GET", f"/api/v1/namespaces/{self.namespace}/secrets/{name}")
        if secret is None:
            return None
        pod = self.pods[item["metadata"]["uid"]] = Pod(self.directory / item["metadata"]["uid"], item)
        self._make_volumes(item, pod, secret)
        for container in item["spec"].get("initContainers", []):
            assert container["image"] == "bundle:1"
            done = self._start(pod, container, {"/lockstep-node-test": self.bundle})
            if done.wait() != 0:
                return self._ended(item, pod, done.returncode)
        pod.process = self._start(pod, item["spec"]["containers"][0], {})
        pod.started_at = time.monotonic()
        return self._state(item, "Running", {"running": {}}, startTime=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))

    def _make_volumes(self, item, pod, secret):
        import base64
        for volume in item["spec"]["volumes"]:
            folder = pod.folder / volume["name"]
            folder.mkdir()
            if "secret" not in volume:
                continue
            for key, value in secret["data"].items():
                (folder / key).write_bytes(base64.b64decode(value))
                (folder / key).chmod(volume["secret"]["defaultMode"])
        if self.network and not item["spec"].get("hostNetwork"):
            self.count += 1
            pod.namespace, pod.address = f"ls-pod-{self.count}", f"{SUBNET}.{self.count + 1}"
            for words in (f"netns add {pod.namespace}", f"link add veth{self.count} type veth peer name eth0 netns {pod.namespace}",
                          f"link set veth{self.count} master {BRIDGE}", f"link set veth{self.count} up",
                          f"-n {pod.namespace} link set lo up", f"-n {pod.namespace} addr add {pod.address}/24 dev eth0",
                          f"-n {pod.namespace} link set eth0 up"):
                subprocess.run(["ip", *words.split()], check=True)

    def _start(self, pod, container, image):
        root = pod.folder / f"root-{container['name']}"
        root.mkdir()
        words = []
        for path, source in image.items():
            words += [source, path]
        for mount in container["volumeMounts"]:
            is_memory = any(v["name"] == mount["name"] and v.get("emptyDir", {}).get("medium") == "Memory"
                            for v in pod.manifest["spec"]["volumes"])
            words += ["tmpfs" if is_memory else pod.folder / mount["name"], mount["mountPath"]]
        enter = ["nsenter", f"--net=/run/netns/{pod.namespace}"] if pod.namespace else []
        with open(pod.folder / "log", "ab") as log:
            return subprocess.Popen(
                [*enter, "unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ROOT, "sh", root,
                 pod.manifest["spec"]["hostname"], *words, "--", *container["command"], *container.get("args", [])],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={"PATH": os.environ["PATH"], "ADDRESS": getattr(pod, "address", "127.0.0.2")})

    def _watch(self, item, pod):
        if pod.process is None:
            return
        code = pod.process.poll()
        if code is not None:
            if item["status"].get("phase") == "Running":
                self._ended(item, pod, code)
        elif not pod.has_joined and (pod.folder / "home/agent/identity.json").exists():
            pod.has_joined = True
            self._state(item, "Running", {"running": {}}, started=True)

    def _ended(self, item, pod, code):
        code = 128 - code if code < 0 else code
        tail = (pod.folder / "log").read_text(errors="replace")[-2048:]
        terminated = {"exitCode": code, "reason": "Error" if code else "Completed", "message": tail if code else ""}
        self._state(item, "Failed" if code else "Succeeded", {"terminated": terminated})

    def _end(self, pod):
        pod.end()
        if pod.namespace:
            subprocess.run(["ip", "netns", "del", pod.namespace], check=False)

    # ---- what happens to pods
    def evict(self, machine):
        """As under memory pressure: the kubelet kills it, and it stays as Failed."""
        pod = self.pod(machine)
        pod.end()
        pod.process = None
        self._patch(pod.manifest, phase="Failed", reason="Evicted", message="The node was low on resource: memory.")

    def pod(self, machine):
        return next(pod for pod in self.pods.values() if pod.manifest["metadata"]["labels"]["lockstep.machine"] == machine)

    def delete(self, machine):
        self.api.ask("DELETE", self._path(self.pod(machine).manifest))


@contextlib.contextmanager
def bridge():
    """The pods' network, with this machine in it."""
    subprocess.run(["ip", "link", "add", BRIDGE, "type", "bridge"], check=True)
    try:
        for words in (f"addr add {SUBNET}.1/24 dev {BRIDGE}", f"link set {BRIDGE} up"):
            subprocess.run(["ip", *words.split()], check=True)
        yield f"{SUBNET}.1"
    finally:
        subprocess.run(["ip", "link", "del", BRIDGE], check=True)
