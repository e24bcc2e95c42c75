"""What an environment lacks is fetched from its channels before rattler installs it: rattler holds
its cache alone while it fetches, so that a slow server would hold all builds of a user.

    archives/<SHA-256>/<NAME-VERSION-BUILD.conda>   until rattler's cache has what is in it
    archives/lock-XX    who has it fetches packages whose SHA-256 begins with XX; other builds of
                        the user, on all nodes of this machine that share the folder, wait
"""

import asyncio
import collections
import contextlib
import fcntl
import os
import pathlib
import shutil
import time

from common import Progress, hash_of, say, sizes
from packages import fetch, wrong_hash
from silence import size_of

AT_ONCE = 8
SECONDS_BETWEEN_TRIES = 0.05
KEPT_SECONDS = 24 * 3600  # for the next try of a build that failed


def archive_in(folder, package):
    record = package["record"]
    ending = ".conda" if package["url"].endswith(".conda") else ".tar.bz2"
    name = f"{record['name']}-{record['version']}-{record['build']}{ending}"
    return pathlib.Path(folder, package["sha256"], name)


def own_archive(order, package):
    return archive_in(pathlib.Path(order["cache"], "archives"), package)


def lock_path(archive):
    return archive.parent.with_name(f"lock-{archive.parent.name[:2]}")


@contextlib.contextmanager
def lock_of(archive):
    """Whether it is ours; it is not waited for."""
    path = lock_path(archive)
    with open(path, "w", encoding="utf-8") as lock:
        ours = True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            ours = False
        yield ours


def drop(archive):
    """Rattler's cache has what is in it. One that another build is about is left to that one."""
    if archive.parent.is_dir():
        with lock_of(archive) as ours:
            if ours:
                shutil.rmtree(archive.parent, ignore_errors=True)


def drop_old(folder, seconds):
    """What builds left that were killed, or failed and were not tried again."""
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.is_dir() and entry.stat().st_mtime <= time.time() - seconds:
                shutil.rmtree(entry.path, ignore_errors=True)


class Tally:
    """Of packages that are fetched at once."""

    def __init__(self, wanted):
        self.total = sum(each.package["size"] for each in wanted)
        self.fetched, self.progress = {}, Progress()

    def look(self, name, path):
        self.fetched[name] = size_of(path)
        done = sum(self.fetched.values())
        self.progress.say(f"download {sizes(done, max(self.total, done))} ({name})")
        return self.fetched[name]


def keep(part, archive):
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    part.rename(archive)


async def fetch_whole(wanted, tally):
    """Under its name when it is what was asked for; tried once more when it is not."""
    url, expected = wanted.package["url"], wanted.package["sha256"]
    part = wanted.own.with_name(wanted.own.name + ".part")
    wanted.own.parent.mkdir(exist_ok=True)
    if wanted.own.is_file():
        say(f"{wanted.name} is damaged in the cache: fetching it again")
        wanted.own.unlink()
    try:
        for is_last in (False, True):
            await fetch(url, part, lambda: tally.look(wanted.name, part))
            tally.look(wanted.name, part)
            found = await asyncio.to_thread(hash_of, part, "sha256")
            if found == expected:
                wanted.is_own_whole = True
                return await asyncio.to_thread(keep, part, wanted.own)
            if is_last:
                raise wrong_hash(url, expected, found)
            say(f"{url} came damaged: fetching it again")
    finally:
        part.unlink(missing_ok=True)


async def download(order, wanted, is_known):
    """To their own archives. `is_known`: another build has brought it into rattler's cache."""
    tally, turns = Tally(wanted), asyncio.Semaphore(AT_ONCE)
    pathlib.Path(order["cache"], "archives").mkdir(exist_ok=True)
    ours, waiting = collections.defaultdict(asyncio.Lock), Progress()  # some may share a lock

    async def fetched_or_known(each):
        async with ours[lock_path(each.own)], turns:
            with lock_of(each.own) as is_ours:
                is_there = not is_ours or await asyncio.to_thread(each.has_own)
                if not is_there and not await is_known(each):
                    await fetch_whole(each, tally)
                return is_ours

    async def one(each):
        while not await fetched_or_known(each):
            waiting.say(f"another build fetches {each.name}: waiting for it")
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    tasks = [asyncio.ensure_future(one(each)) for each in wanted]
    try:
        await asyncio.gather(*tasks)
    finally:  # of one that fails, with the others ended
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
