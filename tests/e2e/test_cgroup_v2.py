"""Control groups of version 2: the whole of it runs inside a virtual machine (see harness/vm.py), since
the machine of the tests may have version 1. Outside, each part of what ran there is one test."""
import os
import re
import shlex

import pytest

from harness import vm
from harness.site import BUILD, ROOT

BUILT = BUILD.resolve()
PROGRAMS = {
    "runner": (BUILT / "tests" / "runner_test", "CgroupTest.*:RunnerAsRootTest.*"),
    "agent": (BUILT / "tests" / "agent_test", "CleanupTest.*:*Isolation*"),
}
TIMEOUT_S = 400


def task():
    lines = ["export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 GTEST_BRIEF=1",
             f"export LOCKSTEP_BUILD={shlex.quote(str(BUILT))} PYTHONDONTWRITEBYTECODE=1", f"cd {shlex.quote(str(ROOT))}"]
    parts = {name: f"{shlex.quote(str(program))} --gtest_filter='{choice}'" for name, (program, choice) in PROGRAMS.items()}
    parts["jobs"] = "/usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/e2e/vm/jobs.py"
    for name, command in parts.items():
        lines += [f"echo '== {name} begins'; {command}; echo \"== {name} exited $?\""]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def printed():
    """What one boot of the machine printed."""
    if os.getuid() != 0:
        pytest.skip("only root can lend a virtual machine all of this one's files")
    try:
        return vm.run(task(), [ROOT, BUILT], TIMEOUT_S)
    except vm.Unavailable as reason:
        pytest.skip(f"no virtual machine with Debian's kernel: {reason}")


@pytest.mark.parametrize("part", [*PROGRAMS, "jobs"])
def test_in_a_machine_with_cgroup_v2(printed, part):
    found = re.search(rf"^== {part} begins\n(.*?)^== {part} exited (\d+)$", printed, re.M | re.S)
    assert found, printed[-6000:]
    assert found[2] == "0", found[1][-6000:]
    assert not re.search(r"skipped", found[1], re.I), found[1]
