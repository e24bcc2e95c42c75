"""The checkout may lie anywhere: what hides a folder in a mount namespace does it with `cover`, which leaves there
the checkout and what else the tests run from."""
import pathlib
import shlex
import subprocess

COVER = pathlib.Path(__file__).resolve().parents[1] / "cover"


def covering(folder, *mount_words):
    """A line for sh: mounts over `folder` what `mount MOUNT-WORDS FOLDER` would."""
    return shlex.join(map(str, (COVER, folder, *mount_words)))


def kept_below(folder):
    """The folders and files that stay below `folder` when it is covered."""
    done = subprocess.run([COVER, "--kept", folder], stdout=subprocess.PIPE, text=True, check=True)
    return [pathlib.Path(line) for line in done.stdout.splitlines()]
