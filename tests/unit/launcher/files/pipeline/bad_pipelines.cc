#include "tests/unit/launcher/files/bad_input.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {

namespace {

// Of all tests here: a component of each kind, each with a declaration on a line of its own.
const Files kFiles = {
    {"train.yml",
     "command: train ${{inputs.data}} --lr ${{inputs.lr}} ${{outputs.model}}\n"
     "inputs:\n"
     "  data: {type: uri_folder}\n"
     "  lr: {type: number, default: 0.1, min: 0, max: 1}\n"
     "  n: {type: integer, default: 3, enum: [3, 5]}\n"
     "  on: {type: boolean, default: true}\n"
     "outputs:\n"
     "  model: {type: uri_folder}\n"},
    {"inner.yml",
     "type: pipeline\n"
     "inputs: {raw: {type: uri_file}}\n"
     "outputs: {model: }\n"
     "jobs:\n"
     "  fit: {component: train.yml, inputs: {data: '${{parent.inputs.raw}}'},\n"
     "        outputs: {model: '${{parent.outputs.model}}'}}\n"},
    {"loop.yml", "type: pipeline\njobs: {a: {component: again.yml}}\n"},
    {"again.yml", "type: pipeline\njobs: {b: {component: ./loop.yml}}\n"},
    {"broken.yml", "command: x\ninputs: {a: {typ: number}}\n"},
    {"tab.yml", "command: x\ninputs:\n\ta: 1\n"},
    {"sweep.yml", "type: sweep\ncommand: x\n"},
    {"job.of.yml",
     "$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ncommand: x\n"},
    {"bounds.yml",
     "command: x\ninputs:\n  a: {type: number, min: 2, max: 1}\n"
     "  b: {type: integer, default: 1.5}\n  c: {type: string, min: 1}\n"
     "  d: {type: uri_file, default: x}\n  e: {type: uri_fil}\n  f: 3\n"
     "  g: {type: boolean, optional: perhaps}\n  h: {type: integer, enum: [1, x]}\n"
     "  i: {type: string, mode: download}\n  j: {type: number, min: low}\n"
     "  k: {default: 1}\n  l: {type: integer, enum: 3}\n"},
    {"uses.yml", "command: x ${{inputs.lr}} ${{outputs.o}}\ninputs: {rate: {type: number}}\n"},
    {"det.yml", "command: x\nis_deterministic: maybe\n"},
};

}  // namespace

Files files_of_bad_pipelines() { return kFiles; }

std::vector<BadInput> bad_pipelines() {
  return {
      // steps
      {"no_jobs",
       "type: pipeline\n",
       {},
       "job.yml:1:1: the pipeline has no steps; write them under 'jobs'"},
      {"jobs_list",
       "jobs: [a, b]\n",
       {},
       "job.yml:1:7: 'jobs' must be a mapping of names to steps, not a list"},
      {"step_list",
       "jobs:\n  a: [x]\n",
       {},
       "job.yml:2:6: step 'a' must be a mapping with a 'command' or a 'component', not a list"},
      {"step_name",
       "jobs:\n  my-step: {command: x}\n",
       {},
       "job.yml:2:3: my-step is not a step's name; use at most 100 letters, digits and '_', and do "
       "not begin "
       "with a digit"},
      {"artifacts_of_a_step_that_cannot_be_read",
       "jobs:\n  my-step: {command: x}\n"
       "  b: {command: x, inputs: {i: '${{parent.jobs.my-step.outputs.artifacts}}'}}\n",
       {},
       "job.yml:2:3: my-step is not a step's name; use at most 100 letters, digits and '_', and do "
       "not begin "
       "with a digit"},
      {"artifacts_of_such_a_step_through_a_pipeline",
       "jobs:\n"
       "  in:\n"
       "    type: pipeline\n"
       "    outputs: {o: '${{parent.jobs.my-step.outputs.artifacts}}'}\n"
       "    jobs: {my-step: {command: x}}\n"
       "  b: {command: x, inputs: {i: '${{parent.jobs.in.outputs.o}}'}}\n",
       {},
       "job.yml:5:12: my-step is not a step's name; use at most 100 letters, digits and '_', and "
       "do not begin "
       "with a digit"},
      {"step_without_command",
       "jobs:\n  a: {compute: cpu-cluster}\n",
       {},
       "job.yml:2:6: the required key 'command' is missing; say what to run"},
      {"step_key",
       "jobs:\n  a: {command: x, enviroment: e}\n",
       {},
       "job.yml:2:19: unknown key 'enviroment'; did you mean 'environment'?"},
      {"step_value",
       "jobs:\n  a:\n    command: x\n    resources: {instance_count: two}\n",
       {},
       "job.yml:4:33: 'resources.instance_count': 'two' is not a whole number"},
      {"duplicate_step",
       "jobs:\n  a: {command: x}\n  a: {command: y}\n",
       {},
       "job.yml:3:3: duplicate key 'a'; it was first given on line 2"},
      {"key_of_the_pipeline_in_a_step",
       "jobs:\n  a: {command: x, experiment_name: e}\n",
       {},
       "job.yml:2:19: 'experiment_name' belongs to the pipeline; move it out of the step"},
      {"key_of_a_step_in_the_pipeline",
       "jobs: {a: {command: x}}\nresources: {instance_count: 2}\n",
       {},
       "job.yml:2:1: 'resources' belongs to a step; write it in each step that needs it"},
      {"our_key_of_a_step_in_the_pipeline",
       "jobs: {a: {command: x}}\nlockstep: {retry: {max: 1}}\n",
       {},
       "job.yml:2:12: 'lockstep.retry' belongs to a step; write it in each step that needs it"},
      {"pipeline_key",
       "job: {a: {command: x}}\ntype: pipeline\n",
       {},
       "job.yml:1:1: unknown key 'job'; did you mean 'jobs'?\n"
       "job.yml:1:1: the pipeline has no steps; write them under 'jobs'"},
      {"pipeline_name",
       "name: a b\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:7: name: 'a b' is not a job name: 1 to 240 letters, digits, '_' or '-', starting "
       "with a letter or a digit"},
      {"jobs_in_a_command",
       "jobs:\n  a: {command: x, jobs: {b: {command: y}}}\n",
       {},
       "job.yml:2:19: 'jobs' belongs to the pipeline; move it out of the step"},
      // kinds
      {"step_sweep",
       "jobs:\n  a: {type: sweep, trial: {}}\n",
       {},
       "job.yml:2:13: type 'sweep' is not supported yet; write a command with "
       "lockstep.array, which reads its set of values by $LOCKSTEP_ARRAY_INDEX; or one step for "
       "each "
       "set",
       kNotYet},
      {"step_parallel",
       "jobs:\n  a:\n    type: parallel\n",
       {},
       "job.yml:3:11: type 'parallel' is not supported yet; write a command with "
       "resources.instance_count, whose ranks share the files",
       kNotYet},
      {"step_spark",
       "jobs:\n  a: {type: spark}\n",
       {},
       "job.yml:2:13: type 'spark' is not supported yet; write a command that runs spark-submit",
       kNotYet},
      {"step_automl",
       "jobs:\n  a: {type: automl}\n",
       {},
       "job.yml:2:13: type 'automl' is not supported yet; write a command that runs your own "
       "search",
       kNotYet},
      {"step_import",
       "jobs:\n  a: {type: import}\n",
       {},
       "job.yml:2:13: type 'import' is not supported yet; name the data as an input with a path",
       kNotYet},
      {"step_do_while",
       "jobs:\n  a: {type: do_while}\n",
       {},
       "job.yml:2:13: type 'do_while' is not supported yet; write one step for each round, or the "
       "loop in a command",
       kNotYet},
      {"step_parallel_for",
       "jobs:\n  a: {type: parallel_for}\n",
       {},
       "job.yml:2:13: type 'parallel_for' is not supported yet; write one step for each item",
       kNotYet},
      {"step_if_else",
       "jobs:\n  a: {type: if_else}\n",
       {},
       "job.yml:2:13: type 'if_else' is not supported yet; decide in the step's command",
       kNotYet},
      {"step_type_misspelt",
       "jobs:\n  a: {type: comand, command: x}\n",
       {},
       "job.yml:2:13: 'type': unknown word 'comand'; it must be command or pipeline; did you mean "
       "'command'?"},
      {"component_as_a_job",
       "$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json\n"
       "command: x\n",
       {},
       "job.yml:1:10: this is a component, not a job; name it as the 'component' of a pipeline's "
       "step"},
      // components
      {"component_missing",
       "jobs:\n  a: {component: ./gone.yml}\n",
       {},
       "job.yml:2:18: 'component': there is no gone.yml",
       ErrorCode::not_found},
      {"component_of_azure",
       "jobs:\n  a: {component: 'azureml:train@latest'}\n",
       {},
       "job.yml:2:18: 'component': azureml:train@latest is registered with a launcher, and none is "
       "asked here; name a file, such as ./train.yml",
       kNotYet},
      {"component_of_a_registry",
       "jobs:\n  a: {component: azureml://registries/r/components/c/versions/1}\n",
       {},
       "job.yml:2:18: 'component': azureml://registries/r/components/c/versions/1 is not supported "
       "yet; name a file, or register it with `lockstep component create` and write "
       "azureml:NAME:VERSION",
       kNotYet},
      {"component_list",
       "jobs:\n  a: {component: [x]}\n",
       {},
       "job.yml:2:18: 'component' must be a file's name or a mapping, not a list"},
      {"component_of_another_kind",
       "jobs:\n  a: {type: pipeline, component: train.yml}\n",
       {},
       "job.yml:2:34: 'component': train.yml is a command component (train.yml:1:1), but 'type' is "
       "pipeline"},
      {"component_that_sweeps",
       "jobs:\n  a: {component: sweep.yml}\n",
       {},
       "sweep.yml:1:7: type 'sweep' is not supported yet; write a command with "
       "lockstep.array, which reads its set of values by $LOCKSTEP_ARRAY_INDEX; or one step for "
       "each "
       "set",
       kNotYet},
      {"component_that_is_a_job",
       "jobs:\n  a: {component: job.of.yml}\n",
       {},
       "job.of.yml:1:10: this is a job, not a component, which declares the types of its inputs: "
       "write inputs: {lr: {type: number}}"},
      {"component_with_a_fault_is_said_once",
       "jobs:\n  a: {component: broken.yml}\n  b: {component: ./broken.yml}\n",
       {},
       "broken.yml:2:14: unknown key 'inputs.*.typ'; did you mean 'inputs.*.type'?"},
      {"component_with_a_tab",
       "jobs:\n  a: {component: tab.yml}\n",
       {},
       "tab.yml:3:1: bad YAML: a tab in the indentation; use spaces"},
      {"component_in_itself",
       "jobs:\n  a: {component: loop.yml}\n",
       {},
       "again.yml:2:23: a cycle: the component includes itself: loop.yml -> again.yml -> loop.yml"},
      {"component_and_command",
       "jobs:\n  a: {component: train.yml, command: y, inputs: {data: {path: 'azureml:d:1'}}}\n",
       {},
       "job.yml:2:29: 'command' cannot be combined with 'component', which has its own"},
      {"component_with_jobs",
       "jobs:\n  a: {component: inner.yml, jobs: {b: {command: x}}, inputs: {raw: {type: uri_file, "
       "path: 'azureml:d:1'}}}\n",
       {},
       "job.yml:2:29: 'jobs' cannot be combined with 'component', which has its own"},
      {"component_expression",
       "jobs:\n  a: {component: uses.yml, inputs: {rate: 1}}\n",
       {},
       "uses.yml:1:12: unknown input 'lr' in '${{inputs.lr}}'"},
      {"component_that_is_not_deterministic",
       "jobs:\n  a: {component: det.yml}\n",
       {},
       "det.yml:2:19: 'is_deterministic': 'maybe' is neither true nor false"},
      {"declarations",
       "jobs:\n  a: {component: bounds.yml}\n",
       {},
       "bounds.yml:3:26: 'inputs.a.min': 2 is more than max 1\n"
       "bounds.yml:4:31: 'inputs.b.default': 1.5 is not a value of type integer (bounds.yml:4:3)\n"
       "bounds.yml:5:26: 'inputs.c.min': only a number or an integer has it, not a string\n"
       "bounds.yml:6:32: 'inputs.d.default': data of type uri_file has none; only literals do\n"
       "bounds.yml:7:13: 'inputs.e.type': unknown word 'uri_fil'; it must be string, number, "
       "integer, "
       "boolean, uri_folder, uri_file, mltable, mlflow_model, custom_model or triton_model; did "
       "you "
       "mean 'uri_file'?\n"
       "bounds.yml:8:6: 'inputs.f' must say its type; write f: {type: number, default: 3}\n"
       "bounds.yml:9:32: 'inputs.g.optional': 'perhaps' is neither true nor false\n"
       "bounds.yml:10:32: 'inputs.h.enum': x is not of type integer\n"
       "bounds.yml:11:27: 'inputs.i.mode': only data has a mode, not a string\n"
       "bounds.yml:12:26: 'inputs.j.min': 'low' is not a number\n"
       "bounds.yml:13:3: 'inputs.k' must say its type: string, number, integer, boolean, "
       "uri_folder, uri_file, mltable, mlflow_model, custom_model or triton_model\n"
       "bounds.yml:14:28: 'inputs.l.enum' must be a list of values, such as [a, b], not a value"},
      // inputs
      {"input_missing",
       "jobs:\n  a: {component: train.yml}\n",
       {},
       "job.yml:2:3: step 'a' lacks the input 'data' (uri_folder), which train.yml requires "
       "(train.yml:3:3)"},
      {"input_unknown",
       "jobs:\n  a: {component: train.yml, inputs: {dat: {path: 'azureml:d:1'}, data: {path: "
       "'azureml:d:1'}}}\n",
       {},
       "job.yml:2:38: train.yml has no input 'dat'; did you mean 'data'?"},
      {"input_of_the_wrong_type",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, lr: fast}}\n",
       {},
       "job.yml:2:71: 'inputs.lr': fast is not a value of type number (train.yml:4:3)"},
      {"input_below_its_min",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, lr: -1}}\n",
       {},
       "job.yml:2:71: 'inputs.lr': -1 is less than min 0 (train.yml:4:3)"},
      {"input_above_its_max",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, lr: 1e1}}\n",
       {},
       "job.yml:2:71: 'inputs.lr': 1e1 is more than max 1 (train.yml:4:3)"},
      {"input_not_in_its_enum",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, n: 4}}\n",
       {},
       "job.yml:2:70: 'inputs.n': 4 is not one of 3, 5 (train.yml:5:3)"},
      {"input_that_is_no_boolean",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, on: maybe}}\n",
       {},
       "job.yml:2:71: 'inputs.on': maybe is not a value of type boolean (train.yml:6:3)"},
      {"value_for_data",
       "jobs:\n  a: {component: train.yml, inputs: {data: ./here}}\n",
       {},
       "job.yml:2:44: 'inputs.data': ./here is a plain value, but the input is a uri_folder "
       "(train.yml:3:3); write {path: …}"},
      {"data_for_a_number",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}, lr: {path: "
       "'azureml:d:1'}}}\n",
       {},
       "job.yml:2:67: 'inputs.lr' is a number (train.yml:4:3), but it is bound to a file or folder "
       "(job.yml:2:67)"},
      {"bound_value_out_of_bounds",
       "inputs: {rate: 7}\njobs:\n  a: {component: train.yml, inputs: {data: {path: "
       "'azureml:d:1'}, lr: '${{parent.inputs.rate}}'}}\n",
       {},
       "job.yml:3:71: 'inputs.lr' (bound to job.yml:1:16): 7 is more than max 1 (train.yml:4:3)"},
      {"bound_file_for_a_folder_of_another_type",
       "inputs: {d: {type: custom_model, path: 'azureml:d:1'}}\njobs:\n  a: {component: train.yml, "
       "inputs: {data: '${{parent.inputs.d}}'}}\n",
       {},
       "job.yml:3:44: 'inputs.data' is a uri_folder (train.yml:3:3), but it is bound to a "
       "custom_model (job.yml:1:10)"},
      {"bound_file_for_a_table",
       "inputs: {d: {type: uri_file, path: 'azureml:d:1'}}\njobs:\n  a: {component: {command: x, "
       "inputs: {i: {type: mltable}}}, inputs: {i: '${{parent.inputs.d}}'}}\n",
       {},
       "job.yml:3:74: 'inputs.i' is a mltable (job.yml:3:40), but it is bound to a uri_file "
       "(job.yml:1:10)"},
      {"list_as_a_value",
       "jobs:\n  a: {command: x, inputs: {i: [1]}}\n",
       {},
       "job.yml:2:31: 'inputs.i' must be a string, not a list"},
      {"no_value_for_a_declared_input",
       "inputs: {lr: {type: number}}\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:10: input 'lr' has no value; write a 'default', or give --set inputs.lr=VALUE"},
      {"expression_in_the_outermost_pipeline",
       "inputs: {lr: '${{parent.inputs.a}}'}\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:14: 'inputs.lr': the outermost pipeline has no parent; write a value"},
      // references
      {"unknown_pipeline_input",
       "inputs: {epochs: 1}\njobs:\n  a: {command: x, inputs: {n: '${{parent.inputs.epoch}}'}}\n",
       {},
       "job.yml:3:31: the pipeline has no input 'epoch' (in '${{parent.inputs.epoch}}'); did you "
       "mean 'epochs'?"},
      {"no_pipeline_inputs",
       "jobs:\n  a: {command: x, inputs: {n: '${{parent.inputs.epoch}}'}}\n",
       {},
       "job.yml:2:31: the pipeline has no input 'epoch' (in '${{parent.inputs.epoch}}'); write it "
       "under the 'inputs' of the pipeline"},
      {"unknown_step",
       "jobs:\n  prepare: {command: x, outputs: {o: }}\n  a: {command: x, inputs: {n: "
       "'${{parent.jobs.prepar.outputs.o}}'}}\n",
       {},
       "job.yml:3:31: there is no step 'prepar' (in '${{parent.jobs.prepar.outputs.o}}'); did you "
       "mean 'prepare'?"},
      {"unknown_output",
       "jobs:\n  prepare: {command: x, outputs: {data: }}\n  a: {command: x, inputs: {n: "
       "'${{parent.jobs.prepare.outputs.date}}'}}\n",
       {},
       "job.yml:3:31: step 'prepare' has no output 'date' (in "
       "'${{parent.jobs.prepare.outputs.date}}'); did you mean 'data'?"},
      {"output_that_is_not_declared",
       "jobs:\n  prepare: {command: x}\n  a: {command: x, inputs: {n: "
       "'${{parent.jobs.prepare.outputs.data}}'}}\n",
       {},
       "job.yml:3:31: step 'prepare' has no output 'data' (in "
       "'${{parent.jobs.prepare.outputs.data}}'); write outputs: {data: } in it"},
      {"unknown_input_of_a_step",
       "jobs:\n  b: {command: x, inputs: {rate: 1}}\n  a: {command: x, inputs: {n: "
       "'${{parent.jobs.b.inputs.rat}}'}}\n",
       {},
       "job.yml:3:31: step 'b' has no input 'rat' (in '${{parent.jobs.b.inputs.rat}}'); did you "
       "mean 'rate'?"},
      {"expression_of_a_command",
       "inputs: {n: 1}\njobs:\n  a: {command: x, inputs: {n: '${{inputs.n}}'}}\n",
       {},
       "job.yml:3:31: '${{inputs.n}}' is of a command; here write ${{parent.inputs.n}}"},
      {"expression_without_parent",
       "jobs:\n  b: {command: x, outputs: {o: }}\n  a: {command: x, inputs: {n: "
       "'${{jobs.b.outputs.o}}'}}\n",
       {},
       "job.yml:3:31: '${{jobs.b.outputs.o}}' lacks its beginning; write "
       "${{parent.jobs.b.outputs.o}}"},
      {"expression_of_no_kind",
       "jobs:\n  a: {command: x, inputs: {n: '${{parent.name}}'}}\n",
       {},
       "job.yml:2:31: '${{parent.name}}' is not an expression of a pipeline; write "
       "${{parent.inputs.NAME}}, ${{parent.jobs.STEP.outputs.NAME}} or ${{parent.outputs.NAME}}"},
      {"expression_without_end",
       "jobs:\n  a: {command: x, inputs: {n: '${{parent.inputs.a'}}\n",
       {},
       "job.yml:2:32: '${{' has no closing '}}'"},
      {"parent_in_a_command",
       "inputs: {n: 1}\njobs:\n  a: {command: 'x ${{parent.inputs.n}}'}\n",
       {},
       "job.yml:3:19: '${{parent.inputs.n}}' is possible only in a step's inputs and outputs; bind "
       "an input to it there, and write ${{inputs.NAME}} here"},
      {"output_as_an_input",
       "outputs: {m: }\njobs:\n  a: {command: x, outputs: {m: '${{parent.outputs.m}}'}}\n"
       "  b: {command: x, inputs: {m: '${{parent.outputs.m}}'}}\n",
       {},
       "job.yml:4:31: 'inputs.m': '${{parent.outputs.m}}' is an output; an input is bound to "
       "${{parent.inputs.NAME}} or ${{parent.jobs.STEP.outputs.NAME}}"},
      {"data_in_a_text",
       "inputs: {d: {path: 'azureml:d:1'}}\njobs:\n  a: {command: x, inputs: {m: 'is "
       "${{parent.inputs.d}}'}}\n",
       {},
       "job.yml:3:35: '${{parent.inputs.d}}' is data; only a literal input can stand in a text "
       "(job.yml:1:10)"},
      {"output_in_a_text",
       "jobs:\n  b: {command: x, outputs: {o: }}\n  a: {command: x, inputs: {m: 'is "
       "${{parent.jobs.b.outputs.o}}'}}\n",
       {},
       "job.yml:3:35: '${{parent.jobs.b.outputs.o}}' is data; only a literal input can stand in a "
       "text"},
      {"data_as_a_compute",
       "inputs: {d: {path: 'azureml:d:1'}}\njobs:\n  a: {command: x, compute: "
       "'${{parent.inputs.d}}'}\n",
       {},
       "job.yml:3:28: '${{parent.inputs.d}}' is data; only a literal input can stand in a text "
       "(job.yml:1:10)"},
      {"inputs_that_refer_to_each_other",
       "jobs:\n  a: {command: x, inputs: {i: '${{parent.jobs.b.inputs.i}}'}}\n"
       "  b: {command: x, inputs: {i: '${{parent.jobs.a.inputs.i}}'}}\n",
       {},
       "job.yml:2:28: a cycle: these inputs refer to each other: a.inputs.i -> b.inputs.i -> "
       "a.inputs.i"},
      // types
      {"folder_for_a_file",
       "jobs:\n  a:\n    command: x\n    outputs: {o: {type: uri_folder}}\n  b:\n    command: x\n"
       "    inputs: {i: {type: uri_file, path: '${{parent.jobs.a.outputs.o}}'}}\n",
       {},
       "job.yml:7:40: 'inputs.i' is a uri_file (job.yml:7:14), but it is bound to a uri_folder "
       "(job.yml:4:15)"},
      {"model_for_a_table",
       "jobs:\n  a: {command: x, outputs: {o: {type: mlflow_model}}}\n  b:\n    component: "
       "{command: "
       "x, inputs: {i: {type: mltable}}}\n    inputs: {i: '${{parent.jobs.a.outputs.o}}'}\n",
       {},
       "job.yml:5:17: 'inputs.i' is a mltable (job.yml:4:38), but it is bound to a mlflow_model "
       "(job.yml:2:29)"},
      {"output_for_a_number",
       "jobs:\n  a: {command: x, outputs: {o: }}\n  b:\n    component: train.yml\n    inputs: {lr: "
       "'${{parent.jobs.a.outputs.o}}', data: '${{parent.jobs.a.outputs.o}}'}\n",
       {},
       "job.yml:5:18: 'inputs.lr' is a number (train.yml:4:3), but it is bound to a uri_folder "
       "(job.yml:2:29)"},
      {"type_of_the_pipelines_output",
       "outputs: {m: {type: uri_file}}\njobs:\n  a: {component: train.yml, inputs: {data: {path: "
       "'azureml:d:1'}}, outputs: {model: '${{parent.outputs.m}}'}}\n",
       {},
       "job.yml:3:85: output 'm' of the pipeline is a uri_file (job.yml:1:11), but 'model' of step "
       "'a' is a uri_folder (train.yml:8:3)"},
      {"type_of_the_components_output",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}}, outputs: {model: "
       "{type: uri_file}}}\n",
       {},
       "job.yml:2:78: output 'model' is a uri_file here, but a uri_folder in train.yml "
       "(train.yml:8:3)"},
      {"direct_output",
       "jobs:\n  a: {command: x, outputs: {o: }}\n  b: {command: x, inputs: {i: {mode: direct, "
       "path: '${{parent.jobs.a.outputs.o}}'}}}\n",
       {},
       "job.yml:3:28: 'inputs.i': an output of a step has no address; write mode: ro_mount or "
       "download"},
      // outputs
      {"output_twice",
       "outputs: {m: }\njobs:\n  a: {command: x, outputs: {o: '${{parent.outputs.m}}'}}\n"
       "  b: {command: x, outputs: {o: '${{parent.outputs.m}}'}}\n",
       {},
       "job.yml:4:32: output 'm' of the pipeline is written by step 'a' already (job.yml:3:32)"},
      {"output_of_nobody",
       "outputs: {m: }\njobs:\n  a: {command: x}\n",
       {},
       "job.yml:1:11: no step writes output 'm' of the pipeline; write outputs: {NAME: "
       "${{parent.outputs.m}}} in the step that does"},
      {"output_of_the_pipeline_misspelt",
       "outputs: {model: '${{parent.jobs.a.outputs.m}}'}\njobs:\n  a: {command: x, outputs: {m: "
       "'${{parent.outputs.modle}}'}}\n",
       {},
       "job.yml:3:32: the pipeline has no output 'modle' (in '${{parent.outputs.modle}}'); did you "
       "mean 'model'?"},
      {"output_of_the_component_misspelt",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}}, outputs: {modle: "
       "}}\n",
       {},
       "job.yml:2:78: train.yml has no output 'modle'; did you mean 'model'?"},
      {"output_from_an_unknown_step",
       "outputs: {m: '${{parent.jobs.b.outputs.m}}'}\njobs:\n  a: {command: x}\n",
       {},
       "job.yml:1:14: there is no step 'b' (in '${{parent.jobs.b.outputs.m}}')"},
      {"output_of_a_step_from_another",
       "jobs:\n  b: {command: x, outputs: {o: }}\n  a: {command: x, outputs: {m: "
       "'${{parent.jobs.b.outputs.o}}'}}\n",
       {},
       "job.yml:3:32: '${{parent.jobs.b.outputs.o}}': a step's output is bound to "
       "${{parent.outputs.NAME}}; the other step takes it as an input"},
      {"output_bound_to_an_input",
       "inputs: {n: 1}\njobs:\n  a: {command: x, outputs: {m: '${{parent.inputs.n}}'}}\n",
       {},
       "job.yml:3:32: 'outputs.m': '${{parent.inputs.n}}' is an input; an output is bound to "
       "${{parent.outputs.NAME}}"},
      {"output_with_a_local_path",
       "jobs:\n  a: {command: x, outputs: {m: {path: ./here}}}\n",
       {},
       "job.yml:2:39: 'outputs.m.path': ./here is not azureml://datastores/NAME/paths/PATH; "
       "without "
       "a path the launcher keeps the output, and `lockstep job download` fetches it"},
      {"output_with_an_expression_in_its_path",
       "outputs: {m: }\njobs:\n  a: {command: x, outputs: {m: {path: "
       "'azureml://datastores/d/paths/${{parent.outputs.m}}'}}}\n",
       {},
       "job.yml:3:39: 'outputs.m.path' must be one expression alone, ${{parent.outputs.NAME}}, or "
       "azureml://datastores/NAME/paths/PATH"},
      {"default_datastore_that_is_no_name",
       "settings: {default_datastore: a/b}\njobs:\n  a: {command: x}\n",
       {},
       "job.yml:1:31: 'settings.default_datastore': a/b is not a datastore's name: 1 to 100 "
       "letters, digits, '_' or '-', beginning with a letter or a digit"},
      {"output_that_is_a_value",
       "jobs:\n  a: {command: x, outputs: {m: ./here}}\n",
       {},
       "job.yml:2:32: 'outputs.m' must be a mapping (type, mode), nothing, or the expression "
       "${{parent.outputs.NAME}}"},
      // times
      {"step_after_a_job",
       "jobs:\n  a: {command: x, lockstep: {after: [j]}}\n",
       {},
       "job.yml:2:30: 'lockstep.after' is not possible in a step, which begins when its inputs are "
       "there"},
      {"pipeline_after_a_job",
       "jobs: {a: {command: x}}\nlockstep: {after: [j]}\n",
       {},
       "job.yml:2:12: 'lockstep.after' is not supported yet; submit the pipeline when that job has "
       "ended: lockstep job stream JOB && lockstep job create -f FILE",
       kNotYet},
      {"pipeline_of_an_array",
       "jobs: {a: {command: x}}\nlockstep: {array: 0-3}\n",
       {},
       "job.yml:2:12: 'lockstep.array' is not supported yet; write a step for each index, or "
       "submit "
       "the array in a step's command: lockstep job create -f array.yml",
       kNotYet},
      {"step_of_an_array",
       "jobs:\n  a: {command: x, lockstep: {array: 0-3}}\n",
       {},
       "job.yml:2:30: 'lockstep.array' is not supported yet; write a step for each index, or "
       "submit "
       "the array in a step's command: lockstep job create -f array.yml",
       kNotYet},
      {"step_with_a_terminal",
       "jobs:\n  a: {command: x, lockstep: {terminal: pty}}\n",
       {},
       "job.yml:2:30: 'lockstep.terminal' is not possible in a pipeline, whose steps run when "
       "nobody "
       "waits for them; run that command as a job of its own: lockstep run --pty"},
      {"pipeline_with_a_terminal",
       "jobs: {a: {command: x}}\nlockstep: {terminal: stdin}\n",
       {},
       "job.yml:2:12: 'lockstep.terminal' is not possible in a pipeline, whose steps run when "
       "nobody "
       "waits for them; run that command as a job of its own: lockstep run --pty"},
      // numbers that are bound
      {"bound_number_that_is_none",
       "inputs:\n  n: many\njobs:\n  a:\n    command: x\n    resources: {instance_count: "
       "'${{parent.inputs.n}}'}\n",
       {},
       "job.yml:6:33: 'resources.instance_count': 'many' (${{parent.inputs.n}}, job.yml:2:6) is "
       "not "
       "a whole number"},
      {"bound_time_that_is_none",
       "inputs: {t: soon}\njobs:\n  a:\n    command: x\n    limits: {timeout: "
       "'${{parent.inputs.t}}'}\n",
       {},
       "job.yml:5:23: 'limits.timeout': 'soon' (${{parent.inputs.t}}, job.yml:1:13) is not a time; "
       "write seconds, or 90s, 5m, 2h, 1d"},
      {"bound_size_too_small",
       "inputs: {m: {type: integer, default: 3}}\njobs:\n  a: {command: x, lockstep: {resources: "
       "{memory: '${{parent.inputs.m}}k'}}}\n",
       {},
       "job.yml:3:50: 'lockstep.resources.memory': '3k' (${{parent.inputs.m}}, job.yml:1:38) is "
       "3.0 "
       "KiB, too small to run in; write 512m or 2g"},
      {"number_bound_in_a_job",
       "type: command\ncommand: x\nresources: {instance_count: '${{parent.inputs.n}}'}\n",
       {},
       "job.yml:3:29: 'resources.instance_count': '${{parent.inputs.n}}' is not a whole number"},
      {"number_bound_to_no_input",
       "jobs:\n  a: {command: x, resources: {instance_count: '${{parent.inputs.n}}'}}\n",
       {},
       "job.yml:2:47: the pipeline has no input 'n' (in '${{parent.inputs.n}}'); write it under "
       "the "
       "'inputs' of the pipeline"},
      // order
      {"cycle",
       "jobs:\n"
       "  a: {command: x, outputs: {o: }, inputs: {i: '${{parent.jobs.c.outputs.o}}'}}\n"
       "  b: {command: x, outputs: {o: }, inputs: {i: '${{parent.jobs.a.outputs.o}}'}}\n"
       "  c: {command: x, outputs: {o: }, inputs: {i: '${{parent.jobs.b.outputs.o}}'}}\n"
       "  d: {command: x, inputs: {i: '${{parent.jobs.c.outputs.o}}'}}\n",
       {},
       "job.yml:2:3: a cycle: these steps wait for each other: a -> b -> c -> a"},
      {"cycle_of_one",
       "jobs:\n  a: {command: x, outputs: {o: }, inputs: {i: '${{parent.jobs.a.outputs.o}}'}}\n",
       {},
       "job.yml:2:3: a cycle: this step waits for itself: a -> a"},
      // settings
      {"settings_list",
       "settings: [a]\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:11: 'settings' must be a mapping of keys to values, not a list"},
      {"settings_flag",
       "settings: {force_rerun: perhaps}\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:25: 'settings.force_rerun': 'perhaps' is neither true nor false"},
      {"settings_compute",
       "settings: {default_compute: 'my cluster'}\njobs: {a: {command: x}, b: {command: x}}\n",
       {},
       "job.yml:1:29: 'compute': 'my cluster' cannot be the name of a compute target: it needs 3 "
       "to "
       "24 letters, digits and '-', and begins with a letter"},
      {"on_init_of_nobody",
       "settings: {on_init: bgin}\njobs: {begin: {command: x}}\n",
       {},
       "job.yml:1:21: 'settings.on_init': there is no step 'bgin'; did you mean 'begin'?"},
      {"on_init_that_is_a_pipeline",
       "settings: {on_init: p}\njobs: {p: {jobs: {a: {command: x}}}}\n",
       {},
       "job.yml:1:21: 'settings.on_init': 'p' is a pipeline; name a step with a command"},
      {"on_init_and_on_finalize",
       "settings: {on_init: a, on_finalize: a}\njobs: {a: {command: x}}\n",
       {},
       "job.yml:1:37: 'settings.on_finalize': 'a' is on_init already"},
      {"on_finalize_that_is_bound",
       "settings: {on_finalize: b}\njobs:\n  a: {command: x, outputs: {o: }}\n  b: {command: x, "
       "inputs: {i: '${{parent.jobs.a.outputs.o}}'}}\n",
       {},
       "job.yml:4:28: 'inputs.i': step 'b' is on_finalize, so it is bound to no other step"},
      {"on_init_inside",
       "jobs:\n  p: {settings: {on_init: a}, jobs: {a: {command: x}}}\n",
       {},
       "job.yml:2:27: 'settings.on_init' is possible only in the outermost pipeline"},
      {"experiment_inside",
       "jobs:\n  p: {experiment_name: e, jobs: {a: {command: x}}}\n",
       {},
       "job.yml:2:7: 'experiment_name' belongs to the outermost pipeline"},
      // overrides
      {"set_in_a_step",
       "jobs:\n  a: {component: train.yml, inputs: {data: {path: 'azureml:d:1'}}}\n",
       {"jobs.a.inputs.lr=7"},
       "--set jobs.a.inputs.lr=7: 'inputs.lr': 7 is more than max 1 (train.yml:4:3)"},
      {"set_in_a_nested_step",
       "jobs:\n  p: {component: inner.yml, inputs: {raw: {type: uri_file, path: 'azureml:d:1'}}}\n",
       {"jobs.p.jobs.fit.inputs.lr=7"},
       "--set jobs.p.jobs.fit.inputs.lr=7: 'inputs.lr': 7 is more than max 1 (train.yml:4:3)"},
      {"set_of_an_unknown_step",
       "jobs:\n  a: {command: x}\n",
       {"jobs.b.command=y", "jobs.c.inputs.lr=1"},
       "--set jobs.c.inputs.lr=1: there is no step 'c'; a --set that adds one sets its command "
       "too"},
      {"set_of_a_mistyped_step",
       "jobs:\n  one: {command: x, inputs: {k: 1}}\n",
       {"jobs.ono.inputs.k=x"},
       "--set jobs.ono.inputs.k=x: there is no step 'ono'; did you mean 'one'?"},
      {"set_of_a_mistyped_step_of_a_component",
       "jobs:\n  p: {component: inner.yml, inputs: {raw: {type: uri_file, path: 'azureml:d:1'}}}\n",
       {"jobs.p.jobs.fut.inputs.lr=0.5"},
       "--set jobs.p.jobs.fut.inputs.lr=0.5: there is no step 'fut'; did you mean 'fit'?"},
      {"many_at_once",
       "jobs:\n"
       "  a: {component: train.yml, inputs: {lr: 7}}\n"
       "  b: {command: x, inputs: {i: '${{parent.jobs.a.outputs.modl}}'}}\n"
       "  c: {comand: x}\n"
       "outputs: {m: }\n",
       {},
       "job.yml:2:3: step 'a' lacks the input 'data' (uri_folder), which train.yml requires "
       "(train.yml:3:3)\n"
       "job.yml:2:42: 'inputs.lr': 7 is more than max 1 (train.yml:4:3)\n"
       "job.yml:3:31: step 'a' has no output 'modl' (in '${{parent.jobs.a.outputs.modl}}'); did "
       "you "
       "mean 'model'?\n"
       "job.yml:4:7: unknown key 'comand'; did you mean 'command'?\n"
       "job.yml:5:11: no step writes output 'm' of the pipeline; write outputs: {NAME: "
       "${{parent.outputs.m}}} in the step that does"},
  };
}

}  // namespace lockstep::spec
