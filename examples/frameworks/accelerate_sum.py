"""Accelerate adds the numbers of all ranks, and takes one training step that must end alike everywhere."""
import os
import sys

import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=not torch.cuda.is_available())
rank, size = accelerator.process_index, accelerator.num_processes
total = accelerator.reduce(torch.tensor([rank + 1.0], device=accelerator.device), "sum").item()

torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
loss = model(torch.full((8, 4), float(rank), device=accelerator.device)).square().mean()
accelerator.backward(loss)
optimizer.step()
weights = torch.cat([p.detach().reshape(1, -1) for p in model.parameters()], dim=1)
everywhere = accelerator.gather(weights)

print(f"rank {rank} of {size} on {accelerator.device}: sum {total:.0f}", flush=True)
if size != int(os.environ["WORLD_SIZE"]) or total != size * (size + 1) / 2 or not (everywhere == everywhere[0]).all():
    sys.exit("accelerate_sum: the ranks did not work together")
accelerator.end_training()
