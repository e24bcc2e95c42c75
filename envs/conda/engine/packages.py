"""Packages by their addresses: fetched, checked, and what is known of those fetched before."""

import hashlib
import json
import pathlib
import re
import tempfile

from rattler.package_streaming import PackageArchive, download_to_path

from archives import keep_solved
from common import (Refused, cause_of, client, hash_of, is_local, is_of_full_disk, local_path,
                    masked, not_reached, sizes, write_whole)
from retry import ask
from silence import Activity, size_of

REPLACED = "if it was replaced on purpose, solve the environment again with --rebuild"
LOCKED = "if it was replaced on purpose, update the lock file that names it"
CUT = r"error decoding response body|error reading a body"
OUTSIDE = r"outside of destination path|failed to link '(\.\./|/|[^']*/\.\./)"


def package_failure(url, error):
    text, name = cause_of(error), masked(url)
    if mismatch := re.search(r"expected ([0-9a-f]{64}), got ([0-9a-f]{64})", text):
        return wrong_hash(url, *mismatch.groups())
    if re.search(OUTSIDE, text):
        return Refused("corrupt", f"the package {name} has files outside of its prefix: {text}")
    if re.search(r"HTTP status client error \((401|403)", text):
        return Refused("permission_denied", f"the package {name} may not be read: {text}")
    if re.search(r"HTTP status client error \((404|410)", text):
        return Refused("not_found", f"there is no package {name} any more: {text}")
    if is_of_full_disk(text):
        return Refused("resource_exhausted", f"fetching {name}: {text}")
    if re.search(CUT, text):
        return Refused("unavailable", f"the package {name} was cut short")
    return Refused("unavailable",
                   f"the package {name} could not be fetched: {not_reached(url, error)}")


def wrong_hash(url, expected, found, kind="SHA-256", advice=REPLACED):
    return Refused("corrupt", f"{masked(url)} is not the package that was asked for: its {kind} is "
                   f"{found}, not {expected}; {advice}")


async def fetch(url, path, sign=None):
    """The archive's path: `path`, or where it lies already. `sign`: of its coming."""
    if is_local(url):
        if not local_path(url).is_file():
            raise Refused("not_found", f"there is no package {masked(url)}")
        return local_path(url)

    def download():
        path.unlink(missing_ok=True)
        return download_to_path(client(), url, path)

    await ask(download, sign or (lambda: size_of(path)), server_of(url),
              lambda error: package_failure(url, error))
    return path


def server_of(url):
    return f"the server of {masked(url)}"


async def index_of(url, archive):
    async def read():
        opened = await (PackageArchive.from_url(client(), url) if archive is None
                        else PackageArchive.from_path(archive))
        return await opened.read_file("info/index.json")

    def failure_of(error):
        if archive is None:
            return package_failure(url, error)
        return Refused("corrupt", f"{masked(url)} is not a conda package: {cause_of(error)}")

    text = await ask(read, Activity(), server_of(url), failure_of)
    if text is None:
        raise Refused("corrupt", f"{masked(url)} is not a conda package: it has no index.json")
    return json.loads(text)


# ---- of those that were installed: by address and hash ------------------------------------------


def known_path(order, url, kind, wanted):
    key = hashlib.sha256(f"{url}#{kind}:{wanted}".encode()).hexdigest()
    return pathlib.Path(order["cache"], "records", key + ".json")


def remember(order):
    """So that a lock file of these packages is read without their channels."""
    pathlib.Path(order["cache"], "records").mkdir(exist_ok=True)
    for package in order["packages"]:
        record = {**package["record"], "url": package["url"], "sha256": package["sha256"]}
        for kind in ("sha256", "md5"):
            if record.get(kind):
                path = known_path(order, package["url"], kind, record[kind])
                if not path.exists():
                    write_whole(path, json.dumps(record))


def known_record(order, url, kind, wanted):
    try:
        return json.loads(known_path(order, url, kind, wanted).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


async def fetch_to_solve(url, path, progress, size):
    name = path.name

    def look():
        done = size_of(path)
        progress.say(f"download {sizes(done, size)} ({name})")
        return done

    return await fetch(url, path, look)


async def locked_package(entry, order, progress, size=0):
    """As solve's: fetched only where its SHA-256 is not known. `size`: if that is known."""
    url, _, rest = entry.partition("#")
    kind, _, wanted = rest.partition(":")
    wanted = wanted.lower()
    if known := known_record(order, url, kind, wanted):
        return known
    progress.say(f"fetching {url}")
    channel, subdir, file_name = url.rsplit("/", 2)
    record = {"sha256": wanted}
    with tempfile.TemporaryDirectory(dir=order["scratch"]) as folder:
        archive = None
        if kind != "sha256" or is_local(url):
            archive = await fetch_to_solve(url, pathlib.Path(folder, file_name), progress, size)
            record = {each: hash_of(archive, each) for each in ("md5", "sha256")}
            record["size"] = archive.stat().st_size
            if wanted and record[kind] != wanted:
                name = "SHA-256" if kind == "sha256" else "MD5"
                advice = REPLACED if order["locked"] is None else LOCKED
                raise wrong_hash(url, wanted, record[kind], name, advice)
        record = {**await index_of(url, archive), **record}
        if archive is not None and not is_local(url):
            package = {"url": url, "sha256": record["sha256"], "record": record}
            keep_solved(order, package, archive)
    return {**record, "subdir": record.get("subdir") or subdir, "fn": file_name, "url": url,
            "channel": channel}
