"""What every provider of docs/decisions/038-providers.md needs: reads the request, says events, ends with its exit code."""
import json
import pathlib
import re
import shlex
import sys

VERBS = ("check", "create", "list", "remove", "hold")


class NotUnderstood(Exception):
    """The request or its settings are wrong; nothing was done."""


class Failed(Exception):
    """Why a machine failed. `code` is one of the contract's."""

    def __init__(self, step, code, message):
        super().__init__(message)
        self.step, self.code = step, code


class Request:
    def __init__(self, verb, text):
        try:
            whole = json.loads(text)
            if whole["contract"] != 1:
                raise NotUnderstood("contract is not 1, the only version that this program supports")
            self.verb, self.launcher, self.target = verb, whole["launcher"], whole["target"]
            self.state = pathlib.Path(whole["state"])
            self.settings = whole.get("settings", {})
            self.machines = {machine["name"]: machine.get("token", "") for machine in whole.get("machines", [])}
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise NotUnderstood(f"the request is wrong: {why!r}") from why
        for word in (self.launcher, self.target, *self.machines):
            if not isinstance(word, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,254}", word):
                raise NotUnderstood(f"'{word}' is not a valid name")
        if not self.state.is_absolute() or not isinstance(self.settings, dict):
            raise NotUnderstood("state is not an absolute path, or settings is not an object")

    def setting(self, name, default=None):
        value = self.settings.get(name, default)
        if value is None:
            raise NotUnderstood(f"settings.{name} is missing")
        return value

    @property
    def tags(self):
        return {"lockstep.launcher": self.launcher, "lockstep.target": self.target}


def say(event, machine, **more):
    print(json.dumps({"event": event, "machine": machine, **more}), flush=True)


def tell(machine, state, **about):
    say("machine", machine, state=state, about={"tunnel": False, **{key: str(value) for key, value in about.items()}})


def start_script(request, machine, bundle_url, digest):
    """What a new VM runs as root at its first start (cloud-init). It has the token, so it belongs into no log. The agent
    is a systemd unit; a VM that cannot join ends, so that nobody pays for it."""
    words = {"url": bundle_url, "digest": digest, "name": machine.replace(":", "-"), "token": request.machines[machine]}
    lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in words.items())
    return "#!/bin/sh\nset -e\numask 077\n" + lines + r"""
[ ! -e /var/lib/lockstep/agent/identity.json ] || exit 0
trap '[ -e /var/lib/lockstep/agent/identity.json ] || poweroff' EXIT
mkdir -p /var/lib/lockstep /opt/lockstep-node
printf '%s\n' "$token" > /var/lib/lockstep/token
curl --fail --silent --show-error --location --retry 5 --output /opt/bundle.tar.gz "$url"
echo "$digest  /opt/bundle.tar.gz" | sha256sum --check --quiet
(umask 022; tar -xzf /opt/bundle.tar.gz -C /opt/lockstep-node --strip-components=1 --no-same-owner)
cat > /etc/systemd/system/lockstep-agent.service << UNIT
[Unit]
After=network-online.target
Wants=network-online.target
[Service]
ExecStart=/opt/lockstep-node/bin/lockstep-agent --home /var/lib/lockstep/agent --name $name --token-file /var/lib/lockstep/token
Restart=on-failure
RestartSec=5
KillMode=process
Delegate=yes
[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now lockstep-agent
n=0
while [ ! -e /var/lib/lockstep/agent/identity.json ] && [ $n -lt 120 ]; do sleep 1; n=$((n + 1)); done
rm -f /var/lib/lockstep/token
"""


def main(carry_out):
    """`carry_out(request)` says an event for each machine; those that failed it returns as {machine: Failed}."""
    verb = sys.argv[1] if len(sys.argv) == 2 else ""
    try:
        if verb not in VERBS:
            raise NotUnderstood(f"the verb is '{verb}', not one of {', '.join(VERBS)}")
        request = Request(verb, sys.stdin.readline() if verb == "hold" else sys.stdin.read())
        if verb == "hold":  # nothing of a VM has to be kept up from here
            sys.stdin.read()
            return 0
        request.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        failed = carry_out(request)
    except NotUnderstood as why:
        print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
        return 2
    except Failed as why:  # it concerns all of them
        failed = dict.fromkeys(request.machines or [request.target], why)
    for machine, why in failed.items():
        say("error", machine, step=why.step, code=why.code, message=f"{machine}: {why}")
    return 1 if failed else 0
