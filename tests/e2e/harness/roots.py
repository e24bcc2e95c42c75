"""Other distributions' file trees, for what must run where nothing of ours is installed: made by
debootstrap once and kept in the build directory; tests work in an overlay over them. Needs root."""
import pathlib
import shutil
import subprocess
import tempfile

from .namespaces import Host
from .site import BUILD

CACHE = BUILD / "roots"
# The keys that sign a suite are in debian-archive-keyring; the newer suites' keys are there as well.
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """Why there is no such tree here."""


def _mirror():
    """Where this machine gets its own Debian packages from."""
    words = ["apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN) $(LABEL) $(COMPONENT)", "Created-By: Packages"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        site, *rest = line.split()
        if rest == ["Debian", "Debian", "main"]:
            return site
    raise Unavailable("apt knows no Debian archive; run apt-get update")


def debian(suite, packages):
    """The tree of a minimal Debian with `packages`; nobody may change it."""
    ready = CACHE / f"{suite}-{'-'.join(packages)}"
    if ready.is_dir():
        return ready
    for program in ("debootstrap", "chroot"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"{suite}-", dir=CACHE))
    work.chmod(0o755)
    try:
        words = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", f"--keyring={KEYRING}",
                 suite, work / "tree", _mirror()]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Unavailable(f"debootstrap of {suite} exited {done.returncode}: {done.stdout[-300:]}")
        (work / "tree/etc/hosts").touch()  # cluster's own is mounted over it
        try:
            (work / "tree").rename(ready)
        except OSError:
            if not ready.exists():  # else another module was faster
                raise
    finally:
        shutil.rmtree(work)
    return ready


SETUP = """set -e
hostname {name}
mount -t overlay overlay -o 'lowerdir={tree},upperdir={own}/upper,workdir={own}/work' '{own}/merged'
cd '{own}/merged'
mount --bind '{hosts}' etc/hosts
mount -t proc proc proc
mount --rbind /sys sys
mount --bind /dev dev
mount -t tmpfs tmpfs dev/shm
[ ! -e etc/resolv.conf ] || mount --bind /etc/resolv.conf etc/resolv.conf
for pair in "$@"; do
  shift
  [ "$pair" = -- ] && break
  target=".${{pair#*=}}"
  mkdir -p "$target"
  mount --bind "${{pair%%=*}}" "$target"
  case $target in ./opt/*) mount -o remount,bind,ro "$target" ;; esac
done
exec /usr/sbin/chroot . "$@"
"""


def argv(tree, own, name, hosts, shown, words, pid_namespace=True):
    """`words` as a command in an overlay over `tree`; what it changes lies in `own`/upper. `shown`:
    {directory here: the same inside}, read-only below /opt."""
    for part in ("upper", "work", "merged"):
        (own / part).mkdir(parents=True, exist_ok=True)
    setup = SETUP.format(name=name, tree=tree, own=own, hosts=hosts)
    flags = ["-u", "-m", "--propagation", "private"] + (["-p", "-f", "--kill-child"] if pid_namespace else [])
    pairs = [f"{here}={inside}" for here, inside in shown.items()]
    return ["unshare", *flags, "sh", "-c", setup, "sh", *pairs, "--", *map(str, words)]


class RootHost(Host):
    """A host of a cluster with a tree of its own instead of this machine's: an overlay, whose upper
    directory holds what was changed. `shown` is as argv() takes it. Only one process at a time may be
    started in it; all others are its children."""

    def __init__(self, cluster, name, address, tree):
        super().__init__(cluster, name, address)
        self.tree = tree
        self.own = cluster.directory / f"{name}-root"
        self.shown = {}

    def argv(self, words, pid_namespace=False):
        return ["nsenter", f"--net=/run/netns/{self.namespace}",
                *argv(self.tree, self.own, self.name, self.cluster.hosts, self.shown, words, pid_namespace)]

    def changed(self):
        """Files that were written, and directories that were made, in the tree itself."""
        upper = self.own / "upper"
        return sorted(f"/{path.relative_to(upper)}" for path in upper.rglob("*"))
