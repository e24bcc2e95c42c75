"""Of packages with their hashes, an environment. What was fetched stays in the cache."""

import json
import os
import re
import shutil
import tempfile

import rattler
import rattler.exceptions as failures

from cache import all_wanted, alone_to_link, cache_in_use, cache_of
from clobbered import no_record, record_path, say_clobbered
from common import (MEGABYTE, Refused, cause_of, client, hash_of, is_of_full_disk, local_path,
                    masked, say)
from download import download
from packages import OUTSIDE, fetch, package_failure, remember, wrong_hash
from reporter import Reporter
from scripts import run_link_scripts

ITS_URL = re.compile(r'^(  "url": )"(?:[^"\\]|\\.)*"', re.MULTILINE)
NAMED = re.compile(r"failed to (?:fetch|link) (\S+\.(?:conda|tar\.bz2))")
RECORDS = "failed to determine the currently installed packages"
IN_THE_WAY = "removing clobbered file"
PANIC = "the operation was cancelled"  # unless the process is aborted before that is said


def forget_keys(packages, prefix):
    """Puts addresses in the place of keys. In the text, where it is as rattler writes it: that
    lists each file of a package, and parsing it takes longer than linking them."""
    for package in packages:
        path = record_path(prefix, package["record"])
        text = path.read_text(encoding="utf-8")
        address = json.dumps(package["url"])
        changed, count = ITS_URL.subn(lambda found: found[1] + address, text, count=1)
        if count == 0:
            changed = json.dumps({**json.loads(text), "url": package["url"]}, indent=2)
        path.write_text(changed, encoding="utf-8")


def say_what_is_fetched(missing):
    total = sum(each.package["size"] for each in missing)
    size = f" ({-(-total // MEGABYTE)} MB)" if total >= MEGABYTE else ""
    say(f"fetching {len(missing)} of them{size}: {', '.join(each.name for each in missing)}")


async def bring(order, cache, missing, known=True):
    """What is missing in rattler's cache, to where rattler unpacks it from. `known`: unless another build
    has brought it meanwhile."""
    for each in missing:
        if each.is_local:  # rattler does not hash these
            url, wanted = each.package["url"], each.package["sha256"]
            found = hash_of(await fetch(url, None), "sha256")
            if found != wanted:
                raise wrong_hash(url, wanted, found)
            each.address = each.key
    remote = [each for each in missing if not each.is_local]

    async def is_known(each):
        return known and each.found_in(await cache.index()) is not None

    if remote:
        await download(order, remote, is_known)
        index = await cache.index()
        for each in remote:
            # Another build that unpacks it then removes the archive.
            each.address = (each.found_in(index) if known else None) or each.own.as_uri()


def named_in(wanted, error):
    """The package that could not be fetched or linked."""
    found = NAMED.search(cause_of(error))
    for each in wanted if found else []:
        if each.package["url"].endswith("/" + found.group(1)):
            return each
    return None


def is_damaged(each, error):
    """Rattler's cache has it, but not whole, and the archive that it was unpacked from is gone."""
    return each is not None and "failed to fetch" in str(error) and \
        each.address.startswith("file:") and not local_path(each.address).is_file()


def start_over(order):
    """Takes away what is linked; ours stays."""
    for entry in os.scandir(order["prefix"]):
        if entry.name == ".lockstep":
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


async def link(order, cache, wanted):
    first = None  # what is linked before all others
    while True:
        reporter = Reporter(wanted, order["result"])
        try:
            async with alone_to_link(order):
                for some in ([first], wanted) if first else (wanted,):
                    await rattler.install([each.at(each.address) for each in some],
                                          order["prefix"], package_cache=cache, client=client(),
                                          reporter=reporter, show_progress=False,
                                          platform=rattler.Platform(order["subdir"]))
            return
        except failures.InstallerError as error:
            named = named_in(wanted, error)
            # Rattler cannot link a file where another package's folder is, though the other order works.
            if named and not first and IN_THE_WAY in cause_of(error):
                start_over(order)
                first = named
                continue
            if not is_damaged(named, error):
                raise install_failure(order, named, reporter, error) from error
            say(f"{named.name} is damaged in the cache: fetching it again")
            await bring(order, cache, [named], known=False)


async def install(order):
    with cache_in_use(order), tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        cache, wanted = cache_of(order), all_wanted(order, scratch)
        index = await cache.index()
        for each in wanted:
            each.address = each.found_in(index)
        missing = [each for each in wanted if each.address is None]
        say(f"installing {len(wanted)} packages")
        if missing:
            say_what_is_fetched(missing)
            await bring(order, cache, missing)
        await link(order, cache, wanted)
    say_clobbered(order)
    forget_keys(order["packages"], order["prefix"])
    await run_link_scripts(order, wanted)
    remember(order)
    return {}


def install_failure(order, named, reporter, error):
    text = cause_of(error)
    if RECORDS in text and (failure := no_record(order)):
        return failure
    if PANIC in text:
        return Refused("corrupt", reporter.linking.failure())
    if is_of_full_disk(text):
        return Refused("resource_exhausted", f"installing: {text}")
    if named and re.search(OUTSIDE, text):
        return package_failure(named.package["url"], error)
    if named and "failed to fetch" in text:
        if not named.address.startswith("file:"):
            return package_failure(named.package["url"], error)
        return Refused("corrupt", f"{masked(named.package['url'])} cannot be unpacked: {text}")
    return Refused("io", f"the packages could not be installed: {text}")
