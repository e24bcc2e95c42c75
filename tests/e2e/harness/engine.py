"""A container engine of a test's own, and images that it makes from files of this machine: nothing is pulled."""
import contextlib
import io
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tarfile
import tempfile

import pytest

from .site import wait_until

DOCKERD, DOCKER, PODMAN = "/usr/sbin/dockerd", "/usr/bin/docker", "/usr/bin/podman"
START_S = 60


def _unmount_below(folder):
    lines = pathlib.Path("/proc/self/mounts").read_text().splitlines()
    for point in sorted((line.split(" ")[1] for line in lines), key=len, reverse=True):
        if point.startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", point], check=False)


class Engine:
    """What both have; `program`, `own` (variables) and `runs_as` (words before a command) are the engine's."""

    program, own, runs_as = "", {}, ()

    @property
    def environment(self):
        return {**self.own, "LOCKSTEP_CONTAINER_ENGINE": self.program}

    def run(self, *words, **options):
        options.setdefault("cwd", "/")  # another user may have no way into the checkout
        return subprocess.run([*self.runs_as, self.program, *map(str, words)], env={**os.environ, **self.own},
                              capture_output=True, check=False, **options)

    def ok(self, *words, **options):
        done = self.run(*words, **options)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def containers(self):
        return self.ok("ps", "--all", "--quiet").split()

    def names(self):
        """Of images, with their tags."""
        return sorted(self.ok("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").splitlines())

    def inspect(self, image):
        return json.loads(self.ok("image", "inspect", image))[0]


class Docker(Engine):
    """dockerd with its own socket and images; in a network namespace where one is named."""

    def __init__(self, namespace=None):
        if os.getuid() != 0:
            pytest.skip("only root can start dockerd")
        if not os.path.exists(DOCKERD):
            pytest.skip("there is no dockerd: apt-get install docker.io")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ls-docker-"))
        self.folder.chmod(0o755)
        self.program, self.own = DOCKER, {"DOCKER_HOST": f"unix://{self.folder}/socket"}
        enter = ["nsenter", f"--net=/run/netns/{namespace}"] if namespace else []
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [*enter, DOCKERD, "-H", self.own["DOCKER_HOST"], "--data-root", self.folder / "data", "--exec-root",
             self.folder / "exec", "-p", self.folder / "pid", "--storage-driver", "overlay2", "--bridge", "none",
             "--iptables=false"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        wait_until(lambda: self.process.poll() is not None or self.run("version").returncode == 0,
                   "dockerd answers", START_S)
        assert self.process.poll() is None, (self.folder / "log").read_text()

    def close(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=30)
        self.log.close()
        _unmount_below(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not self.folder.exists(), sorted(self.folder.rglob("*"))[:5]


class Podman(Engine):
    """podman with its own images; as `user` (rootless) where one is named. Debian's crun cannot do cgroups of
    both versions at once, runc can. A rootless one heeds no `graphroot`: without XDG_DATA_HOME it has the images and
    containers of whoever runs the tests, and `close` would end those."""

    def __init__(self, user=None):
        if not os.path.exists(PODMAN):
            pytest.skip("there is no podman: apt-get install podman")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ls-podman-"))
        self.folder.chmod(0o755)
        conf, storage, runtime = (self.folder / name for name in ("containers.conf", "storage.conf", "xdg"))
        conf.write_text('[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n[containers]\n'
                        'default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]\n')
        storage.write_text(f'[storage]\ndriver = "{"vfs" if user else "overlay"}"\ngraphroot = "{self.folder}/graph"\n'
                           f'runroot = "{self.folder}/run"\n')
        data = self.folder / "data"
        for path in (runtime, data):
            path.mkdir(mode=0o700)
        self.program = PODMAN
        self.own = {"CONTAINERS_CONF": str(conf), "CONTAINERS_STORAGE_CONF": str(storage),
                    "XDG_RUNTIME_DIR": str(runtime), "XDG_DATA_HOME": str(data)}
        if user:
            entry = pwd.getpwnam(user)
            self.own["HOME"] = entry.pw_dir
            self.runs_as = ("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups")
            for path in (self.folder, runtime, data):
                os.chown(path, entry.pw_uid, entry.pw_gid)
        self.ok("info")

    def close(self):
        self.run("rm", "--all", "--force")
        if os.getuid() != 0:  # layers have files of the user's other ids, and folders that nobody may enter
            self.run("unshare", "rm", "-rf", self.folder / "data")
        self.run("system", "migrate")  # ends what holds the user namespace
        _unmount_below(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not self.folder.exists(), sorted(self.folder.rglob("*"))[:5]


def import_busybox(engine, name, variables=None, accounts=""):
    """An image of 2 MB that has busybox and nothing else, but /etc/passwd where `accounts` are its lines."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for folder in ("bin", "tmp", "etc", "proc", "sys", "dev", "root"):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(info)
        tar.add("/bin/busybox", "bin/busybox")
        if accounts:
            info = tarfile.TarInfo("etc/passwd")
            info.size = len(accounts)
            tar.addfile(info, io.BytesIO(accounts.encode()))
        for applet in subprocess.run(["/bin/busybox", "--list"], capture_output=True, check=True,
                                     text=True).stdout.split():
            if applet != "busybox":
                info = tarfile.TarInfo(f"bin/{applet}")
                info.type, info.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(info)
    changes = [word for name, value in (variables or {}).items() for word in ("--change", f'ENV {name}="{value}"')]
    return engine.ok("import", *changes, "-", name, input=packed.getvalue())


def _closure(packages):
    """These installed packages and all that they depend on."""
    lines = subprocess.run(["dpkg-query", "-W", "-f", "${Package}|${Depends}, ${Pre-Depends}|${Provides}\n"],
                           capture_output=True, check=True, text=True).stdout.splitlines()
    needs, makers = {}, {}
    for line in lines:
        name, depends, provides = line.split("|", 1)[0], *line.split("|", 1)[1].rsplit("|", 1)
        needs[name] = depends
        for provided in provides.split(","):
            makers.setdefault(provided.split("(")[0].strip(), name)
    found, todo = set(), list(packages)
    while todo:
        name = todo.pop()
        name = name if name in needs else makers.get(name, "")
        if not name or name in found:
            continue
        found.add(name)
        for group in needs[name].split(","):
            for choice in group.split("|"):
                todo.append(choice.split("(")[0].split(":")[0].strip())
    return sorted(found)


def import_debian(engine, name, *packages):
    """An image of Debian's packages as they are installed here, with all that they depend on."""
    listed = subprocess.run(["dpkg", "-L", *_closure([*packages, "bash", "coreutils", "base-files", "grep"])],
                            capture_output=True, check=True, text=True).stdout.splitlines()
    doubtful = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/include")
    paths = {path for path in listed if os.path.lexists(path) and not path.startswith(doubtful) and path != "/."}
    paths |= {path for path in ("/bin", "/lib", "/lib64", "/sbin", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
                                "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
              if os.path.lexists(path)}
    for folder in ("/etc/alternatives", "/etc/ld.so.conf.d"):
        paths |= {os.path.join(folder, entry) for entry in os.listdir(folder)}
    for folder in ("/usr/bin", "/usr/lib/x86_64-linux-gnu"):  # links of no package
        paths |= {entry.path for entry in os.scandir(folder)
                  if entry.is_symlink() and os.readlink(entry).startswith("/etc/alternatives/")}
    # A path through /lib lies below /usr/lib in the image, too.
    paths = {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths}
    packer = subprocess.Popen(["tar", "--create", "--no-recursion", "--null", "--files-from=-", "--absolute-names",
                               "--transform=s,^/,,S"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    importer = subprocess.Popen([*engine.runs_as, engine.program, "import", "-", name], env={**os.environ, **engine.own},
                                stdin=packer.stdout, stdout=subprocess.PIPE)
    packer.stdout.close()
    packer.stdin.write(b"\0".join(path.encode() for path in sorted(paths)))
    packer.stdin.close()
    said, _ = importer.communicate()
    assert packer.wait() == 0 and importer.returncode == 0
    return said.decode().strip()
