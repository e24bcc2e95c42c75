"""A machine whose process 1 is a real systemd: namespaces of processes, mounts and control groups, and this machine's
files below a layer of its own. It shares the network. Needs root, overlayfs and control groups of version 2."""
import os
import pathlib
import signal
import subprocess

from .namespaces import remove_empty_nurseries
from .site import alive, wait_until

# $1: its directory; $2: a folder that it shares with this machine; $3: its units.
BOOT = r"""
mount --make-rprivate /
root=$1/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layer/up,workdir=$1/layer/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
umount -R "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for at in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$at"; done
chmod 1777 "$root/tmp"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
mkdir -p "$root/$2" "$root/run/sshd"
mount --bind "$2" "$root/$2"
if [ ! -e "$root/etc/systemd/system/lab.target" ]; then
  rm -rf "$root"/etc/systemd/system/*
  cp "$3"/* "$root/etc/systemd/system/"
fi
cd "$root"
mkdir -p before
pivot_root . before
umount -l before
exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=lab.target
"""
UNITS = {"lab.target": "[Unit]\nWants=multi-user.target sshd-lab.service\nAllowIsolate=yes\n",
         "sshd-lab.service": "[Unit]\nDefaultDependencies=no\n"
                             "[Service]\nExecStart=/usr/sbin/sshd -D -f {shared}/sshd_config -E {shared}/sshd.log\n"}
# Nothing here is a device, a terminal or a disk.
MASKED = ("systemd-udevd.service", "systemd-udev-trigger.service", "systemd-journald.service", "getty.target",
          "systemd-journald.socket", "systemd-journald-dev-log.socket", "systemd-journald-audit.socket",
          "systemd-tmpfiles-setup.service", "systemd-tmpfiles-setup-dev.service", "systemd-remount-fs.service",
          "systemd-logind.service", "dbus.service", "dbus.socket", "swap.target", "local-fs.target", "timers.target")


class SystemdMachine:
    """`shared`: a folder that it has in common with this machine; its sshd reads sshd_config there."""

    def __init__(self, directory, shared):
        self.directory, self.shared = pathlib.Path(directory), pathlib.Path(shared)
        self.group = self.process = None
        for name in ("root", "layer", "units"):
            (self.directory / name).mkdir()
        for name, text in UNITS.items():
            (self.directory / "units" / name).write_text(text.format(shared=self.shared))
        for name in MASKED:
            (self.directory / "units" / name).symlink_to("/dev/null")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.directory / "layer"], check=True)
        for name in ("up", "work"):
            (self.directory / "layer" / name).mkdir()

    @staticmethod
    def unified():
        """Where control groups of version 2 are mounted; None: nowhere."""
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            _, at, kind, *_ = line.split()
            if kind == "cgroup2":
                return pathlib.Path(at)
        return None

    def power_on(self):
        self.group = self.unified() / f"machine-{os.getpid()}"
        self.group.mkdir()
        words = ["sh", "-c", f'echo $$ > {self.group}/cgroup.procs; exec "$@"', "sh",
                 "unshare", "--kill-child", "--pid", "--fork", "--mount", "--cgroup", "--uts", "--ipc",
                 "bash", "-ec", BOOT, "boot", self.directory, self.shared, self.directory / "units"]
        with open(self.directory / "console", "ab") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            start_new_session=True)
        wait_until(lambda: self.process.poll() is not None or
                   (self.init() and self.systemctl("is-active", "sshd-lab").returncode == 0),
                   "systemd has started sshd", 60)
        assert self.process.poll() is None, (self.directory / "console").read_text()

    def init(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return int(text) if text.strip() else 0

    def systemctl(self, *words):
        return subprocess.run(["nsenter", "-t", str(self.init()), "-a", "systemctl", *words],
                              capture_output=True, text=True, check=False)

    def show(self, unit, what):
        return self.systemctl("show", "--value", "-p", what, unit).stdout.strip()

    def power_off(self):
        """Ends everything there at once, as a power cut does; what is on its disk stays."""
        if self.process is None:
            return
        if (init := self.init()) and self.process.poll() is None:
            os.kill(init, signal.SIGKILL)
            wait_until(lambda: not alive(init), "the machine is off", 30)
        self.process.wait(timeout=30)
        self.process = None
        remove_empty_nurseries()
        for group, _, _ in os.walk(self.group, topdown=False):
            wait_until(lambda path=group: self._removed(path), f"{group} is empty", 30)

    @staticmethod
    def _removed(path):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return True

    def destroy(self):
        self.power_off()
        subprocess.run(["umount", "-l", self.directory / "layer"], check=False)
