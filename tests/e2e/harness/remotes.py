"""Datastores of a site, and real servers for those that are remotes: rclone's own of SFTP and WebDAV."""
import contextlib
import signal
import socket
import subprocess

from .site import wait_until


def own(site, *paths):
    if site.user:
        subprocess.run(["chown", "-R", f"{site.user}:", *map(str, paths)], check=True)


def name_stores(site, text):
    path = site.home / "datastores.yml"
    path.write_text(text)
    path.chmod(0o600)
    own(site, path)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def serving(kind, folder, port=None):
    """rclone's own server of this kind; yields its port and its process."""
    port = port or free_port()
    process = subprocess.Popen(
        ["rclone", "serve", kind, "--addr", f"127.0.0.1:{port}", "--user", "u", "--pass", "secret-word", "--config", "/dev/null",
         "--dir-cache-time", "0s", str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})

    def answers():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
    try:
        wait_until(answers, f"rclone serves {kind}")
        yield port, process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def obscured(word):
    return subprocess.run(["rclone", "obscure", word], capture_output=True, text=True, check=True).stdout.strip()


def section(name, kind, port, word="secret-word"):
    where = f"url = http://127.0.0.1:{port}\nvendor = other" if kind == "webdav" else f"host = 127.0.0.1\nport = {port}"
    return f"[{name}]\ntype = {kind}\n{where}\nuser = u\npass = {obscured(word)}\n"
