#include "launcher/api/json/environment.h"

#include "launcher/api/json/asset.h"

namespace lockstep::api {

std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [platform, packages] : conda.locked)
    counts[platform.empty() ? "all" : platform] = packages.size();
  return counts;
}

namespace {

constexpr std::string_view kProviders[] = {"host", "venv", "conda", "docker"};
constexpr std::string_view kPriorities[] = {"strict", "disabled"};
constexpr std::string_view kLinux[] = {"linux"};

constexpr const char* kChannels = "Conda channels, the first is preferred.";
constexpr const char* kPriority = "strict: a package comes from the first channel that has it.";
constexpr const char* kLocked =
    "How many packages a lock file names for each platform; all: for every platform.";
constexpr const char* kVariables = "Variables that are set while the environment is active.";
constexpr const char* kProvider =
    "How it is made: an interpreter of the node's, a virtual environment, conda packages, a "
    "container image.";

std::string_view priority_of(const CondaEnvironment& conda) {
  return conda.strict_priority ? kPriorities[0] : kPriorities[1];
}

}  // namespace

void keys(const CondaEnvironment& conda, See& see) {
  see("channels", conda.channels, kChannels);
  see("channel_priority", priority_of(conda), kPriority, {.words = kPriorities});
  see("dependencies", conda.dependencies, "Match specs of conda packages.");
  see("locked", locked_counts(conda), kLocked);
  see("pip", conda.requirements, "Requirements that pip installs on top.");
  see("options", conda.options, "Options of pip, such as --index-url.");
  see("constraints", conda.constraints, "Constraints of pip.");
  see("variables", conda.variables, kVariables);
}

void keys(const ImageBuild& build, See& see) {
  see("context", build.context, "The tree that the image is built from.");
  see("dockerfile_path", build.dockerfile, "The Dockerfile, relative to that tree.");
}

namespace {

void image_keys(const DockerEnvironment* docker, See& see) {
  const auto& build = or_none(docker).build;
  see.only_if(docker != nullptr && !build, "image", or_none(docker).image,
              "The container image's name; provider docker.");
  see.only_if(docker != nullptr && build, "build", or_none(build),
              "What the image is built from; provider docker.");
}

void job_keys(const EnvironmentSpec& environment, See& see) {
  const auto* conda = std::get_if<CondaEnvironment>(&environment.definition);
  const auto* docker = std::get_if<DockerEnvironment>(&environment.definition);
  see("name", unless_empty(environment.name),
      "The name it is registered by, or that its file gives; null: none.");
  see("version", unless_empty(environment.version), "Its version; null: none.");
  see("provider", provider_of(environment.definition), kProvider, {.words = kProviders});
  see("definition", digest_of(environment.definition),
      "The digest of all that it consists of. Equal digests are equal environments.");
  see.only_if(conda != nullptr, [&](See& see) { keys(or_none(conda), see); });
  image_keys(docker, see);
  see.if_set("conda_file", or_none(docker).conda,
             "The conda packages that are installed on the image; provider docker.");
}

}  // namespace

void keys(const EnvironmentSpec& environment, See& see) {
  see.page("job-environment", "Environment of a job",
           "The environment that a job runs in. Of a virtual environment, the digest stands for "
           "its packages.");
  job_keys(environment, see);
}

// ---- of registered environments -----------------------------------------------------------------

// In an environment file.
struct PipSection {
  std::vector<std::string> pip;
};
struct CondaFile {
  const CondaEnvironment* conda = &none_of<CondaEnvironment>();
};

void keys(const PipSection& section, See& see) {
  see("pip", section.pip, "Options and requirements of pip.");
}

void keys(const CondaFile& file, See& see) {
  const CondaEnvironment& conda = *file.conda;
  std::vector<std::variant<std::string, PipSection>> dependencies(conda.dependencies.begin(),
                                                                  conda.dependencies.end());
  PipSection section{conda.options};
  section.pip.insert(section.pip.end(), conda.requirements.begin(), conda.requirements.end());
  if (!section.pip.empty()) dependencies.emplace_back(std::move(section));
  see("channels", conda.channels, kChannels);
  see("channel_priority", priority_of(conda), kPriority, {.words = kPriorities});
  see("dependencies", dependencies,
      "Match specs of conda packages; pip's options and requirements in an object.");
  // Of a lock file's packages only the numbers.
  see.only_if(!conda.locked.empty(), "locked", locked_counts(conda), kLocked);
  see("variables", conda.variables, kVariables);
}

void keys(const EnvironmentView::Lock& lock, See& see) {
  see("platform", lock.lock.platform, "The platform.");
  see("lock", lock.lock.tree, "The lock, a tree of the launcher's store.");
  see("solved_at", SetTime{lock.solved}, "When.");
  see("node_name", lock.node_name, "The node that solved it.");
  see("job", lock.job,
      "The job that it was solved for; empty: the caller may not see it, or it has been deleted.");
}

namespace {

void file_keys(const EnvironmentDefinition& definition, See& see) {
  const auto* host = std::get_if<HostEnvironment>(&definition);
  const auto* venv = std::get_if<VenvEnvironment>(&definition);
  const auto* conda = std::get_if<CondaEnvironment>(&definition);
  const auto* docker = std::get_if<DockerEnvironment>(&definition);
  if (docker != nullptr && docker->conda) conda = &*docker->conda;
  const auto& constraints = venv != nullptr ? venv->constraints : or_none(conda).constraints;
  see.only_if(host != nullptr, "interpreter", or_none(host).interpreter,
              "The node's interpreter; empty: the PATH as it is; provider host.");
  see.only_if(venv != nullptr, "python", or_none(venv).python,
              "The interpreter that the virtual environment is made with; provider venv.");
  see.only_if(venv != nullptr, "requirements", or_none(venv).requirements,
              "Requirements of pip; provider venv.");
  see.only_if(venv != nullptr, "options", or_none(venv).options, "Options of pip; provider venv.");
  image_keys(docker, see);
  see.only_if(conda != nullptr, "conda_file", CondaFile{&or_none(conda)},
              "The conda file; providers conda and docker.");
  see.only_if(venv != nullptr || !constraints.empty(), "constraints", constraints,
              "Constraints of pip.");
}

}  // namespace

void keys(const EnvironmentView& view, See& see) {
  const RegisteredEnvironment& environment = view.environment;
  see.page("environment", "Environment",
           "A registered environment, with the keys of an environment file: `lockstep environment "
           "create` takes it.");
  see("name", environment.spec.name, "Its name.");
  see("version", unless_empty(environment.spec.version),
      "Its version; null: it is from the operator's map and has none.");
  see("description", environment.description, "What its owner says about it.");
  see("tags", environment.tags, "Tags of its owner's.");
  see("os_type", kLinux[0], "Always linux.", {.words = kLinux});
  file_keys(environment.spec.definition, see);
  see.object("creation_context", [&](See& see) {
    see("created_at", view.created, "When it was registered; null: it is from the operator's map.");
    see("created_by", view.created_by, "Who registered it, or the map's file.");
  });
  see.object("lockstep", [&](See& see) {
    see("provider", provider_of(environment.spec.definition), kProvider, {.words = kProviders});
    see("definition", view.definition, "The digest of all that it consists of.");
    see("project", unless_empty(view.project),
        "The project that the name belongs to; null: the operator's map has it.");
    see("owner", unless_empty(view.owner),
        "The user whose name it is: who registered its first version; null: the operator's map has "
        "it.");
    see("shared_with", view.grants, "Who may add versions to the name beside its owner.");
    see("archived", view.archived, "Whether lists and @latest leave it out.");
    see("locks", view.locks,
        "What solving gave for the caller's account, for each platform; an admin sees those of all "
        "accounts.");
    see("last_job", unless_empty(view.last_job.value),
        "The newest job of the caller's account that has this definition, for an admin that of all "
        "accounts.");
  });
}

// ---- of nodes -----------------------------------------------------------------------------------

namespace {

using Step = EnvironmentReport::Step;

constexpr std::string_view kSteps[] = {"wants_lock", "not_solved", "solved", "ready"};

std::string_view step_word(Step step) {
  switch (step) {
    case Step::wants_lock: return kSteps[0];
    case Step::not_solved: return kSteps[1];
    case Step::solved: return kSteps[2];
    case Step::ready: return kSteps[3];
  }
  return kSteps[3];
}

void report_keys(const EnvironmentReport& report, See& see) {
  const bool is_ready = report.step == Step::ready;
  see("step", step_word(report.step),
      "How far the node is: it waits for a lock, could not solve, has solved, or can start ranks.",
      {.words = kSteps});
  see("platform", unless_empty(report.platform),
      "The platform that the lock is for, such as linux-x86_64-python3.11.");
  see("lock", report.lock,
      "The lock, a tree of the launcher's store; null: there is none yet, or none is needed.");
  see("key", is_ready ? std::optional(report.key) : std::nullopt,
      "The digest of what was built; null until the step is ready.");
  see("how", unless_empty(report.how), "In words: how long it took, or why it failed.");
  see("reason_data", report.why,
      "Why it could not be solved, for programs: `how` is the same in words.");
}

}  // namespace

void keys(const EnvironmentReport& report, See& see) {
  see.page("environment-report", "Environment on a node",
           "How far one node is with the environment of a job.");
  report_keys(report, see);
}

struct NodeReport {
  const EnvironmentReport* report = &none_of<EnvironmentReport>();
  std::string_view node_name;
};

void keys(const NodeReport& node, See& see) {
  report_keys(*node.report, see);
  see("node_name", node.node_name, "The node.");
}

void keys(const ExplainedEnvironment& explained, See& see) {
  std::vector<NodeReport> nodes;
  if (!explained.attempts->empty())
    for (const PartView& part : explained.attempts->back().parts)
      if (part.environment) nodes.push_back({&*part.environment, part.node_name});
  job_keys(*explained.environment, see);
  see("nodes", nodes, "The nodes of the newest attempt.");
}

}  // namespace lockstep::api
