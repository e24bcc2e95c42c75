"""A virtual machine with Debian's kernel and control groups of version 2 only, for what the machine of
the tests may not have; or two of them, with a cable between them and the modules of soft-RoCE. Their root is
this machine's file system, read-only (9p), with fresh /tmp, /run, /root and /home; so every program, library
and test is there. Emulated (TCG): it needs no /dev/kvm."""
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from .site import BUILD

HERE = pathlib.Path(__file__).resolve().parent
CACHE = BUILD / "vm-kernel"  # the kernel and modules, fetched once
# In the order of their dependencies.
MODULES = """drivers/virtio/virtio_ring drivers/virtio/virtio drivers/virtio/virtio_pci_legacy_dev
drivers/virtio/virtio_pci_modern_dev drivers/virtio/virtio_pci fs/netfs/netfs fs/fscache/fscache net/9p/9pnet
net/9p/9pnet_virtio fs/9p/9p fs/overlayfs/overlay""".split()
# What these need, they say themselves; but rdma_rxe looks for a crc32 by name, which nobody loads for it here.
# tcp_diag answers for a connection's bytes; a kernel with modprobe loads it when it is asked.
RDMA = "virtio_net crc32_generic ib_uverbs rdma_ucm rdma_rxe tcp_diag".split()


class Unavailable(Exception):
    """Why there is no such machine here."""


def _run(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, words))} exited {done.returncode}: {done.stdout[-300:]}")
    return done.stdout


def _needs(module):
    """The names in the module's .modinfo, as `modinfo -F depends` prints them."""
    found = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
    return [name.replace("-", "_") for name in (found[1].decode() if found else "").split(",") if name]


def in_order(wanted, modules):
    """The modules that are wanted and those that they need, each after what it needs. What is no file is a part
    of the kernel. `modules`: name -> path."""
    order = []

    def add(name):
        if name in order or name not in modules:
            return
        for need in _needs(modules[name]):
            add(need)
        order.append(name)

    for name in wanted:
        add(name)
    return order


def kernel():
    """The directory with vmlinuz, the modules and the order of those for RDMA; from Debian's package, unpacked
    but not installed."""
    wanted = " ".join([*MODULES, *RDMA])
    if (CACHE / "wanted").exists() and (CACHE / "wanted").read_text() == wanted:
        return CACHE
    shutil.rmtree(CACHE, ignore_errors=True)
    depends = _run("apt-cache", "depends", "linux-image-amd64")
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    if not package:
        raise Unavailable("apt knows no package linux-image-amd64")
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="vm-", dir=CACHE.parent))
    try:
        _run("apt-get", "-o", "APT::Sandbox::User=root", "download", package[1], cwd=work)
        _run("dpkg-deb", "-x", next(work.glob("*.deb")), work / "all")
        ready = work / "ready"
        ready.mkdir()
        top = next((work / "all/lib/modules").iterdir()) / "kernel"
        for module in MODULES:
            shutil.copy(top / f"{module}.ko", ready)
        modules = {path.stem.replace("-", "_"): path for path in top.rglob("*.ko")}
        lacking = [name for name in RDMA if name not in modules]
        if lacking:
            raise Unavailable(f"{package[1]} has no module {' '.join(lacking)}")
        order = in_order(RDMA, modules)
        for name in order:
            shutil.copy(modules[name], ready / f"{name}.ko")
        (ready / "rdma-order").write_text("".join(f"{name}\n" for name in order))
        shutil.copy(next((work / "all/boot").glob("vmlinuz-*")), ready / "vmlinuz")
        (ready / "wanted").write_text(wanted)
        ready.rename(CACHE)
    finally:
        shutil.rmtree(work)
    return CACHE


def _initramfs(directory, task, places, with_rdma):
    root = directory / "root"
    for name in ("bin", "modules", "host"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    shutil.copy(HERE.parent / "vm" / "init", root / "init")
    (root / "init").chmod(0o755)
    for module in kernel().glob("*.ko"):
        shutil.copy(module, root / "modules")
    order = [module.rpartition("/")[2] for module in MODULES]
    if with_rdma:
        order += [name for name in (kernel() / "rdma-order").read_text().split() if name not in order]
    (root / "modules" / "order").write_text("".join(f"{name}\n" for name in order))
    (root / "task").write_text(task)
    (root / "places").write_text("".join(f"{i} {place}\n" for i, place in enumerate(places)))
    image = directory / "initramfs"
    with open(image, "wb") as out:
        names = subprocess.run(["find", "."], cwd=root, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names, stdout=out,
                       stderr=subprocess.DEVNULL, check=True)
    return image


def _words(directory, task, places, with_rdma=False, memory_mb=2048):
    """The command line of one machine, whose consoles are files in `directory`."""
    for program in ("qemu-system-x86_64", "busybox"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    return ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(memory_mb),
            "-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel() / "vmlinuz",
            "-initrd", _initramfs(directory, task, places, with_rdma),
            "-append", "console=ttyS0 quiet panic=-1 cgroup_no_v1=all mitigations=off",
            "-serial", f"file:{directory}/console", "-serial", f"file:{directory}/output",
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]


def _printed(directory):
    """By the task, and by the kernel where the machine was not switched off by it."""
    output = (directory / "output").read_text(errors="replace").replace("\r", "")
    console = (directory / "console").read_text(errors="replace")
    return output + ("" if "Power down" in console else f"\nno orderly end:\n{console[-3000:]}")


def run(task, places, timeout_s):
    """Boots, runs `task` (text for sh) as root, switches off; returns what the task printed. `places`:
    directories that the task sees even where they lie in /tmp or a home."""
    with tempfile.TemporaryDirectory(prefix="ls-vm-") as name:
        directory = pathlib.Path(name)
        try:
            _run(*_words(directory, task, places), timeout=timeout_s)
        except subprocess.TimeoutExpired:
            pass  # the output says how far it came
        return _printed(directory)


def run_pair(tasks, places, shared, timeout_s):
    """Two machines at once, with a cable from eth0 to eth0, the modules of soft-RoCE, and the directory `shared`,
    which both may write to, as a 9p file system of that name. What each task printed."""
    with tempfile.TemporaryDirectory(prefix="ls-vm-") as name:
        directories = [pathlib.Path(name) / str(number) for number in (1, 2)]
        machines = []
        ends = socket.socketpair()
        try:
            for directory, task, end, number in zip(directories, tasks, ends, (1, 2)):
                directory.mkdir()
                words = [*_words(directory, task, places, with_rdma=True, memory_mb=1536),
                         "-netdev", f"socket,id=cable,fd={end.fileno()}",
                         "-device", f"virtio-net-pci,netdev=cable,mac=52:54:00:00:00:0{number},romfile=",
                         "-virtfs", f"local,path={shared},mount_tag=shared,security_model=none,multidevs=remap"]
                with open(directory / "qemu", "wb") as log:
                    machines.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log,
                                                     stderr=subprocess.STDOUT, pass_fds=[end.fileno()]))
            until = time.monotonic() + timeout_s
            for machine in machines:
                try:
                    machine.wait(timeout=max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    pass
        finally:
            for end in ends:
                end.close()
            for machine in machines:
                machine.kill()
                machine.wait()
        for directory in directories:
            if not (directory / "output").exists():
                raise Unavailable(f"qemu: {(directory / 'qemu').read_text(errors='replace')[-500:]}")
        return [_printed(directory) for directory in directories]
