#!/usr/bin/env python3
"""Tells the Lockstep agent of a VM that the cloud is about to take the VM away.

Runs on the VM as root or as the agent's account, e.g. as a systemd service:
    watch_notice.py --cloud ec2|azure --home /var/lib/lockstep/agent
EC2: spot/instance-action of the instance metadata service (IMDSv2), two minutes before. Azure: Scheduled Events of type
Preempt, Terminate, Redeploy or Reboot, 30 s to 15 minutes before. Ends when it has told the agent.
"""
import argparse
import datetime
import email.utils
import json
import subprocess
import time
import urllib.error
import urllib.request

METADATA = "http://169.254.169.254"
TAKES = {"Preempt", "Terminate", "Redeploy", "Reboot"}
AT_LEAST_S, AT_MOST_S = 1, 86400


def fetch(url, headers, method="GET"):
    request = urllib.request.Request(url, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.read(65536).decode()
    except urllib.error.HTTPError as error:
        if error.code == 404:  # EC2: no action is planned
            return None
        raise


def seconds_until(when):
    left = (when - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
    return min(max(int(left), AT_LEAST_S), AT_MOST_S)


def ec2(metadata):
    token = fetch(f"{metadata}/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    text = fetch(f"{metadata}/latest/meta-data/spot/instance-action", {"X-aws-ec2-metadata-token": token or ""})
    if text is None:
        return None
    action = json.loads(text)
    when = datetime.datetime.fromisoformat(action["time"].replace("Z", "+00:00"))
    return seconds_until(when), f"EC2 will {action['action']} this spot instance"


def azure(metadata):
    text = fetch(f"{metadata}/metadata/scheduledevents?api-version=2020-07-01", {"Metadata": "true"})
    for event in json.loads(text or "{}").get("Events", []):
        if event["EventType"] in TAKES:
            # Empty: it has begun.
            when = event.get("NotBefore")
            left = seconds_until(email.utils.parsedate_to_datetime(when)) if when else AT_LEAST_S
            return left, f"Azure: {event['EventType']} of this VM"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cloud", choices=("ec2", "azure"), required=True)
    parser.add_argument("--home", required=True, help="of the agent")
    parser.add_argument("--agent", default="lockstep-agent")
    parser.add_argument("--every", type=float, default=2, help="seconds between two questions")
    parser.add_argument("--metadata", default=METADATA)
    options = parser.parse_args()
    ask = {"ec2": ec2, "azure": azure}[options.cloud]
    while True:
        try:
            notice = ask(options.metadata)
        except (OSError, ValueError, KeyError) as error:
            print(f"watch_notice: {error}; asking again", flush=True)
            notice = None
        if notice:
            seconds, reason = notice
            subprocess.run([options.agent, "notice", "--home", options.home, "--seconds", str(seconds),
                            "--reason", reason], check=True)
            return
        time.sleep(options.every)


if __name__ == "__main__":
    main()
