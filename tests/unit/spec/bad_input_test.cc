// One table of job files that must be refused, each with its whole message: where, what, what to do.

#include <gtest/gtest.h>

#include "launcher/spec/job_file.h"

namespace lockstep::spec {
namespace {

struct BadInput {
  const char* name;
  std::string text;
  std::vector<std::string> overrides;
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;
};

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

constexpr ErrorCode kNotYet = ErrorCode::unsupported;

std::string bomb() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += std::string(i ? "," : "") + "*" + char(c - 1);
    text += "]\n";
  }
  return text;
}

const std::vector<BadInput>& table() {
  static const std::vector<BadInput> cases = {
      // the text itself
      {"empty_file", "", {}, "job.yml:1:1: is empty; a job file needs at least a 'command'"},
      {"only_comments", "# nothing\n", {},
       "job.yml:1:1: is empty; a job file needs at least a 'command'"},
      {"scalar_document", "just words\n", {},
       "job.yml:1:1: a job file is a mapping of keys to values, not a value"},
      {"list_document", "- command: x\n", {},
       "job.yml:1:1: a job file is a mapping of keys to values, not a list"},
      {"two_documents", "command: x\n---\ncommand: y\n", {},
       "job.yml:2:1: a second document begins here; a job file holds one"},
      {"unclosed_quote", "command: \"x\nname: y\n", {},
       "job.yml:1:10: bad YAML: this quote is never closed"},
      {"unclosed_single_quote", "name: &n 'it''s\ncommand: x\n", {},
       "job.yml:1:7: bad YAML: this quote is never closed"},
      {"unclosed_list", "command: x\ntags: [a, b\n", {}, "job.yml:3:1: bad YAML: "},
      {"bad_indentation", "command: x\n  name: y\n", {}, "job.yml:2:7: bad YAML: "},
      {"tab_indentation", "command: x\nresources:\n\tinstance_count: 2\n", {},
       "job.yml:3:1: bad YAML: a tab in the indentation; YAML wants spaces"},
      {"place_after_wide_letters", "description: {caf\xc3\xa9: \xe2\x82\xac, b: [}\n", {},
       "job.yml:1:28: bad YAML: "},
      {"not_utf8", "command: x\nname: a\xff" "b\n", {},
       "job.yml:2:8: is not UTF-8 text; save the file as UTF-8"},
      {"nul_byte", std::string("command: x\nname: a\0b\n", 21), {},
       "job.yml:2:8: holds the control character 0x00"},
      {"duplicate_key", "command: x\nname: a\ncommand: y\n", {},
       "job.yml:3:1: duplicate key 'command'; it was first given on line 1"},
      {"duplicate_nested_key", "command: x\ntags:\n  a: 1\n  a: 2\n", {},
       "job.yml:4:3: duplicate key 'a'; it was first given on line 3"},
      {"mapping_as_key", "command: x\n{a: b}: c\n", {},
       "job.yml:2:1: a key must be a word, not a mapping"},
      {"merge_key", "command: x\n<<: {a: b}\n", {},
       "job.yml:2:1: the merge key '<<' is not supported yet; repeat the keys instead"},
      {"unknown_anchor", "command: *nowhere\n", {}, "job.yml:1:10: bad YAML: "},
      {"alias_bomb", bomb(), {},
       "job.yml:4:4: the document has more than 20000 values (aliases expanded)"},
      {"alias_in_its_own_anchor", "command: &a [*a]\n", {},
       "job.yml:1:14: this alias stands inside its own anchor"},
      {"deep_nesting", "command: x\ntags: " + std::string(40, '[') + std::string(40, ']') + "\n", {},
       "job.yml:2:38: is nested more than 32 levels deep"},
      {"very_deep_nesting", "tags: " + std::string(9000, '[') + "\n", {},
       "job.yml:1:23: is nested more than 32 levels deep"},
      {"custom_tag", "command: !include other.yml\n", {},
       "job.yml:1:10: the YAML tag '!include' is not supported"},
      {"too_long", "command: x\n#" + std::string(1 << 20, 'x'), {},
       "job.yml:1:1: has 1048588 bytes; a job file has at most 1048576"},
      // keys
      {"unknown_key", "command: x\nenvironment_varables: {A: b}\n", {},
       "job.yml:2:1: unknown key 'environment_varables'; did you mean 'environment_variables'?"},
      {"unknown_key_far", "command: x\nflavour: sweet\n", {}, "job.yml:2:1: unknown key 'flavour'"},
      {"swapped_letters", "comamnd: x\n", {},
       "job.yml:1:1: unknown key 'comamnd'; did you mean 'command'?"},
      {"unknown_nested_key", "command: x\nresources:\n  instance_cout: 2\n", {},
       "job.yml:3:3: unknown key 'resources.instance_cout'; did you mean "
       "'resources.instance_count'?"},
      {"key_in_wrong_section", "command: x\ninstance_count: 2\n", {},
       "job.yml:2:1: unknown key 'instance_count'; did you mean 'resources.instance_count'?"},
      {"dotted_key", "command: x\nresources.instance_count: 2\n", {},
       "job.yml:2:1: unknown key 'resources.instance_count'"},
      {"unknown_lockstep_key", "command: x\nlockstep: {retries: 2}\n", {},
       "job.yml:2:12: unknown key 'lockstep.retries'; did you mean 'lockstep.retry'?"},
      {"environment", "command: x\nenvironment: azureml:env@latest\n", {},
       "job.yml:2:1: 'environment' is not supported yet", kNotYet},
      {"outputs", "command: x\noutputs:\n  model:\n", {},
       "job.yml:2:1: 'outputs' is not supported yet", kNotYet},
      {"instance_type", "command: x\nresources:\n  instance_type: Standard_NC24rs_v3\n", {},
       "job.yml:3:3: 'resources.instance_type' is not supported yet", kNotYet},
      {"data_input", "command: x\ninputs:\n  data:\n    path: ./d\n    type: uri_file\n", {},
       "job.yml:4:5: 'inputs.data.path' is not supported yet", kNotYet},
      {"unknown_key_of_input", "command: x\ninputs: {data: {pth: ./d}}\n", {},
       "job.yml:2:17: unknown key 'inputs.*.pth'; did you mean 'inputs.*.path'?"},
      {"retry_on_lost", "command: x\nlockstep: {retry: {on_lost: after_fence}}\n", {},
       "job.yml:2:20: 'lockstep.retry.on_lost' is not supported yet", kNotYet},
      // kinds
      {"pipeline", "type: pipeline\njobs: {}\n", {},
       "job.yml:1:7: type 'pipeline' is not supported yet", kNotYet},
      {"sweep", "command: x\ntype: sweep\n", {}, "job.yml:2:7: type 'sweep' is not supported yet",
       kNotYet},
      {"pipeline_by_schema",
       "$schema: https://azuremlschemas.azureedge.net/latest/pipelineJob.schema.json\njobs: {}\n", {},
       "job.yml:1:10: $schema 'pipelineJob' is not supported yet", kNotYet},
      {"misspelt_type", "command: x\ntype: comand\n", {},
       "job.yml:2:7: 'type': unknown word 'comand'; did you mean 'command'?"},
      {"tensorflow", "command: x\ndistribution:\n  type: tensorflow\n", {},
       "job.yml:3:9: distribution.type 'tensorflow' is not supported yet", kNotYet},
      {"ray", "command: x\ndistribution: {type: Ray}\n", {},
       "job.yml:2:22: distribution.type 'ray' is not supported yet", kNotYet},
      {"misspelt_distribution", "command: x\ndistribution: {type: pytroch}\n", {},
       "job.yml:2:22: 'distribution.type': unknown word 'pytroch'; did you mean 'pytorch'?"},
      {"unknown_distribution", "command: x\ndistribution: {type: gang}\n", {},
       "job.yml:2:22: 'distribution.type': unknown word 'gang'; it must be mpi or pytorch"},
      {"distribution_without_type", "command: x\ndistribution: {process_count_per_instance: 2}\n",
       {}, "job.yml:2:15: 'distribution' needs a 'type': mpi or pytorch"},
      {"unknown_compute", "command: x\ncompute: azureml:gpu-cluster\n", {},
       "job.yml:2:10: compute 'gpu-cluster' is not supported yet; only 'local' is", kNotYet},
      // values
      {"no_command", "name: a\n", {},
       "job.yml:1:1: the required key 'command' is missing; say what to run"},
      {"null_command", "name: a\ncommand:\n", {}, "job.yml:2:1: 'command' is empty; say what to run"},
      {"blank_command", "command: \"  \"\n", {}, "job.yml:1:10: command: is empty; say what to run"},
      {"command_list", "command: [python, train.py]\n", {},
       "job.yml:1:10: 'command' must be a text, not a list"},
      {"tags_list", "command: x\ntags: [a, b]\n", {},
       "job.yml:2:7: 'tags' must be a mapping of keys to values, not a list"},
      {"nested_variable", "command: x\nenvironment_variables:\n  A: {b: c}\n", {},
       "job.yml:3:6: 'environment_variables.A' must be a text, not a mapping"},
      {"variable_without_value", "command: x\nenvironment_variables:\n  A:\n", {},
       "job.yml:3:3: 'environment_variables.A' has no value; write \"\" for an empty one"},
      {"variable_name_with_equals", "command: x\nenvironment_variables: {\"A=B\": c}\n", {},
       "job.yml:2:25: 'A=B' is not a variable's name"},
      {"count_word", "command: x\nresources: {instance_count: two}\n", {},
       "job.yml:2:29: 'resources.instance_count': 'two' is not a whole number"},
      {"count_fraction", "command: x\nresources: {instance_count: 1.5}\n", {},
       "job.yml:2:29: 'resources.instance_count': '1.5' is not a whole number"},
      {"count_huge", "command: x\nresources: {instance_count: 99999999999}\n", {},
       "job.yml:2:29: 'resources.instance_count': '99999999999' is not a whole number"},
      {"count_zero", "command: x\nresources:\n  instance_count: 0\n", {},
       "job.yml:3:19: resources.instance_count: is 0; must be 1 to 10000"},
      {"too_many_ranks",
       "command: x\ndistribution:\n  type: mpi\n  process_count_per_instance: 5000\n", {},
       "job.yml:4:31: distribution.process_count_per_instance: is 5000; must be 1 to 1024"},
      {"timeout_word", "command: x\nlimits: {timeout: soon}\n", {},
       "job.yml:2:19: 'limits.timeout': 'soon' is not a time; write seconds, or 90s, 5m, 2h, 1d"},
      {"timeout_zero", "command: x\nlimits: {timeout: 0}\n", {},
       "job.yml:2:19: limits.timeout: must be more than 0 seconds"},
      {"memory_word", "command: x\nlockstep: {resources: {memory: lots}}\n", {},
       "job.yml:2:32: 'lockstep.resources.memory': 'lots' is not a size; write 512m or 2g"},
      {"memory_tiny", "command: x\nlockstep: {resources: {memory: 4}}\n", {},
       "job.yml:2:32: 'lockstep.resources.memory': '4' is 4 B, too small to run in; write 512m or "
       "2g"},
      {"bad_name", "command: x\nname: a b\n", {},
       "job.yml:2:7: name: 'a b' is not a job name: 1 to 240 letters, digits, '_' or '-', starting "
       "with a letter or a digit"},
      // expressions
      {"unknown_input", "command: python t.py ${{inputs.lr}}\ninputs: {lrate: 1}\n", {},
       "job.yml:1:22: unknown input 'lr' in '${{inputs.lr}}'"},
      {"near_input", "command: run ${{ inputs.epoch }}\ninputs: {epochs: 1}\n", {},
       "job.yml:1:14: unknown input 'epoch' in '${{inputs.epoch}}'; did you mean 'epochs'?"},
      {"no_inputs", "command: run ${{inputs.x}}\n", {},
       "job.yml:1:14: unknown input 'x' in '${{inputs.x}}'; the job has no 'inputs'"},
      {"input_in_block_text", "inputs: {a: 1}\ncommand: |\n  one\n  two ${{inputs.b}}\n", {},
       "job.yml:4:7: unknown input 'b' in '${{inputs.b}}'"},
      {"outputs_expression", "command: run ${{outputs.model}}\n", {},
       "job.yml:1:14: '${{outputs.model}}' is not supported yet", kNotYet},
      {"input_path_expression", "command: run ${{inputs.d.path}}\ninputs: {d: x}\n", {},
       "job.yml:1:14: '${{inputs.d.path}}' is not supported yet", kNotYet},
      {"optional_expression", "command: run $[[--lr ${{inputs.d}}]]\ninputs: {d: x}\n", {},
       "job.yml:1:14: '$[[…]]' is not supported yet", kNotYet},
      {"unclosed_expression", "command: run ${{inputs.x\ninputs: {x: 1}\n", {},
       "job.yml:1:14: '${{' has no closing '}}'"},
      {"no_expression", "command: run ${{name}}\n", {},
       "job.yml:1:14: '${{name}}' is not an expression; write ${{inputs.NAME}}"},
      {"expression_in_variable",
       "command: x\nenvironment_variables:\n  A: v\n  B: ${{inputs.q}}\n", {},
       "job.yml:4:6: unknown input 'q' in '${{inputs.q}}'; the job has no 'inputs'"},
      // overrides
      {"set_without_value", "command: x\n", {"name"},
       "--set name: is not of the form key=value or key.key=value"},
      {"set_nothing", "command: x\n", {""},
       "--set : is not of the form key=value or key.key=value"},
      {"set_unknown_key", "command: x\n", {"resources.instance_cout=2"},
       "--set resources.instance_cout=2: unknown key 'resources.instance_cout'; did you mean "
       "'resources.instance_count'?"},
      {"set_not_yet", "command: x\n", {"environment.image=y"},
       "--set environment.image=y: 'environment' is not supported yet", kNotYet},
      {"set_wrong_type", "command: x\n", {"resources.instance_count=two"},
       "--set resources.instance_count=two: 'resources.instance_count': 'two' is not a whole number"},
      {"set_out_of_range", "command: x\n", {"limits.timeout=0"},
       "--set limits.timeout=0: limits.timeout: must be more than 0 seconds"},
      {"set_inside_a_value", "command: x\n", {"command.a=b"},
       "--set command.a=b: 'a' would stand inside a value, which is no mapping"},
      {"set_empty_key", "command: x\n", {"tags..a=b"}, "--set tags..a=b: has an empty key"},
      {"set_bad_yaml", "command: x\n", {"tags={a: b"}, "--set tags={a: b: "},
      {"set_expression", "command: x\n", {"command=run ${{inputs.x}}"},
       "--set command=run ${{inputs.x}}: unknown input 'x' in '${{inputs.x}}'; the job has no "
       "'inputs'"},
  };
  return cases;
}

class BadJobFile : public testing::TestWithParam<BadInput> {};

TEST_P(BadJobFile, IsRefusedWithItsPlace) {
  const BadInput& bad = GetParam();
  const auto job = parse_job("job.yml", bad.text, bad.overrides);
  ASSERT_FALSE(job) << "was accepted";
  // Messages that end with ": " are followed by the YAML library's own words.
  if (bad.message.ends_with(": ")) {
    EXPECT_EQ(job.error().message.substr(0, bad.message.size()), bad.message);
    EXPECT_GT(job.error().message.size(), bad.message.size());
  } else {
    EXPECT_EQ(job.error().message, bad.message);
  }
  EXPECT_EQ(job.error().code, bad.code);
  EXPECT_TRUE(parse_job("job.yml", "command: the next good job\n"));
}

INSTANTIATE_TEST_SUITE_P(Table, BadJobFile, testing::ValuesIn(table()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::spec
