"""What rattler says while it installs."""

import json
import os
import pathlib

from rattler.install import InstallerReporter

from common import Progress, Refused, say
from download import drop

MESSAGES = ".messages.txt"  # of conda: what a link script says to people


class Linking:
    """Which packages are being linked. In the place of the answer: a panic in rattler's threads
    aborts the process, and nobody could say then what it was about."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)
        self.names, self.length = set(), 0

    def failure(self):
        named = " or ".join(sorted(self.names)) or "packages"
        return f"py-rattler broke down while it linked {named}"

    def tell(self):
        failure = {"code": "corrupt", "message": self.failure()}
        text = json.dumps(failure).encode().ljust(self.length)
        self.length = len(text)
        os.pwrite(self.file.fileno(), text, 0)


class Reporter(InstallerReporter):
    """Tokens are indices of names."""

    def __init__(self, wanted, prefix, result):
        self.prefix = prefix
        self.count, self.linked = len(wanted), 0
        self.archives = {each.name: each.own for each in wanted
                         if each.address == each.own.as_uri()}
        self.names, self.failed = [], []
        self.linking = Linking(result)
        self.progress = Progress()

    def token_of(self, package_name):
        self.names.append(package_name)
        return len(self.names) - 1

    def on_populate_cache_start(self, operation, package_name):
        return self.token_of(package_name)

    def on_populate_cache_complete(self, cache_entry):
        if archive := self.archives.get(self.names[cache_entry]):
            drop(archive)

    def on_link_start(self, operation, package_name):
        self.linking.names.add(package_name)
        self.linking.tell()
        return self.token_of(package_name)

    def on_link_complete(self, index):
        self.linking.names.discard(self.names[index])
        self.linking.tell()
        self.linked += 1
        self.progress.say(f"link {self.linked}/{self.count} packages", self.linked == self.count)

    def on_post_link_start(self, package_name, script_path):
        return self.token_of(package_name)

    def on_post_link_complete(self, index, success):
        """Rattler keeps what a script prints to itself, and removes its messages after this."""
        name, path = self.names[index], pathlib.Path(self.prefix, MESSAGES)
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() \
            if path.is_file() else []
        for line in lines:
            say(f"{name}: {line}")
        if not success:
            self.failed.append((name, lines))

    def refuse_failed(self):
        """As conda does; rattler goes on."""
        for name, lines in self.failed[:1]:
            said = ": " + " ".join(lines) if lines else \
                f"; what it prints is not known, what it writes to $PREFIX/{MESSAGES} is shown"
            raise Refused("invalid_argument", f"the post-link script of {name} failed{said}")
