"""Ordinary accounts of this machine, and people who use a launcher as one of them."""
import contextlib
import grp
import pwd
import shutil
import subprocess

from .site import Site

# Two people of one primary group, as many sites have them.
PEOPLE = ("lockstep-alice", "lockstep-bob")
GROUP = "lockstep-people"


def _is_there(find, name):
    try:
        find(name)
        return True
    except KeyError:
        return False


@contextlib.contextmanager
def existing(*names, group=None):
    """These accounts, made where they are missing; what was made goes again. Needs root."""
    with contextlib.ExitStack() as undo:
        if group and not _is_there(grp.getgrnam, group):
            subprocess.run(["groupadd", group], check=True)
            undo.callback(subprocess.run, ["groupdel", group], check=True)
        for name in names:
            if _is_there(pwd.getpwnam, name):
                continue
            words = ["--no-user-group", "--gid", group] if group else []
            subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", *words, name], check=True)
            undo.callback(subprocess.run, ["userdel", "--remove", name], check=True, stderr=subprocess.DEVNULL)
        yield names


def as_account(account):
    """Words before a command that is to run as this account."""
    entry = pwd.getpwnam(account)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups"]


class Neighbour(Site):
    """Somebody with a key and an account of their own on the machine of a site whose daemons are root's: their
    `lockstep`, its home and their files are that account's, and so are the ranks of their jobs."""

    def __init__(self, site, account):
        super().__init__(site.directory / account, user=account, bin_directory=site.bin)
        self.name = account
        self.uid, self.gid = pwd.getpwnam(account)[2:4]
        for path in (self.home, self.work):
            path.chmod(0o700)
        self.endpoint = self.directory / "endpoint.json"
        shutil.copy(site.home / "launcher" / "endpoint.json", self.endpoint)
        self.endpoint.chmod(0o644)
        self.key = self.ok("user", "key", "show").strip()
        site.ok("user", "add", account, "--key", self.key, "--account", account)

    def environment(self):
        return {**super().environment(), "LOCKSTEP_LAUNCHER": str(self.endpoint)}

    def refused(self, *words):
        """Demands that it fails, and returns why."""
        done = self.run(*words)
        assert done.returncode in (1, 125), f"{self.name}: {words} exited {done.returncode}: {done}"
        return done.stderr.decode()

    def python(self, script, *words, told=None):
        """Runs a script as this account, without Lockstep; returns what it printed."""
        done = subprocess.run([*as_account(self.name), "/usr/bin/python3", "-Ic", script, *map(str, words)],
                              input=told, capture_output=True, text=True, cwd="/", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start_python(self, script, *words):
        return subprocess.Popen([*as_account(self.name), "/usr/bin/python3", "-Iuc", script, *map(str, words)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd="/")
