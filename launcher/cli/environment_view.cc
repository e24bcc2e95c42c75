#include "launcher/cli/environment_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/cli/output.h"

namespace lockstep::cli {
namespace {

using Step = EnvironmentReport::Step;

constexpr std::size_t kShortDigest = 12;  // characters of it that people read
constexpr std::size_t kShortList = 20;    // packages of one line

std::string_view word_of(Step step) {
  switch (step) {
    case Step::wants_lock: return "wants_lock";
    case Step::not_solved: return "not_solved";
    case Step::solved: return "solved";
    case Step::ready: return "ready";
  }
  return "ready";
}

std::string short_of(const Digest& digest) { return digest.hex().substr(0, kShortDigest); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Packages that a lock file names, for each platform; "all" for those of noarch alone.
std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [platform, packages] : conda.locked)
    counts[platform.empty() ? "all" : platform] = packages.size();
  return counts;
}

struct AddJson {
  Json& json;

  void operator()(const HostEnvironment& host) const { json["interpreter"] = host.interpreter; }
  void operator()(const VenvEnvironment& venv) const {
    json["python"] = venv.python;
    json["requirements"] = venv.requirements;
    json["options"] = venv.options;
    json["constraints"] = venv.constraints;
  }
  void operator()(const CondaEnvironment& conda) const {
    json["channels"] = conda.channels;
    json["channel_priority"] = conda.strict_priority ? "strict" : "disabled";
    json["dependencies"] = conda.dependencies;
    json["locked"] = locked_counts(conda);
    json["pip"] = conda.requirements;
    json["options"] = conda.options;
    json["constraints"] = conda.constraints;
    json["variables"] = conda.variables;
  }
  void operator()(const DockerEnvironment& docker) const {
    if (docker.build) {
      json["build"] = {{"context", docker.build->context.hex()},
                       {"dockerfile_path", docker.build->dockerfile}};
    } else {
      json["image"] = docker.image;
    }
    if (docker.conda) AddJson{json["conda_file"]}(*docker.conda);
  }
};

// The keys that an environment file has: `environment create` takes what is shown. Of a lock file's
// packages only the numbers.
struct AddFile {
  Json& json;

  void operator()(const HostEnvironment& host) const { AddJson{json}(host); }
  void operator()(const VenvEnvironment& venv) const { AddJson{json}(venv); }
  void operator()(const CondaEnvironment& conda) const {
    Json file;
    file["channels"] = conda.channels;
    file["channel_priority"] = conda.strict_priority ? "strict" : "disabled";
    file["dependencies"] = conda.dependencies;
    std::vector<std::string> pip = conda.options;
    pip.insert(pip.end(), conda.requirements.begin(), conda.requirements.end());
    if (!pip.empty()) file["dependencies"].push_back({{"pip", pip}});
    if (!conda.locked.empty()) file["locked"] = locked_counts(conda);
    file["variables"] = conda.variables;
    json["conda_file"] = std::move(file);
    if (!conda.constraints.empty()) json["constraints"] = conda.constraints;
  }
  void operator()(const DockerEnvironment& docker) const {
    AddJson{json}(DockerEnvironment{docker.image, docker.build, std::nullopt});
    if (docker.conda) (*this)(*docker.conda);
  }
};

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
    for (const auto& [platform, count] : locked_counts(conda))
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
    case Step::not_solved: text = "could not solve it"; break;
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
    add_section(text, "image built of",
                {short_of(docker->build->context) + "/" + docker->build->dockerfile});
  if (conda == nullptr) return in_one_line(text);
  std::vector<std::string> locked, variables;
  for (const auto& [platform, count] : locked_counts(*conda))
    locked.push_back(fmt::format("{} packages for {}", count, platform));
  for (const auto& [name, value] : conda->variables) variables.push_back(name);
  add_section(text, "channels", conda->channels);
  add_section(text, "dependencies", conda->dependencies);
  add_section(text, "locked", locked);
  add_section(text, "pip", conda->requirements);
  add_section(text, "variables", variables);
  return in_one_line(text);
}

Json to_json(const EnvironmentSpec& environment) {
  Json json;
  json["name"] = text_or_null(environment.name);
  json["version"] = text_or_null(environment.version);
  json["provider"] = std::string(provider_of(environment.definition));
  json["definition"] = digest_of(environment.definition).hex();
  // Of a venv its digest is all.
  if (std::holds_alternative<CondaEnvironment>(environment.definition) ||
      std::holds_alternative<DockerEnvironment>(environment.definition))
    std::visit(AddJson{json}, environment.definition);
  return json;
}

Json to_json(const EnvironmentReport& report) {
  const bool ready = report.step == Step::ready;
  Json json;
  json["step"] = std::string(word_of(report.step));
  json["platform"] = text_or_null(report.platform);
  json["lock"] = report.lock ? Json(report.lock->hex()) : Json(nullptr);
  json["key"] = ready ? Json(report.key.hex()) : Json(nullptr);
  json["how"] = text_or_null(report.how);
  return json;
}

Json to_json(const EnvironmentView& view) {
  const RegisteredEnvironment& environment = view.environment;
  Json json;
  json["name"] = environment.spec.name;
  json["version"] = text_or_null(environment.spec.version);
  json["description"] = environment.description;
  json["tags"] = Json::object();
  for (const auto& [key, value] : environment.tags) json["tags"][key] = value;
  json["os_type"] = "linux";
  std::visit(AddFile{json}, environment.spec.definition);
  json["creation_context"] = {
      {"created_at", view.created.ns == 0 ? Json(nullptr) : Json(to_string(view.created))},
      {"created_by", view.created_by}};
  Json locks = Json::array();
  for (const auto& lock : view.locks)
    locks.push_back({{"platform", lock.lock.platform},
                     {"lock", lock.lock.tree.hex()},
                     {"solved_at", to_string(lock.solved)},
                     {"node_name", lock.node_name},
                     {"job", lock.job.value}});
  json["lockstep"] = {{"provider", std::string(provider_of(environment.spec.definition))},
                      {"definition", view.definition.hex()},
                      {"project", text_or_null(view.project)},
                      {"locks", locks},
                      {"last_job", text_or_null(view.last_job.value)}};
  return json;
}

Json explained_environment(const JobView& job) {
  if (!job.spec.environment) return nullptr;
  Json json = to_json(*job.spec.environment);
  json["nodes"] = Json::array();
  if (job.attempts.empty()) return json;
  for (const PartView& part : job.attempts.back().parts) {
    if (!part.environment) continue;
    Json node = to_json(*part.environment);
    node["node_name"] = part.node_name;
    json["nodes"].push_back(std::move(node));
  }
  return json;
}

std::string environment_table(const std::vector<EnvironmentView>& environments) {
  if (environments.empty())
    return "no environments yet; make one with: lockstep environment create -f FILE\n";
  Table table({"NAME", "VERSION", "PROVIDER", "DEFINITION", "CREATED", "BY", "LAST JOB"});
  for (const auto& view : environments) {
    const EnvironmentSpec& spec = view.environment.spec;
    table.add({spec.name, spec.version, std::string(provider_of(spec.definition)),
               short_of(view.definition), to_string(view.created), view.created_by,
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
  add(text, "version", environment.spec.version);
  add(text, "description", environment.description);
  add(text, "tags", tags);
  add(text, "provider", std::string(provider_of(environment.spec.definition)));
  text += content_text(environment.spec.definition);
  add(text, "definition", view.definition.hex());
  add(text, "project", view.project);
  if (view.created.ns == 0) {
    add(text, "from", view.created_by);
  } else {
    add(text, "created", to_string(view.created) + " by " + view.created_by);
  }
  for (const auto& lock : view.locks)
    add(text, "lock",
        fmt::format("{} for {}, solved {} on {} for {}", short_of(lock.lock.tree),
                    lock.lock.platform, to_string(lock.solved), lock.node_name, lock.job.value));
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
  if (job.attempts.empty()) return text;
  for (const PartView& part : job.attempts.back().parts) {
    if (!part.environment) continue;
    const EnvironmentReport& report = *part.environment;
    text += fmt::format("    {}: {}\n", part.node_name, state_of(report));
    if (report.step == Step::ready) text += "      key " + report.key.hex() + "\n";
    if (report.lock) text += "      lock " + report.lock->hex() + "\n";
  }
  return text;
}

}  // namespace lockstep::cli
