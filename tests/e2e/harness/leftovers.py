"""What Lockstep could leave behind on a machine: one listing, taken before and after each test.

A test fails when the second listing holds something that the first did not. Zombies are ignored:
PID 1 of a development machine may not reap them. What belongs to other accounts is not listed for an ordinary
user, who cannot have made it: others run Lockstep, or these tests, on the same machine.
"""
import os
import pathlib
import re


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _can_be_ours(path):
    """Whether this account can have made it: root's tests make things for all accounts."""
    try:
        return os.getuid() in (0, os.lstat(path).st_uid)
    except OSError:
        return False  # it is gone


def processes():
    """Live processes that are Lockstep's programs, ranks of its jobs or hold a container: {pid: command line}.

    Not the process that a template has ready for its next order: each job of an agent that goes on has another one.
    """
    found, parents = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid() or not _can_be_ours(f"/proc/{entry}"):
            continue
        stat = _read(f"/proc/{entry}/stat").decode(errors="replace")
        if not stat or stat.rpartition(")")[2].split()[:1] == ["Z"]:
            continue
        command = _read(f"/proc/{entry}/cmdline").replace(b"\0", b" ").decode(errors="replace")
        environment = _read(f"/proc/{entry}/environ")
        program = os.path.basename(command.split(" ")[0]) if command else ""
        if re.fullmatch(r"lockstepd|lockstep-(agent|runner|template|spawn|env)|containerd-shim.*|conmon", program) or \
                b"\0AZUREML_RUN_ID=" in b"\0" + environment:
            found[int(entry)] = command.strip()
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    templates = {pid for pid, command in found.items() if command.startswith("lockstep-template")}
    return {pid: command for pid, command in found.items() if pid not in templates or parents[pid] not in templates}


def cgroups():
    """Directories of control groups that Lockstep made. Not a nursery that somebody is in, who is a process."""
    # os.walk passes over directories that vanish meanwhile.
    found = {os.path.join(top, name) for top, names, _ in os.walk("/sys/fs/cgroup")
             for name in names if "lockstep" in os.path.join(top, name)[len("/sys/fs/cgroup"):]
             and _can_be_ours(os.path.join(top, name))}
    inhabited = {path for path in found if "/lockstep/starting-" in path and _read(f"{path}/cgroup.procs")}
    return found - inhabited - {os.path.dirname(path) for path in inhabited}


def mounts():
    """Only root's tests mount anything where others see it."""
    if os.getuid() != 0:
        return set()
    lines = _read("/proc/self/mounts").decode(errors="replace").splitlines()
    return {line.split(" ")[1] for line in lines if "lockstep" in line}


def shared_memory():
    """But for podman's locks, of which each user has one segment, for good."""
    return {name for name in os.listdir("/dev/shm")
            if not name.startswith("libpod_") and _can_be_ours(f"/dev/shm/{name}")}


def _held_ports():
    """Names of ports that processes in view hold: others in this network may be another account's, or another run's."""
    lines = [line.split() for line in _read("/proc/net/unix").decode(errors="replace").splitlines()]
    named = {fields[7]: fields[6] for fields in lines if len(fields) == 8 and re.fullmatch(r"@lockstep-port-\d+", fields[7])}
    if not named:
        return set()
    sockets = {link[8:-1] for pid in os.listdir("/proc") if pid.isdigit() for link in _open_files(pid)
               if link.startswith("socket:[")}
    return {name for name, inode in named.items() if inode in sockets}


def temporary_files():
    """Mount points that stayed in the folders for them, names in /tmp that others could guess, held ports."""
    found = _held_ports()
    found |= {str(top) for top in pathlib.Path("/tmp").glob("lockstep-*")
              if re.fullmatch(r"lockstep-(ports-)?\d+", top.name) and _can_be_ours(top)}
    for ours in (pathlib.Path("/run/lockstep"), pathlib.Path("~/.lockstep").expanduser()):
        for kind in ("jobs", "a"):
            found |= {str(path) for path in (ours / kind).iterdir()
                      if _can_be_ours(path)} if (ours / kind).is_dir() else set()
    return found


def _open_files(pid):
    """What the descriptors of a process lead to, where this account may look."""
    links = []
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    except OSError:
        pass  # another's, or it has ended
    return links


def listeners():
    """TCP ports that something of ours listens on, in this network namespace."""
    inodes = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _read(table).decode().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                inodes[fields[9]] = int(fields[1].rpartition(":")[2], 16)
    return {inodes[link[8:-1]] for pid in processes() for link in _open_files(pid)
            if link.startswith("socket:[") and link[8:-1] in inodes}


def listing():
    return {"processes": processes(), "cgroups": cgroups(), "mounts": mounts(),
            "shared memory": shared_memory(), "temporary files": temporary_files(),
            "listening ports": listeners()}


def difference(before, after):
    """Lines that say what is there now and was not before."""
    lines = []
    for kind, now in after.items():
        new = set(now) - set(before[kind])
        for item in sorted(new, key=str):
            detail = f" ({now[item]})" if isinstance(now, dict) else ""
            lines.append(f"{kind}: {item}{detail}")
    return lines
