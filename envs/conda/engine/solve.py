"""From channels and what is asked of them, or from a lock file, to packages with their hashes."""

import asyncio
import json
import os
import pathlib
import re

import rattler
import rattler.exceptions as failures
from rattler.virtual_package.generic import GenericVirtualPackage

from common import (Progress, Refused, cause_of, client, is_local, is_not_there, is_of_full_disk,
                    masked, not_reached, say)
from packages import locked_package
from retry import ask
from silence import Activity

ALIAS = os.environ.get("CONDA_CHANNEL_ALIAS", "https://conda.anaconda.org").rstrip("/") + "/"
DEFAULTS = ["https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"]
# What every node has; the kernel and the processor are conda-lock's defaults.
EVERYWHERE = {"__unix": "0", "__linux": "5.10"}
PROCESSORS = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}
PACKAGES_AT_ONCE = 8
KEYS = ("name", "version", "build", "url", "sha256")
OF_CHANNEL = re.compile(r'(?<=[\[,])channel="([^"]*)"')
NO_CANDIDATES = "o candidates"
INDICES = ("repodata.json", "repodata.json.zst", "repodata_shards.msgpack.zst")
BROKEN = r"failed to (parse|deserialize|decompress|decode)|while parsing|expected .* at line" \
    r"|frame descriptor|bz2 header"


def channels_of(names):
    if masked(ALIAS) != ALIAS:
        raise Refused("permission_denied", "CONDA_CHANNEL_ALIAS in the agent's environment holds a "
                      "password or a token, which everybody could read in the lock: "
                      "leave it out; nodes take credentials from ~/.netrc of the user, or from the "
                      "file that RATTLER_AUTH_FILE names")
    config = rattler.ChannelConfig(channel_alias=ALIAS, root_dir="/")
    channels = []
    for name in names:
        if name == "nodefaults":
            continue
        try:
            for each in DEFAULTS if name == "defaults" else [name]:
                channels.append(rattler.Channel(each, config))
        except failures.InvalidChannelError as error:
            raise Refused("invalid_argument",
                          f"'{name}' is not a conda channel: {error}") from error
    return channels


def specs_of(texts):
    specs = []
    for text in texts:
        try:
            specs.append(rattler.MatchSpec(text))
        except (failures.InvalidMatchSpecError, failures.InvalidVersionSpecError,
                failures.InvalidPackageNameError, failures.InvalidChannelError) as error:
            raise Refused("invalid_argument",
                          f"'{text}' is not a conda package: {error}") from error
    return specs


def virtual_packages_of(order):
    versions = {**EVERYWHERE, **dict(text.split("=", 1) for text in order["virtual_packages"])}
    builds = {name: "0" for name in versions}
    if order["subdir"] in PROCESSORS and "__archspec" not in versions:
        versions["__archspec"], builds["__archspec"] = "1", PROCESSORS[order["subdir"]]
    return [GenericVirtualPackage(rattler.PackageName(name), rattler.Version(version),
                                  rattler.BuildString(builds[name]))
            for name, version in sorted(versions.items())]


def credentials():
    path = os.environ.get("RATTLER_AUTH_FILE")
    if path and not os.path.isfile(path):
        return f"RATTLER_AUTH_FILE names {path}, which does not exist"
    return ("credentials are those in ~/.netrc of the user on the node, or in the file that "
            "RATTLER_AUTH_FILE names in the agent's environment")


def channel_failure(channel, error):
    where, text = masked(channel), cause_of(error)
    if "could not find subdir" in text or re.search(r"HTTP status client error \((404|410)", text):
        return Refused("not_found", f"there is no conda channel {where}: {text}")
    if re.search(r"HTTP status client error \((401|403)", text):
        return Refused("permission_denied", f"the conda channel {where} may not be read: {text} "
                       f"({credentials()})")
    if is_of_full_disk(text):
        return Refused("resource_exhausted", f"fetching the index of {where}: {text}")
    if is_local(channel) or re.search(BROKEN, text):
        return Refused("corrupt", f"the conda channel {where} is broken: {text}")
    return Refused("unavailable", f"the conda channel {where} was not reached: "
                   f"{not_reached(channel, error)}")


async def query(gateway, channel, platforms, name):
    return await ask(lambda: gateway.query([channel], platforms, [name], recursive=False),
                     Activity(), f"the conda channel {channel.base_url}",
                     lambda error: channel_failure(channel.base_url, error))


async def fetch_indices(gateway, channels, platforms):
    """One after the other, so that the one that fails has a name."""
    for channel in channels:
        say(f"fetching the index of {channel.base_url}")
        await query(gateway, channel, platforms, "lockstep-asks-for-none")


def named_channels(name, listed):
    """Of "NAME::package": a channel that is listed, if its address ends so."""
    if name == "defaults" or "://" in name:
        return channels_of([name])
    return [each for each in listed if each.base_url.endswith(f"/{name.strip('/')}/")][:1] or \
        channels_of([name])


async def held_to_channel(spec, channels, order, gateway):
    """The spec with its channel's address. Channels that are not listed come after the others."""
    found = OF_CHANNEL.search(text := spec.to_canonical_string())
    if found is None:
        return spec
    named = named_channels(found.group(1), channels)
    known = {channel.base_url for channel in channels}
    new = [channel for channel in named if channel.base_url not in known]
    await fetch_indices(gateway, new, platforms_of(order))
    channels += new
    chosen = named[0]
    for channel in named if len(named) > 1 else []:
        if any(await query(gateway, channel, platforms_of(order), spec.name.normalized)):
            chosen = channel
            break
    return rattler.MatchSpec(text[:found.start(1)] + chosen.base_url + text[found.end(1):])


def names_of(specs):
    """rattler loads what any of the specs matches: with these, all versions of a package are seen,
    and so which channel is the first that has it."""
    return [rattler.MatchSpec(spec.name.normalized) for spec in specs
            if spec.channel is None and spec.condition is None]


def lacks_subdir(channel, subdir):
    """Rattler takes that for a channel of noarch packages alone, which is legal."""
    return all(is_not_there(f"{channel.base_url}{subdir}/{name}") for name in INDICES)


def naming_lacking_subdirs(refused, channels, order):
    """Then it may not be the definition's fault that a package is not found."""
    subdir = order["subdir"]
    lacking = [each.base_url for each in channels if lacks_subdir(each, subdir)]
    if not lacking:
        return refused
    return Refused("not_found", f"{refused}\n" + "\n".join(
        f"the channel {masked(url)} has no packages for {subdir}: there is no "
        f"{masked(url)}{subdir}/{INDICES[0]}" for url in lacking))


def platforms_of(order):
    return [order["subdir"], "noarch"]


def solver_failure(channels, error):
    text = masked(str(error)).strip()
    if NO_CANDIDATES in text:
        text += "\nthe channels are " + masked(", ".join(each.base_url for each in channels))
    if "strict channel priority" in text:
        text += "\nto have a package of another channel, ask for CHANNEL::PACKAGE"
    return Refused("invalid_argument", f"the environment cannot be solved: {text}")


async def solve_specs(order):
    specs = specs_of(order["specs"])
    channels = channels_of(order["channels"])
    if any(spec.channel is None for spec in specs) and not channels:
        raise Refused("invalid_argument", "no conda channel is named; add, for example, "
                      "`channels: [conda-forge]`")
    gateway = rattler.Gateway(cache_dir=pathlib.Path(order["cache"], "index"), client=client())
    await fetch_indices(gateway, channels, platforms_of(order))
    specs = [await held_to_channel(spec, channels, order, gateway) for spec in specs]
    say(f"solving for {order['subdir']} " + " ".join(order["virtual_packages"]))
    priorities, addresses = rattler.ChannelPriority, " ".join(each.base_url for each in channels)
    def solved():
        return rattler.solve(channels, specs + (names_of(specs) if order["strict"] else []),
                             gateway=gateway, platforms=platforms_of(order),
                             virtual_packages=virtual_packages_of(order),
                             channel_priority=priorities.Strict if order["strict"]
                             else priorities.Disabled)

    def failure_of(error):
        if isinstance(error, failures.SolverError):
            return solver_failure(channels, error)
        return channel_failure(addresses, error)

    try:
        return await ask(solved, Activity(), f"the conda channel {addresses}", failure_of)
    except Refused as refused:
        if NO_CANDIDATES in str(refused):
            raise naming_lacking_subdirs(refused, channels, order) from refused
        raise


async def locked_packages(order):
    progress, some, done = Progress(), asyncio.Semaphore(PACKAGES_AT_ONCE), 0

    async def one(entry):
        nonlocal done
        async with some:
            record = await locked_package(entry, order, progress)
        done += 1
        progress.say(f"read {done}/{len(order['locked'])} packages of the lock")
        return record

    return await asyncio.gather(*map(one, order["locked"]))


async def solve(order):
    pathlib.Path(order["cache"]).mkdir(parents=True, exist_ok=True)
    records = []
    if order["locked"] is None:
        records = [json.loads(record.to_json()) for record in await solve_specs(order)]
    else:
        records = await locked_packages(order)
    packages, progress = [], Progress()
    for record in sorted(records, key=lambda record: (record["name"], record["url"])):
        if not record.get("sha256"):  # of an old index: what is fetched now counts
            entry = record["url"] + ("#md5:" + record["md5"] if record.get("md5") else "")
            found = await locked_package(entry, order, progress, record.get("size") or 0)
            record.update({key: found[key] for key in ("sha256", "md5", "size")})
        packages.append({**{key: record[key] for key in KEYS},
                         "size": record.get("size") or 0, "record": record})
    return {"packages": packages}
