#include "launcher/api/checks/input_references.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/no_such_job.h"
#include "launcher/core/access/users.h"
#include "launcher/core/names/objects.h"

namespace lockstep::launcher {
namespace {

struct Wanted {
  OutputKind kind = OutputKind::named;
  std::string name;
  std::string path;
};

// Splits "outputs/a/b" into (./outputs, "a/b").
Result<Wanted> artifact_of(const std::string& path) {
  const auto slash = std::min(path.find('/'), path.size());
  const std::string folder = path.substr(0, slash);
  Wanted wanted;
  wanted.path = path.substr(std::min(slash + 1, path.size()));
  if (folder == kOutputsFolder)
    wanted.kind = OutputKind::outputs;
  else if (folder == kLogsFolder)
    wanted.kind = OutputKind::logs;
  else
    return make_error(ErrorCode::not_found,
                      "a job's artifacts are artifacts/paths/outputs and artifacts/paths/logs");
  return wanted;
}

// The wanted output of a pipeline, whose outputs are merged when it ends.
Result<Wanted> wanted_of_pipeline(const Job& job, const JobOutputReference& reference) {
  std::string known;
  for (const PipelineOutput& output : job.spec.pipeline->outputs) {
    if (output.name == reference.output)
      return Wanted{OutputKind::named, output.name, reference.path};
    known += (known.empty() ? "" : ", ") + output.name;
  }
  return make_error(
      ErrorCode::not_found,
      fmt::format("pipeline {} has no output '{}'; it has {}", job.spec.name, reference.output,
                  known.empty() ? "none; those of its steps are its steps' jobs'" : known));
}

// The wanted part of an output. A file output means the file with the output's name, unless a
// folder is requested.
Result<Wanted> wanted_of(const Job& job, const JobOutputReference& reference, InputType type) {
  if (job.spec.pipeline) return wanted_of_pipeline(job, reference);
  if (reference.output == kArtifacts) return artifact_of(reference.path);
  std::string known;
  for (const OutputSpec& output : job.spec.outputs) {
    known += (known.empty() ? "" : ", ") + output.name;
    if (output.name != reference.output) continue;
    Wanted wanted{OutputKind::named, output.name, reference.path};
    if (output.type == OutputType::uri_file && type == InputType::uri_file && wanted.path.empty())
      wanted.path = output.name;
    return wanted;
  }
  return make_error(
      ErrorCode::not_found,
      fmt::format(
          "job {} has no output '{}'; it has {}", job.spec.name, reference.output,
          known.empty() ? "artifacts/paths/outputs" : known + " and artifacts/paths/outputs"));
}

std::vector<NodeTree> trees_of(const Attempt& attempt, const Wanted& wanted) {
  std::vector<NodeTree> trees;
  for (std::size_t rank = 0; rank < attempt.parts.size(); ++rank) {
    const Part& part = attempt.parts[rank];
    if (!part.report) continue;
    for (const CollectedOutput& output : part.report->outputs)
      if (output.kind == wanted.kind && output.name == wanted.name && output.tree)
        trees.push_back({static_cast<int>(rank), *output.tree});
  }
  return trees;
}

std::vector<NodeTree> trees_of(const std::vector<MergedOutput>& merged, Wanted* wanted) {
  for (const MergedOutput& output : merged) {
    if (output.name != wanted->name || !output.tree) continue;
    if (wanted->path.empty()) wanted->path = output.file;
    return {{0, *output.tree}};
  }
  return {};
}

struct FoundAsset {
  AssetKind kind = AssetKind::data;
  const AssetName* name = nullptr;
};

Error not_the_type(const RegisteredAsset& asset, InputType wanted) {
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format(
          "{} {} is a {}, and the input's type is {}; write type: {}, or leave the type out",
          noun_of(kind_of(asset)), reference_of(asset), to_string(asset.type), to_string(wanted),
          to_string(asset.type)));
}

// Searches data and models. If both have the name, the one of the wanted kind.
Result<FoundAsset> find_asset(const State& state, const Caller& caller, const std::string& name,
                              const DataInput& input) {
  std::vector<FoundAsset> found;
  for (const AssetKind kind : kInputKinds)
    if (const AssetName* known = state.assets().find(kind, name)) found.push_back({kind, known});
  const AssetKind wanted = kind_of(input.type);
  if (found.empty()) return no_such_asset(state, caller, wanted, name);
  if (found.size() == 2 && input.is_type_open)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("there is a data asset and a model '{}'; write the type of the one meant",
                    name));
  FoundAsset one = found.front();
  if (found.size() == 2 && wanted == AssetKind::model) one = found.back();
  Decision decision = may(state.principals(), caller, Permission::see_names, object_of(*one.name));
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  return one;
}

}  // namespace

bool is_reference(const DataInput& input) {
  return input.mode != InputMode::direct && !input.tree && input.source.starts_with("azureml:");
}

Result<TreeQuestion> question_of(const State& state, const Caller& caller, InputType type,
                                 const JobOutputReference& reference) {
  const Job* job = state.job(reference.job);
  if (job == nullptr) return no_such_job(reference.job);
  Decision decision = may(state.principals(), caller, Permission::read_job, object_of(*job));
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  if (!is_final(job->status()))
    return make_error(ErrorCode::conflict, fmt::format("job {} has not ended: it is {}",
                                                       job->spec.name, to_string(job->status())));
  TRY_ASSIGN(Wanted wanted, wanted_of(*job, reference, type));
  TreeQuestion question;
  if (job->spec.pipeline)
    question.trees = trees_of(job->merged.value_or(std::vector<MergedOutput>()), &wanted);
  else if (!job->attempts.empty())
    question.trees = trees_of(job->attempts.back(), wanted);
  if (question.trees.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("job {} wrote nothing to {}", job->spec.name,
                                  describe(wanted.kind, wanted.name)));
  question.path = std::move(wanted.path);
  return question;
}

Status take_asset(const State& state, const Caller& caller, const AssetReference& reference,
                  DataInput& input) {
  TRY_ASSIGN(const FoundAsset found, find_asset(state, caller, reference.name, input));
  const AssetVersion* version =
      reference.version.empty()
          ? found.name->newest(*state.names().find(name_kind_of(found.kind), reference.name))
          : found.name->find(reference.version);
  if (version == nullptr) return no_such_version(*found.name, reference.version);
  const RegisteredAsset& asset = version->asset;
  if (!input.is_type_open && !takes(input.type, asset.type)) return not_the_type(asset, input.type);
  input.type = asset.type;
  input.is_type_open = false;
  input.tree = asset.tree;
  input.file = asset.file;
  input.source = "azureml:" + reference_of(asset);
  return {};
}

Status check_reference(const State& state, const Caller& caller, const DataInput& input) {
  const auto check = [&]() -> Status {
    TRY_ASSIGN(const auto reference, parse_data_reference(input.source));
    if (!reference) return make_error(ErrorCode::invalid_argument, "its files were not sent");
    if (const auto* output = std::get_if<JobOutputReference>(&*reference)) {
      const auto question = question_of(state, caller, input.type, *output);
      return question ? Status() : Status(question.error());
    }
    DataInput taken = input;
    return take_asset(state, caller, std::get<AssetReference>(*reference), taken);
  };
  const Status checked = check();
  if (checked) return {};
  return about(input, checked.error());
}

Error about(const DataInput& input, const Error& error) {
  return make_error(error.code,
                    fmt::format("inputs.{}: {}: {}", input.name, input.source, error.message));
}

Status take_found(const snapshot::Subtree& found, InputType type, std::optional<Digest>& tree,
                  std::string& file) {
  const bool wants_file = type == InputType::uri_file;
  if (wants_file && found.file.empty())
    return make_error(ErrorCode::invalid_argument,
                      "it is a folder; write type: uri_folder, or name a file in it: …/paths/FILE");
  if (!wants_file && type != InputType::custom_model && !found.file.empty())
    return make_error(ErrorCode::invalid_argument, "it is a file; write type: uri_file");
  tree = found.root;
  file = found.file;
  return {};
}

}  // namespace lockstep::launcher
