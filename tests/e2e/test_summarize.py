"""scripts/lib/summarize.py: which skips are allowed, and to whom."""
import os
import subprocess
import sys

import pytest

from harness.site import ROOT

WHO, OTHER = ("root", "user") if os.geteuid() == 0 else ("user", "root")
RESULTS = """<testsuites><testsuite><testcase classname="Suite" name="Good" status="run"/>
<testcase classname="Suite" name="Skipping" status="run"><skipped message="why"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("line, code, last", [
    (f"Suite.Skip*  {WHO}  reason", 0, "1 passed, 0 failed, 1 skipped"),
    ("Suite.*  any  reason", 0, "1 passed, 0 failed, 1 skipped"),
    (f"Suite.Skip*  {OTHER}  reason", 1, "1 passed, 1 failed, 0 skipped"),
    ("Other.*  any  reason", 1, "1 passed, 1 failed, 0 skipped"),
    ("# nothing", 1, "1 passed, 1 failed, 0 skipped"),
    ("Suite.*  reason only", 1, "not 'PATTERN  root|user|any  REASON': Suite.*  reason only"),
])
def test_a_skip_is_allowed_only_to_whom_it_names(tmp_path, line, code, last):
    (tmp_path / "unit.xml").write_text(RESULTS)
    (tmp_path / "skips.txt").write_text(line + "\n")
    done = subprocess.run([sys.executable, ROOT / "scripts/lib/summarize.py", tmp_path,
                           tmp_path / "skips.txt"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    assert done.returncode == code and done.stdout.splitlines()[-1].endswith(last), done.stdout


def test_the_list_of_this_tree_is_well_formed(tmp_path):
    (tmp_path / "unit.xml").write_text(RESULTS.replace("<skipped message=\"why\"/>", ""))
    subprocess.run([sys.executable, ROOT / "scripts/lib/summarize.py", tmp_path,
                    ROOT / "tests/expected_skips.txt"], check=True, stdout=subprocess.DEVNULL)
