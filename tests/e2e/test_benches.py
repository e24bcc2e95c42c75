"""A bench whose programs are not built says so in one line."""
import os
import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
WORDS = {"load": ["jobs"], "two_builds": ["BUILD", "BUILD"]}
BENCHES = [path.stem for path in sorted(BENCH.glob("*.py")) if "__main__" in path.read_text()]


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_without_its_programs_says_what_to_build(name, tmp_path):
    words = [str(tmp_path) if word == "BUILD" else word for word in WORDS.get(name, [])]
    done = subprocess.run([sys.executable, BENCH / f"{name}.py", *words], capture_output=True, text=True,
                          env={**os.environ, "LOCKSTEP_BUILD": str(tmp_path)}, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert f"{name}.py: not built in {tmp_path}: " in done.stderr
    assert "bin/lockstep" in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
