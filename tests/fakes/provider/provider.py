#!/usr/bin/env python3
"""A provider of docs/decisions/038-providers.md for tests: `provider.py VERB`. Each machine is an agent on this machine.

`settings.faults` makes it misbehave, for the verbs that are named:
  {"hang": [VERB…]}     says nothing and never ends
  {"slow": SECONDS}     waits before it does anything
  {"crash": [VERB…]}    dies by SIGKILL in the middle of the work, before it has told it
  {"fail": {VERB: CODE}} says an error with that code for each machine
  {"junk": [VERB…]}     prints what is no event: no JSON, no UTF-8, a long line, an event of another machine
  {"lies": [VERB…]}     says running of what it has not made, and absent of what it has not removed
  {"pending": COUNT}    the first COUNT calls of `create` say that the machine waits
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time

JOIN_TIMEOUT_S = 60


def say(event, machine, **more):
    print(json.dumps({"event": event, "machine": machine, **more}), flush=True)


class Machine:
    def __init__(self, state, name):
        self.name, self.folder = name, state / "machines" / name

    def pid(self):
        """Of its agent; 0: none runs."""
        try:
            pid = int((self.folder / "pid").read_text())
            return pid if str(self.folder) in pathlib.Path(f"/proc/{pid}/cmdline").read_text() else 0
        except (OSError, ValueError):
            return 0

    def tell(self):
        if self.pid():
            say("machine", self.name, state="running", about={"pid": str(self.pid()), "tunnel": False})
        else:
            say("machine", self.name, state="stopped" if self.folder.exists() else "absent", about={})

    def has_joined(self):
        return (self.folder / "agent/identity.json").exists()

    def create(self, bundle, token):
        if self.pid() and self.has_joined():
            return self.tell()
        say("step", self.name, step="start")
        self.stop()
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "log", "wb") as log:
            process = subprocess.Popen(
                [bundle / "bin/lockstep-agent", "--home", self.folder / "agent", "--name", self.name, "--token-file", "-"],
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True)
        (self.folder / "pid").write_text(str(process.pid))
        process.stdin.write(token.encode())
        process.stdin.close()
        end = time.monotonic() + JOIN_TIMEOUT_S
        while not self.has_joined() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        if self.has_joined():
            return self.tell()
        self.stop()
        words = (self.folder / "log").read_text(errors="replace").splitlines()[-1:]
        say("error", self.name, step="start", code="launcher_unreachable", message=f"{self.name}: {' '.join(words)}")
        return 1

    def stop(self):
        mark = str(self.folder).encode()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if int(entry.name) != os.getpid() and mark in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue

    def remove(self):
        say("step", self.name, step="remove")
        self.stop()
        for _ in range(50):  # what was killed may write a moment longer
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
            time.sleep(0.1)
        self.tell()


def unpacked(state, archive):
    place = state / "bundle"
    if not place.exists():
        scratch = state / f"unpack.{os.getpid()}"
        with tarfile.open(archive) as opened:
            opened.extractall(scratch)
        [top] = scratch.iterdir()
        top.rename(place)
        scratch.rmdir()
    return place


def waits(state, limit):
    """Whether this call of `create` is one of the first `limit`."""
    counter = state / "pending"
    done = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(done + 1))
    return done < limit


def junk():
    sys.stdout.buffer.write(b"\xff\xfe no JSON\n[1, 2]\n{\"event\": \"party\", \"machine\": \"vm1\"}\n" + b"x" * 100_000 + b"\n")
    sys.stdout.flush()
    say("machine", "nobodys", state="running", about={})


def misbehave(verb, faults, machines):
    """None: the work goes on; else the exit code."""
    time.sleep(faults.get("slow", 0))
    if verb in faults.get("hang", []):
        while True:
            time.sleep(3600)
    if verb in faults.get("junk", []):
        junk()
    if verb in faults.get("fail", {}):
        for machine in machines:
            say("error", machine.name, step=verb, code=faults["fail"][verb], message=f"{machine.name}: as it was told to")
        return 1
    if verb in faults.get("lies", []):
        for machine in machines:
            say("machine", machine.name, state="absent" if verb == "remove" else "running", about={})
        return 0
    return None


def carry_out(verb, request, state, machines):
    faults = request.get("settings", {}).get("faults", {})
    done = misbehave(verb, faults, machines)
    if done is not None:
        return done
    if verb == "create" and waits(state, faults.get("pending", 0)):
        for machine in machines:
            say("machine", machine.name, state="pending", about={"reason": "Resources", "job": "1"})
        return 0
    tokens = {machine["name"]: machine.get("token", "") for machine in request.get("machines", [])}
    failures = 0
    for machine in machines:
        if verb == "create":
            failures += bool(machine.create(unpacked(state, request["bundle"]), tokens.get(machine.name, "")))
            if verb in faults.get("crash", []):
                os.kill(os.getpid(), signal.SIGKILL)
        elif verb == "remove":
            machine.remove()
        else:
            machine.tell()
    return 1 if failures else 0


def main():
    try:
        request = json.loads(sys.stdin.readline() if sys.argv[1:] == ["hold"] else sys.stdin.read())
        if request["contract"] != 1 or not {"launcher", "target"} <= request.keys():
            raise ValueError("it is of another version, or has no tag")
        state = pathlib.Path(request["state"])
        if not state.is_absolute() or sys.argv[1:] not in (["check"], ["create"], ["list"], ["remove"], ["hold"]):
            raise ValueError("its state or verb is wrong")
        names = [machine["name"] for machine in request.get("machines", [])]
        if any("/" in name or name in ("", ".", "..") for name in names):
            raise ValueError("a machine's name is wrong")
    except (ValueError, KeyError, TypeError, AttributeError) as why:
        print(f"provider.py: the request was not understood: {why}", file=sys.stderr)
        return 2
    verb = sys.argv[1]
    if verb == "hold":
        sys.stdin.read()
        return 0
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    if verb == "list" and (state / "machines").exists():
        names += sorted({entry.name for entry in (state / "machines").iterdir()} - set(names))
    return carry_out(verb, request, state, [Machine(state, name) for name in names])


if __name__ == "__main__":
    sys.exit(main())
