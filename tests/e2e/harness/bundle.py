"""Makes the archive of scripts/bundle."""
import subprocess

from .site import ROOT


def archive(build, directory):
    out = directory / "bundle.tar.gz"
    done = subprocess.run([ROOT / "scripts/bundle", "--build", build, "--out", out], capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == str(out)
    return out
