#!/usr/bin/env python3
"""Writes tests/data/<landing>/: what this version writes, as text, for all later ones to read.

usage: record.py BUILD/tests/record_data LANDING      (run once, when the landing is whole; see README.md)
"""
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def dump(path):
    """The database as SQL, with what iterdump leaves out."""
    database = sqlite3.connect(path)
    for pragma in ("application_id", "user_version"):
        yield f"PRAGMA {pragma} = {database.execute(f'PRAGMA {pragma}').fetchone()[0]};"
    yield from database.iterdump()
    database.close()


def as_text(envelope):
    """What protoc makes of it, with the .proto files of this version."""
    done = subprocess.run(["protoc", "-I", ROOT, "--decode=lockstep.pb.Envelope", "proto/control.proto"],
                          cwd=ROOT, input=envelope, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def main(program, landing):
    target = pathlib.Path(__file__).resolve().parent / landing
    target.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([program, scratch], check=True)
        scratch = pathlib.Path(scratch)
        (target / "journal.sql").write_text("\n".join(dump(scratch / "journal.db")) + "\n")
        (target / "jobs.txt").write_text((scratch / "jobs.txt").read_text())
        with open(target / "envelopes.txt", "w") as out:
            for line in (scratch / "envelopes.hex").read_text().split():
                out.write(f"== {line}\n{as_text(bytes.fromhex(line))}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
