"""Lightning trains a line on all ranks of the job, and finds its slope: 3."""
import os
import sys

import torch
from lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Line(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.slopes = torch.zeros(0)

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)

    def on_train_end(self):
        self.slopes = self.all_gather(self.layer.weight.detach()).reshape(-1).cpu()


torch.manual_seed(1)
x = torch.rand(512, 1)
trainer = Trainer(max_epochs=30, num_nodes=int(os.environ["LOCKSTEP_NODE_COUNT"]),
                  devices=int(os.environ["LOCAL_WORLD_SIZE"]),
                  accelerator="gpu" if torch.cuda.is_available() else "cpu",
                  strategy="ddp", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  enable_model_summary=False)
line = Line()
trainer.fit(line, DataLoader(TensorDataset(x, 3 * x + 1), batch_size=16, shuffle=True))
ranks = int(os.environ["WORLD_SIZE"])
print(f"rank {trainer.global_rank} of {trainer.world_size} on {trainer.strategy.root_device}: slopes {line.slopes.tolist()}", flush=True)
if len(line.slopes) != ranks or (line.slopes != line.slopes[0]).any() or abs(line.slopes[0] - 3) > 0.01:
    sys.exit("lightning_fit: the ranks did not train together")
