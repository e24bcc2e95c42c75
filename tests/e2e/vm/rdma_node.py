"""The second of two machines: a node of the launcher on the first one, until that says that all is done."""
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.site import BUILD  # noqa: E402

SHARED = pathlib.Path("/run/shared")
WAIT_S = 300


def main():
    home = pathlib.Path("/root/node")
    home.mkdir()
    token = home / "token"
    end = time.monotonic() + WAIT_S
    while not (SHARED / "n2.token").exists():
        if time.monotonic() > end:
            sys.exit("the first machine wrote no token")
        time.sleep(0.2)
    token.write_text((SHARED / "n2.token").read_text())
    token.chmod(0o600)
    words = [BUILD / "bin" / "lockstep-agent", "--launcher", "tcp://10.9.0.1:7070", "--home", home / "agent", "--name", "n2",
             "--token-file", token]
    with open(SHARED / "n2.log", "wb") as log:
        agent = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    while not (SHARED / "done").exists() and agent.poll() is None:
        time.sleep(0.2)
    print(f"the agent ended with {agent.poll()}" if agent.poll() is not None else "done", flush=True)
    agent.terminate()
    agent.wait(timeout=60)


if __name__ == "__main__":
    main()
