"""Lists what is in a bundle or a Debian package, as SPDX 2.3 JSON: files, packages, licences.

usage: sbom.py FILE.deb...    writes FILE.spdx.json beside each and prints its path.
The same inputs give the same document: its time is SOURCE_DATE_EPOCH, else that of the last commit.
"""
import datetime
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Compiled into our programs: headers, or linked statically.
COMPILED_IN = ["cppzmq-dev", "libcli11-dev", "libexpected-dev", "nlohmann-json3-dev"]
# Linked into `lockstep` by cmake/static_link.cmake: their mends reach a person with our next package only.
LINKED_IN = ["libbsd-dev", "libfmt-dev", "libmd-dev", "libprotobuf-dev", "libre2-dev", "libsodium-dev", "libssl-dev",
             "libstdc++-12-dev", "libyaml-cpp-dev", "libzmq3-dev", "libzstd-dev"]
OURS = "lockstep"
UNKNOWN = "NOASSERTION"


def run(*words):
    return subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True).stdout


def created():
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds.isdigit():
        done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        seconds = done.stdout.strip() if done.returncode == 0 else "0"
    moment = datetime.datetime.fromtimestamp(int(seconds or 0), datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def _debian(name, version, licence):
    package = {"SPDXID": _id("Package", name), "name": name, "versionInfo": version,
               "supplier": "Organization: Debian", "downloadLocation": UNKNOWN, "filesAnalyzed": False,
               "licenseConcluded": UNKNOWN, "licenseDeclared": UNKNOWN, "copyrightText": UNKNOWN,
               "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                 "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]}
    if licence:
        package["licenseComments"] = f"the licence is the file {licence}"
    return package


def _file(index, name, data):
    return {"SPDXID": f"SPDXRef-File-{index}", "fileName": f"./{name}", "licenseConcluded": UNKNOWN,
            "copyrightText": UNKNOWN,
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}]}


def _analyse(package, files):
    """SPDX's package verification code: the digest of the files' sorted digests."""
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    package["filesAnalyzed"] = bool(files)
    if files:
        code = hashlib.sha1("".join(sums).encode()).hexdigest()
        package["packageVerificationCode"] = {"packageVerificationCodeValue": code}


def document(name, version, packages, files):
    """The whole listing, as bytes.

    packages: {Debian package: (version, path of its licence or "")}; files: {path: (bytes, package)},
    where the package is OURS for what we wrote.
    """
    ours = {"SPDXID": _id("Package", OURS), "name": name, "versionInfo": version,
            "supplier": "Organization: Lockstep", "downloadLocation": UNKNOWN, "licenseConcluded": UNKNOWN,
            "licenseDeclared": UNKNOWN, "copyrightText": UNKNOWN, "licenseComments": "the licence is the file LICENSE"}
    listed = {OURS: ours, **{p: _debian(p, v, licence) for p, (v, licence) in sorted(packages.items())}}
    entries = {path: _file(i, path, data) for i, (path, (data, _)) in enumerate(sorted(files.items()), 1)}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"])]
    for package, entry in listed.items():
        within = [path for path in entries if files[path][1] == package]
        _analyse(entry, [entries[path] for path in within])
        if package != OURS:
            kind = "STATIC_LINK" if package in COMPILED_IN + LINKED_IN else "DYNAMIC_LINK" if within else "DEPENDS_ON"
            relations.append((ours["SPDXID"], kind, entry["SPDXID"]))
        relations += [(entry["SPDXID"], "CONTAINS", entries[path]["SPDXID"]) for path in within]
    body = {"packages": list(listed.values()), "files": list(entries.values()),
            "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b}
                              for a, r, b in relations]}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    head = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"{name}-{version}", "documentNamespace": f"urn:lockstep:{name}-{version}:{digest}",
            "creationInfo": {"created": created(), "creators": ["Tool: lockstep-scripts-sbom"]}}
    return (json.dumps({**head, **body}, indent=1) + "\n").encode()


def of_deb(path):
    """The listing of a Debian package of ours: its files, and what it depends on as built here."""
    fields = {key: run("dpkg-deb", "-f", path, key).strip() for key in ("Package", "Version", "Depends")}
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {entry.name.removeprefix("./"): (archive.extractfile(entry).read(), OURS)
                 for entry in archive if entry.isfile()}
    names = {re.split(r"[ (:]", word.strip())[0] for word in re.split(r"[,|]", fields["Depends"]) if word.strip()}
    packages = {}
    linked = LINKED_IN if fields["Package"] == "lockstep" else []
    for name in sorted(names | set(COMPILED_IN) | set(linked)):
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        lines = done.stdout.splitlines()  # one for each architecture of it
        packages[name] = (lines[0] if lines and lines[0] else UNKNOWN, f"/usr/share/doc/{name}/copyright")
    return document(fields["Package"], fields["Version"], packages, files)


def main():
    for name in sys.argv[1:]:
        out = pathlib.Path(name).with_suffix(".spdx.json")
        out.write_bytes(of_deb(name))
        print(out)


if __name__ == "__main__":
    main()
