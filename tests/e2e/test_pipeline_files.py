"""Pipelines' files: what they would run, what is wrong with them, and that what they name gets to their steps."""
from harness.schema import problems

COMPONENT = """
type: command
inputs:
  data: {type: uri_folder}
  lr: {type: number, default: 0.5, max: 1}
  kind: {type: string, optional: true}
outputs: {model: {type: uri_folder}}
code: ./src
command: sh train.sh ${{inputs.data}} ${{inputs.lr}} $[[--kind ${{inputs.kind}}]] > ${{outputs.model}}/m
"""
PIPELINE = """
type: pipeline
name: p
inputs:
  faces: {type: uri_folder, path: ./faces}
  lr: 0.25
outputs: {model: '${{parent.jobs.second.outputs.model}}'}
jobs:
  report:
    command: cat ${{inputs.first}}/m ${{inputs.second}}/m
    inputs: {first: '${{parent.jobs.first.outputs.model}}', second: '${{parent.jobs.second.outputs.model}}'}
  first:
    component: ./parts/train.yml
    inputs: {data: '${{parent.jobs.prepare.outputs.clean}}', lr: '${{parent.inputs.lr}}'}
  second:
    type: pipeline
    inputs: {data: '${{parent.inputs.faces}}'}
    outputs: {model: }
    jobs:
      fit:
        component: ./parts/train.yml
        inputs: {data: '${{parent.inputs.data}}', kind: slow}
        outputs: {model: '${{parent.outputs.model}}'}
  prepare:
    command: sed s/raw/clean/ ${{inputs.raw}}/a > ${{outputs.clean}}/a
    inputs: {raw: '${{parent.inputs.faces}}'}
    outputs: {clean: {type: uri_folder}}
"""


def write(site):
    site.write("faces/a", "raw face\n")
    site.write("parts/src/train.sh", "cat $1/a; shift; echo \"$@\"\n")
    site.write("parts/train.yml", COMPONENT)
    return site.write("pipeline.yml", PIPELINE)


def test_a_dry_run_prints_the_steps_and_starts_nothing(site):
    write(site)
    done = site.run("job", "create", "-f", "pipeline.yml", "--dry-run")
    assert done.returncode == 0 and b"nothing was submitted" in done.stderr
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == ["STEP", "prepare", "first", "second.fit", "report"]
    assert rows[4][1:7] == ["local", "1", "1", "first,", "second.fit", "-"]
    plan = site.json("job", "create", "-f", "pipeline.yml", "--dry-run", "--set", "jobs.second.jobs.fit.inputs.lr=0.75")
    assert not problems("plan", plan)
    steps = {step["name"]: step for step in plan["steps"]}
    assert steps["first"]["waits_for"] == ["prepare"] and steps["prepare"]["waits_for"] == []
    assert steps["second.fit"]["job"]["inputs"]["lr"] == "0.75" and steps["first"]["job"]["inputs"]["lr"] == "0.25"
    assert steps["report"]["bindings"] == {"first": {"step": "first", "output": "model"},
                                           "second": {"step": "second.fit", "output": "model"}}
    assert plan["outputs"] == {"model": {"step": "second.fit", "output": "model"}}
    site.write("job.yml", "command: echo ${{inputs.a}}\ninputs: {a: b}\nresources: {instance_count: 2}\n")
    plan = site.json("job", "create", "-f", "job.yml", "--dry-run")
    assert not problems("plan", plan)
    assert [step["job"]["command"] for step in plan["steps"]] == ["echo b"]
    assert not site.launcher_pids() and not site.agent_pids()


def test_all_that_is_wrong_is_said_at_once_with_the_file_that_has_it(site):
    write(site)
    site.write("parts/train.yml", COMPONENT.replace("code: ./src", "code: ./srv").replace("max: 1", "max: low"))
    site.write("pipeline.yml", PIPELINE.replace("jobs.prepare.outputs.clean", "jobs.prepair.outputs.clean")
               + "settings: {default_datestore: x}\n")
    for words in (("job", "validate", "--local"), ("job", "create", "--dry-run")):
        done = site.run(*words, "-f", "pipeline.yml")
        assert done.returncode == 2, done
        said = done.stderr.decode()
        assert "parts/train.yml:5:42: 'inputs.lr.max': 'low' is not a number" in said
        assert "pipeline.yml:15:20: there is no step 'prepair'" in said and "did you mean 'prepare'?" in said
    site.write("parts/train.yml", COMPONENT.replace("code: ./src", "code: ./srv"))
    done = site.run("job", "validate", "--local", "-f", "pipeline.yml")
    assert done.stderr.count(b"did you mean 'prepare'?") == 1
    write(site)
    site.write("parts/train.yml", COMPONENT.replace("code: ./src", "code: ./srv"))
    done = site.run("job", "validate", "--local", "-f", "pipeline.yml")
    assert done.returncode == 2 and b"parts/train.yml:8:7: code './srv' does not exist" in done.stderr
    assert done.stderr.count(b"does not exist") == 1, "once, though two steps use the component"


def test_what_a_pipeline_names_gets_to_its_steps(site):
    write(site)
    site.up(1)
    assert site.ok("job", "validate", "-f", "pipeline.yml") == "pipeline.yml: valid\n"
    assert site.ok("job", "create", "-f", "pipeline.yml", "--set", "jobs.report.compute=local") == "p\n"
    site.wait_for_status("p", "Completed")
    assert site.logs("p_report") == "clean face\n0.25\nraw face\n0.5 --kind slow\n"
    job = site.show("p_first")
    assert job["command"].startswith("sh train.sh ${{inputs.data}} 0.25")
    digests = {site.show(name)["inputs"][key]["digest"] for name, key in (("p_prepare", "raw"), ("p_second_fit", "data"))}
    assert len(digests) == 1, "the same files are one tree"
