"""The same training with PyTorch's DistributedDataParallel over gloo (or NCCL when GPUs are there).

The rendezvous variables are those that torchrun sets. When $LOCKSTEP_CHECKPOINT_DIR is set, each epoch
is saved there, and the training goes on from what it finds there: a folder, and plain files.
"""
import argparse
import hashlib
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import digits

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch", type=int, default=32, help="images per rank and step")
parser.add_argument("--learning-rate", type=float, default=0.5)
args = parser.parse_args()

use_cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if use_cuda else "gloo")
rank, size = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if use_cuda else torch.device("cpu")
torch.set_num_threads(1)
torch.manual_seed(1)

train_x, train_y, test_x, test_y = digits.load()
x, y = digits.shard(train_x, train_y, rank, size)
x = torch.tensor(x, dtype=torch.float32, device=device)
y = torch.tensor(y, dtype=torch.long, device=device)
print(f"rank {rank} of {size} on {os.uname().nodename}: {len(y)} images", flush=True)

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 10))
model = DistributedDataParallel(model.to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate)
criterion = torch.nn.CrossEntropyLoss()
generator = torch.Generator().manual_seed(1000 + rank)


def checkpoint_file():
    folder = os.environ.get("LOCKSTEP_CHECKPOINT_DIR")
    return os.path.join(folder, "training.pt") if folder else None


def load_checkpoint():
    """Returns the last epoch that is done. All ranks find the same file, on whatever node they are."""
    path = checkpoint_file()
    if not path or not os.path.exists(path):
        return 0
    saved = torch.load(path, map_location=device)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    for _ in range(saved["epoch"]):  # the shuffles of the epochs that are done
        torch.randperm(len(y), generator=generator)
    return saved["epoch"]


def save_checkpoint(epoch):
    """Whole or not at all: whoever reads the folder meanwhile sees the old file or the new one."""
    path = checkpoint_file()
    if path and rank == 0:
        torch.save({"epoch": epoch, "model": model.module.state_dict(),
                    "optimizer": optimizer.state_dict()}, path + ".part")
        os.replace(path + ".part", path)


done = load_checkpoint()
if done and rank == 0:
    print(f"goes on after epoch {done}", flush=True)
for epoch in range(done + 1, args.epochs + 1):
    order = torch.randperm(len(y), generator=generator).to(device)
    for start in range(0, len(y) - args.batch + 1, args.batch):
        batch = order[start:start + args.batch]
        optimizer.zero_grad()
        loss = criterion(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    save_checkpoint(epoch)
    if rank == 0 and epoch % 5 == 0:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}", flush=True)

flat = torch.cat([p.detach().cpu().reshape(-1) for p in model.parameters()])
print(f"parameters {hashlib.sha256(flat.numpy().tobytes()).hexdigest()}", flush=True)
if rank == 0:
    with torch.no_grad():
        scores = model.module(torch.tensor(test_x, dtype=torch.float32, device=device))
    accuracy = (scores.argmax(1).cpu().numpy() == test_y).mean()
    print(f"accuracy {accuracy:.4f}", flush=True)
dist.barrier()
dist.destroy_process_group()
