"""scripts/lib/doc_names.py: what documents name and the code does not have."""
import sys

import pytest

from harness.site import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import doc_names  # noqa: E402  (of scripts/lib)

CODE = "struct Engine {};\nvoid start() {}\n"


def found(tmp_path, text):
    (tmp_path / "launcher").mkdir()
    (tmp_path / "launcher" / "a.cc").write_text(CODE)
    (tmp_path / "page.md").write_text(text)
    return list(doc_names.check(tmp_path, ["launcher/a.cc", "page.md"]))


@pytest.mark.parametrize("text", ["`start()`", "`Engine::start`", "`Engine` (`launcher/a.cc`)", "`git add`", "`/a/b.cc`",
                                  "stop() without quotes"])
def test_what_is_there_may_be_named(tmp_path, text):
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("text, said", [
    ("line\n`stop()`", "page.md:2: nothing is called stop (`stop()`)"),
    ("`Engine::stop`", "page.md:1: nothing is called stop (`Engine::stop`)"),
    ("`launcher/b.cc`", "page.md:1: there is no file launcher/b.cc"),
    ("`stop` (`launcher/a.cc`)", "page.md: stop is not in launcher/a.cc"),
    ("`stop`\n(`launcher/a.cc`)", "page.md: stop is not in launcher/a.cc"),
])
def test_what_is_not_there_is_said(tmp_path, text, said):
    assert found(tmp_path, text) == [said]
