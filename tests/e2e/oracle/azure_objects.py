"""Jobs and pipelines as azure-ai-ml serialises them: writes each to FOLDER/NAME.yml. Run by a Python that has it."""
import json
import pathlib
import sys

from azure.ai.ml import Input, MpiDistribution, Output, PyTorchDistribution, command, dsl, load_component, load_job
from azure.ai.ml.entities import CommandJobLimits, JobResourceConfiguration, PipelineJobSettings

FOLDER = pathlib.Path(sys.argv[1])
DATA = {"uri_folder": "azureml:faces:1", "uri_file": "azureml:labels:2", "mltable": "azureml:table:3",
        "mlflow_model": "azureml:net:4", "custom_model": "azureml:weights:5", "triton_model": "azureml:served:6"}
IMAGE = "azureml:torch:7"
written = 0


def write(name, entity):
    global written
    written += 1
    value = json.loads(json.dumps(entity._to_dict()))  # pylint: disable=protected-access
    (FOLDER / f"{written:02}-{name}.yml").write_text(json.dumps(value, indent=1))


def job(title, text="echo hi", **words):
    write(title, command(command=text, environment=IMAGE, **words)._to_job())  # pylint: disable=protected-access


def loaded(name, text):
    path = FOLDER / f"source-{name}.yaml"
    path.write_text(text)
    write(name, load_job(path))


def component(name, text):
    path = FOLDER / f"component-{name}.yaml"
    path.write_text(text)
    return load_component(path)


# ---- command jobs
job("least")
job("described", display_name="Digits", description="A small\nnetwork", experiment_name="flowers", tags={"a": "b", "c": "1"})
job("named", name="digits-1", compute="cpu-cluster")
job("variables", environment_variables={"A": "b", "EMPTY": "", "N": "3"})
job("literals", "run ${{inputs.s}} ${{inputs.n}} ${{inputs.f}} ${{inputs.b}}", inputs={"s": "a b", "n": 3, "f": 0.001, "b": True})
for kind, where in DATA.items():
    job(f"data-{kind}", "cat ${{inputs.d}}", inputs={"d": Input(type=kind, path=where)})
job("download", "cat ${{inputs.d}}", inputs={"d": Input(type="uri_file", path=DATA["uri_file"], mode="download")})
job("mount", "cat ${{inputs.d}}", inputs={"d": Input(type="uri_folder", path=DATA["uri_folder"], mode="ro_mount")})
job("web", "cat ${{inputs.d}}", inputs={"d": Input(type="uri_file", path="https://example.com/iris.csv")})
for kind in ("uri_folder", "uri_file"):
    job(f"output-{kind}", "x > ${{outputs.o}}", outputs={"o": Output(type=kind, mode="rw_mount")})
job("output-upload", "x > ${{outputs.o}}", outputs={"o": Output(type="uri_file", mode="upload")})
job("nodes", instance_count=4)
job("shm", shm_size="4g", docker_args="--ulimit nofile=1024")
job("size", instance_type="Standard_D2_v3")
job("mpi", instance_count=2, distribution=MpiDistribution(process_count_per_instance=3))
job("pytorch", instance_count=2, distribution=PyTorchDistribution(process_count_per_instance=4))
job("timeout", timeout=90)
job("all-inputs", "run ${{inputs.d}} ${{inputs.m}} ${{inputs.x}}", tags={"k": "v"}, inputs={
    "d": Input(type="uri_folder", path=DATA["uri_folder"]), "m": Input(type="mlflow_model", path=DATA["mlflow_model"]), "x": "y"})
job("all-outputs", "run ${{outputs.a}} ${{outputs.b}}", outputs={"a": Output(type="uri_file"), "b": Output(type="uri_folder", mode="upload")})
loaded("yaml-priority", "command: x\nenvironment: azureml:torch:7\nqueue_settings: {job_tier: standard, priority: high}\n"
       "compute: azureml:cpu-cluster\n")

# What the builder itself writes has its component inside.
def built(title, text="echo hi", **words):
    write(title, command(command=text, environment=IMAGE, **words))


built("built-least")
built("built-literals", "run ${{inputs.n}} ${{inputs.f}}", inputs={"n": 3, "f": 0.5})
built("built-data", "run ${{inputs.d}} > ${{outputs.o}}", outputs={"o": Output(type="uri_file")},
      inputs={"d": Input(type="uri_folder", path=DATA["uri_folder"], mode="download")})
built("built-gang", instance_count=2, shm_size="1g", compute="cpu-cluster", environment_variables={"A": "b"}, timeout=60,
      distribution={"type": "pytorch", "process_count_per_instance": 8})

# ---- components, and pipelines of them
TRAIN = """
type: command
name: train
version: 3
display_name: Train
inputs:
  data: {type: uri_folder, mode: download}
  lr: {type: number, default: 1e-3, min: 0, max: 1}
  rounds: {type: integer, default: 5, min: 1, max: 10}
  kind: {type: string, optional: true, enum: [fast, slow]}
  verbose: {type: boolean, default: false}
outputs:
  model: {type: uri_folder}
environment: azureml:torch:7
command: >-
  train ${{inputs.data}} ${{inputs.lr}} ${{inputs.rounds}} ${{inputs.verbose}} $[[--kind ${{inputs.kind}}]]
  ${{outputs.model}}
"""
train = component("train", TRAIN)
once = component("once", TRAIN.replace("name: train", "name: once\nis_deterministic: false"))
score = component("score", """
type: command
name: score
inputs: {model: {type: uri_folder}, note: {type: string, default: none}}
outputs: {report: {type: uri_file}}
environment: azureml:torch:7
environment_variables: {A: b}
resources: {instance_count: 2}
distribution: {type: pytorch, process_count_per_instance: 2}
command: score ${{inputs.model}} ${{inputs.note}} > ${{outputs.report}}
""")
faces = Input(type="uri_folder", path=DATA["uri_folder"])


@dsl.pipeline
def one(data: Input(type="uri_folder")):
    train(data=data)


@dsl.pipeline(display_name="Two", description="d", tags={"k": "v"}, default_compute="cpu-cluster")
def two(data: Input(type="uri_folder"), lr: float = 0.1):
    fit = train(data=data, lr=lr)
    check = score(model=fit.outputs.model)
    return {"report": check.outputs.report}


@dsl.pipeline
def three(data: Input(type="uri_folder"), note: str):
    first = train(data=data, kind="fast", rounds=2)
    second = once(data=data, verbose=True)
    score(model=first.outputs.model, note=note)
    score(model=second.outputs.model, note="lr")


@dsl.pipeline
def inner(data: Input(type="uri_folder"), lr: float):
    fit = train(data=data, lr=lr)
    return {"model": fit.outputs.model}


@dsl.pipeline
def nested(data: Input(type="uri_folder")):
    left, right = inner(data=data, lr=0.25), inner(data=data, lr=0.75)
    score(model=left.outputs.model)
    check = score(model=right.outputs.model)
    return {"report": check.outputs.report}


@dsl.pipeline
def deeper(data: Input(type="uri_folder")):
    nested(data=data)
    train(data=data)


write("pipeline-one", one(data=faces))
write("pipeline-two", two(data=faces))
write("pipeline-set", two(data=faces, lr=0.5))
write("pipeline-three", three(data=faces, note="hello world"))
write("pipeline-nested", nested(data=faces))
write("pipeline-deeper", deeper(data=faces))
for word in ("continue_on_step_failure", "force_rerun"):
    made = two(data=faces)
    made.settings = PipelineJobSettings(**{word: word == "force_rerun"}, default_compute="cpu-cluster")
    write(f"pipeline-{word}", made)


@dsl.pipeline
def overridden(data: Input(type="uri_folder")):
    fit = train(data=data)
    fit.compute = "gpu-cluster"
    fit.resources = JobResourceConfiguration(instance_count=3, shm_size="8g")
    fit.limits = CommandJobLimits(timeout=120)
    fit.environment_variables = {"B": "c"}
    fit.distribution = MpiDistribution(process_count_per_instance=2)
    fit.outputs.model.mode = "upload"
    check = score(model=fit.outputs.model)
    check.inputs.model.mode = "download"


write("pipeline-overridden", overridden(data=faces))


@dsl.pipeline(on_init="begin", on_finalize="end")
def phases(data: Input(type="uri_folder")):
    begin = command(command="echo begin", environment=IMAGE)()
    end = command(command="echo end", environment=IMAGE)()
    begin.name, end.name = "begin", "end"
    train(data=data)


write("pipeline-phases", phases(data=faces))

loaded("yaml-steps", """
type: pipeline
experiment_name: flowers
settings: {default_compute: azureml:cpu-cluster, continue_on_step_failure: false}
inputs: {lr: 0.5, data: {type: uri_folder, path: 'azureml:faces:1', mode: download}}
outputs: {model: {type: uri_folder, mode: upload}}
jobs:
  prepare:
    type: command
    command: prepare ${{inputs.raw}} ${{outputs.clean}}
    environment: azureml:torch:7
    inputs: {raw: '${{parent.inputs.data}}'}
    outputs: {clean: {type: uri_folder}}
  fit:
    type: command
    command: fit ${{inputs.data}} ${{inputs.lr}} ${{outputs.model}}
    environment: azureml:torch:7
    compute: azureml:gpu-cluster
    resources: {instance_count: 2}
    inputs: {data: '${{parent.jobs.prepare.outputs.clean}}', lr: '${{parent.inputs.lr}}'}
    outputs: {model: '${{parent.outputs.model}}'}
""")
loaded("yaml-component", """
type: pipeline
inputs: {rate: 0.25}
jobs:
  fit:
    component: ./component-train.yaml
    inputs: {data: {type: uri_folder, path: 'azureml:faces:1'}, lr: '${{parent.inputs.rate}}', kind: slow}
    compute: azureml:gpu-cluster
""")
print(written)
