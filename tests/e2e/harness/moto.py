"""PyPI's moto: a server that answers as AWS does, in memory."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile

import pytest

from .site import wait_until

PORT = 5005


@contextlib.contextmanager
def serving():
    """An environment with boto3, and moto's server in it."""
    given = os.environ.get("LOCKSTEP_TEST_MOTO")  # such an environment that is made already
    with tempfile.TemporaryDirectory(prefix="ls-moto-") as name:
        venv = pathlib.Path(given or name)
        if not given:
            subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
            done = subprocess.run([venv / "bin/pip", "install", "--quiet", "moto[server]", "boto3"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip("moto cannot be installed: " + done.stderr.strip().splitlines()[-1])
        strict = {**os.environ, "MOTO_ENABLE_AMI_VALIDATION": "true"}  # an image that nobody has is refused, as by EC2
        server = subprocess.Popen([venv / "bin/moto_server", "-H", "127.0.0.1", "-p", str(PORT)], stdin=subprocess.DEVNULL,
                                  env=strict, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        ask = ["curl", "--silent", "--fail", f"http://127.0.0.1:{PORT}/moto-api/data.json"]
        wait_until(lambda: subprocess.run(ask, capture_output=True, check=False).returncode == 0, "moto answers")
        yield venv
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
