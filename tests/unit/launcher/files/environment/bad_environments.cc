#include "tests/unit/launcher/files/environment/bad_environments.h"

#include <filesystem>

namespace lockstep::spec {

namespace {

constexpr ErrorCode kNotYet = ErrorCode::unsupported;
constexpr ErrorCode kNotFound = ErrorCode::not_found;

}  // namespace

ReadText from(const Files& files) {
  return [files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(std::filesystem::path(path).lexically_normal().string());
    if (found == files.end()) return make_error(ErrorCode::not_found, "there is no " + path);
    return found->second;
  };
}

std::vector<BadEnvironment> bad_job_environments() {
  return {
      {"empty", "environment: ''\n",
       "job.yml:2:14: 'environment' is empty; leave it out to use each node's PATH unchanged"},
      {"list", "environment: [a, b]\n",
       "job.yml:2:14: 'environment' must be a name or a mapping, not a list"},
      {"no_version", "environment: azureml:sklearn\n",
       "job.yml:2:14: 'environment': 'azureml:sklearn' has no version; write sklearn:VERSION or "
       "sklearn@latest"},
      {"bare_name", "environment: sklearn\n",
       "job.yml:2:14: 'environment': 'sklearn' has no version; write sklearn:VERSION or "
       "sklearn@latest"},
      {"empty_version", "environment: 'azureml:sklearn:'\n",
       "job.yml:2:14: 'environment': an environment's version: '' is not valid; write 1 to 240 "
       "letters, digits, '_', '-' or '.', starting with a letter or a digit"},
      {"name_with_blank", "environment: azureml:my env:1\n",
       "job.yml:2:14: 'environment': an environment's name: 'my env' is not valid; write 1 to 240 "
       "letters, digits, '_', '-' or '.', starting with a letter or a digit"},
      {"two_versions", "environment: azureml:a:1:2\n",
       "job.yml:2:14: 'environment': an environment's version: '1:2' is not valid; write 1 to 240 "
       "letters, digits, '_', '-' or '.', starting with a letter or a digit"},
      {"label", "environment: azureml:sklearn@stable\n",
       "job.yml:2:14: 'environment': 'azureml:sklearn@stable': the label 'stable' is not supported "
       "yet; use @latest",
       kNotYet},
      {"registry_label", "environment: azureml://registries/r/environments/e/labels/stable\n",
       "job.yml:2:14: 'environment': the label 'stable' is not supported yet; use 'latest'",
       kNotYet},
      {"registry_of_models", "environment: azureml://registries/r/models/m/versions/1\n",
       "job.yml:2:14: 'environment': 'azureml://registries/r/models/m/versions/1' is not the "
       "address of an environment in a registry; write "
       "azureml://registries/REGISTRY/environments/NAME/versions/VERSION, or …/labels/latest"},
      {"registry_too_short", "environment: azureml://registries/r/environments/e\n",
       "job.yml:2:14: 'environment': 'azureml://registries/r/environments/e' is not the address of "
       "an environment in a registry; write "
       "azureml://registries/REGISTRY/environments/NAME/versions/VERSION, or …/labels/latest"},
      {"workspace_address", "environment: azureml:/subscriptions/1/environments/e/versions/1\n",
       "job.yml:2:14: 'environment': 'azureml:/subscriptions/1/environments/e/versions/1' is not "
       "supported yet; only addresses in a registry are: "
       "azureml://registries/REGISTRY/environments/NAME/versions/VERSION",
       kNotYet},
      {"a_file_without_file", "environment: ./env.yml\n",
       "job.yml:2:14: 'environment': './env.yml' looks like a file's name, not an environment's; "
       "for a file, write file:./env.yml"},
      {"no_such_file", "environment: file:./env.yml\n",
       "job.yml:2:14: 'environment': there is no env.yml", kNotFound},
      {"unknown_key", "environment:\n  requirments: r.txt\n",
       "job.yml:3:3: unknown key 'environment.requirments'; did you mean "
       "'environment.requirements'?"},
      {"key_of_the_job", "environment:\n  interpreter: python3\n  environment_variables: {A: b}\n",
       "job.yml:4:3: unknown key 'environment.environment_variables'; did you mean "
       "'environment_variables'?"},
      {"python_version", "environment: {requirements: [six], python: 3.11.4}\n",
       "job.yml:2:44: 'environment.python': '3.11.4' is a version, but the name or path of an "
       "interpreter is expected; write python3.11"},
      {"python_major_version", "environment: {requirements: [six], python: 3}\n",
       "job.yml:2:44: 'environment.python': '3' is a version, but the name or path of an "
       "interpreter is expected; write python3"},
      {"interpreter_version", "environment: {interpreter: \"3.11\"}\n",
       "job.yml:2:28: 'environment.interpreter': '3.11' is a version, but the name or path of an "
       "interpreter is expected; write python3.11"},
      {"package_as_option", "environment: {requirements: [], options: [--pre, six]}\n",
       "job.yml:2:50: 'environment.options': 'six' is not an option; packages belong in "
       "'environment.requirements'"},
      {"option_as_constraint", "environment: {requirements: [], constraints: [--pre]}\n",
       "job.yml:2:47: 'environment.constraints': '--pre' is an option; constraints must be "
       "packages: [a<2]"},
      {"constraints_as_file", "environment: {requirements: [], constraints: c.txt}\n",
       "job.yml:2:46: 'environment.constraints' must be a list, not a value"},
      {"options_of_conda", "environment: {conda_file: c.yml, options: [--pre]}\n",
       "job.yml:2:34: 'environment.options' works only with 'environment.requirements'; in a conda "
       "file, put the options among pip's packages: - pip: [--pre, six]"},
      {"constraints_alone", "environment: {interpreter: python3, constraints: [six]}\n",
       "job.yml:2:37: 'environment.constraints' needs 'environment.requirements' or "
       "'environment.conda_file', and both are missing"},
      {"a_question_mark_in_brackets",
       "environment: {conda_file: {channels: [https://h/c?token=1], dependencies: [python]}}\n",
       "job.yml:2:50: bad YAML: a text with a '?' in brackets needs quotes: 'https://h/c?token=1'"},
      {"a_question_mark_in_a_list_of_lines",
       "environment:\n  conda_file:\n    channels: [\n      a,\n      https://h/caf\xc3\xa9?b]\n",
       "job.yml:6:21: bad YAML: a text with a '?' in brackets needs quotes: "
       "'https://h/caf\xc3\xa9?b'"},
      {"constraints_of_a_lock",
       "environment: {conda_file: c.lock, constraints: [six<2]}\n",
       "job.yml:2:35: 'environment.constraints' cannot be combined with a lock file, which names "
       "every package already",
       ErrorCode::invalid_argument,
       {{"c.lock", "@EXPLICIT\nhttps://h/c/linux-64/a-1-0.conda#" + std::string(32, '0') + "\n"}}},
      {"what_show_says_in_a_job", "environment: {interpreter: python3, lockstep: {}}\n",
       "job.yml:2:37: unknown key 'environment.lockstep'; did you mean 'lockstep'?"},
      {"missing_conda_file", "environment:\n  conda_file: conda.yml\n",
       "job.yml:3:15: 'environment.conda_file': there is no conda.yml; write the name of a conda "
       "file, relative to this file, or a mapping of channels and dependencies",
       kNotFound},
      {"conda_file_as_list", "environment: {conda_file: [python]}\n",
       "job.yml:2:27: 'environment.conda_file' must be a file's name or a mapping, not a list"},
      {"empty_conda_file", "environment: {conda_file: ''}\n",
       "job.yml:2:27: 'environment.conda_file' is empty; leave it out"},
      {"key_of_a_conda_file_inline",
       "environment:\n  conda_file:\n    channel: [a]\n    dependencies: [python]\n",
       "job.yml:4:5: unknown key 'environment.conda_file.channel'; did you mean "
       "'environment.conda_file.channels'?"},
      {"match_spec_inline", "environment: {conda_file: {dependencies: [python, numpy=>1.2]}}\n",
       "job.yml:2:51: 'numpy=>1.2': '=>' is not an operator; write >="},
      {"set_conda_file",
       "environment: {conda_file: {dependencies: [python]}}\n",
       "--set environment.conda_file.prefixes=x: unknown key 'environment.conda_file.prefixes'; "
       "did "
       "you mean 'environment.conda_file.prefix'?",
       ErrorCode::invalid_argument,
       {},
       {"environment.conda_file.prefixes=x"}},
      {"error_of_the_conda_file_has_its_place",
       "environment: {conda_file: envs/c.yml}\n",
       "envs/c.yml:2:3: 'six numpy pandas scipy': 'pandas scipy' is not a valid build; write "
       "NAME=VERSION=BUILD",
       ErrorCode::invalid_argument,
       {{"envs/c.yml", "dependencies:\n- 'six numpy pandas scipy'\n"}}},
      {"conda_and_requirements",
       "environment:\n  conda_file: {dependencies: [python]}\n  requirements: [six]\n",
       "job.yml:4:3: 'environment.requirements' and 'environment.conda_file' cannot be combined; "
       "list pip's packages in the conda file, among its dependencies: - pip: [-r "
       "requirements.txt]"},
      {"conda_and_interpreter",
       "environment:\n  interpreter: python3\n  conda_file: {dependencies: [python]}\n",
       "job.yml:4:3: 'environment.conda_file' installs packages, but 'environment.interpreter' "
       "uses a Python without installing any: leave one out"},
      {"conda_and_python",
       "environment:\n  python: python3\n  conda_file: {dependencies: [python]}\n",
       "job.yml:3:3: 'environment.python' works only with 'environment.requirements'; in a conda "
       "environment, name Python among the dependencies: python=3.11"},
      {"looks_like_conda", "environment:\n  name: x\n  dependencies: [python=3.11]\n",
       "job.yml:4:3: 'environment.dependencies' is a key of a conda file; put the conda file's "
       "keys, or its name, under 'environment.conda_file'"},
      {"nothing_in_it", "environment: {name: tools}\n",
       "job.yml:2:14: an environment needs one of: 'environment.interpreter' (a Python that every "
       "node "
       "has), 'environment.requirements' or 'environment.conda_file' (packages to install), or "
       "'environment.image' or 'environment.build' (a container)"},
      {"two_kinds", "environment:\n  interpreter: python3\n  requirements: [numpy]\n",
       "job.yml:4:3: 'environment.requirements' installs packages, but 'environment.interpreter' "
       "uses a Python without installing any: leave one out (`environment.python` chooses the "
       "Python that the packages are installed for)"},
      {"python_alone", "environment: {python: python3.11}\n",
       "job.yml:2:15: 'environment.python' needs 'environment.requirements', which is missing; to "
       "use a Python without installing packages, write 'environment.interpreter'"},
      {"empty_interpreter", "environment: {interpreter: ''}\n",
       "job.yml:2:28: 'environment.interpreter' is empty; leave it out"},
      {"relative_interpreter", "environment:\n  interpreter: env/bin/python\n",
       "job.yml:3:16: environment.interpreter: 'env/bin/python' is a relative path, but every node "
       "looks for this program; write an absolute path, or a name on PATH"},
      {"interpreter_as_list", "environment:\n  interpreter: [python3]\n",
       "job.yml:3:16: 'environment.interpreter' must be a string, not a list"},
      {"requirements_as_mapping", "environment:\n  requirements: {numpy: 1}\n",
       "job.yml:3:17: 'environment.requirements' must be a file's name or a list, not a mapping"},
      {"requirement_as_mapping", "environment:\n  requirements:\n    - numpy: 1.26\n",
       "job.yml:4:7: 'environment.requirements' must be a list of strings; this item is a mapping"},
      {"missing_requirements", "environment:\n  requirements: r.txt\n",
       "job.yml:3:17: 'environment.requirements': there is no r.txt; write the name of a "
       "requirements file, relative to this file, or a list of packages: [a, b]",
       kNotFound},
      {"path_in_list", "environment:\n  requirements:\n    - numpy\n    - ./mine\n",
       "job.yml:5:7: './mine': is a path, which may not exist on the nodes; put the package below "
       "`code` and install it in the command, or give its address"},
      {"include_in_list", "environment: {requirements: ['-r r.txt']}\n",
       "job.yml:2:30: '-r r.txt': a list must contain packages, not files; to read a file, write "
       "`requirements: FILE`"},
      {"git_in_file",
       "environment: {requirements: r.txt}\n",
       "r.txt:2: 'git+https://host/x': a package from version control has no hash to check; give "
       "the address of a wheel or an archive",
       ErrorCode::invalid_argument,
       {{"r.txt", "numpy\ngit+https://host/x\n"}}},
      {"bytes_in_requirements",
       "environment: {requirements: r.txt}\n",
       "r.txt:2:5: is not UTF-8 text; save the file as UTF-8",
       ErrorCode::invalid_argument,
       {{"r.txt", "numpy\nsix \xff\n"}}},
      {"name_of_inline", "environment:\n  name: a/b\n  interpreter: python3\n",
       "job.yml:3:9: environment.name: 'a/b' is not valid; write 1 to 240 letters, digits, '_', "
       "'-' or '.', starting with a letter or a digit"},
      {"tag_as_list", "environment:\n  interpreter: python3\n  tags:\n    a: [b]\n",
       "job.yml:5:5: 'environment.tags.a' must be a string, not a list"},
      {"set_two_levels",
       "environment: azureml:a:1\n",
       "--set environment.python=python3: 'python' cannot be a key of a value, which is not a "
       "mapping",
       ErrorCode::invalid_argument,
       {},
       {"environment.python=python3"}},
      {"set_reference",
       "environment: azureml:a:1\n",
       "--set environment=b: 'environment': 'b' has no version; write b:VERSION or b@latest",
       ErrorCode::invalid_argument,
       {},
       {"environment=b"}},
      {"error_of_the_file_has_its_place",
       "environment: file:envs/env.yml\n",
       "envs/env.yml:2:1: unknown key 'requirement'; did you mean 'requirements'?",
       ErrorCode::invalid_argument,
       {{"envs/env.yml", "name: x\nrequirement: [numpy]\n"}}},
  };
}

std::vector<BadEnvironment> bad_environment_files() {
  return {
      {"empty_file", "",
       "env.yml:1:1: is empty; an environment file needs at least an 'interpreter', "
       "'requirements', a 'conda_file' or an 'image'"},
      {"list", "- numpy\n",
       "env.yml:1:1: an environment file must be a mapping of keys to values, not a list"},
      {"two_documents", "interpreter: python3\n---\ninterpreter: python3\n",
       "env.yml:2:1: a second document begins here; an environment file must have only one"},
      {"duplicate", "interpreter: a\ninterpreter: b\n",
       "env.yml:2:1: duplicate key 'interpreter'; it was first given on line 1"},
      {"a_job_file", "$schema: https://a/commandJob.schema.json\ninterpreter: python3\n",
       "env.yml:1:10: '$schema' names the schema of 'commandJob', but this is an environment"},
      {"command", "interpreter: python3\ncommand: true\n", "env.yml:2:1: unknown key 'command'"},
      {"windows", "interpreter: python3\nos_type: Windows\n",
       "env.yml:2:10: 'os_type': 'Windows' is not supported; it must be linux", kNotYet},
      {"bad_name", "name: -x\ninterpreter: python3\n",
       "env.yml:1:7: name: '-x' is not valid; write 1 to 240 letters, digits, '_', '-' or '.', "
       "starting with a letter or a digit"},
      {"bad_version", "interpreter: python3\nversion: 'a b'\n",
       "env.yml:2:10: version: 'a b' is not valid; write 1 to 240 letters, digits, '_', '-' or "
       "'.', starting with a letter or a digit"},
      {"description_as_list", "interpreter: python3\ndescription: [a]\n",
       "env.yml:2:14: 'description' must be a string, not a list"},
      {"tags_as_text", "interpreter: python3\ntags: fast\n",
       "env.yml:2:7: 'tags' must be a mapping of keys to values, not a value"},
      {"unknown_option", "requirements: [--user]\n",
       "env.yml:1:16: '--user': unknown option; the known options are -r, -c, --index-url, "
       "--extra-index-url, --no-index, --find-links, --no-binary, --only-binary, --prefer-binary, "
       "--pre and --trusted-host"},
      {"two_lines", "requirements:\n- \"a\\nb\"\n",
       "env.yml:2:1: requirements: 'a\nb' is not one line"},
      {"control_character", std::string("interpreter: a\0b\n", 17),
       "env.yml:1:15: contains the control character 0x00"},
  };
}

}  // namespace lockstep::spec
