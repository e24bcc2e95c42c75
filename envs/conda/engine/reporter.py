"""What rattler says while it installs."""

import json
import os

from rattler.install import InstallerReporter

from archives import drop
from common import Progress


class Linking:
    """Which packages are being linked. In the place of the answer: a panic in rattler's threads
    aborts the process, and nobody could say then what it was about."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)
        self.names, self.length = set(), 0

    def failure(self):
        named = " or ".join(sorted(self.names)) or "packages"
        return f"py-rattler crashed while it linked {named}"

    def tell(self):
        failure = {"code": "corrupt", "message": self.failure()}
        text = json.dumps(failure).encode().ljust(self.length)
        self.length = len(text)
        os.pwrite(self.file.fileno(), text, 0)


class Reporter(InstallerReporter):
    """Tokens are indices of names."""

    def __init__(self, wanted, result):
        self.count, self.linked = len(wanted), 0
        self.archives = {each.name: each.own for each in wanted
                         if each.address == each.own.as_uri()}
        self.names = []
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
