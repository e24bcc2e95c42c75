#include "launcher/files/job/kind.h"

#include <fmt/format.h>

#include <array>

#include "common/base/nearest.h"
#include "launcher/files/yaml/known_word.h"

namespace lockstep::spec {

namespace {

struct Refused {
  std::string_view word;
  std::string_view instead;
};

constexpr std::array kRefused = {
    Refused{"sweep",
            "write a command with lockstep.array, which reads its set of values by "
            "$LOCKSTEP_ARRAY_INDEX; or one step for each set"},
    Refused{"parallel",
            "write a command with resources.instance_count, whose ranks share the files"},
    Refused{"spark", "write a command that runs spark-submit"},
    Refused{"automl", "write a command that runs your own search"},
    Refused{"import", "name the data as an input with a path"},
    Refused{"data_transfer", "write a command that copies the data"},
    Refused{"do_while", "write one step for each round, or the loop in a command"},
    Refused{"parallel_for", "write one step for each item"},
    Refused{"if_else", "decide in the step's command"},
};

// Files of az that are not jobs, by the beginning of their schema's name.
constexpr std::array kOtherFiles = {
    Refused{"schedule",
            "a schedule; submit the job's own file from cron: lockstep job create -f JOB"},
    Refused{"data", "data; to register it: lockstep data create -f FILE"},
    Refused{"model", "a model; to register it: lockstep model create -f FILE"},
    Refused{"environment", "an environment; to register it: lockstep environment create -f FILE"},
};

constexpr std::array<std::string_view, 11> kTypes = {
    "command", "pipeline", "sweep",        "parallel", "spark",        "automl",
    "import",  "do_while", "parallel_for", "if_else",  "data_transfer"};

bool is_type_of_compute(std::string_view type) {
  return type == "amlcompute" || type == "virtualmachine" || type == "kubernetes" ||
         type == "computeinstance" || type == "local";
}

const YamlNode* scalar_at(const YamlNode& root, std::string_view key) {
  const YamlEntry* entry = root.find(key);
  const bool is_there = entry != nullptr && entry->value.kind == YamlNode::Kind::scalar;
  return is_there ? &entry->value : nullptr;
}

class KindReader {
 public:
  KindReader(const Source& source, const YamlNode& root, FileKind file)
      : source_(source), root_(root), file_(file) {}

  Result<std::optional<JobKind>> read() const {
    std::optional<JobKind> kind;
    if (const YamlNode* schema = scalar_at(root_, "$schema")) {
      TRY_ASSIGN(kind, of_schema(*schema));
    }
    if (const YamlEntry* type = root_.find("type");
        type != nullptr && type->value.kind != YamlNode::Kind::null) {
      TRY_ASSIGN(kind, of_type(type->value));
    }
    const YamlEntry* jobs = root_.find("jobs");
    if (!kind && jobs != nullptr && root_.find("command") == nullptr) kind = JobKind::pipeline;
    return kind;
  }

 private:
  // Reads the kind from a schema. Schemas of targets are "amlCompute", "computeInstance",
  // "kubernetesCompute" and "vmCompute".
  Result<std::optional<JobKind>> of_schema(const YamlNode& schema) const {
    constexpr std::string_view kSuffix = ".schema.json";
    std::string base = schema.text.substr(schema.text.rfind('/') + 1);
    if (base.size() <= kSuffix.size() || !base.ends_with(kSuffix)) return std::optional<JobKind>();
    base.resize(base.size() - kSuffix.size());
    const std::string word = lower_case(base);
    const bool is_job = file_ == FileKind::job;
    if (word.find("compute") != std::string::npos) return compute_file(schema.place);
    if (word == (is_job ? "commandjob" : "commandcomponent"))
      return std::optional(JobKind::command);
    if (word == (is_job ? "pipelinejob" : "pipelinecomponent"))
      return std::optional(JobKind::pipeline);
    if (is_job && word.ends_with("component"))
      return source_.error(schema.place,
                           "this is a component, not a job; name it as the 'component' of a "
                           "pipeline's step");
    if (!is_job && (word == "commandjob" || word == "pipelinejob"))
      return source_.error(schema.place,
                           "this is a job, not a component, which declares the types of its "
                           "inputs: write inputs: {lr: {type: number}}");
    for (const Refused& refused : kRefused)
      if (word == std::string(refused.word) + (is_job ? "job" : "component"))
        return not_supported(schema.place, fmt::format("$schema '{}'", base), refused);
    for (const Refused& other : kOtherFiles)
      if (word == other.word || word == std::string(other.word) + "asset")
        return source_.error(schema.place, fmt::format("this is not a job but {}", other.instead),
                             ErrorCode::unsupported);
    return source_.error(schema.place, fmt::format("$schema '{}' is not supported yet", base),
                         ErrorCode::unsupported);
  }

  Result<std::optional<JobKind>> of_type(const YamlNode& type) const {
    if (type.kind != YamlNode::Kind::scalar)
      return source_.error(type.place,
                           fmt::format("'type' must be a string, not {}", describe(type.kind)));
    const std::string word = lower_case(type.text);
    if (word == "command") return std::optional(JobKind::command);
    if (word == "pipeline") return std::optional(JobKind::pipeline);
    if (is_type_of_compute(word)) return compute_file(type.place);
    for (const Refused& refused : kRefused)
      if (word == refused.word)
        return not_supported(type.place, fmt::format("type '{}'", word), refused);
    return source_.error(type.place,
                         fmt::format("'type': unknown word '{}'; {}", type.text,
                                     expected("command or pipeline", nearest(word, kTypes))));
  }

  Error not_supported(const Place& place, std::string_view what, const Refused& refused) const {
    return source_.error(place, fmt::format("{} is not supported yet; {}", what, refused.instead),
                         ErrorCode::unsupported);
  }

  Error compute_file(const Place& place) const {
    return source_.error(place,
                         fmt::format("this is a compute target, not a job; `lockstep compute "
                                     "create -f {}` creates it",
                                     source_.of(place).name));
  }

  const Source& source_;
  const YamlNode& root_;
  const FileKind file_;
};

}  // namespace

Result<std::optional<JobKind>> read_kind(const Source& source, const YamlNode& root,
                                         FileKind file) {
  return KindReader(source, root, file).read();
}

}  // namespace lockstep::spec
