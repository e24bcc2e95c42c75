"""Fetches the packages that an environment needs and the cache does not have, before rattler installs them.
rattler locks its cache while it fetches, so a slow server would otherwise block all builds of a user."""

import asyncio
import collections
import pathlib

from archives import keep, lock_of, lock_path, part_of
from common import Progress, hash_of, say, sizes
from packages import fetch, wrong_hash
from silence import size_of

AT_ONCE = 8
SECONDS_BETWEEN_TRIES = 0.05


class Tally:
    """Of packages that are fetched at once."""

    def __init__(self, wanted):
        self.total = sum(each.package["size"] for each in wanted)
        self.fetched, self.progress = {}, Progress()

    def look(self, name, path):
        self.fetched[name] = size_of(path)
        done = sum(self.fetched.values())
        self.progress.say(f"download {sizes(done, self.total)} ({name})", done == self.total)
        return self.fetched[name]


async def fetch_whole(wanted, tally):
    """Under its name when it is what was asked for; tried once more when it is not."""
    url, expected = wanted.package["url"], wanted.package["sha256"]
    part = part_of(wanted.own)
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
            say(f"{url} arrived damaged: fetching it again")
    finally:
        part.unlink(missing_ok=True)


async def download(order, wanted, is_known):
    """To their own archives. `is_known`: another build has brought it into rattler's cache."""
    tally, turns = Tally(wanted), asyncio.Semaphore(AT_ONCE)
    pathlib.Path(order["cache"], "archives").mkdir(exist_ok=True)
    ours = collections.defaultdict(asyncio.Lock)  # some may share a lock
    waiting, said = Progress(), set()

    async def fetched_or_known(each):
        async with ours[lock_path(each.own)], turns:
            with lock_of(each.own) as is_ours:
                is_there = not is_ours or await asyncio.to_thread(each.has_own)
                if not is_there and not await is_known(each):
                    await fetch_whole(each, tally)
                return is_ours

    async def one(each):
        while not await fetched_or_known(each):
            line = f"another build fetches {each.name}: waiting for it"
            if line not in said and waiting.say(line):
                said.add(line)
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    tasks = [asyncio.ensure_future(one(each)) for each in wanted]
    try:
        await asyncio.gather(*tasks)
    finally:  # of one that fails, with the others ended
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
