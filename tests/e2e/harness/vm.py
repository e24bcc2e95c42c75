"""A virtual machine with Debian's kernel and control groups of version 2 only, for what the machine of
the tests may not have. Its root is this machine's file system, read-only (9p), with fresh /tmp, /run,
/root and /home; so every program, library and test is there. Emulated (TCG): it needs no /dev/kvm."""
import pathlib
import re
import shutil
import subprocess
import tempfile

from .site import BUILD

HERE = pathlib.Path(__file__).resolve().parent
CACHE = BUILD / "vm"  # the kernel, fetched once
# In the order of their dependencies.
MODULES = """drivers/virtio/virtio_ring drivers/virtio/virtio drivers/virtio/virtio_pci_legacy_dev
drivers/virtio/virtio_pci_modern_dev drivers/virtio/virtio_pci fs/netfs/netfs fs/fscache/fscache net/9p/9pnet
net/9p/9pnet_virtio fs/9p/9p fs/overlayfs/overlay""".split()


class Unavailable(Exception):
    """Why there is no such machine here."""


def _run(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, words))} exited {done.returncode}: {done.stdout[-300:]}")
    return done.stdout


def kernel():
    """The directory with vmlinuz and the modules; from Debian's package, unpacked but not installed."""
    if (CACHE / "vmlinuz").exists():
        return CACHE
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
        shutil.copy(next((work / "all/boot").glob("vmlinuz-*")), ready / "vmlinuz")
        ready.rename(CACHE)
    finally:
        shutil.rmtree(work)
    return CACHE


def _initramfs(directory, task, places):
    root = directory / "root"
    for name in ("bin", "modules", "host"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    shutil.copy(HERE.parent / "vm" / "init", root / "init")
    (root / "init").chmod(0o755)
    for module in kernel().glob("*.ko"):
        shutil.copy(module, root / "modules")
    (root / "modules" / "order").write_text("".join(f"{m.rpartition('/')[2]}\n" for m in MODULES))
    (root / "task").write_text(task)
    (root / "places").write_text("".join(f"{i} {place}\n" for i, place in enumerate(places)))
    image = directory / "initramfs"
    with open(image, "wb") as out:
        names = subprocess.run(["find", "."], cwd=root, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names, stdout=out,
                       stderr=subprocess.DEVNULL, check=True)
    return image


def run(task, places, timeout_s):
    """Boots, runs `task` (text for sh) as root, switches off; returns what the task printed. `places`:
    directories that the task sees even where they lie in /tmp or a home."""
    for program in ("qemu-system-x86_64", "busybox"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    image_of = kernel() / "vmlinuz"
    with tempfile.TemporaryDirectory(prefix="ls-vm-") as name:
        directory = pathlib.Path(name)
        words = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048",
                 "-nodefaults", "-display", "none", "-no-reboot", "-kernel", image_of,
                 "-initrd", _initramfs(directory, task, places),
                 "-append", "console=ttyS0 quiet panic=-1 cgroup_no_v1=all mitigations=off",
                 "-serial", f"file:{directory}/console", "-serial", f"file:{directory}/output",
                 "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        try:
            _run(*words, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            pass  # the output says how far it came
        output = (directory / "output").read_text(errors="replace").replace("\r", "")
        console = (directory / "console").read_text(errors="replace")
        return output + ("" if "Power down" in console else f"\nno orderly end:\n{console[-3000:]}")
