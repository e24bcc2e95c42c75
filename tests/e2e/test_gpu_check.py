"""scripts/gpu-check on machines without a GPU: alone, and with stand-ins for the driver's parts."""
import importlib.util
import pathlib
import shutil
import subprocess

import pytest

from harness.site import BUILD, ROOT

FAKE_NVML = BUILD / "tests" / "fakes" / "nvml" / "libfake_nvml.so"


@pytest.fixture
def tree(shared_bin, tmp_path):
    """A copy of the tree with a build folder that has the programs and nothing else."""
    for folder in ("scripts", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / "tree" / folder)
    shutil.copytree(shared_bin, tmp_path / "tree" / "built" / "bin")
    return tmp_path / "tree"


def nvidia_smi(tree, gpus):
    """A stand-in that lists `gpus` GPUs, the last of them with a part of its own."""
    script = tree / "fakes" / "nvidia-smi"
    script.parent.mkdir()
    lines = [f"GPU {i}: Fake GPU 80GB (UUID: GPU-{i})" for i in range(gpus)] + ["  MIG 1g.10gb"]
    script.write_text("#!/bin/sh\ncat <<END\n" + "\n".join(lines) + "\nEND\n")
    script.chmod(0o755)


def check(tree, **variables):
    """Runs it; returns exit code and output, and demands that no home was left."""
    homes = set(pathlib.Path("/tmp").glob("ls-gpu-check-*"))
    done = subprocess.run([tree / "scripts" / "gpu-check"], cwd=tree, timeout=300, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={"PATH": f"{tree}/fakes:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(tree),
                               "LOCKSTEP_BUILD": "built", **variables})
    assert set(pathlib.Path("/tmp").glob("ls-gpu-check-*")) <= homes, done.stdout
    return done.returncode, done.stdout


def test_without_a_gpu_everything_is_skipped(tree):
    (tree / "fakes").mkdir()
    (tree / "fakes" / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (tree / "fakes" / "nvidia-smi").chmod(0o755)
    code, out = check(tree)
    assert code == 0 and out.splitlines()[-1] == "0 passed, 0 failed, 16 skipped", out


def test_the_checks_run_where_gpus_are_seen(tree):
    nvidia_smi(tree, 8)
    code, out = check(tree, LOCKSTEP_NVML_LIBRARY=str(FAKE_NVML))
    assert code == 0 and out.splitlines()[-1] == "4 passed, 0 failed, 12 skipped", out
    for name in ("inventory", "visible-devices", "isolated", "in-turn"):
        assert f"PASSED {name}" in out, out


def test_a_gpu_that_is_not_offered_fails_the_check(tree):
    nvidia_smi(tree, 9)
    code, out = check(tree, LOCKSTEP_NVML_LIBRARY=str(FAKE_NVML))
    assert code == 1 and out.splitlines()[-1] == "0 passed, 4 failed, 12 skipped", out


def test_a_launcher_that_does_not_start_is_a_failure_with_a_sum(tree):
    nvidia_smi(tree, 8)
    (tree / "built" / "bin" / "lockstepd").write_text("#!/bin/sh\nexit 3\n")
    code, out = check(tree)
    assert code == 1 and out.splitlines()[-1] == "0 passed, 1 failed, 0 skipped", out


def test_a_build_folder_without_programs_is_named(tree):
    nvidia_smi(tree, 8)
    (tree / "built" / "bin" / "lockstepd").unlink()
    code, out = check(tree)
    assert code == 1 and "built/bin/lockstepd is missing" in out, out


def test_the_stand_in_of_ras_has_the_words_of_the_real_library():
    """Of NCCL's RAS there is no header: its protocol and its JSON are texts of the library."""
    found = [*pathlib.Path("/usr/local").glob("cuda*/lib*/libnccl.so.2"), *pathlib.Path("/usr/lib").glob("*/libnccl.so.2")]
    if not found:
        pytest.skip("there is no libnccl here")
    spec = importlib.util.spec_from_file_location("ras", ROOT / "tests" / "fakes" / "ras" / "ras.py")
    ras = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ras)
    library = found[0].read_bytes()
    counts = {"AllReduce": 1}
    keys = ras.words(ras.report([{"rank": 0, "host": "127.0.0.1", "pid": 1, "counts": counts}])) - counts.keys()
    lacking = [word for word in [*(f'"{key}":' for key in sorted(keys)), "SERVER PROTOCOL", "TIMEOUT", "ERROR: Unknown command"]
               if word.encode() not in library]
    assert not lacking, (found[0], lacking)
