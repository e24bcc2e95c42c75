"""scripts/lib/sbom.py: what is in a bundle or a package, as SPDX 2.3."""
import hashlib
import json
import os
import subprocess
import sys

from harness.site import ROOT

CONTROL = """Package: lockstep-node
Version: 9.8.7
Architecture: amd64
Maintainer: Nobody <nobody@example.org>
Depends: libc6 (>= 2.34), dash | bash, no-such-package-here
Description: for a test
"""


def listing_of(deb, **environment):
    done = subprocess.run([sys.executable, ROOT / "scripts/lib/sbom.py", deb], capture_output=True, text=True,
                          check=False, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, "")
    [path] = done.stdout.splitlines()
    assert path == str(deb).removesuffix(".deb") + ".spdx.json"
    with open(path, encoding="utf-8") as file:
        return file.read()


def package(tmp_path):
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(CONTROL)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/lockstep-agent").write_bytes(b"\x7fELF agent")
    deb = tmp_path / "lockstep-node_9.8.7_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, deb], check=True, stdout=subprocess.DEVNULL)
    return deb


def test_a_package_is_listed_with_its_files_and_what_it_needs(tmp_path):
    listing = json.loads(listing_of(package(tmp_path), SOURCE_DATE_EPOCH="86400"))
    assert listing["spdxVersion"] == "SPDX-2.3"
    assert listing["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
    [file] = listing["files"]
    assert file["fileName"] == "./usr/bin/lockstep-agent"
    assert {c["algorithm"]: c["checksumValue"] for c in file["checksums"]} == {
        "SHA1": hashlib.sha1(b"\x7fELF agent").hexdigest(), "SHA256": hashlib.sha256(b"\x7fELF agent").hexdigest()}
    packages = {p["name"]: p for p in listing["packages"]}
    assert packages["lockstep-node"]["versionInfo"] == "9.8.7"
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "dash"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
    assert packages["dash"]["versionInfo"] == installed
    assert packages["dash"]["licenseComments"] == "the licence is the file /usr/share/doc/dash/copyright"
    assert packages["no-such-package-here"]["versionInfo"] == "NOASSERTION"
    assert {"libc6", "bash", "nlohmann-json3-dev"} <= set(packages)


def test_the_command_lines_package_lists_what_is_linked_into_it(tmp_path):
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(CONTROL.replace("Package: lockstep-node", "Package: lockstep"))
    deb = tmp_path / "lockstep_9.8.7_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, deb], check=True, stdout=subprocess.DEVNULL)
    for path, is_linked in ((deb, True), (package(tmp_path / "node"), False)):
        listing = json.loads(listing_of(path))
        names = {p["SPDXID"]: p["name"] for p in listing["packages"]}
        linked = {names[r["relatedSpdxElement"]] for r in listing["relationships"]
                  if r["relationshipType"] == "STATIC_LINK"}
        assert ("libssl-dev" in linked) == is_linked, linked
        assert "cppzmq-dev" in linked


def test_every_reference_of_a_listing_resolves_and_the_verification_code_is_the_files(tmp_path):
    listing = json.loads(listing_of(package(tmp_path)))
    elements = [listing, *listing["packages"], *listing["files"]]
    ids = [element["SPDXID"] for element in elements]
    assert len(ids) == len(set(ids))
    for relation in listing["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids), relation
    ours = listing["packages"][0]
    first = hashlib.sha1(b"\x7fELF agent").hexdigest()
    assert ours["packageVerificationCode"]["packageVerificationCodeValue"] == hashlib.sha1(first.encode()).hexdigest()
    assert [p["name"] for p in listing["packages"] if p["filesAnalyzed"]] == ["lockstep-node"]


def test_the_same_package_gives_the_same_listing(tmp_path):
    deb = package(tmp_path)
    assert listing_of(deb) == listing_of(deb)
