"""Images that the operator's environments.map has: jobs with them run where there is no container engine."""
import json

import pytest

REFUSED = 125


@pytest.fixture(scope="module")
def one(shared_bin):
    from conftest import _close, _site
    made = _site(None, shared_bin)
    made.ok("up", "--nodes", "1", env={"LOCKSTEP_CONTAINER_ENGINE": "/no/such/docker"})
    yield made
    _close(made)


def write_map(site, text):
    path = site.home / "launcher" / "environments.map"
    path.write_text(text)
    return path


def line_of(image, target):
    return f"image '{image}' runs in {target} instead, by the operator's environments.map"


def test_an_image_runs_in_the_environment_that_it_is_mapped_to(one):
    needs_engine = one.run("run", "--image", "python:latest", "--", "true")
    assert needs_engine.returncode == 1 and b"needs a container engine" in needs_engine.stderr, needs_engine
    path = write_map(one, "# ours\ndocker.io/library/python:latest: python.yml\n")
    (path.parent / "python.yml").write_text("name: site-python\nversion: 3\ninterpreter: python3\n")
    for image in ("python", "python:latest", "library/python", "docker.io/library/python:latest"):
        done = one.run("run", "--image", image, "--", "python", "-c", "print(6 * 7)")
        assert (done.returncode, done.stdout) == (0, b"42\n"), done
        assert line_of(image, "environment site-python:3").encode() in done.stderr, done
    one.write("job.yml", "command: python -c 'print(7 * 6)'\nenvironment: {image: 'python:latest'}\n")
    name = one.ok("job", "create", "-f", "job.yml").strip()
    job = one.wait_for_status(name, "Completed")
    assert one.logs(name) == b"42\n"
    assert (job["environment"]["name"], job["environment"]["provider"]) == ("site-python", "host")
    was = job["lockstep"]["replaced_environment"]
    assert (was["provider"], was["image"]) == ("docker", "python:latest")
    shown = line_of("python:latest", "environment site-python:3")
    assert shown in one.ok("job", "show", name) and shown in one.ok("job", "explain", name)
    assert shown in one.json("job", "explain", name)["placement"]

    write_map(one, "")
    assert one.json("job", "show", name)["lockstep"]["replaced_environment"] == was, "it is in the job's record"
    assert one.run("run", "--image", "python", "--", "true").returncode == 1, "the map is read for each submission"


def test_a_registered_image_and_a_step_run_in_it_too(one):
    write_map(one, "team/train:2: {interpreter: python3}\nlibrary/busybox: none\n")
    one.write("env.yml", "name: train\nimage: docker.io/team/train:2\n")
    one.ok("environment", "create", "-f", "env.yml")
    done = one.run("run", "--environment", "azureml:train@latest", "--", "python", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, b"1\n"), done
    assert b"image 'docker.io/team/train:2' runs in a host environment (" in done.stderr, done
    one.write("pipeline.yml", "type: pipeline\njobs:\n  a: {command: echo $0, environment: {image: busybox}}\n"
              "  b: {command: echo b, environment: {image: busybox}}\n")
    created = one.run("job", "create", "-f", "pipeline.yml", "--name", "steps")
    assert created.returncode == 0, created
    assert created.stderr.decode().count(line_of("busybox", "each node's PATH")) == 1, created
    one.wait_for_status("steps", "Completed")
    step = one.json("job", "show", "steps_b")
    assert step["environment"] is None and step["lockstep"]["replaced_environment"]["image"] == "busybox"


def test_what_only_a_container_can_do_is_said_or_refused(one):
    write_map(one, "library/python: {interpreter: python3}\n")
    one.write("job.yml", "command: 'true'\nenvironment: {image: python}\n"
              "resources: {docker_args: --ipc host, shm_size: 1g}\n")
    done = one.run("job", "create", "-f", "job.yml", "--stream")
    assert done.returncode == 0, done
    for key in (b"resources.docker_args", b"resources.shm_size"):
        assert key + b" is ignored: this job does not run in a container" in done.stderr, done
    checked = one.run("job", "validate", "-f", "job.yml")
    assert checked.returncode == 0 and b"resources.shm_size is ignored" in checked.stdout + checked.stderr, checked
    one.write("conda.yml", "command: 'true'\nenvironment: {image: python, conda_file: {dependencies: [numpy]}}\n")
    for verb in ("create", "validate"):
        done = one.run("job", verb, "-f", "conda.yml")
        assert done.returncode != 0, done
        assert b"environment.conda_file: cannot be installed on image 'python'" in done.stdout + done.stderr, done


def test_a_bad_line_refuses_image_jobs_and_no_others(one):
    path = write_map(one, "tools: {interpreter: python3}\nlibrary/Python: none\n")
    done = one.run("run", "--image", "python", "--", "true")
    text = f"the launcher's {path}:2:1: 'library/Python' has upper-case letters"
    assert done.returncode == REFUSED and text.encode() in done.stderr, done
    assert b"write library/python" in done.stderr, done
    assert one.ok("run", "--", "echo", "plain") == "plain\n"
    assert one.json("environment", "show", "tools")["interpreter"] == "python3"
    write_map(one, "library/python: gone.yml\n")
    done = one.run("run", "--image", "python", "--", "true")
    assert done.returncode == REFUSED and f"{path}:1:17: open {path.parent}/gone.yml: No such file".encode() in done.stderr, done
    one.write("job.yml", "command: 'true'\nenvironment: {image: python}\n")
    checked = json.loads(one.run("job", "validate", "-f", "job.yml", "-o", "json").stdout)
    assert not checked["valid"] and "gone.yml: No such file" in checked["errors"][0], checked
