"""Two nodes x two ranks: plain, C++ MPI, mpi4py, PyTorch DDP."""
import re
import subprocess


def ranks_of(text, pattern):
    return sorted(re.findall(pattern, text))


def test_cpp_mpi_sees_four_ranks_and_the_right_sum(any_site):
    any_site.up(2)
    program = any_site.install_program("mpi_hello")
    out = any_site.ok("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", program)
    assert ranks_of(out, r"rank (\d+) of 4") == ["0", "1", "2", "3"], out


def test_mpi4py_sees_four_ranks_and_the_right_sum(any_site):
    any_site.up(2)
    any_site.write("hello.py", "from mpi4py import MPI\nc = MPI.COMM_WORLD\n"
                   "print(f'rank {c.rank} of {c.size} sum {c.allreduce(c.rank + 1)}')\n")
    out = any_site.ok("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", "python3", "hello.py")
    assert ranks_of(out, r"rank (\d+) of 4 sum 10") == ["0", "1", "2", "3"], out


def test_ddp_ends_with_identical_parameters_on_all_ranks(any_site):
    any_site.up(2)
    out = any_site.ok("job", "create", "-f", any_site.example("digits") / "job-ddp.yml", "--stream",
                      "--set", "inputs.epochs=3", timeout=300)
    hashes = re.findall(r"parameters ([0-9a-f]{64})", out)
    assert len(hashes) == 4 and len(set(hashes)) == 1, out


def test_digits_with_mpi4py_learns(site):
    site.up(2)
    out = site.ok("job", "create", "-f", site.example("digits") / "job-mpi.yml", "--stream", timeout=300)
    assert float(re.search(r"accuracy ([0-9.]+)", out).group(1)) > 0.9


def test_digits_in_cpp_learns_on_all_ranks(any_site):
    """As the README has it: prepare-cc, then the job; what it built is ignored by git, not by Lockstep."""
    subprocess.run([any_site.example("digits") / "prepare-cc"], check=True)
    subprocess.run(["chmod", "-R", "a+rX", any_site.work], check=True)
    any_site.up(2)
    out = any_site.ok("job", "create", "-f", "digits/job-cc.yml", "--stream", timeout=300)
    assert ranks_of(out, r"rank (\d+) of 4 on \S+: \d+ images") == ["0", "1", "2", "3"], out
    assert float(re.search(r"accuracy ([0-9.]+)", out).group(1)) > 0.9


def test_torch_variables_are_torchruns(any_site):
    any_site.up(2)
    out = any_site.ok("run", "-N", "2", "-n", "2", "--distribution", "pytorch", "--", "sh", "-c",
                      "echo $RANK $WORLD_SIZE $LOCAL_RANK $NODE_RANK $LOCAL_WORLD_SIZE $GROUP_RANK")
    rows = sorted(" ".join(line.split()[-6:]) for line in out.splitlines())
    assert rows == ["0 4 0 0 2 0", "1 4 1 0 2 0", "2 4 0 1 2 1", "3 4 1 1 2 1"], out


def test_two_gangs_at_once_share_no_port_or_directory(any_site):
    any_site.up(2)
    script = "echo $MASTER_PORT $PWD; sleep 2"
    words = ("-N", "2", "-n", "1", "--distribution", "pytorch", "--", "sh", "-c", script)
    job = "name: {}\ncommand: 'echo $MASTER_PORT $PWD $TMPDIR; sleep 3'\n" \
          "distribution: {{type: pytorch, process_count_per_instance: 1}}\n" \
          "resources: {{instance_count: 2}}\nlockstep: {{resources: {{cpus: 1, memory: 64m}}}}\n"
    del words
    rows = {}
    for name in ("one", "two"):
        any_site.write(f"{name}.yml", job.format(name))
    # Each local node offers one cpu or more; both jobs fit only when a node has two.
    for name in ("one", "two"):
        any_site.ok("job", "create", "-f", f"{name}.yml")
    for name in ("one", "two"):
        any_site.wait_for_status(name, "Completed")
        rows[name] = any_site.logs(name).decode().splitlines()
    one, two = rows["one"], rows["two"]
    assert len(one) == len(two) == 2
    assert not {line.split()[-2] for line in one} & {line.split()[-2] for line in two}
