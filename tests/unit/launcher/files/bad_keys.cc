#include "tests/unit/launcher/files/bad_input.h"

namespace lockstep::spec {

namespace {

std::string bomb() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += std::string(i ? "," : "") + "*" + char(c - 1);
    text += "]\n";
  }
  return text;
}

}  // namespace

std::vector<BadInput> bad_keys() {
  return {
      // the text itself
      {"empty_file", "", {}, "job.yml:1:1: is empty; a job file needs at least a 'command'"},
      {"only_comments",
       "# nothing\n",
       {},
       "job.yml:1:1: is empty; a job file needs at least a 'command'"},
      {"scalar_document",
       "just words\n",
       {},
       "job.yml:1:1: a job file must be a mapping of keys to values, not a value"},
      {"list_document",
       "- command: x\n",
       {},
       "job.yml:1:1: a job file must be a mapping of keys to values, not a list"},
      {"two_documents",
       "command: x\n---\ncommand: y\n",
       {},
       "job.yml:2:1: a second document begins here; a job file must have only one"},
      {"unclosed_quote",
       "command: \"x\nname: y\n",
       {},
       "job.yml:1:10: bad YAML: the quote that opens here is never closed; add the same quote at "
       "the end of the value"},
      {"unclosed_single_quote",
       "name: &n 'it''s\ncommand: x\n",
       {},
       "job.yml:1:7: bad YAML: the quote that opens here is never closed; add the same quote at "
       "the end of the value"},
      {"unclosed_list",
       "command: x\ntags: [a, 'b]', \"]\" # ]\n",
       {},
       "job.yml:2:7: bad YAML: this '[' is never closed"},
      {"unclosed_mapping",
       "command: x\ntags: {a: [b]\nname: y\n",
       {},
       "job.yml:2:7: bad YAML: this '{' is never closed"},
      {"closed_twice", "command: x\ntags: [a]]\n", {}, "job.yml:2:10: bad YAML: "},
      {"indented_below_a_value",
       "command: x\n  name: y\n",
       {},
       "job.yml:2:3: bad YAML: this line is indented below 'command: x', which already has a "
       "value; if this is a key of the same group, begin it in column 1"},
      {"indented_like_no_group",
       "command: x\nresources:\n  instance_count: 2\n shm_size: 2g\n",
       {},
       "job.yml:4:2: bad YAML: this line begins in column 2, but the groups above it begin in "
       "columns 1, 3; indent it to one of these columns, because all keys of one mapping begin in "
       "the same column"},
      {"item_among_keys",
       "command: x\n- y\n",
       {},
       "job.yml:2:1: bad YAML: a list item ('- …') is among keys; indent it below the key that it "
       "belongs to"},
      {"key_among_items",
       "command: x\ntags:\n  - a\n  b: c\n",
       {},
       "job.yml:4:3: bad YAML: 'b: c' is a key among list items; indent it, or begin it with "
       "'- '"},
      {"behind_a_quoted_value",
       "command: \"x\" --now\nname: y\n",
       {},
       "job.yml:1:14: bad YAML: '--now' follows a value that has already ended; put quotes around "
       "the whole value"},
      {"no_colon",
       "command x\nname: y\n",
       {},
       "job.yml:1:1: bad YAML: 'command x' has no ': ' between a key and its value; write "
       "'key: value'"},
      {"no_space_behind_the_colon",
       "# a job\ncommand:x\n\nname: y\n",
       {},
       "job.yml:2:1: bad YAML: 'command:x' has no ': ' between a key and its value; write "
       "'key: value'"},
      {"two_colons",
       "command: echo a: b\n",
       {},
       "job.yml:1:16: bad YAML: a second ': ' in one line; if it belongs to the value, put quotes "
       "around the value; if a group begins here, put 'echo a: b' on an indented line of its own"},
      {"group_in_the_line_of_its_key",
       "command: x\nresources: instance_count: 2\n",
       {},
       "job.yml:2:26: bad YAML: a second ': ' in one line; if it belongs to the value, put quotes "
       "around the value; if a group begins here, put 'instance_count: 2' on an indented line of "
       "its own"},
      {"a_value_of_punctuation",
       "command: @x\n",
       {},
       "job.yml:1:10: bad YAML: a value cannot begin with '@x'; put the value in quotes"},
      {"tab_indentation",
       "command: x\nresources:\n\tinstance_count: 2\n",
       {},
       "job.yml:3:1: bad YAML: a tab in the indentation; use spaces"},
      {"array_of_nothing",
       "command: x\nlockstep: {array: 3-1}\n",
       {},
       "job.yml:2:19: 'lockstep.array': '3-1' ends before it begins; write it as 0-19, 1,3,7, "
       "0-100:5 or 0-19%4"},
      {"output_with_a_version_alone",
       "command: x\noutputs: {m: {version: 3}}\n",
       {},
       "job.yml:2:24: 'outputs.m.version' needs 'outputs.m.name': the name under which the output "
       "is registered"},
      {"output_registered_as_latest",
       "command: x\noutputs: {m: {name: net, version: latest}}\n",
       {},
       "job.yml:2:21: 'outputs.m': version: 'latest' stands for the newest version; choose "
       "another"},
      {"place_after_wide_letters",
       "description: {caf\xc3\xa9: \xe2\x82\xac, b: [}\n",
       {},
       "job.yml:1:28: bad YAML: "},
      {"not_utf8",
       "command: x\nname: a\xff"
       "b\n",
       {},
       "job.yml:2:8: is not UTF-8 text; save the file as UTF-8"},
      {"nul_byte",
       std::string("command: x\nname: a\0b\n", 21),
       {},
       "job.yml:2:8: contains the control character 0x00"},
      {"duplicate_key",
       "command: x\nname: a\ncommand: y\n",
       {},
       "job.yml:3:1: duplicate key 'command'; it was first given on line 1"},
      {"duplicate_nested_key",
       "command: x\ntags:\n  a: 1\n  a: 2\n",
       {},
       "job.yml:4:3: duplicate key 'a'; it was first given on line 3"},
      {"duplicate_key_among_others",
       "command: x\ncommand: {y: z}\nresources: {instance_count: two}\n",
       {},
       "job.yml:2:1: duplicate key 'command'; it was first given on line 1\n"
       "job.yml:3:29: 'resources.instance_count': 'two' is not a whole number"},
      {"mapping_as_key",
       "command: x\n{a: b}: c\n",
       {},
       "job.yml:2:1: a key must be a word, not a mapping"},
      {"merged_value",
       "command: x\n<<: b\n",
       {},
       "job.yml:2:5: '<<' merges a mapping or a list of mappings into this one, as in <<: *base, "
       "not a value"},
      {"merged_nothing",
       "command: x\n<<:\n",
       {},
       "job.yml:2:1: '<<' merges a mapping or a list of mappings into this one, as in <<: *base, "
       "not nothing"},
      {"merged_list_of_values",
       "command: x\ntags:\n  <<: [{a: b}, c]\n",
       {},
       "job.yml:3:16: '<<' merges a mapping or a list of mappings into this one, as in <<: *base, "
       "not a value"},
      {"merged_into_itself",
       "command: x\ntags: &t\n  <<: *t\n",
       {},
       "job.yml:3:7: this alias refers to the value that contains it"},
      {"wrong_in_what_was_merged",
       "jobs:\n  a: &base\n    command: x\n    resources: {instance_count: two}\n"
       "  b:\n    <<: *base\n    limits: {timeout: soon}\n",
       {},
       "job.yml:4:33: 'resources.instance_count': 'two' is not a whole number\n"
       "job.yml:7:23: 'limits.timeout': 'soon' is not a time; write seconds, or 90s, 5m, 2h, 1d"},
      {"quoted_merge_key", "command: x\n'<<': {a: b}\n", {}, "job.yml:2:1: unknown key '<<'"},
      {"unknown_anchor", "command: *nowhere\n", {}, "job.yml:1:10: bad YAML: "},
      {"alias_bomb",
       bomb(),
       {},
       "job.yml:5:4: the document has more than 200000 values (aliases expanded)"},
      {"alias_in_its_own_anchor",
       "command: &a [*a]\n",
       {},
       "job.yml:1:14: this alias refers to the value that contains it"},
      {"deep_nesting",
       "command: x\ntags: " + std::string(140, '[') + std::string(140, ']') + "\n",
       {},
       "job.yml:2:134: is nested more than 128 levels deep"},
      {"very_deep_nesting",
       "tags: " + std::string(9000, '[') + "\n",
       {},
       "job.yml:1:71: is nested more than 128 levels deep"},
      {"custom_tag",
       "command: !include other.yml\n",
       {},
       "job.yml:1:10: the YAML tag '!include' is not supported"},
      {"too_long",
       "command: x\n#" + std::string(1 << 20, 'x'),
       {},
       "job.yml:1:1: has 1048588 bytes; a job file has at most 1048576"},
      // keys
      {"unknown_key",
       "command: x\nenvironment_varables: {A: b}\n",
       {},
       "job.yml:2:1: unknown key 'environment_varables'; did you mean 'environment_variables'?"},
      {"unknown_key_far", "command: x\nflavour: sweet\n", {}, "job.yml:2:1: unknown key 'flavour'"},
      {"swapped_letters",
       "comamnd: x\n",
       {},
       "job.yml:1:1: unknown key 'comamnd'; did you mean 'command'?"},
      {"unknown_nested_key",
       "command: x\nresources:\n  instance_cout: 2\n",
       {},
       "job.yml:3:3: unknown key 'resources.instance_cout'; did you mean "
       "'resources.instance_count'?"},
      {"key_in_wrong_section",
       "command: x\ninstance_count: 2\n",
       {},
       "job.yml:2:1: unknown key 'instance_count'; did you mean 'resources.instance_count'?"},
      {"dotted_key",
       "command: x\nresources.instance_count: 2\n",
       {},
       "job.yml:2:1: unknown key 'resources.instance_count'"},
      {"unknown_lockstep_key",
       "command: x\nlockstep: {retries: 2}\n",
       {},
       "job.yml:2:12: unknown key 'lockstep.retries'; did you mean 'lockstep.retry'?"},
      {"filled_parameters",
       "command: x\nparameters: {a: b}\n",
       {},
       "job.yml:2:1: 'parameters' is not supported yet; write `inputs`",
       kNotYet},
      {"a_text_is_not_empty",
       "command: x\nparameters: ''\n",
       {},
       "job.yml:2:1: 'parameters' is not supported yet; write `inputs`",
       kNotYet},
      {"output_path",
       "command: x\noutputs:\n  model: {path: ./here}\n",
       {},
       "job.yml:3:17: 'outputs.model.path': ./here is not azureml://datastores/NAME/paths/PATH; "
       "without "
       "a path the launcher keeps the output, and `lockstep job download` fetches it"},
      {"output_path_expression",
       "command: x\noutputs:\n  model: {path: 'azureml://datastores/x/paths/${{ user }}'}\n",
       {},
       "job.yml:3:17: 'outputs.model.path': '${{ user }}' has no value in a path; ${{name}} (the "
       "job's) and ${{output_name}} have, and as the datastore's name ${{default_datastore}}"},
      {"default_datastore_below_another",
       "command: x\noutputs:\n  model: {path: "
       "'azureml://datastores/x/paths/${{default_datastore}}/y'}\n",
       {},
       "job.yml:3:17: 'outputs.model.path': '${{default_datastore}}' has no value here; ${{name}} "
       "(the job's) and ${{output_name}} have, and as the datastore's name "
       "${{default_datastore}}"},
      {"default_datastore_without_paths",
       "command: x\noutputs:\n  model: {path: "
       "'azureml://datastores/${{default_datastore}}/x'}\n",
       {},
       "job.yml:3:17: 'outputs.model.path': "},
      {"direct_output_mode",
       "command: x\noutputs: {model: {mode: direct}}\n",
       {},
       "job.yml:2:25: outputs.model.mode 'direct' is not supported; write mode: rw_mount, and a "
       "path to which the output is written when the job has ended; to change files of a "
       "datastore's directory in place, name it as an input with mode: rw_mount",
       kNotYet},
      {"output_type",
       "command: x\noutputs: {model: {type: mlflow}}\n",
       {},
       "job.yml:2:25: 'outputs.model.type': unknown word 'mlflow'; it must be uri_folder, "
       "uri_file, mltable, mlflow_model, custom_model or triton_model"},
      {"output_mode",
       "command: x\noutputs: {model: {mode: uplaod}}\n",
       {},
       "job.yml:2:25: 'outputs.model.mode': unknown word 'uplaod'; it must be rw_mount, upload or "
       "mount; did you mean 'upload'?"},
      {"output_key",
       "command: x\noutputs: {model: {typ: uri_file}}\n",
       {},
       "job.yml:2:19: unknown key 'outputs.*.typ'; did you mean 'outputs.*.type'?"},
      {"output_value",
       "command: x\noutputs: {model: ./here}\n",
       {},
       "job.yml:2:18: 'outputs.model' must be a mapping (type, mode) or nothing, not a value"},
      {"output_name",
       "command: x\noutputs: {my-model: }\n",
       {},
       "job.yml:2:11: 'my-model' is not a valid output name; use at most 100 letters, digits and "
       "'_', and do "
       "not begin with a digit"},
      {"label_of_data",
       "command: x\ninputs:\n  data:\n    path: azureml:iris@prod\n    type: uri_file\n",
       {},
       "job.yml:4:11: 'inputs.data.path': label prod is not supported yet; only @latest is",
       kNotYet},
      {"malformed_data",
       "command: x\ninputs: {data: {path: 'azureml:my iris:1'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml:my iris:1 is not azureml:NAME:VERSION or "
       "azureml:NAME@latest"},
      {"direct_data",
       "command: x\ninputs: {data: {path: 'azureml:iris:1', mode: direct}}\n",
       {},
       "job.yml:2:23: 'inputs.data': files of the launcher have no address; write mode: ro_mount "
       "or "
       "download"},
      {"datastore",
       "command: x\ninputs: {data: {path: 'azureml://datastores/:sftp,host=h:/paths/p'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml://datastores/:sftp,host=h:/paths/p is not "
       "azureml://datastores/DATASTORE/paths/PATH"},
      {"datastore_that_leads_out",
       "command: x\ninputs: {data: {path: azureml://datastores/d/paths/a/../b}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': the part after /paths/ may not have '..'"},
      {"rw_mount_of_a_copy",
       "command: x\ninputs: {data: {path: ./d, mode: rw_mount}}\n",
       {},
       "job.yml:2:23: 'inputs.data.mode': rw_mount changes files in place, so the path must be in "
       "a "
       "datastore's directory: azureml://datastores/NAME/paths/PATH; write mode: download for a "
       "copy "
       "that the ranks may change"},
      {"malformed_job_output",
       "command: x\ninputs: {data: {path: azureml://jobs/a/output/b}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml://jobs/a/output/b is not "
       "azureml://jobs/JOB/outputs/OUTPUT[/paths/PATH]"},
      {"job_output_that_leads_out",
       "command: x\ninputs: {data: {path: azureml://jobs/a/outputs/b/paths/../c}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': the part after /paths/ may not have '..'"},
      {"direct_job_output",
       "command: x\ninputs: {data: {path: azureml://jobs/a/outputs/b, mode: direct}}\n",
       {},
       "job.yml:2:23: 'inputs.data': files of the launcher have no address; write mode: ro_mount "
       "or "
       "download"},
      {"registry",
       "command: x\ninputs: {data: {path: azureml://registries/r/data/d/versions/1}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml://registries/r/data/d/versions/1 is not "
       "supported "
       "yet; write azureml:NAME:VERSION, azureml://datastores/DATASTORE/paths/PATH, "
       "azureml://jobs/JOB/outputs/OUTPUT, or a local path",
       kNotYet},
      {"datastore_without_its_s",
       "command: x\ninputs: {data: {path: azureml://datastore/lake/paths/a}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml://datastore/lake/paths/a is not "
       "azureml://datastores/DATASTORE/paths/PATH"},
      {"job_with_an_s_less",
       "command: x\ninputs: {data: {path: azureml:/job/j/outputs/o}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': azureml:/job/j/outputs/o is not "
       "azureml://jobs/JOB/outputs/OUTPUT"},
      {"web_folder",
       "command: x\ninputs: {data: {path: 'https://example.com/a.csv'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': an address names one file; write type: uri_file"},
      {"other_scheme",
       "command: x\ninputs: {data: {path: 'ftp://example.com/a.csv'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': ftp://example.com/a.csv is not supported yet; name a "
       "local file or folder",
       kNotYet},
      {"data_without_path",
       "command: x\ninputs:\n  data:\n    type: uri_file\n",
       {},
       "job.yml:3:3: 'inputs.data' needs a path: write inputs.data.path: ./data, or a plain value "
       "for a literal"},
      {"empty_path",
       "command: x\ninputs: {data: {path: ''}}\n",
       {},
       "job.yml:2:23: 'inputs.data' needs a path: write inputs.data.path: ./data, or a plain value "
       "for a literal"},
      {"empty_file_path",
       "command: x\ninputs: {data: {path: 'file:'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': names no file"},
      {"type_of_data",
       "command: x\ninputs: {data: {path: d, type: uri_foldr}}\n",
       {},
       "job.yml:2:32: 'inputs.data.type': unknown word 'uri_foldr'; it must be uri_folder, "
       "uri_file, mltable, mlflow_model, custom_model or triton_model; did you mean 'uri_folder'?"},
      {"mode_of_data",
       "command: x\ninputs: {data: {path: d, mode: eval_mount}}\n",
       {},
       "job.yml:2:32: inputs.data.mode 'eval_mount' is not supported yet; write ro_mount, and "
       "evaluate the table in the command: mltable.load(PATH)",
       kNotYet},
      {"cloud_path",
       "command: x\ninputs: {data: {path: 'wasbs://c@a.blob.core.windows.net/d'}}\n",
       {},
       "job.yml:2:23: 'inputs.data.path': wasbs://c@a.blob.core.windows.net/d is not supported "
       "yet; "
       "name a local file or folder, or a datastore that the launcher's operator makes of this "
       "storage: azureml://datastores/NAME/paths/PATH",
       kNotYet},
      {"schedule_of_a_command",
       "command: x\nschedule: {cron: '0 0 * * *'}\n",
       {},
       "job.yml:2:1: 'schedule' is not supported yet; submit the file from cron, with `lockstep "
       "job "
       "create -f FILE`",
       kNotYet},
      {"min_of_data",
       "command: x\ninputs: {data: {path: d, min: 3}}\n",
       {},
       "job.yml:2:26: 'inputs.data.min' is not supported yet; it belongs to the inputs of a "
       "component; give the value itself, as in inputs: {lr: 0.1}",
       kNotYet},
      {"name_of_data",
       "command: x\ninputs: {my-data: {path: d}}\n",
       {},
       "job.yml:2:10: 'my-data' is not a valid input name; use at most 100 letters, digits and "
       "'_', and do not "
       "begin with a digit"},
      {"unknown_key_of_input",
       "command: x\ninputs: {data: {pth: ./d}}\n",
       {},
       "job.yml:2:17: unknown key 'inputs.*.pth'; did you mean 'inputs.*.path'?"},
      {"retry_on_lost",
       "command: x\nlockstep: {retry: {on_lost: after_fenc}}\n",
       {},
       "job.yml:2:29: 'lockstep.retry.on_lost': unknown word 'after_fenc'; it must be "
       "immediately or after_fence; did you mean 'after_fence'?"},
      {"retry_on_word",
       "command: x\nlockstep:\n  retry:\n    on: [node_lost, out_of_memroy]\n",
       {},
       "job.yml:4:21: 'lockstep.retry.on': unknown word 'out_of_memroy'; it must be an exit "
       "code or one of infrastructure, node_lost, runner_lost, out_of_memory, signal, timeout, "
       "exit_code, never; did you mean 'out_of_memory'?"},
      {"retry_on_nothing_near",
       "command: x\nlockstep: {retry: {on: whenever_possible}}\n",
       {},
       "job.yml:2:24: 'lockstep.retry.on': unknown word 'whenever_possible'; it must be an exit "
       "code or one of infrastructure, node_lost, runner_lost, out_of_memory, signal, timeout, "
       "exit_code, never"},
      {"retry_on_code",
       "command: x\nlockstep: {retry: {on: [1, 256]}}\n",
       {},
       "job.yml:2:28: 'lockstep.retry.on': '256' is not an exit code of a failure; write a number "
       "from 1 to 255"},
      {"input_name",
       "command: x\ninputs: {a b: 5}\n",
       {},
       "job.yml:2:10: 'a b' is not a valid input name; use at most 100 letters, digits and '_', "
       "and do not "
       "begin with a digit"},
      {"retry_on_never_and_more",
       "command: x\nlockstep: {retry: {on: [never, signal]}}\n",
       {},
       "job.yml:2:25: 'lockstep.retry.on': 'never' cannot be combined with other words"},
      {"retry_on_key",
       "command: x\nlockstep: {retry: {on: [{signal: 9}]}}\n",
       {},
       "job.yml:2:26: 'lockstep.retry.on': unknown key 'signal'; the only known key is exit_code"},
      {"retry_backoff",
       "command: x\nlockstep: {retry: {backoff: soon}}\n",
       {},
       "job.yml:2:29: 'lockstep.retry.backoff': 'soon' is not a time; write seconds, or 90s, 5m, "
       "2h, 1d"},
      {"keep_pattern",
       "command: x\nlockstep:\n  keep: ['*.pt', ../model.pt]\n",
       {},
       "job.yml:3:18: 'lockstep.keep': pattern ../model.pt: '..' is not a file name; write paths "
       "from the working directory on, such as /checkpoints/last.pt"},
      {"keep_mapping",
       "command: x\nlockstep: {keep: {a: b}}\n",
       {},
       "job.yml:2:18: 'lockstep.keep' must be a list of patterns, such as [\"*.pt\", "
       "checkpoints/]; "
       "this is a mapping"},
      {"keep_list_in_list",
       "command: x\nlockstep: {keep: [[a]]}\n",
       {},
       "job.yml:2:19: 'lockstep.keep' must be a list of patterns, such as [\"*.pt\", "
       "checkpoints/]; "
       "this is a list"},
      {"keep_takes_nothing",
       "command: x\nlockstep: {keep: ['!a']}\n",
       {},
       "job.yml:2:18: lockstep.keep: nothing is kept: all patterns begin with '!'"},
      {"keep_override",
       "command: x\n",
       {"lockstep.keep=a//b"},
       "--set lockstep.keep=a//b: 'lockstep.keep': pattern a//b: it has '//'; write a single '/'"},
      {"retry_backoff_long",
       "command: x\nlockstep: {retry: {backoff: 2d}}\n",
       {},
       "job.yml:2:29: lockstep.retry.backoff: must be 0 to 24h00m"},
      {"checkpoint_every",
       "command: x\nlockstep: {checkpoint: {every: 10ms}}\n",
       {},
       "job.yml:2:32: lockstep.checkpoint.every: must be 1s to 24h00m, or 0 to save only when the "
       "ranks have ended"},
  };
}

}  // namespace lockstep::spec
