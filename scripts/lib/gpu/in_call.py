"""Is in a call of CUDA until it is ended."""
import torch


def waits_for_the_gpu():
    torch.cuda._sleep(1 << 40)  # cycles: some minutes
    torch.cuda.synchronize()


torch.zeros(1, device="cuda")
print("in the call", flush=True)
waits_for_the_gpu()
