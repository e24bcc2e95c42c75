#!/usr/bin/env python3
"""Makes a conda channel of packages that a test describes: conda_channel.py DIR SPEC.json

SPEC.json is a list of packages, or {"packages": [...]}. Each has `name` and `version`, and may have
  build, build_number, depends, constrains   as in a channel's index
  noarch      "generic" or "python"; its subdir is "noarch" then
  subdir      else; default: this machine's ("linux-64")
  format      ".conda" (default) or ".tar.bz2"
  files       {path: text, or {"text": ..., "executable": true, "link": target, "from": file}};
              @PREFIX@ in a text becomes the prefix in which it is installed
  wheel       a wheel, whose files go to site-packages/ (with noarch: python)
  activate    a shell script, for etc/conda/activate.d; `deactivate` the same
  env_vars    variables, for etc/conda/env_vars.d
  entry_points  of noarch python: ["name = module:function"]
A package replaces the one of its name, version and build that DIR has already; others of DIR stay.
Prints one line of JSON for each package: url, sha256, md5, size. Needs only the standard library:
the .conda files hold zstd frames that are not compressed.
"""

import bz2
import hashlib
import io
import json
import os
import pathlib
import platform
import struct
import sys
import tarfile
import zipfile

PLACEHOLDER = "/opt/placehold" + "_placehold" * 20
SUBDIR = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}.get(platform.machine(), "linux-64")
BLOCK = 1 << 17  # the largest of a zstd frame


def zstd_frame(data):
    """RFC 8878: one frame of raw blocks."""
    out = [struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))]
    pieces = [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)] or [b""]
    for index, piece in enumerate(pieces):
        header = (index == len(pieces) - 1) | len(piece) << 3
        out += [struct.pack("<I", header)[:3], piece]
    return b"".join(out)


def tar_of(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, (content, mode, link) in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.mode = mode
            if link is None:
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
            else:
                entry.type, entry.linkname = tarfile.SYMTYPE, link
                tar.addfile(entry)
    return out.getvalue()


def payload_of(package):
    """path -> (content, mode, link target or None)"""
    files = {}

    def text(path, content, mode=0o644):
        files[path] = (content.replace("@PREFIX@", PLACEHOLDER).encode(), mode, None)

    for path, what in package.get("files", {}).items():
        if isinstance(what, str):
            what = {"text": what}
        mode = 0o755 if what.get("executable") else 0o644
        if "link" in what:
            files[path] = (b"", 0o777, what["link"])
        elif "from" in what:
            files[path] = (pathlib.Path(what["from"]).read_bytes(), mode, None)
        else:
            text(path, what.get("text", ""), mode)
    if "wheel" in package:
        with zipfile.ZipFile(package["wheel"]) as wheel:
            for name in wheel.namelist():
                if not name.endswith("/"):
                    files["site-packages/" + name] = (wheel.read(name), 0o644, None)
    for key in ("activate", "deactivate"):
        if key in package:
            text(f"etc/conda/{key}.d/{package['name']}.sh", package[key])
    if "env_vars" in package:
        text(f"etc/conda/env_vars.d/{package['name']}.json", json.dumps(package["env_vars"]))
    return files


def paths_of(files):
    paths = []
    for path, (content, _, link) in sorted(files.items()):
        entry = {"_path": path, "path_type": "hardlink" if link is None else "softlink",
                 "sha256": hashlib.sha256(content).hexdigest(), "size_in_bytes": len(content)}
        if PLACEHOLDER.encode() in content:
            entry.update(prefix_placeholder=PLACEHOLDER, file_mode="text")
        paths.append(entry)
    return {"paths": paths, "paths_version": 1}


def index_of(package):
    index = {"name": package["name"], "version": package["version"],
             "build": package.get("build", "0"), "build_number": package.get("build_number", 0),
             "depends": package.get("depends", []), "constrains": package.get("constrains", []),
             "license": "MIT", "timestamp": 1700000000000,
             "subdir": "noarch" if "noarch" in package else package.get("subdir", SUBDIR)}
    if "noarch" in package:
        index["noarch"] = package["noarch"]
    return index


def info_of(package, index, payload):
    info = {"info/index.json": json.dumps(index), "info/paths.json": json.dumps(paths_of(payload)),
            "info/files": "".join(path + "\n" for path in sorted(payload)), "info/about.json": "{}"}
    if package.get("noarch") == "python":
        noarch = {"type": "python", "entry_points": package.get("entry_points", [])}
        info["info/link.json"] = json.dumps({"noarch": noarch, "package_metadata_version": 1})
    return {path: (content.encode(), 0o644, None) for path, content in info.items()}


def write_package(folder, package):
    """Returns the file's name and its record."""
    index, payload = index_of(package), payload_of(package)
    info = info_of(package, index, payload)
    stem = f"{index['name']}-{index['version']}-{index['build']}"
    kind = package.get("format", ".conda")
    if kind == ".tar.bz2":
        data = bz2.compress(tar_of({**info, **payload}))
    else:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            parts = {"metadata.json": b'{"conda_pkg_format_version": 2}',
                     f"pkg-{stem}.tar.zst": zstd_frame(tar_of(payload)),
                     f"info-{stem}.tar.zst": zstd_frame(tar_of(info))}
            for name, part in parts.items():
                archive.writestr(zipfile.ZipInfo(name), part)
        data = out.getvalue()
    path = folder / index["subdir"] / (stem + kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    record = {**index, "md5": hashlib.md5(data).hexdigest(),
              "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    return path, record


def write_channel(folder, packages):
    """Returns what is printed: url, sha256, md5 and size of each."""
    folder = pathlib.Path(os.path.abspath(folder))
    written = []
    indices = {}
    for subdir in {"noarch", SUBDIR}:
        (folder / subdir).mkdir(parents=True, exist_ok=True)
        indices[subdir] = {}
    for known in folder.glob("*/repodata.json"):
        indices[known.parent.name] = json.loads(known.read_text())
    for package in packages:
        path, record = write_package(folder, package)
        index = indices.setdefault(record["subdir"], {})
        kind = "packages.conda" if path.suffix == ".conda" else "packages"
        index.setdefault(kind, {})[path.name] = record
        written.append({"url": path.as_uri(), **{k: record[k] for k in ("sha256", "md5", "size")}})
    for subdir, index in indices.items():
        whole = {"info": {"subdir": subdir}, "packages": {}, "packages.conda": {}, "removed": [],
                 "repodata_version": 1, **index}
        (folder / subdir / "repodata.json").write_text(json.dumps(whole, indent=1))
    return written


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    spec = json.loads(pathlib.Path(sys.argv[2]).read_text())
    packages = spec["packages"] if isinstance(spec, dict) else spec
    for written in write_channel(sys.argv[1], packages):
        print(json.dumps(written))


if __name__ == "__main__":
    main()
