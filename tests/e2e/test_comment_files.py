"""scripts/lib/comment_files.py: files that comments name and the tree does not have."""
import sys

import pytest

from harness.site import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import comment_files  # noqa: E402  (of scripts/lib)


def found(tmp_path, text):
    (tmp_path / "launcher" / "home").mkdir(parents=True)
    (tmp_path / "launcher" / "home" / "layout.h").write_text("")
    (tmp_path / "launcher" / "a.cc").write_text(text)
    return list(comment_files.check(tmp_path, ["launcher/home/layout.h", "launcher/a.cc"]))


@pytest.mark.parametrize("text", [
    "// launcher/home/layout.h draws it", "int x;  // see home/layout.h.", "// layout.h", "// home/*.h and lay*.h",
    "// of linux/futex.h", '// "train.h:88", of the stack', "// the script train.py", '#include "gone.h"',
    'f("gone.h");',
])
def test_what_is_there_or_foreign_may_be_named(tmp_path, text):
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("text, name", [
    ("// gone.h", "gone.h"), ("int x;  // see core/layout.h.", "core/layout.h"), ("// ayout.h", "ayout.h"),
    ("// home/*.cc", "home/*.cc"), ("// docs/gone.md (a guide)", "docs/gone.md"),
    ("// launcher/gone.py", "launcher/gone.py"), ("// launcher/layout.h", "launcher/layout.h"),
])
def test_what_is_not_there_is_said(tmp_path, text, name):
    assert found(tmp_path, "\n" + text) == [f"launcher/a.cc:2: there is no file {name}"]
