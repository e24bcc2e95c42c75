"""What lockstep-env has py-rattler do: engine.py WHAT ORDER.json RESULT.json

WHAT is solve (to packages with URL, SHA-256 and record) or install (of exactly those). Lines on
standard output say how far it is. RESULT.json holds the answer, or {"code", "message"} with exit
code 1. Written for Python 3.10 and py-rattler 0.28.
"""

import asyncio
import errno
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import urllib.parse
import warnings

import rattler
import rattler.exceptions as failures
from rattler.install import InstallerReporter
from rattler.package_cache import PackageCache, ValidationMode
from rattler.package_streaming import PackageArchive, download_to_path
from rattler.virtual_package.generic import GenericVirtualPackage

ALIAS = os.environ.get("CONDA_CHANNEL_ALIAS", "https://conda.anaconda.org").rstrip("/") + "/"
DEFAULTS = ["https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"]
# What every node has; the kernel and the processor are conda-lock's defaults.
EVERYWHERE = {"__unix": "0", "__linux": "5.10"}
PROCESSORS = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}
MEGABYTE = 1_000_000
SECONDS_BETWEEN_LINES = 0.25
MAX_LINE = 200
PACKAGES_AT_ONCE = 8
KEYS = ("name", "version", "build", "url", "sha256")


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def masked(text):
    """Without passwords, and without conda's tokens."""
    text = re.sub(r"(://[^\s/@:]*):[^\s/@]*@", r"\1:****@", text)
    return re.sub(r"/t/[^\s/]+/", "/t/****/", text)


def say(line):
    print(masked(line)[:MAX_LINE], flush=True)


class Progress:
    """Lines that come often: not more than four a second."""

    def __init__(self):
        self.last = 0.0

    def say(self, line, always=False):
        now = time.monotonic()
        if always or now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            say(line)


def is_local(url):
    return url.startswith("file://")


def local_path(url):
    return pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(url).path))


def hash_of(path, kind):
    total = hashlib.new(kind)
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()


def client():
    return rattler.Client.default_client(max_retries=3)


# ---- solve --------------------------------------------------------------------------------------


def channels_of(names):
    config = rattler.ChannelConfig(channel_alias=ALIAS, root_dir="/")
    channels = []
    for name in names:
        if name == "nodefaults":
            continue
        try:
            for each in DEFAULTS if name == "defaults" else [name]:
                channels.append(rattler.Channel(each, config))
        except failures.InvalidChannelError as error:
            raise Refused("invalid_argument", f"'{name}' is no conda channel: {error}") from error
    return channels


def specs_of(texts):
    specs = []
    for text in texts:
        try:
            specs.append(rattler.MatchSpec(text))
        except (failures.InvalidMatchSpecError, failures.InvalidVersionSpecError,
                failures.InvalidPackageNameError, failures.InvalidChannelError) as error:
            raise Refused("invalid_argument", f"'{text}' is no conda package: {error}") from error
    return specs


def virtual_packages_of(order):
    versions = {**EVERYWHERE, **dict(text.split("=", 1) for text in order["virtual_packages"])}
    builds = {name: "0" for name in versions}
    if order["subdir"] in PROCESSORS and "__archspec" not in versions:
        versions["__archspec"], builds["__archspec"] = "1", PROCESSORS[order["subdir"]]
    return [GenericVirtualPackage(rattler.PackageName(name), rattler.Version(version),
                                  rattler.BuildString(builds[name]))
            for name, version in sorted(versions.items())]


def channel_failure(channel, error):
    where, text = masked(channel), str(error)
    if "could not find subdir" in text or re.search(r"HTTP status client error \((404|410)", text):
        return Refused("invalid_argument", f"there is no conda channel {where}: {text}")
    if re.search(r"HTTP status client error \((401|403)", text):
        return Refused("unavailable", f"the conda channel {where} may not be read: {text}")
    if is_local(channel):
        return Refused("invalid_argument", f"the conda channel {where} is broken: {text}")
    return Refused("unavailable", f"the conda channel {where} was not reached: {text}")


async def fetch_indices(gateway, channels, platforms):
    """One after the other, so that the one that fails has a name."""
    for channel in channels:
        say(f"fetching the index of {channel.base_url}")
        try:
            await gateway.query([channel], platforms, ["lockstep-asks-for-none"], recursive=False)
        except Exception as error:
            raise channel_failure(channel.base_url, error) from error


async def solve_specs(order):
    specs = specs_of(order["specs"])
    channels = channels_of(order["channels"])
    known = {channel.base_url for channel in channels}
    for spec in specs:  # "conda-forge::zlib" names one more
        if spec.channel is not None and spec.channel.base_url not in known:
            known.add(spec.channel.base_url)
            channels.append(spec.channel)
    if specs and not channels:
        raise Refused("invalid_argument", "no conda channel is named; add, for example, "
                      "`channels: [conda-forge]`")
    platforms = [order["subdir"], "noarch"]
    gateway = rattler.Gateway(cache_dir=pathlib.Path(order["cache"], "index"), client=client())
    await fetch_indices(gateway, channels, platforms)
    say(f"solving for {order['subdir']} " + " ".join(order["virtual_packages"]))
    priorities = rattler.ChannelPriority
    try:
        return await rattler.solve(channels, specs, gateway=gateway, platforms=platforms,
                                   virtual_packages=virtual_packages_of(order),
                                   channel_priority=priorities.Strict if order["strict"]
                                   else priorities.Disabled)
    except failures.SolverError as error:
        text = masked(str(error)).strip()
        raise Refused("invalid_argument", f"the environment cannot be solved: {text}") from error
    except failures.GatewayError as error:
        raise channel_failure(" ".join(sorted(known)), error) from error


def package_failure(url, error):
    text = re.sub("#sha256:[0-9a-f]{64}", "", masked(str(error)))
    name = masked(url)
    if mismatch := re.search(r"expected ([0-9a-f]{64}), got ([0-9a-f]{64})", text):
        return wrong_hash(url, *mismatch.groups())
    if re.search(r"HTTP status client error \((404|410)", text):
        return Refused("not_found", f"there is no package {name} any more: {text}")
    if "No space left" in text or "Disk quota" in text:
        return Refused("resource_exhausted", f"fetching {name}: {text}")
    return Refused("unavailable", f"the package {name} could not be fetched: {text}")


def wrong_hash(url, expected, found, kind="SHA-256"):
    return Refused("corrupt", f"{masked(url)} is not the package that was asked for: its {kind} is "
                   f"{found}, not {expected}")


async def fetch(url, path):
    """The archive's path: `path`, or where it lies already."""
    if is_local(url):
        if not local_path(url).is_file():
            raise Refused("not_found", f"there is no package {masked(url)}")
        return local_path(url)
    try:
        await download_to_path(client(), url, path)
    except Exception as error:
        raise package_failure(url, error) from error
    return path


async def index_of(url, archive):
    try:
        if archive is not None:
            opened = await PackageArchive.from_path(archive)
        else:
            opened = await PackageArchive.from_url(client(), url)
        text = await opened.read_file("info/index.json")
    except Exception as error:
        if archive is None:
            raise package_failure(url, error) from error
        raise Refused("corrupt", f"{masked(url)} is no conda package: {error}") from error
    if text is None:
        raise Refused("corrupt", f"{masked(url)} is no conda package: it has no index.json")
    return json.loads(text)


async def locked_package(entry, order):
    """As solve's: fetched only where its SHA-256 is not known."""
    url, _, rest = entry.partition("#")
    kind, _, wanted = rest.partition(":")
    record = {}
    with tempfile.TemporaryDirectory(dir=order["cache"]) as folder:
        archive = None
        if kind != "sha256" or is_local(url):
            archive = await fetch(url, pathlib.Path(folder, url.rpartition("/")[2]))
            record = {each: hash_of(archive, each) for each in ("md5", "sha256")}
            record["size"] = archive.stat().st_size
            if wanted and record[kind] != wanted.lower():
                name = "SHA-256" if kind == "sha256" else "MD5"
                raise wrong_hash(url, wanted.lower(), record[kind], name)
        else:
            record["sha256"] = wanted.lower()
        index = await index_of(url, archive)
    channel, subdir, file_name = url.rsplit("/", 2)
    return {**index, **record, "subdir": index.get("subdir") or subdir, "fn": file_name, "url": url,
            "channel": channel}


async def locked_packages(order):
    progress, some, done = Progress(), asyncio.Semaphore(PACKAGES_AT_ONCE), 0

    async def one(entry):
        nonlocal done
        async with some:
            record = await locked_package(entry, order)
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
    packages = []
    for record in sorted(records, key=lambda record: (record["name"], record["url"])):
        if not record.get("sha256"):  # of an old index: what is fetched now counts
            entry = record["url"] + ("#md5:" + record["md5"] if record.get("md5") else "")
            found = await locked_package(entry, order)
            record.update({key: found[key] for key in ("sha256", "md5", "size")})
        packages.append({**{key: record[key] for key in KEYS},
                         "size": record.get("size") or 0, "record": record})
    return {"packages": packages}


# ---- install ------------------------------------------------------------------------------------


class Reporter(InstallerReporter):
    """Sums of what rattler does at once."""

    def __init__(self, count, total_bytes):
        self.count, self.total_bytes = count, total_bytes
        self.linked = self.tokens = 0
        self.fetched = {}
        self.progress = Progress()

    def on_download_start(self, cache_entry):
        self.tokens += 1
        return self.tokens

    def on_download_progress(self, download_idx, progress, total):
        self.fetched[download_idx] = progress
        done = sum(self.fetched.values())
        total = max(self.total_bytes, done)
        self.progress.say(f"download {done / MEGABYTE:.0f}/{total / MEGABYTE:.0f} MB")

    def on_link_complete(self, index):
        self.linked += 1
        self.progress.say(f"link {self.linked}/{self.count} packages", self.linked == self.count)

    def on_post_link_complete(self, index, success):
        if not success:
            say("a package's post-link script failed")


def record_of(package, folder):
    """The index.json of a package is what rattler reads records from."""
    path = pathlib.Path(folder, "index.json")
    fields = package["record"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    record = rattler.PackageRecord.from_index_json(
        path, size=package["size"] or None, sha256=package["sha256"], md5=fields.get("md5"))
    file_name = package["url"].rpartition("/")[2]
    return rattler.RepoDataRecord(record, file_name, keyed(package), fields.get("channel") or "")


def keyed(package):
    """The URL as a key of rattler's cache, which else is name, version and build: what was there
    before a fetch of another package of that name failed would be taken for it afterwards."""
    return f"{package['url']}#sha256:{package['sha256']}"


def forget_keys(packages, prefix):
    urls = {keyed(package): package["url"] for package in packages}
    for path in pathlib.Path(prefix, "conda-meta").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["url"] = urls.get(record["url"], record["url"])
        path.write_text(json.dumps(record, indent=2), encoding="utf-8")


async def install(order):
    cache_folder = pathlib.Path(order["cache"], "packages")
    cache_folder.mkdir(parents=True, exist_ok=True)
    mode = ValidationMode.full() if order["is_rebuild"] else None
    cache = PackageCache.new_layered([cache_folder], cache_origin=True, validation_mode=mode)
    index = await cache.index()
    records, total = [], 0
    with tempfile.TemporaryDirectory(dir=order["cache"]) as folder:
        for package in order["packages"]:
            record = record_of(package, folder)
            records.append(record)
            if index.contains_record(record):
                continue
            total += package["size"]
            if is_local(package["url"]):  # rattler does not hash these
                found = hash_of(await fetch(package["url"], None), "sha256")
                if found != package["sha256"]:
                    raise wrong_hash(package["url"], package["sha256"], found)
    say(f"installing {len(records)} packages")
    try:
        await rattler.install(records, order["prefix"], package_cache=cache, client=client(),
                              platform=rattler.Platform(order["subdir"]),
                              reporter=Reporter(len(records), total), show_progress=False,
                              execute_link_scripts=True)
    except failures.InstallerError as error:
        raise install_failure(order["packages"], error) from error
    forget_keys(order["packages"], order["prefix"])
    return {}


def install_failure(packages, error):
    text = masked(str(error))
    if fetched := re.search(r"failed to fetch (\S+)", text):
        for package in packages:
            if package["url"].endswith("/" + fetched.group(1)):
                return package_failure(package["url"], error)
    if "No space left" in text or "Disk quota" in text:
        return Refused("resource_exhausted", f"installing: {text}")
    return Refused("io", f"the packages could not be installed: {text}")


# ---- what it is told, and what it says ----------------------------------------------------------


def outcome_of(what, order):
    try:
        return 0, asyncio.run({"solve": solve, "install": install}[what](order))
    except Refused as refused:
        return 1, {"code": refused.code, "message": masked(str(refused))}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return 1, {"code": "resource_exhausted" if full else "io", "message": masked(str(error))}
    except Exception as error:  # rattler's, or a mistake of ours: no stack trace is shown
        return 1, {"code": "internal", "message": masked(f"{type(error).__name__}: {error}")}


def main():
    warnings.showwarning = lambda message, *_: say(f"warning: {message}")
    what, order_path, result_path = sys.argv[1:]
    with open(order_path, encoding="utf-8") as file:
        order = json.load(file)
    code, result = outcome_of(what, order)
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump(result, file)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # rattler's threads may hang when the interpreter ends


if __name__ == "__main__":
    main()
