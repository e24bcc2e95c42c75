"""What people expect in the first minutes, who come from docker, Slurm, kubectl and Azure ML."""
import json
import os
import re

import pytest
from harness.screen import OnATerminal

# Draws a bar as tqdm does, waits for the file, and ends the bar.
BAR = r"""
import os, sys, time
go, stream = sys.argv[1], getattr(sys, sys.argv[2])
for i in range(11):
    stream.write(f"\r{i:3}%")
    stream.flush()
while not os.path.exists(go):
    time.sleep(0.02)
stream.write("\r100%\n")
"""


def bar_words(site, stream="stderr"):
    site.write("bar.py", BAR)
    return ["--", "/usr/bin/python3", "bar.py", str(site.directory / "go"), stream]


def test_logs_are_of_both_streams_unless_one_is_chosen(site):
    site.up(1)
    site.ok("run", "-q", "-n", "2", "--name", "both", "--", "sh", "-c", "echo out; echo err >&2")
    def said(*words):
        done = site.run("job", "logs", "both", *words)
        return sorted(done.stdout.split(b"\n"))[1:], sorted(done.stderr.split(b"\n"))[1:]
    out, err = [b"local-0:0 | out", b"local-0:1 | out"], [b"local-0:0 | err", b"local-0:1 | err"]
    assert said() == (out, err)
    assert said("--stdout") == (out, [])
    assert said("--stderr") == ([], err)


def test_cancel_takes_many_names_and_does_all_that_it_can(site):
    site.up(1)
    names = [site.submit("--name", name, "--", "sleep", "600") for name in ("one", "two", "three")]
    done = site.run("job", "cancel", names[0], "nosuch", names[2])
    assert done.returncode == 1 and b"nosuch" in done.stderr, done.stderr
    for name in (names[0], names[2]):
        site.wait_for_status(name, "Canceled")
    assert site.show("two")["status"] in ("Queued", "Preparing", "Starting", "Running")
    site.ok("job", "cancel", "two")
    site.wait_for_status("two", "Canceled")


def test_lists_are_filtered_by_the_launcher(site):
    site.up(1)
    for i in range(6):
        kind = "even" if i % 2 == 0 else "odd"
        site.write("job.yml", f"name: j{i}\nexperiment_name: {kind}\ndisplay_name: the {i}.\n"
                              f"command: exit {i % 3}\nlockstep: {{retry: {{max: 0}}}}\n"
                              f"tags: {{number: '{i}', {kind}: yes}}\n")
        site.run("job", "create", "-f", "job.yml", "--stream")

    def names(*words):
        return [job["name"] for job in site.json("job", "list", *words)]
    assert names("--status", "failed") == ["j5", "j4", "j2", "j1"]
    assert names("--status", "COMPLETED,Running") == ["j3", "j0"]
    assert names("--experiment", "odd", "--status", "Failed") == ["j5", "j1"]
    assert names("--tag", "even", "--tag", "number=4") == ["j4"]
    assert names("--tag", "even=no") == []
    assert names("--since", "1h") == ["j5", "j4", "j3", "j2", "j1", "j0"]
    assert names("--since", "2099-01-01") == []
    mine = site.show("j0")["creation_context"]["created_by"]
    assert names("--mine") == names("--user", mine) == names("-u", mine) == names()
    assert names("--user", "nobody-else") == []
    newest = site.run("job", "list", "--status", "Failed", "-r", "2", "-o", "json")
    assert [job["name"] for job in json.loads(newest.stdout)] == ["j5", "j4"]
    assert b"only the newest 2 of 4 jobs that meet the filters are shown" in newest.stderr
    assert "no job meets these filters" in site.ok("job", "list", "--user", "nobody-else")
    refused = site.run("job", "list", "--status", "Done")
    assert refused.returncode == 2, refused
    assert b"'Done' is unknown; a job's status is one of Queued, Preparing, " in refused.stderr


def test_a_table_says_who_and_what_and_fits_the_terminal(site):
    site.up(1)
    site.write("job.yml", "name: named\nexperiment_name: digits\ndisplay_name: a display name of many words\n"
                          "command: \"false\"\n")
    site.run("job", "create", "-f", "job.yml", "--stream")
    header, line = site.ok("job", "list").splitlines()
    assert header.split("  ")[0] == "NAME" and "USER" in header
    assert "digits" in line and "a display name of many words" in line
    for columns in (60, 100, 140):
        code, lines = OnATerminal(site, "job", "list", columns=columns).end()
        assert code == 0 and len(lines) == 2, lines
        assert all(len(line) <= columns for line in lines), lines
        assert lines[1].startswith("named"), lines


@pytest.mark.parametrize("name, text, told", [
    ("train.py", "import torch\n", "lockstep run -- python3 train.py"),
    ("run.sh", "python3 train.py\n", "lockstep run -- bash run.sh"),
    ("train.sbatch", "#!/bin/bash\n#SBATCH --nodes=2\nsrun ./train\n", "lockstep run --sbatch train.sbatch")])
def test_a_program_in_place_of_a_job_file_is_told_what_to_type(site, name, text, told):
    site.write(name, text)
    done = site.run("job", "create", "-f", name)
    assert done.returncode == 2 and done.stdout == b"", done
    assert f"{name}:1:1: is a " in done.stderr.decode() and told in done.stderr.decode(), done.stderr
    assert not site.launcher_pids(), "nothing was started for it"


def test_all_that_is_wrong_with_a_job_file_is_said_at_once(site):
    site.write("job.yml", "comamnd: x\nresources:\n  instance_cuont: 2\nlimits: {timeout: soon}\ncode: nowhere\n")
    for words in (["create"], ["validate"]):
        done = site.run("job", *words, "-f", "job.yml")
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2, done
        assert [line.split(": ")[1] for line in lines] == [
            "job.yml:1:1", "job.yml:3:3", "job.yml:4:19", "job.yml:5:7"], lines


def test_what_azure_writes_and_leaves_empty_is_taken(site):
    site.up(1)
    site.write("job.yml", "command: \"true\"\nproperties: {}\nparameters: {}\nservices: {}\nidentity: null\n"
                          "queue_settings: {}\nresources: {instance_count: 1, properties: {}}\n")
    assert site.run("job", "create", "-f", "job.yml", "--stream").returncode == 0


def test_an_active_environment_that_stays_behind_is_said(site):
    site.up(1)
    venv = site.directory / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to("/usr/bin/python3")
    active = {"VIRTUAL_ENV": str(venv)}
    show = ["python3", "-c", "import sys; print(sys.executable)"]
    done = site.run("run", "--", *show, env=active)
    assert done.returncode == 0, done.stderr
    assert f"the job's `python3` is {done.stdout.decode().strip()}. " in done.stderr.decode()
    told = re.search(r"--interpreter (\S+)", done.stderr.decode()).group(1)
    taken = site.run("run", "--interpreter", told, "--", "python", *show[1:], env=active)
    assert taken.returncode == 0 and b"active in this shell" not in taken.stderr, taken.stderr
    assert b"active in this shell" not in site.run("run", "--", *show).stderr
    assert b"active in this shell" not in site.run("run", "-q", "--", *show, env=active).stderr


def test_a_missing_python_is_told_the_two_ways_out(site):
    site.up(1)
    for words in (["python", "train.py"], ["/bin/sh", "-c", "python train.py"]):
        done = site.run("run", "--env", "PATH=/nowhere", "--", *words)
        assert done.returncode == 127, done
        assert (b"no `python` on the job's PATH; write python3, or pass your shell's with `--env PATH`"
                in done.stderr), done.stderr


def test_standard_input_that_is_not_passed_on_is_said_once(site):
    site.up(1)
    said = b"the job does not get standard input"
    reader, writer = os.pipe()
    try:
        os.write(writer, b"data\n")
        done = site.run("run", "--", "wc", "-c", stdin=reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert (done.returncode, done.stdout.strip(), done.stderr.count(said)) == (0, b"0", 1), done.stderr
    path = site.write("input", "data\n")
    with open(path, "rb") as file:
        assert said in site.run("run", "--", "true", stdin=file).stderr
    with open(path, "rb") as file:
        assert said not in site.run("run", "-q", "--", "true", stdin=file).stderr
    assert said not in site.run("run", "--", "true").stderr, "/dev/null"


def test_a_bar_is_one_line_of_each_rank_off_a_terminal(site):
    site.up(1)
    (site.directory / "go").touch()
    done = site.run("run", "-n", "2", *bar_words(site))
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.decode().splitlines() if not line.startswith("lockstep: ")]
    assert sorted(lines) == ["local-0:0 | 100%", "local-0:1 | 100%"]


def test_of_one_rank_every_byte_passes_off_a_terminal(site):
    site.up(1)
    (site.directory / "go").touch()
    done = site.run("run", "-q", *bar_words(site, "stdout"))
    assert done.stdout == b"".join(b"\r%3d%%" % i for i in range(11)) + b"\r100%\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_bar_is_redrawn_in_one_line_of_each_rank_on_a_terminal(site, stream):
    site.up(1)
    screen = OnATerminal(site, "run", "--name", "bars", "-n", "2", *bar_words(site, stream))
    bars = [f"local-0:{rank} |  10%" for rank in (0, 1)]
    lines = screen.wait_for(lambda lines: all(bar in lines for bar in bars) and
                            any("bars: Running" in line for line in lines), "both bars and the status line")
    assert sum(" | " in line for line in lines) == 2, lines
    assert lines.index(bars[1]) == lines.index(bars[0]) + 1, lines
    (site.directory / "go").touch()
    code, lines = screen.end()
    assert code == 0, lines
    assert sorted(line for line in lines if " | " in line) == ["local-0:0 | 100%", "local-0:1 | 100%"], lines
    assert not any("Running" in line for line in lines), lines


def test_the_status_line_never_breaks_a_line_of_a_rank(site):
    site.up(1)
    go = site.directory / "go"
    screen = OnATerminal(site, "run", "--name", "half", "--", "sh", "-c",
                         f"printf 'half a '; while [ ! -e {go} ]; do sleep 0.02; done; echo line")
    screen.wait_for(lambda lines: any("half a" in line for line in lines), "half a line")
    go.touch()
    code, lines = screen.end()
    assert code == 0 and "half a line" in lines, lines
