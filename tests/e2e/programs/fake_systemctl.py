#!/usr/bin/python3 -I
"""Stands in for systemctl on a host where no systemd runs: notes each call, and starts and stops what a unit's
ExecStart says as KillMode=process would, the main process alone. It restarts nothing and sets no limit."""
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

STATE = pathlib.Path(os.environ["FAKE_SYSTEMD"])
words = sys.argv[1:]
with open(STATE / "calls", "a") as calls:
    calls.write(" ".join(words) + "\n")
units = pathlib.Path("/etc/systemd/system")
if words[0] == "--user":
    words.pop(0)
    units = pathlib.Path("~/.config/systemd/user").expanduser()
    if not os.environ.get("XDG_RUNTIME_DIR"):
        sys.exit("Failed to connect to bus: no XDG_RUNTIME_DIR")
verb, name = words[0], words[-1]
running = STATE / f"{name}.pid"


def is_ended(thread):
    try:
        return thread.read_text().rpartition(")")[2].split()[:1] == ["Z"]
    except OSError:
        return True


def main_pid():
    """0 once no thread of it runs: a dead leader is a zombie while its threads still hold its files."""
    pid = int(running.read_text()) if running.exists() else 0
    return 0 if all(map(is_ended, pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))) else pid


def stop():
    if main_pid():
        os.kill(main_pid(), signal.SIGTERM)
    while main_pid():
        time.sleep(0.02)


def start():
    if (STATE / "broken").exists():
        sys.exit(f"Job for {name} failed because the control process exited with error code.")
    lines = [line.partition("=") for line in (units / name).read_text().splitlines()]
    unit = {key: value for key, equals, value in lines if equals and not key.startswith("#")}
    with open(unit["StandardOutput"].removeprefix("append:"), "ab") as log:
        process = subprocess.Popen(shlex.split(unit["ExecStart"]), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   cwd=unit["WorkingDirectory"], start_new_session=True)
    running.write_text(str(process.pid))


if verb == "--version":
    print("systemd 252 (252.39-1~deb12u1)\n+PAM +AUDIT")
elif verb == "is-active":
    print("active" if main_pid() else "inactive")
    sys.exit(0 if main_pid() else 3)
elif verb == "stop":
    stop()
elif verb == "restart":
    stop()
    start()
elif verb in ("enable", "disable"):
    if not (units / name).exists():
        sys.exit(f"Failed to {verb} unit: Unit file {name} does not exist.")
elif verb not in ("daemon-reload", "reset-failed", "show-environment"):
    sys.exit(f"Unknown command verb {verb}.")
