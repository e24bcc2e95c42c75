#include "launcher/cli/job/run_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/domain/environment/variables.h"
#include "common/domain/targets/compute.h"

namespace lockstep::cli {

std::map<std::string, std::string> flags_by_key(const RunArguments& a) {
  std::map<std::string, std::string> flags;
  const auto add = [&](std::string key, const char* flag, const std::string& value) {
    if (!value.empty()) flags.emplace(std::move(key), fmt::format("{} {}", flag, value));
  };
  add("name", "--name", a.name);
  add("lockstep.project", "--project", a.project);
  add("lockstep.after", "--after", fmt::format("{}", fmt::join(a.after, ",")));
  add("lockstep.from_checkpoint_of", "--from-checkpoint-of", a.from_checkpoint_of);
  add("lockstep.nodes", "--nodelist", a.nodelist);
  if (a.nodes) add("resources.instance_count", "-N", std::to_string(*a.nodes));
  const auto add_ports = [&](const char* section, const char* flag,
                             const std::vector<std::string>& words) {
    for (const std::string& word : words)
      add(fmt::format("{}.{}", section, word.substr(0, word.find('='))), flag, word);
  };
  add_ports("inputs", "--input", a.inputs);
  add_ports("outputs", "--output", a.outputs);
  add_ports("environment_variables", "--secret", a.secrets);
  return flags;
}

// Notes on variables. A value from this shell is used unchanged, so it gets no note.
spec::Notes notes_of_variables(const RunArguments& arguments, const JobSpec& spec) {
  spec::Notes notes;
  for (const auto& [name, value] : spec.environment_variables) {
    const bool is_ours =
        std::find(arguments.env.begin(), arguments.env.end(), name) != arguments.env.end();
    const std::string note = is_ours ? "" : unreplaced_note("--env " + name, name, value);
    if (!note.empty()) notes.push_back(note);
  }
  return notes;
}

std::string held_besides(const ResourceRequest& asked) {
  const bool names_some = asked.cpus || asked.memory || asked.gpus;
  if (!names_some || (asked.cpus && asked.memory)) return "";
  std::vector<std::string> held, flags;
  const auto add = [&](bool named, const char* what) {
    if (named) return;
    held.push_back(std::string("all ") + what);
    flags.push_back(std::string("--") + what);
  };
  add(asked.cpus.has_value(), "cpus");
  add(asked.memory.has_value(), "memory");
  add(asked.gpus.has_value(), "gpus");
  return fmt::format(
      "the job holds {} of its node, because it does not limit them; to let other jobs share the "
      "node, add {}",
      fmt::join(held, " and "), fmt::join(flags, " and "));
}

}  // namespace lockstep::cli
