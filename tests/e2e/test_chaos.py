"""Two minutes of chaos with a seed of its own; `scripts/check --chaos 30m` runs longer ones."""
import os
import pathlib
import shutil

import pytest
from chaos.chaos import Chaos
from harness.wired import directory_for

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces and mounts need root")

SEED, DURATION_S = 20260, 120.0


def test_two_minutes_of_chaos(shared_bin):
    directory = directory_for("ls-chaos")
    objections, notes = Chaos(SEED, directory, shared_bin).run(DURATION_S)
    text = "\n".join(objections)
    assert not objections, f"seed {SEED}, evidence in {directory}/evidence:\n{text}"
    assert notes["jobs"] > 10 and notes["faults"] > 10, notes
    shutil.rmtree(pathlib.Path(directory))
