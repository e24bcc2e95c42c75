"""This node's share of packages that nodes take from each other: from their channel."""

import asyncio
import os
import pathlib

from common import masked, say
from packages import fetch

AT_ONCE = 8
SECONDS_BETWEEN_LOOKS = 0.02


async def fetch_one(package, folder, turns):
    path = folder / package["sha256"]
    beside = path.with_suffix(".part")
    async with turns:
        say(f"fetching {masked(package['url'])}")
        await fetch(package["url"], beside)
    beside.rename(path)  # who takes it checks its hash


async def fetch_wanted(order):
    """Each after which a file in `wanted` is named, until the agent stops us; an error ends it."""
    packages = {package["sha256"]: package for package in order["packages"]}
    folder, turns = pathlib.Path(order["fetched"]), asyncio.Semaphore(AT_ONCE)
    folder.mkdir(parents=True, exist_ok=True)
    begun, at_work = set(), set()
    while True:
        for name in packages.keys() & set(os.listdir(order["wanted"])) - begun:
            begun.add(name)
            at_work.add(asyncio.create_task(fetch_one(packages[name], folder, turns)))
        for task in [task for task in at_work if task.done()]:
            at_work.remove(task)
            task.result()
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
