#!/usr/bin/env python3
"""A provider for EC2: each machine is an instance. Needs boto3, and credentials where boto3 looks for them.

    lockstep:
      command: {program: ec2.py, region: eu-central-1, image_id: ami-…, instance_type: g5.xlarge, subnet_id: subnet-…,
               security_group_ids: [sg-…], bundle_url: "https://…/lockstep-node-….tar.gz", bundle_sha256: …, spot: true}

This file and contract.py lie in `providers/` of the launcher's home. The image is any Linux with systemd, curl and
cloud-init. The instances have to reach the launcher's three ports.
The join token is in the instance's user data, which those may read who may call DescribeInstanceAttribute, and who can
ask the metadata service from the instance; it is of use once. `iam_profile`, `key_name` and `endpoint_url` are optional.
"""
import hashlib
import sys

import boto3
import botocore.exceptions
from contract import Failed, main, say, start_script, tell

STATES = {"pending": "pending", "running": "running", "stopping": "stopped", "stopped": "stopped"}
CODES = {"AuthFailure": "unauthenticated", "ExpiredToken": "unauthenticated", "RequestExpired": "unauthenticated",
         "UnauthorizedOperation": "no_permission", "OptInRequired": "no_permission"}
WRONG = ("InvalidAMIID", "InvalidParameter", "InvalidSubnet", "InvalidGroup", "InvalidKeyPair", "Unsupported")


def failure(step, why):
    if isinstance(why, botocore.exceptions.ClientError):
        name = why.response["Error"]["Code"]
        code = CODES.get(name, "unsupported" if name.startswith(WRONG) else "failed")
    elif isinstance(why, (botocore.exceptions.NoCredentialsError, botocore.exceptions.PartialCredentialsError)):
        code = "unauthenticated"
    else:
        away = (botocore.exceptions.ConnectionError, botocore.exceptions.HTTPClientError)
        code = "unreachable" if isinstance(why, away) else "failed"
    return Failed(step, code, str(why))


class Ec2:
    def __init__(self, request):
        self.request = request
        self.client = boto3.client("ec2", region_name=request.setting("region"),
                                   endpoint_url=request.settings.get("endpoint_url"))

    def instances(self):
        """{machine: instance}: the one that lives, else one that has ended and is still known."""
        filters = [{"Name": f"tag:{name}", "Values": [value]} for name, value in self.request.tags.items()]
        found = {}
        for page in self.client.get_paginator("describe_instances").paginate(Filters=filters):
            for instance in (one for each in page["Reservations"] for one in each["Instances"]):
                machine = next((tag["Value"] for tag in instance["Tags"] if tag["Key"] == "lockstep.machine"), "")
                if machine and (machine not in found or instance["State"]["Name"] in STATES):
                    found[machine] = instance
        return found

    def order(self, machine):
        request = self.request
        tags = {**request.tags, "lockstep.machine": machine, "Name": f"lockstep-{request.target}-{machine}"}
        order = {"ImageId": request.setting("image_id"), "InstanceType": request.setting("instance_type"),
                 "MinCount": 1, "MaxCount": 1, "InstanceInitiatedShutdownBehavior": "terminate",
                 "TagSpecifications": [{"ResourceType": "instance",
                                        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]}
        for key, name in {"SubnetId": "subnet_id", "SecurityGroupIds": "security_group_ids", "KeyName": "key_name"}.items():
            if name in request.settings:
                value = request.settings[name]
                order[key] = [value] if key.endswith("Ids") and isinstance(value, str) else value
        if "iam_profile" in request.settings:
            order["IamInstanceProfile"] = {"Name": request.settings["iam_profile"]}
        if request.settings.get("spot") in (True, "true"):  # a launcher hands texts on
            order["InstanceMarketOptions"] = {"MarketType": "spot"}
        return order

    def start(self, machine):
        request = self.request
        # The same order twice (the first answer was lost) is one instance; after `remove` it is another.
        turn = request.state / f"{machine}.turn"
        turns = turn.read_text() if turn.exists() else "0"
        once = hashlib.sha256(f"{request.launcher} {request.target} {machine} {turns}".encode()).hexdigest()
        script = start_script(request, machine, request.setting("bundle_url"), request.setting("bundle_sha256"))
        made = self.client.run_instances(**self.order(machine), UserData=script, ClientToken=once)
        return made["Instances"][0]

    def end(self, machine, instance):
        if instance and instance["State"]["Name"] in STATES:
            self.client.terminate_instances(InstanceIds=[instance["InstanceId"]])
        turn = self.request.state / f"{machine}.turn"
        turn.write_text(str(int(turn.read_text()) + 1 if turn.exists() else 1))


def tell_instance(machine, instance):
    state = STATES.get(instance["State"]["Name"] if instance else "", "absent")
    if instance is None:
        return tell(machine, "absent")
    about = {"instance": instance["InstanceId"], "type": instance["InstanceType"]}
    if state != "running":
        about["reason"] = instance.get("StateReason", {}).get("Code") or instance["State"]["Name"]
    if state == "pending":
        about["job"] = instance["InstanceId"]
    return tell(machine, state, **about)


def work_on(ec2, machine, known):
    verb, instance = ec2.request.verb, known.get(machine)
    if verb == "create":
        lives = instance and instance["State"]["Name"] in ("pending", "running")
        if not lives:
            say("step", machine, step="start")
            if instance and instance["State"]["Name"] in STATES:  # stopped: its token is used up
                ec2.end(machine, instance)
            instance = ec2.start(machine)
    elif verb == "remove":
        say("step", machine, step="remove")
        ec2.end(machine, instance)
        return tell(machine, "absent")
    elif verb == "check":
        say("step", machine, step="check")
        try:
            ec2.client.run_instances(**ec2.order(machine), DryRun=True)
        except botocore.exceptions.ClientError as why:
            if why.response["Error"]["Code"] != "DryRunOperation":
                raise
    return tell_instance(machine, instance)


def carry_out(request):
    try:
        ec2 = Ec2(request)
        known = ec2.instances()
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as why:
        raise failure("connect", why) from why
    failed = {}
    for machine in request.machines:
        try:
            work_on(ec2, machine, known)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as why:
            failed[machine] = failure(request.verb, why)
    if request.verb == "list":
        for machine, instance in known.items():
            if machine not in request.machines and instance["State"]["Name"] in STATES:
                tell_instance(machine, instance)
    return failed


if __name__ == "__main__":
    sys.exit(main(carry_out))
