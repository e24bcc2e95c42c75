"""Words, passwords, causes, files."""

import errno
import functools
import hashlib
import os
import pathlib
import re
import time
import urllib.error
import urllib.parse

import rattler
import rattler.exceptions as failures

MEGABYTE = 1_000_000
SECONDS_BETWEEN_LINES = 1.0
MAX_LINE = 200
SECONDS_FOR_A_CAUSE = 10
BARE = re.compile(r"error sending request for url \([^)]*\)$")
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def is_of_full_disk(error):
    """An error of the system, ours, or a text of rattler's."""
    if isinstance(error, OSError):
        return error.errno in FULL_DISK
    if isinstance(error, Refused):
        return error.code == "resource_exhausted"
    return any(os.strerror(each) in str(error) for each in FULL_DISK)


def masked(text):
    """Without passwords, conda's tokens, and what a redirection is signed with."""
    text = re.sub(r"(://[^\s/@:]*?)(?::|%3A)[^\s/@]*@", r"\1:****@", text, flags=re.IGNORECASE)
    text = re.sub(r"://[^\s/@:]{21,}@", "://****@", text)
    text = re.sub(r"(https?://[^\s?'\")]*)\?[^\s'\")]+", r"\1?****", text)
    return re.sub(r"/t/[^\s/]+/", "/t/****/", text)


def say(line):
    print(masked(line)[:MAX_LINE], flush=True)


class Progress:
    """Lines that come often: the first at once, then not more than one a second."""

    def __init__(self):
        self.last, self.line = None, None

    def say(self, line, always=False):
        """Whether it was said."""
        now = time.monotonic()
        is_due = self.last is None or now - self.last >= SECONDS_BETWEEN_LINES
        if line == self.line or not (always or is_due):
            return False
        self.last, self.line = now, line
        say(line)
        return True


def sizes(done, total):
    """"5/20 MB", or in kB where that says more; the total only when all is done. Of what is not
    known to be so large "5 MB"."""
    unit, name = (MEGABYTE, "MB") if max(done, total) >= MEGABYTE else (1000, "kB")
    whole = -(-total // unit)
    if done < total:
        return f"{done // unit}/{whole} {name}"
    return f"{whole}/{whole} {name}" if done == total > 0 else f"{done // unit} {name}"


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


def write_whole(path, text):
    """Others see all of it, or nothing."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@functools.cache
def client():
    try:
        return rattler.Client.default_client(max_retries=0)  # retry.py does
    except failures.AuthenticationStorageError as error:  # which quotes the credentials
        raise Refused("permission_denied", f"{str(error).partition(': ')[0]}: the file does not "
                      "have the format of rattler's credentials") from None


def cause_of(error):
    """rattler's chain of causes as one line, each once."""
    text = re.sub("#sha256:[0-9a-f]{64}", "", masked(str(error)).strip())
    causes = []
    for cause in text.split("\nCaused by: "):
        cause = re.sub(r"\s*\n\s*", " ", cause).strip().rstrip(".")
        if not any(cause in known for known in causes):
            causes = [known for known in causes if known not in cause] + [cause]
    return ": ".join(causes)


def look_at(url):
    """Fails as urllib does. With its error codes, which rattler's errors do not always have."""
    import urllib.request  # here, because it alone takes a quarter of our start
    parts = urllib.parse.urlsplit(url)
    url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    asked = urllib.request.Request(url, method="HEAD")
    urllib.request.urlopen(asked, timeout=SECONDS_FOR_A_CAUSE).close()


def not_reached(url, error):
    """As cause_of; some of rattler's errors do not say what became of their requests."""
    text = cause_of(error)
    if not BARE.search(text):
        return text
    try:
        look_at(url)
    except (urllib.error.HTTPError, ValueError):
        return text
    except OSError as cause:
        return f"{text}: {getattr(cause, 'reason', cause)}"
    return text


def is_not_there(url):
    """Surely. What was not reached, or may not be read, may be there."""
    if is_local(url):
        return not local_path(url).exists()
    try:
        look_at(url)
    except urllib.error.HTTPError as error:
        return error.code in (404, 410)
    except (OSError, ValueError):
        return False
    return False
