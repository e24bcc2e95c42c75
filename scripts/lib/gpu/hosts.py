"""Several NCCL ranks on one GPU, each as on a host of its own. NCCL refuses two ranks on one device of one host; hosts are told
apart by NCCL_HOSTID. So they talk over sockets, as over a network."""
import datetime
import glob
import os

import torch
import torch.distributed as dist

RANK = int(os.environ["RANK"])


def join(seconds=300):
    os.environ["NCCL_HOSTID"] = f"lockstep-{RANK}"
    os.environ.setdefault("NCCL_NET", "Socket")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=seconds))


def sum_up(elements):
    values = torch.full((elements,), float(RANK + 1), device="cuda")
    dist.all_reduce(values)
    torch.cuda.synchronize()
    size = dist.get_world_size()
    return bool((values == size * (size + 1) / 2).all())


def main():
    lead = os.path.join(os.environ["TMPDIR"], f"hosts-{RANK}")
    os.environ.update({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_DEBUG_FILE": lead + ".%h.%p"})
    join()
    is_right = sum_up(1 << 24)
    text = "".join(open(path).read() for path in glob.glob(lead + ".*"))
    print(f"rank {RANK}: sum {'right' if is_right else 'wrong'}, {text.count('via NET/Socket')} channels over sockets", flush=True)
    dist.destroy_process_group()
    return 0 if is_right and "via NET/Socket" in text else 1


if __name__ == "__main__":
    raise SystemExit(main())
