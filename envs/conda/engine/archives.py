"""The archives that a user's builds have fetched, until rattler's cache has what is in them.

    archives/<SHA-256>/<NAME-VERSION-BUILD.conda>
    archives/lock-XX    who has it fetches packages whose SHA-256 begins with XX; other builds of
                        the user, on all nodes of this machine that share the folder, wait
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import time

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


def part_of(archive):
    return archive.with_name(archive.name + ".part")


def keep(part, archive):
    """On the disk before it has its name."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    part.rename(archive)


def keep_solved(order, package, archive):
    """What solving had to fetch, for the build. It costs nothing but time where that cannot be."""
    own = own_archive(order, package)
    part = part_of(own)
    with contextlib.suppress(OSError):
        own.parent.mkdir(parents=True, exist_ok=True)
        with lock_of(own) as ours:
            if ours and not own.is_file():
                try:
                    shutil.move(archive, part)
                    keep(part, own)
                finally:
                    part.unlink(missing_ok=True)
