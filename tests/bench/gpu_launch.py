#!/usr/bin/env python3
"""A training on all GPUs of this machine, launched by torchrun and by Lockstep, in turns.

usage: tests/bench/gpu_launch.py [--runs N]     with the Python whose PyTorch sees the GPUs
Prints the median of the whole command: start, NCCL's communicator, training, end.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from needs import BUILD, need
from turns import medians

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"
SCRIPT = ("train_ddp.py", "--epochs", "5")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    need()
    import torch  # pylint: disable=import-outside-toplevel  # not of the system's Python
    ranks = str(torch.cuda.device_count())
    if ranks == "0":
        sys.exit("gpu_launch: PyTorch sees no GPU here")
    lockstep = BUILD / "bin" / "lockstep"
    with tempfile.TemporaryDirectory(prefix="lockstep-gpu-") as home:
        env = {**os.environ, "LOCKSTEP_HOME": home, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

        def run(*words):
            subprocess.run([str(word) for word in words], cwd=DIGITS, env=env, check=True, stdout=subprocess.DEVNULL)

        def turn():
            yield lambda: run(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", ranks, *SCRIPT)
            yield lambda: run(lockstep, "run", "-q", "-n", ranks, "--distribution", "pytorch", "--env", "OMP_NUM_THREADS=1",
                              "--env", "OPENBLAS_NUM_THREADS=1", "--", sys.executable, *SCRIPT)

        run(lockstep, "up", "--nodes", "1")
        try:
            peer, ours = medians(args.runs, turn)
        finally:
            run(lockstep, "down", "--cancel")
    print(f"{torch.cuda.get_device_name()} x {ranks}, torch {torch.__version__}, {args.runs} turns")
    print(f"torchrun {peer:.2f} s, lockstep {ours:.2f} s: {ours / peer:.2f} x")


if __name__ == "__main__":
    main()
