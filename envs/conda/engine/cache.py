"""What rattler's cache has of the packages of an order, and by which address."""

import asyncio
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import tempfile

import rattler
from rattler.package_cache import PackageCache, ValidationMode

from archives import KEPT_SECONDS, archive_in, drop_old, own_archive
from common import Refused, hash_of, is_local, is_of_full_disk, say


def record_of(package, folder):
    """The index.json of a package is what rattler reads records from."""
    path = pathlib.Path(folder, "index.json")
    fields = package["record"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    return rattler.PackageRecord.from_index_json(
        path, size=package["size"] or None, sha256=package["sha256"], md5=fields.get("md5"))


def keyed(package):
    """The URL as a key of rattler's cache, which else is name, version and build: what was there
    before a fetch of another package of that name failed would be taken for it afterwards."""
    return f"{package['url']}#sha256:{package['sha256']}"


class Wanted:
    """A package of an order. `address`: by which rattler's cache has it or finds it on this
    machine; None: the cache has no copy."""

    def __init__(self, order, package, folder):
        self.package, self.record = package, record_of(package, folder)
        self.name, self.is_local = package["record"]["name"], is_local(package["url"])
        self.key = keyed(package)
        self.own = own_archive(order, package)
        self.is_own_whole = False
        self.archives = []
        if not self.is_local:
            others = [archive_in(order["archives"], package)] if order["archives"] else []
            self.archives = [*others, self.own]
        self.address = None

    def at(self, address):
        file_name = self.package["url"].rpartition("/")[2]
        return rattler.RepoDataRecord(self.record, file_name, address,
                                      self.package["record"].get("channel") or "")

    def has_own(self):
        """Hashed, once: who left it may have been killed, and the disk may have lost some of it."""
        if not self.is_own_whole:
            with contextlib.suppress(OSError):
                self.is_own_whole = hash_of(self.own, "sha256") == self.package["sha256"]
        return self.is_own_whole and self.own.is_file()

    def has(self, archive):
        if archive == self.own:
            return self.has_own()
        with contextlib.suppress(OSError):  # the agent has hashed it
            return archive.stat().st_size == self.package["size"]
        return False

    def found_in(self, index):
        if index.contains_record(self.at(self.key)):
            return self.key
        for archive in self.archives:
            if index.contains_record(self.at(archive.as_uri())) or self.has(archive):
                return archive.as_uri()
        return None


def all_wanted(order, folder):
    return [Wanted(order, package, folder) for package in order["packages"]]


def folder_of(order):
    return pathlib.Path(order["cache"], "packages")


def cache_of(order):
    mode = ValidationMode.full() if order["is_rebuild"] else None
    return PackageCache.new_layered([folder_of(order)], cache_origin=True, validation_mode=mode)


def is_alone(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_leftovers(folder, older_than):
    """What others left half made, and archives."""
    for entry in os.scandir(folder):
        if entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
    drop_old(folder.with_name("archives"), older_than)


@contextlib.contextmanager
def cache_in_use(order):
    """Builds have it together. One that is alone removes what was left; of a full disk all."""
    folder = folder_of(order)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name("packages.lock"), "w", encoding="utf-8") as lock:
        if is_alone(lock):
            remove_leftovers(folder, KEPT_SECONDS)
        fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            yield
        except (Refused, OSError) as error:
            if is_of_full_disk(error) and is_alone(lock):
                remove_leftovers(folder, 0)
            raise


@contextlib.asynccontextmanager
async def alone_to_link(order):
    """Rattler lets one build link, and does not say that the others wait."""
    with open(folder_of(order).with_name("linking.lock"), "w", encoding="utf-8") as lock:
        if not is_alone(lock):
            say("waiting: another build links")
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        yield


async def missing(order):
    with cache_in_use(order), tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        index = await cache_of(order).index()
        return {"missing": [each.package["sha256"] for each in all_wanted(order, scratch)
                            if not each.is_local and each.found_in(index) is None]}
