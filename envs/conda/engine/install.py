"""Of packages with their hashes, an environment. What was fetched stays in the cache."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import tempfile

import rattler
import rattler.exceptions as failures
from rattler.install import InstallerReporter
from rattler.package_cache import PackageCache, ValidationMode

from common import MEGABYTE, Progress, Refused, cause_of, client, hash_of, is_local, say, sizes
from packages import OUTSIDE, checksum_failure, fetch, package_failure, remember, wrong_hash


ITS_URL = re.compile(r'^(  "url": )"(?:[^"\\]|\\.)*"', re.MULTILINE)


class Reporter(InstallerReporter):
    """Sums of what rattler does at once."""

    def __init__(self, count, total_bytes):
        self.count, self.total_bytes = count, total_bytes
        self.linked = 0
        self.names, self.fetched = [], {}
        self.progress = Progress()

    def on_populate_cache_start(self, operation, package_name):
        self.names.append(package_name)
        return len(self.names) - 1

    def on_download_start(self, cache_entry):
        return cache_entry

    def on_download_progress(self, download_idx, progress, total):
        self.fetched[download_idx] = progress
        done = sum(self.fetched.values())
        total = max(self.total_bytes, done)
        self.progress.say(f"download {sizes(done, total)} ({self.names[download_idx]})")

    def on_link_complete(self, index):
        self.linked += 1
        self.progress.say(f"link {self.linked}/{self.count} packages", self.linked == self.count)

    def on_post_link_complete(self, index, success):
        if not success:
            say("a package's post-link script failed")


def record_of(package, key, folder):
    """The index.json of a package is what rattler reads records from."""
    path = pathlib.Path(folder, "index.json")
    fields = package["record"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    record = rattler.PackageRecord.from_index_json(
        path, size=package["size"] or None, sha256=package["sha256"], md5=fields.get("md5"))
    file_name = package["url"].rpartition("/")[2]
    return rattler.RepoDataRecord(record, file_name, key, fields.get("channel") or "")


def keyed(package):
    """The URL as a key of rattler's cache, which else is name, version and build: what was there
    before a fetch of another package of that name failed would be taken for it afterwards."""
    return f"{package['url']}#sha256:{package['sha256']}"


def archive_of(order, package):
    """Where the agent puts it when it has it from another node; None: no node would give it."""
    if not order["archives"] or is_local(package["url"]):
        return None
    record = package["record"]
    ending = ".conda" if package["url"].endswith(".conda") else ".tar.bz2"
    name = f"{record['name']}-{record['version']}-{record['build']}{ending}"
    return pathlib.Path(order["archives"], package["sha256"], name)


def forget_keys(packages, prefix):
    """Puts addresses in the place of keys. In the text, where it is as rattler writes it: that
    lists each file of a package, and parsing it takes longer than linking them."""
    for package in packages:
        record = package["record"]
        name = f"{record['name']}-{record['version']}-{record['build']}.json"
        path = pathlib.Path(prefix, "conda-meta", name)
        text = path.read_text(encoding="utf-8")
        address = json.dumps(package["url"])
        changed, count = ITS_URL.subn(lambda found: found[1] + address, text, count=1)
        if count == 0:
            changed = json.dumps({**json.loads(text), "url": package["url"]}, indent=2)
        path.write_text(changed, encoding="utf-8")


@contextlib.contextmanager
def cache_in_use(folder):
    """Builds have it together. One that is alone removes what others left half unpacked."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name("packages.lock"), "w", encoding="utf-8") as lock:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for entry in os.scandir(folder):
                if entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def record_in(index, order, package, folder):
    """rattler's record of a package, by the key under which its cache has it or will have it, and
    whether it will fetch it."""
    record = record_of(package, keyed(package), folder)
    archive = archive_of(order, package)
    if archive is None or index.contains_record(record):
        return record, not index.contains_record(record)
    from_archive = record_of(package, archive.as_uri(), folder)
    if archive.is_file() or index.contains_record(from_archive):
        return from_archive, False
    return record, True


async def records_to_fetch(order, cache, folder):
    """rattler's records of all packages, and the packages that it will fetch."""
    index = await cache.index()
    records, missing = [], []
    for package in order["packages"]:
        record, is_missing = record_in(index, order, package, folder)
        records.append(record)
        if not is_missing:
            continue
        missing.append(package)
        if is_local(package["url"]):  # rattler does not hash these
            found = hash_of(await fetch(package["url"], None), "sha256")
            if found != package["sha256"]:
                raise wrong_hash(package["url"], package["sha256"], found)
    return records, missing


def say_what_is_fetched(packages, total):
    names = ", ".join(package["record"]["name"] for package in packages)
    size = f" ({-(-total // MEGABYTE)} MB)" if total >= MEGABYTE else ""
    say(f"fetching {len(packages)} of them{size}: {names}")


def cache_of(order, folder):
    mode = ValidationMode.full() if order["is_rebuild"] else None
    return PackageCache.new_layered([folder], cache_origin=True, validation_mode=mode)


async def lacks(order):
    folder = pathlib.Path(order["cache"], "packages")
    with cache_in_use(folder), tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        index = await cache_of(order, folder).index()
        return {"lacks": [package["sha256"] for package in order["packages"]
                          if not is_local(package["url"])
                          and record_in(index, order, package, scratch)[1]]}


async def install(order):
    folder = pathlib.Path(order["cache"], "packages")
    with cache_in_use(folder), tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        cache = cache_of(order, folder)
        records, missing = await records_to_fetch(order, cache, scratch)
        total = sum(package["size"] for package in missing)
        say(f"installing {len(records)} packages")
        if missing:
            say_what_is_fetched(missing, total)
        try:
            await rattler.install(records, order["prefix"], package_cache=cache, client=client(),
                                  platform=rattler.Platform(order["subdir"]),
                                  reporter=Reporter(len(records), total), show_progress=False,
                                  execute_link_scripts=True)
        except failures.InstallerError as error:
            raise await install_failure(order["packages"], scratch, error) from error
    forget_keys(order["packages"], order["prefix"])
    remember(order)
    return {}


async def install_failure(packages, scratch, error):
    text = cause_of(error)
    named = re.search(r"failed to (?:fetch|link) (\S+\.(?:conda|tar\.bz2))", text)
    for package in packages if named else []:
        url = package["url"]
        if not url.endswith("/" + named.group(1)):
            continue
        if "Invalid checksum" in text:
            return await checksum_failure(url, package["sha256"], scratch)
        if "failed to fetch" in text or re.search(OUTSIDE, text):
            return package_failure(url, error)
    if "No space left" in text or "Disk quota" in text:
        return Refused("resource_exhausted", f"installing: {text}")
    return Refused("io", f"the packages could not be installed: {text}")
