"""A virtual environment with a package of the real index of Python packages; then with the network cut."""
import shutil

import pytest
from harness.environments import built_environments

PACKAGE = "six==1.16.0"
CUT = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_NO_INDEX": "", "UV_INDEX_URL": "http://127.0.0.1:9/simple"}


@pytest.fixture
def prepared(site):
    site.write("job.yml", f"""
command: python -c "import six; print('six', six.__version__)"
environment:
  requirements: [{PACKAGE}]
resources:
  instance_count: 2
""")
    return site


def run(site, name):
    site.ok("job", "create", "-f", "job.yml", "--name", name)
    site.wait_for_status(name, "Completed", deadline_s=300)
    assert site.logs(name).decode().count("six 1.16.0") == 2
    return site.ok("environment", "log", name)


def built(site):
    return built_environments(site.home)


def test_what_was_fetched_once_is_built_again_without_a_network(prepared):
    site = prepared
    site.up(2)
    first = run(site, "first")
    assert first.count("solved: 1 package\n") == 1 and "pip download" in first
    locks = {part["environment"]["lock"] for part in site.show("first")["attempts"][0]["parts"]}
    assert len(locks) == 1 and None not in locks
    site.down()
    for folder in built(site):
        shutil.rmtree(folder)
    site.ok("up", "--nodes", "2", env=CUT)
    second = run(site, "second")
    assert len(built(site)) == 2
    assert "pip download" not in second and "solved:" not in second
    # What is not here yet needs the index, and says so.
    site.write("job.yml", "command: 'true'\nenvironment: {requirements: [six==1.15.0]}\n"
                          "lockstep: {retry: {max: 0}}\n")
    site.ok("job", "create", "-f", "job.yml", "--name", "third")
    [attempt] = site.wait_for_status("third", "Failed", deadline_s=300)["attempts"]
    assert attempt["report"]["cause"] == "start_failed", attempt
    assert "the index was not reached" in attempt["report"]["message"]
