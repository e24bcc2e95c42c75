#include "launcher/cli/text/environment_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/api/json/environment.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/asset_view.h"

namespace lockstep::cli {
namespace {

using Step = EnvironmentReport::Step;

constexpr std::size_t kShortDigest = 12;  // characters of a digest that people see
constexpr std::size_t kShortList = 20;    // the most packages on one line

std::string short_of(const Digest& digest) { return digest.hex().substr(0, kShortDigest); }

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\n                ") + line;
  return text;
}

void add(std::string& text, std::string_view label, const std::string& value) {
  if (value.empty()) return;
  text += fmt::format("{:<16}{}\n", std::string(label) + ":", printable(value));
}

struct AddText {
  std::string& text;

  void operator()(const HostEnvironment& host) const { add(text, "interpreter", host.interpreter); }
  void operator()(const VenvEnvironment& venv) const {
    add(text, "python", venv.python);
    add(text, "options", lines_of(venv.options));
    add(text, "requirements", lines_of(venv.requirements));
    add(text, "constraints", lines_of(venv.constraints));
  }
  void operator()(const CondaEnvironment& conda) const {
    std::vector<std::string> locked, variables;
    for (const auto& [platform, count] : api::locked_counts(conda))
      locked.push_back(fmt::format("{} packages for {}", count, platform));
    for (const auto& [name, value] : conda.variables)
      variables.push_back(in_one_line(name + "=" + value));
    add(text, "channels", lines_of(conda.channels));
    if (!conda.strict_priority) add(text, "priority", "disabled");
    add(text, "dependencies", lines_of(conda.dependencies));
    add(text, "locked", lines_of(locked));
    add(text, "options", lines_of(conda.options));
    add(text, "pip", lines_of(conda.requirements));
    add(text, "constraints", lines_of(conda.constraints));
    add(text, "variables", lines_of(variables));
  }
  void operator()(const DockerEnvironment& docker) const {
    add(text, "image", docker.image);
    if (docker.build) {
      add(text, "build", "context " + short_of(docker.build->context));
      add(text, "dockerfile", docker.build->dockerfile);
    }
    if (docker.conda) (*this)(*docker.conda);
  }
};

std::string content_text(const EnvironmentDefinition& definition) {
  std::string text;
  std::visit(AddText{text}, definition);
  return text;
}

// "; pip numpy, six and 3 more"
void add_section(std::string& text, std::string_view name, const std::vector<std::string>& words) {
  if (words.empty()) return;
  const std::size_t shown = std::min(words.size(), kShortList);
  text += fmt::format(
      "{}{} {}", text.empty() ? "" : "; ", name,
      fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < words.size()) text += fmt::format(" and {} more", words.size() - shown);
}

// "ready on linux-x86_64-python3.11: built in 12.3 s".
std::string state_of(const EnvironmentReport& report) {
  std::string text;
  switch (report.step) {
    case Step::wants_lock: text = "not solved yet"; break;
    case Step::not_solved: text = "could not be solved"; break;
    case Step::solved: text = "solved"; break;
    case Step::ready: text = "ready"; break;
  }
  if (!report.platform.empty()) text += " for " + report.platform;
  if (!report.how.empty()) text += ": " + report.how;
  return in_one_line(text);
}

}  // namespace

std::string summary(const EnvironmentSpec& environment) {
  const std::string what = fmt::format("{}, {}", provider_of(environment.definition),
                                       short_of(digest_of(environment.definition)));
  if (environment.name.empty()) return what;
  return fmt::format("{}{}{} ({})", environment.name, environment.version.empty() ? "" : ":",
                     environment.version, what);
}

std::string contents(const EnvironmentSpec& environment) {
  const auto* docker = std::get_if<DockerEnvironment>(&environment.definition);
  const auto* conda = std::get_if<CondaEnvironment>(&environment.definition);
  if (docker != nullptr && docker->conda) conda = &*docker->conda;
  std::string text;
  if (docker != nullptr && !docker->build) add_section(text, "image", {docker->image});
  if (docker != nullptr && docker->build)
    add_section(text, "image built from",
                {short_of(docker->build->context) + "/" + docker->build->dockerfile});
  if (conda == nullptr) return in_one_line(text);
  std::vector<std::string> locked, variables;
  for (const auto& [platform, count] : api::locked_counts(*conda))
    locked.push_back(fmt::format("{} packages for {}", count, platform));
  for (const auto& [name, value] : conda->variables) variables.push_back(name);
  add_section(text, "channels", conda->channels);
  add_section(text, "dependencies", conda->dependencies);
  add_section(text, "locked", locked);
  add_section(text, "pip", conda->requirements);
  add_section(text, "variables", variables);
  return in_one_line(text);
}

std::string environment_table(const std::vector<EnvironmentView>& environments) {
  if (environments.empty())
    return "no environments yet; make one with: lockstep environment create -f FILE\n";
  Table table({"NAME", "VERSION", "PROVIDER", "DEFINITION", "CREATED", "BY", "LAST JOB"});
  for (const auto& view : environments) {
    const EnvironmentSpec& spec = view.environment.spec;
    table.add({spec.name, spec.version + (view.archived ? " (archived)" : ""),
               std::string(provider_of(spec.definition)), short_of(view.definition),
               to_string(view.created), view.created_by,
               view.last_job.value.empty() ? "-" : view.last_job.value});
  }
  return table.text();
}

std::string environment_text(const EnvironmentView& view) {
  const RegisteredEnvironment& environment = view.environment;
  std::string text, tags;
  for (const auto& [key, value] : environment.tags)
    tags += fmt::format("{}{}={}", tags.empty() ? "" : ", ", key, value);
  add(text, "name", environment.spec.name);
  add(text, "version", environment.spec.version + (view.archived ? " (archived)" : ""));
  add(text, "description", environment.description);
  add(text, "tags", tags);
  add(text, "provider", std::string(provider_of(environment.spec.definition)));
  text += content_text(environment.spec.definition);
  add(text, "definition", view.definition.hex());
  add(text, "project", view.project);
  add(text, "owner", view.owner);
  add(text, "shared with", grants_text(view.grants));
  if (view.created.ns == 0) {
    add(text, "from", view.created_by);
  } else {
    add(text, "created", to_string(view.created) + " by " + view.created_by);
  }
  for (const auto& lock : view.locks)
    add(text, "lock",
        fmt::format("{} for {}, solved {} on {}{}", short_of(lock.lock.tree), lock.lock.platform,
                    to_string(lock.solved), lock.node_name,
                    lock.job.value.empty() ? "" : " for " + lock.job.value));
  add(text, "last job", view.last_job.value);
  return text;
}

std::string environment_line(const PartView& part) {
  if (!part.environment) return "";
  const EnvironmentReport& report = *part.environment;
  std::string text = "      environment " + state_of(report);
  if (report.step == Step::ready) text += "; key " + short_of(report.key);
  if (report.lock) text += ", lock " + short_of(*report.lock);
  return text + "\n";
}

std::string environment_paragraph(const JobView& job) {
  if (!job.spec.environment) return "";
  std::string text =
      fmt::format("  environment {}, definition {}\n", printable(summary(*job.spec.environment)),
                  digest_of(job.spec.environment->definition).hex());
  if (const std::string what = contents(*job.spec.environment); !what.empty())
    text += fmt::format("    {}\n", what);
  if (job.attempts.empty()) return printable(text);
  for (const PartView& part : job.attempts.back().parts) {
    if (!part.environment) continue;
    const EnvironmentReport& report = *part.environment;
    text += fmt::format("    {}: {}\n", part.node_name, state_of(report));
    if (report.step == Step::ready) text += "      key " + report.key.hex() + "\n";
    if (report.lock) text += "      lock " + report.lock->hex() + "\n";
  }
  return printable(text);
}

}  // namespace lockstep::cli
