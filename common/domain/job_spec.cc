#include "common/domain/job_spec.h"

#include <cctype>

namespace lockstep {

namespace {

bool valid_variable_name(const std::string& name) {
  return !name.empty() && name.find('=') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status validate_command(const Command& command) {
  std::size_t bytes = 0;
  if (const auto* shell = std::get_if<ShellCommand>(&command)) {
    if (shell->text.find_first_not_of(" \t\n") == std::string::npos)
      return invalid("command: is empty; say what to run");
    if (shell->text.find('\0') != std::string::npos) return invalid("command: holds a NUL byte");
    bytes = shell->text.size();
  } else {
    const auto& words = std::get<Argv>(command).words;
    if (words.empty() || words[0].empty())
      return invalid("command: is empty; say what to run after --");
    for (const auto& word : words) bytes += word.size() + 1;
  }
  if (bytes > kMaxCommandBytes)
    return invalid("command: has " + std::to_string(bytes) + " bytes; at most " +
                   std::to_string(kMaxCommandBytes) + " are possible; put it in a script");
  return {};
}

// Linux passes no longer word to a program (MAX_ARG_STRLEN, with its closing NUL).
constexpr std::size_t kMaxWordBytes = (1 << 17) - 1;

Status validate_environment(const std::map<std::string, std::string>& variables) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : variables) {
    if (!valid_variable_name(name))
      return invalid("environment_variables: '" + name + "' is not a variable name");
    if (value.find('\0') != std::string::npos)
      return invalid("environment_variables." + name + ": holds a NUL byte");
    if (const std::size_t word = name.size() + 1 + value.size(); word > kMaxWordBytes)
      return invalid("environment_variables." + name + ": has " + std::to_string(word) +
                     " bytes with its name; at most " + std::to_string(kMaxWordBytes) +
                     " are possible; put the value in a file");
    bytes += name.size() + value.size() + 2;
  }
  if (bytes > kMaxEnvironmentBytes)
    return invalid("environment_variables: " + std::to_string(bytes) + " bytes together; at most " +
                   std::to_string(kMaxEnvironmentBytes) + " are possible");
  return {};
}

Status validate_numbers(const JobSpec& spec) {
  const auto& r = spec.resources;
  if (r.instance_count < 1 || r.instance_count > kMaxNodesPerJob)
    return invalid("resources.instance_count: is " + std::to_string(r.instance_count) +
                   "; must be 1 to " + std::to_string(kMaxNodesPerJob));
  const int ranks = spec.distribution.processes_per_node;
  if (ranks < 1 || ranks > kMaxRanksPerNode)
    return invalid("distribution.process_count_per_instance: is " + std::to_string(ranks) +
                   "; must be 1 to " + std::to_string(kMaxRanksPerNode));
  if (r.cpus && *r.cpus < 1) return invalid("lockstep.resources.cpus: must be at least 1");
  if (r.gpus && *r.gpus < 0) return invalid("lockstep.resources.gpus: must not be negative");
  if (r.memory && r.memory->count == 0) return invalid("lockstep.resources.memory: must not be 0");
  if (r.isolate_gpus && r.gpus && *r.gpus < ranks)
    return invalid("lockstep.gpus_per_rank: isolated gives each rank a GPU of its own, but " +
                   std::to_string(ranks) + " ranks a node share " + std::to_string(*r.gpus) +
                   "; ask for more lockstep.resources.gpus or start fewer ranks");
  if (spec.retry.max < 0 || spec.retry.max > 1000)
    return invalid("lockstep.retry.max: is " + std::to_string(spec.retry.max) +
                   "; must be 0 to 1000");
  if (spec.timeout && spec.timeout->count() <= 0)
    return invalid("limits.timeout: must be more than 0 seconds");
  return {};
}

}  // namespace

Status validate_job_name(const std::string& name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !name.empty() && name.size() <= kMaxJobNameBytes && word(name[0]);
  for (char c : name) good = good && (word(c) || c == '_' || c == '-');
  if (good) return {};
  return invalid("name: '" + name + "' is not a job name: 1 to 240 letters, digits, '_' or '-', " +
                 "starting with a letter or a digit");
}

Status validate(const JobSpec& spec) {
  if (!spec.name.empty()) TRY(validate_job_name(spec.name));
  TRY(validate_command(spec.command));
  TRY(validate_environment(spec.environment_variables));
  TRY(validate(spec.outputs));
  TRY(validate_numbers(spec));
  if (!spec.compute.empty() && spec.compute != "local")
    return make_error(
        ErrorCode::unsupported,
        "compute: '" + spec.compute + "' is not known here; only 'local' is supported yet");
  return {};
}

std::string_view to_string(Distribution::Kind kind) {
  switch (kind) {
    case Distribution::Kind::none: return "none";
    case Distribution::Kind::mpi: return "mpi";
    case Distribution::Kind::pytorch: return "pytorch";
  }
  return "none";
}

}  // namespace lockstep
