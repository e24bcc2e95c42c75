#include "launcher/api/json/environment.h"

#include "launcher/api/json/asset.h"
#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"

namespace lockstep::api {
namespace {

using Step = EnvironmentReport::Step;

std::string_view word_of(Step step) {
  switch (step) {
    case Step::wants_lock: return "wants_lock";
    case Step::not_solved: return "not_solved";
    case Step::solved: return "solved";
    case Step::ready: return "ready";
  }
  return "ready";
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

}  // namespace

std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [platform, packages] : conda.locked)
    counts[platform.empty() ? "all" : platform] = packages.size();
  return counts;
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
  json["reason_data"] = reason_json(report.why);
  return json;
}

Json to_json(const EnvironmentView& view) {
  const RegisteredEnvironment& environment = view.environment;
  Json json;
  json["name"] = environment.spec.name;
  json["version"] = text_or_null(environment.spec.version);
  json["description"] = environment.description;
  json["tags"] = map_of(environment.tags);
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
                      {"owner", text_or_null(view.owner)},
                      {"shared_with", to_json(view.grants)},
                      {"archived", view.archived},
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

Json to_json(const std::vector<EnvironmentView>& views) {
  return list_of<EnvironmentView>(views, to_json);
}

}  // namespace lockstep::api
