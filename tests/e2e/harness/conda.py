"""Conda channels and files that tests write."""
import json
import subprocess
import sys

from .site import ROOT

MAKE_CHANNEL = ROOT / "tests" / "support" / "conda_channel.py"


def channel(site, name, packages):
    """Writes packages to a channel; returns its address, and url, sha256 and md5 of each package by name."""
    spec = site.write(f"{name}.json", json.dumps(packages))
    folder = site.directory / name
    done = subprocess.run([sys.executable, MAKE_CHANNEL, folder, spec], check=True, stdout=subprocess.PIPE, text=True)
    written = [json.loads(line) for line in done.stdout.splitlines()]
    return folder.as_uri(), {p["name"]: w for p, w in zip(packages, written)}


def conda_file(site, name, address, *dependencies, more=""):
    listed = "".join(f"  - {text}\n" for text in dependencies)
    addresses = address if isinstance(address, list) else [address]
    channels = "".join(f"  - {text}\n" for text in addresses)
    return site.write(name, f"channels:\n{channels}  - nodefaults\ndependencies:\n{listed}{more}")
