"""Data-parallel training with mpi4py: every rank has its shard, gradients are averaged each step."""
import argparse
import os

import numpy as np
from mpi4py import MPI

import digits

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch", type=int, default=32, help="images per rank and step")
parser.add_argument("--learning-rate", type=float, default=0.5)
args = parser.parse_args()

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
train_x, train_y, test_x, test_y = digits.load()
x, y = digits.shard(train_x, train_y, rank, size)
print(f"rank {rank} of {size} on {os.uname().nodename}: {len(y)} images", flush=True)

network = digits.Network(seed=1)
comm.Bcast(network.flat, root=0)
rng = np.random.default_rng(1000 + rank)
for epoch in range(1, args.epochs + 1):
    order = rng.permutation(len(y))
    losses = []
    for start in range(0, len(y) - args.batch + 1, args.batch):
        batch = order[start:start + args.batch]
        loss, gradient = network.gradient(x[batch], y[batch])
        comm.Allreduce(MPI.IN_PLACE, gradient, op=MPI.SUM)
        network.flat -= args.learning_rate * gradient / size
        losses.append(loss)
    mean_loss = comm.allreduce(float(np.mean(losses))) / size
    if rank == 0 and epoch % 5 == 0:
        print(f"epoch {epoch:3d}  loss {mean_loss:.4f}", flush=True)

# All replicas must have stayed equal, or the training was not data-parallel at all.
highest, lowest = np.empty_like(network.flat), np.empty_like(network.flat)
comm.Allreduce(network.flat, highest, op=MPI.MAX)
comm.Allreduce(network.flat, lowest, op=MPI.MIN)
if not np.array_equal(highest, lowest):
    raise SystemExit(f"rank {rank}: the replicas differ by {(highest - lowest).max()}")
if rank == 0:
    print(f"accuracy {network.accuracy(test_x, test_y):.4f}", flush=True)
