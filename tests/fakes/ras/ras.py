"""Stands in for the RAS of a process of NCCL, as NCCL 2.28 speaks it (its src/ras); test_gpu_check holds its words against the
real library's.

As a module: serve(address, ranks) answers on HOST:PORT. `ranks()`: the job's, as dictionaries of rank, host, pid and counts.
"""
import json
import socket
import threading

PROTOCOL = 2


def report(ranks):
    """As `SET FORMAT json`, `VERBOSE STATUS` has it, for one communicator of all of them."""
    return {
        "nccl_version": "2.28.9", "cuda_runtime_version": 13000, "timestamp": "2026-01-01 00:00:00",
        "communicators": [{
            "hash": "0x1234abcd", "secondary_hash": "0x1:0x2", "size": len(ranks), "ranks_count": len(ranks),
            "missing_ranks_count": 0,
            "ranks": [{
                "rank": one["rank"], "host": one["host"], "pid": one["pid"], "cuda_dev": 0, "nvml_dev": 0,
                "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False},
                "collective_counts": one["counts"]} for one in ranks],
            "missing_ranks": []}],
        "ras": {"collection_time_sec": 0.001, "timeouts_count": 0}}


def words(value, found=None):
    """All keys of a report."""
    found = set() if found is None else found
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str):
            found.add(key)
        words(below, found)
    return found


def converse(peer, ranks):
    """Each line is answered by one; a status ends the conversation."""
    lines = peer.makefile("r", encoding="utf-8", errors="replace")
    for line in lines:
        said = line.split()
        if said[:2] == ["CLIENT", "PROTOCOL"]:
            peer.sendall(f"SERVER PROTOCOL {PROTOCOL}\n".encode())
        elif said[:1] == ["TIMEOUT"] or said[:2] == ["SET", "FORMAT"]:
            peer.sendall(b"OK\n")
        elif said[-1:] == ["STATUS"]:
            peer.sendall(json.dumps(report(ranks()), indent=2).encode())
            return
        else:
            peer.sendall(f"ERROR: Unknown command {line.strip()}\n".encode())


def serve(address, ranks):
    """On a thread that ends with the process."""
    host, port = address.rsplit(":", 1)
    server = socket.create_server((host, int(port)), reuse_port=True)

    def answer():
        while True:
            peer, _ = server.accept()
            with peer:
                converse(peer, ranks)

    threading.Thread(target=answer, daemon=True).start()
