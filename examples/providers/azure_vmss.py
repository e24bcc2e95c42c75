#!/usr/bin/env python3
"""A provider for Azure: each machine is a VM of a scale set in flexible orchestration. Needs the program az, logged in
(`az login --identity` where the launcher runs on a VM).

    az vmss create --name lockstep --resource-group mine --orchestration-mode Flexible --platform-fault-domain-count 1
    lockstep:
      command: {program: azure_vmss.py, resource_group: mine, scale_set: lockstep, image: Ubuntu2204, size: Standard_D4s_v3,
               subnet: …, bundle_url: "https://…/lockstep-node-….tar.gz", bundle_sha256: …, priority: Spot}

Each VM is created by its own call, because each has a join token of its own in its custom data; that is why a scale set
in uniform orchestration does not do. The image is any Linux with systemd, curl and cloud-init; the VMs have to reach the
launcher's three ports. `subnet`, `nsg`, `priority` and `admin_username` are optional.
"""
import json
import os
import subprocess
import sys
import tempfile

from contract import Failed, main, say, start_script, tell

TIMEOUT_S = 600
CODES = {"az login": "unauthenticated", "AADSTS": "unauthenticated", "AuthorizationFailed": "no_permission",
         "QuotaExceeded": "failed", "SkuNotAvailable": "unsupported", "ResourceNotFound": "unsupported",
         "InvalidParameter": "unsupported", "was not found": "unsupported", "Failed to establish": "unreachable",
         "Connection": "unreachable", "Max retries exceeded": "unreachable"}
STATES = {"Succeeded": "running", "Creating": "pending", "Updating": "running"}


def az(step, *words):
    try:
        done = subprocess.run(["az", *words, "--output", "json", "--only-show-errors"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except FileNotFoundError as why:
        raise Failed(step, "unreachable", "the program az is not installed") from why
    except subprocess.TimeoutExpired as why:
        raise Failed(step, "timed_out", f"az said nothing for {TIMEOUT_S} s") from why
    if done.returncode == 0:
        return json.loads(done.stdout) if done.stdout.strip() else None
    last = (done.stderr.strip().splitlines() or ["az failed and gave no reason"])[-1]
    raise Failed(step, next((code for sign, code in CODES.items() if sign in done.stderr), "failed"), last[:500])


class ScaleSet:
    def __init__(self, request):
        self.request = request
        self.group, self.name = request.setting("resource_group"), request.setting("scale_set")

    def vm_name(self, machine):
        return f"lockstep-{self.request.target}-{machine}".replace(":", "-").replace("_", "-").replace(".", "-")[:64]

    def vms(self):
        tags = " && ".join(f'tags."{name}"==\'{value}\'' for name, value in self.request.tags.items())
        found = az("connect", "vm", "list", "--resource-group", self.group, "--show-details", "--query", f"[?{tags}]")
        return {vm["tags"]["lockstep.machine"]: vm for vm in found or []}

    def start(self, machine):
        request = self.request
        script = start_script(request, machine, request.setting("bundle_url"), request.setting("bundle_sha256"))
        tags = {**request.tags, "lockstep.machine": machine}
        words = ["--resource-group", self.group, "--name", self.vm_name(machine), "--vmss", self.name,
                 "--image", request.setting("image"), "--size", request.setting("size"),
                 "--admin-username", request.setting("admin_username", "lockstep"), "--generate-ssh-keys",
                 "--public-ip-address", "", "--nic-delete-option", "Delete", "--os-disk-delete-option", "Delete",
                 "--tags", *(f"{key}={value}" for key, value in tags.items())]
        for option in ("subnet", "nsg", "priority"):
            if option in request.settings:
                words += [f"--{option}", request.settings[option]]
        if request.settings.get("priority") == "Spot":
            words += ["--eviction-policy", "Delete"]
        # A file that nobody else can read: an argument everybody could.
        with tempfile.TemporaryDirectory(dir=request.state) as folder:
            path = os.path.join(folder, "custom-data")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(script)
            az("start", "vm", "create", *words, "--custom-data", path)

    def end(self, machine):
        az("remove", "vm", "delete", "--resource-group", self.group, "--name", self.vm_name(machine), "--yes",
           "--force-deletion", "true")

    def check(self):
        found = az("check", "vmss", "show", "--resource-group", self.group, "--name", self.name)
        if found.get("orchestrationMode") != "Flexible":
            raise Failed("check", "unsupported", f"the scale set {self.name} is not in flexible orchestration")


def tell_vm(machine, vm):
    if vm is None:
        return tell(machine, "absent")
    power = vm.get("powerState", "")
    state = STATES.get(vm.get("provisioningState"), "stopped")
    if state == "running" and power and power != "VM running":
        state = "pending" if power == "VM starting" else "stopped"
    about = {"vm": vm["name"]}
    if state != "running":
        about["reason"] = power or vm.get("provisioningState", "unknown")
    if state == "pending":
        about["job"] = vm["name"]
    return tell(machine, state, **about)


def work_on(scale_set, machine, known):
    verb, vm = scale_set.request.verb, known.get(machine)
    if verb == "create":
        if vm is None or vm.get("powerState") in ("VM deallocated", "VM stopped") or vm.get("provisioningState") == "Failed":
            say("step", machine, step="start")
            if vm is not None:  # evicted, or it could not join: its token is used up
                scale_set.end(machine)
            scale_set.start(machine)
            vm = scale_set.vms().get(machine)
    elif verb == "remove":
        say("step", machine, step="remove")
        if vm is not None:
            scale_set.end(machine)
        return tell(machine, "absent")
    return tell_vm(machine, vm)


def carry_out(request):
    scale_set = ScaleSet(request)
    if request.verb == "check":
        scale_set.check()
    known = scale_set.vms()
    failed = {}
    for machine in request.machines:
        try:
            work_on(scale_set, machine, known)
        except Failed as why:
            failed[machine] = why
    if request.verb == "list":
        for machine in known.keys() - request.machines.keys():
            tell_vm(machine, known[machine])
    return failed


if __name__ == "__main__":
    sys.exit(main(carry_out))
