"""Puts the bundle's archive together; called by scripts/bundle, which built the programs.

usage: bundle.py BUILD-DIRECTORY [OUT]. Takes the libraries from this machine, as Debian's packages
installed them, and their licences from the same packages. Prints the path of the archive.
"""
import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINKER = pathlib.Path("/lib64/ld-linux-x86-64.so.2")
PROGRAMS = ["lockstep", "lockstep-agent", "lockstep-env", "lockstep-pmix", "lockstep-runner",
            "lockstepd"]
# All of the C library that another library may ask for by name: one library of the node's own C library
# beside ours would not fit. The node's drivers (NVML) and account modules (NSS) are loaded into ours.
C_LIBRARY = ["libanl.so.1", "libc.so.6", "libdl.so.2", "libm.so.6", "libnsl.so.1", "libnss_compat.so.2",
             "libnss_dns.so.2", "libnss_files.so.2", "libnss_hesiod.so.2", "libpthread.so.0",
             "libresolv.so.2", "librt.so.1", "libutil.so.1"]
COMMON_LICENSES = pathlib.Path("/usr/share/common-licenses")
# pidfd_open(2); see docs/decisions/012-bundle.md.
MINIMUM_KERNEL = "5.3"

README = """Lockstep {version} for {architecture}: all its programs, with all that they need.

It runs on every Linux from kernel {kernel} on, of whatever distribution: the C library is in lib/. Unpack
it anywhere, move it as you like; it may be read-only. Nothing has to be set. /proc must be mounted.

    bin/lockstep-agent --launcher tcp://HOST:PORT --token-file FILE    # this machine becomes a node
    bin/lockstep doctor                                               # what this machine can do

lockstep-bundle.json lists every file with its SHA-256, and the packages that the libraries are from;
share/doc/lockstep/sbom.spdx.json lists the same in SPDX 2.3.
Their licences are in share/doc, ours is LICENSE.
"""


def run(*words):
    return subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries_of(file):
    """What `file` needs, and what that needs, as this machine resolves it: {name: path}."""
    found = {}
    for line in run(LINKER, "--list", file).splitlines():
        match = re.match(r"\s+(\S+) => (\S+)", line)
        if match:
            if match[2] == "not":
                sys.exit(f"bundle: {file} needs {match[1]}, which is not installed")
            found[match[1]] = pathlib.Path(match[2])
    return found


def owners_of(paths):
    """The packages that installed `paths`: {path: package}."""
    # With merged /usr a package may know its file by either name.
    names = {str(path.resolve()).removeprefix("/usr"): path for path in paths}
    words = ["dpkg", "-S", *names, *(f"/usr{name}" for name in names)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    owners = {}
    for line in done.stdout.splitlines():
        package, _, name = line.partition(": ")
        owners[names.get(name.removeprefix("/usr"))] = package.split(",")[0]
    for path in paths:
        if path not in owners:
            sys.exit(f"bundle: {path} is of no package, so its licence is not known; bundles are made from "
                     "Debian's packages only")
    return owners


def pmix_files():
    """PMIx's plug-ins and message files: {path in the bundle: path here}."""
    library = libraries_of(BUILD / "bundle/bin/lockstep-pmix")["libpmix.so.2"]
    package = owners_of([library])[library]
    files = {}
    for line in run("dpkg", "-L", package).splitlines():
        path = pathlib.Path(line)
        inside = re.search(r"/pmix2/(lib/pmix/.*\.so|share/pmix/.*\.txt|share/pmix-mca-params.conf)$", line)
        if inside and path.is_file():
            files[inside[1].replace("share/pmix-mca", "etc/pmix-mca")] = path
    if not any(name.endswith(".so") for name in files):
        sys.exit(f"bundle: package {package} has no plug-ins under pmix2/lib/pmix; was it built otherwise?")
    return files


class Bundle:
    """The files of the archive, in memory: {path: (mode, bytes)}."""

    def __init__(self):
        self.files = {}
        self.packages = {}
        self.owners = {}  # {path: package} of what is not ours

    def add(self, name, data, mode=0o644):
        self.files[name] = (mode, data)

    def add_libraries(self, libraries):
        """{path in the bundle: path here}."""
        for name, path in libraries.items():
            self.add(name, path.read_bytes(), 0o755)
        owners = owners_of(libraries.values())
        self.owners.update((name, owners[path].split(":")[0]) for name, path in libraries.items())
        for package in sorted(set(owners.values())):
            self.credit(package)

    def credit(self, package):
        """Notes the package's version and brings its licence."""
        name = package.split(":")[0]
        if name in self.packages:
            return
        self.packages[name] = run("dpkg-query", "-W", "-f", "${Version}", package)
        copyright_file = pathlib.Path("/usr/share/doc", name, "copyright")
        if not copyright_file.is_file():
            sys.exit(f"bundle: {copyright_file} is missing, but libraries are passed on with their licences "
                     "only; install the package without dpkg's path-exclude")
        text = copyright_file.read_bytes()
        self.add(f"share/doc/{name}/copyright", text)
        self.owners[f"share/doc/{name}/copyright"] = name
        for word in re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", text):
            license_file = COMMON_LICENSES / word.decode()
            if license_file.is_file():
                self.add(f"share/doc/common-licenses/{word.decode()}", license_file.read_bytes())

    def write(self, out, top):
        """Names sorted, times zero, nobody's: the same files are the same bytes."""
        with open(out, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, (mode, data) in sorted(self.files.items()):
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size, entry.mode = len(data), mode
                archive.addfile(entry, io.BytesIO(data))


def stripped(path):
    with tempfile.NamedTemporaryFile() as out:
        run("strip", "-o", out.name, path)
        return pathlib.Path(out.name).read_bytes()


def fill(bundle):
    needed, plugins = {}, {}
    for program in PROGRAMS:
        path = BUILD / "bundle/bin" / program
        bundle.add(f"bin/{program}", stripped(path), 0o755)
        needed.update(libraries_of(path))
    bundle.add("bin/lockstep-spawn", stripped(BUILD / "bin/lockstep-spawn"), 0o755)
    for name, path in pmix_files().items():
        if name.endswith(".so"):
            plugins[name] = path
            needed.update(libraries_of(path))
        else:
            bundle.add(name, path.read_bytes())
            bundle.owners[name] = owners_of([path])[path].split(":")[0]
    for name in C_LIBRARY:
        needed[name] = needed["libc.so.6"].parent / name
    needed[LINKER.name] = LINKER
    bundle.add_libraries({**{f"lib/{name}": path for name, path in needed.items()}, **plugins})
    for package in sbom.COMPILED_IN:
        bundle.credit(package)
    bundle.add("LICENSE", (ROOT / "LICENSE").read_bytes())


def main():
    cache = (BUILD / "CMakeCache.txt").read_text()
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", cache, re.M)[1]
    bundle = Bundle()
    fill(bundle)
    facts = {"version": version, "architecture": "x86_64", "minimum_kernel": MINIMUM_KERNEL}
    bundle.add("README", README.format(kernel=MINIMUM_KERNEL, **facts).encode())
    packages = {name: (v, f"share/doc/{name}/copyright") for name, v in bundle.packages.items()}
    files = {name: (data, bundle.owners.get(name, sbom.OURS)) for name, (_, data) in bundle.files.items()}
    bundle.add("share/doc/lockstep/sbom.spdx.json",
               sbom.document("lockstep-node", version, packages, files))
    facts["packages"] = dict(sorted(bundle.packages.items()))
    facts["sha256"] = {n: hashlib.sha256(d).hexdigest() for n, (_, d) in sorted(bundle.files.items())}
    bundle.add("lockstep-bundle.json", (json.dumps(facts, indent=1) + "\n").encode())
    top = f"lockstep-node-{version}-x86_64"
    out = pathlib.Path(sys.argv[2]) if sys.argv[2:] and sys.argv[2] else BUILD / f"{top}.tar.gz"
    bundle.write(out, top)
    print(out)


BUILD = pathlib.Path(sys.argv[1])
if __name__ == "__main__":
    main()
