"""A real hang: rank 1 leaves out an all-reduce of NCCL, and waits for the others over gloo. It says what NCCL's RAS says of it,
and where torch's flight recorder writes when the time-out of the others is over."""
import os
import socket
import sys
import time

import torch
import torch.distributed as dist

import hosts


def ask_ras():
    """As a client does: NCCL's src/ras."""
    host, port = os.environ.get("NCCL_RAS_ADDR", "localhost:28028").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=20) as ras:
        said = ras.makefile("r", encoding="utf-8", errors="replace")
        for line in ("CLIENT PROTOCOL 2", "SET FORMAT json"):
            ras.sendall(f"{line}\n".encode())
            print(f"ras: {line} -> {said.readline().strip()}", flush=True)
        ras.sendall(b"VERBOSE STATUS\n")
        return said.read()


def main():
    hosts.join(seconds=int(sys.argv[1]))
    others = dist.new_group(backend="gloo")
    assert hosts.sum_up(1 << 16) and hosts.sum_up(1 << 16)
    print("flight recorder:", os.environ.get("TORCH_FR_DUMP_TEMP_FILE", os.environ.get("TORCH_NCCL_DEBUG_INFO_TEMP_FILE")), flush=True)
    if hosts.RANK == 1:
        time.sleep(5)
        print("ras:", " ".join(ask_ras().split())[:4000], flush=True)
        dist.barrier(group=others)
    values = torch.ones(1 << 16, device="cuda")
    dist.all_reduce(values)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
