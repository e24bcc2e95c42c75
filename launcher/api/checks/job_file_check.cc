#include "launcher/api/checks/job_file_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/domain/job/image_replacement.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/messages/client_limits.h"
#include "launcher/api/checks/datastore_access.h"
#include "launcher/api/checks/input_references.h"
#include "launcher/files/job/docker_args_reader.h"

namespace lockstep::launcher {
namespace {

// The files that came with the request. Each may be read as often as the bounds allow.
class SentFiles {
 public:
  explicit SentFiles(const std::map<std::string, std::string>& files) : files_(files) {}

  Result<std::string> read(const std::string& path) {
    const auto found = files_.find(path);
    if (found == files_.end())
      return make_error(ErrorCode::not_found,
                        fmt::format("file {} was not sent with this job file", path));
    bytes_ += found->second.size();
    if (++reads_ > kMaxJobFileReads || bytes_ > kMaxJobFileReadBytes)
      return make_error(
          ErrorCode::resource_exhausted,
          fmt::format("too many files are read: at most {} files and {} bytes are allowed, and a "
                      "file counts each time that another file names it; name each file once",
                      kMaxJobFileReads, kMaxJobFileReadBytes));
    return found->second;
  }

 private:
  const std::map<std::string, std::string>& files_;
  std::size_t reads_ = 0, bytes_ = 0;
};

// Puts the place before an error. In a job without a file, only values that a flag sets have a
// place.
Error at(const std::string& where, const Error& error) {
  return where.empty() ? error : error.within(where);
}

// Replaces the name of an environment by its definition.
Status resolve(const JobFileLookups& lookups, const spec::EnvironmentReference& reference,
               JobSpec& spec, spec::Notes& notes) {
  ClientReply reply = lookups.show_environment(reference.text);
  if (const auto* refused = std::get_if<Refused>(&reply))
    return at(reference.where, make_error(refused->code, refused->message));
  spec.environment = std::get<EnvironmentReply>(std::move(reply)).environment.environment.spec;
  for (const std::string_view key : spec::keys_without_container(spec))
    notes.push_back(spec::ignored(key));
  return {};
}

Status check_stored(const JobFileLookups& lookups, const JobSpec& spec, DataInput input,
                    const DatastoreReference& reference) {
  const auto store = lookups.find_datastore(spec.project, reference.datastore);
  const Status good = !store ? Status(store.error())
                      : store->view.kind == DatastoreKind::rclone
                          ? check_remote(*store, input)
                          : take_place(*store, reference, input);
  return good ? Status() : Status(about(input, good.error()));
}

using Places = std::map<std::string, std::string>;  // see spec::JobFile::where

// Checks the names in a job or a pipeline's step that only the launcher knows.
class NamesOfJobs {
 public:
  NamesOfJobs(const Core& core, const Caller& caller, const JobFileLookups& lookups,
              JobFileChecked& checked)
      : core_(core), caller_(caller), lookups_(lookups), checked_(checked) {}

  void check(const std::string& where, JobSpec& spec,
             const std::optional<spec::EnvironmentReference>& environment, const Places& places,
             const std::vector<StepBinding>& bindings = {}) {
    if (environment)
      if (const Status found = resolve(lookups_, *environment, spec, checked_.notes); !found)
        add(found.error());
    if (const Status fits = check_variables_size(spec.environment_variables); !fits)
      add(at(where, fits.error()));
    const auto place_of = [&](const char* section, const std::string& name) {
      const auto found = places.find(fmt::format("{}.{}", section, name));
      return found == places.end() ? where : found->second;
    };
    for (const auto& variable : spec.environment_variables) {
      const auto secrets = secrets_of({variable});
      const Status known = secrets.empty() ? Status() : lookups_.expect_secrets(secrets);
      if (!known) add(at(place_of("environment_variables", variable.first), known.error()));
    }
    for (const OutputSpec& output : spec.outputs) {
      JobSpec one;  // a copy: the submission resolves them again
      one.project = spec.project;
      one.outputs = {output};
      if (const Status found = lookups_.place_outputs(one); !found)
        add(at(place_of("outputs", output.name), found.error()));
    }
    for (const DataInput& input : spec.data) {
      const bool is_bound =
          std::any_of(bindings.begin(), bindings.end(),
                      [&](const StepBinding& binding) { return binding.input == input.name; });
      if (is_bound) continue;
      const auto stored = datastore_reference(input.source);
      Status found;
      if (stored)
        found = check_stored(lookups_, spec, input, *stored);
      else if (is_reference(input))
        found = check_reference(core_.state(), caller_, input);
      if (!found) add(at(place_of("inputs", input.name), found.error()));
    }
  }

  // Adds an error. One that all tasks of an array share, or several steps of one name, is listed
  // once.
  void add(const Error& error) {
    if (std::find(checked_.errors.begin(), checked_.errors.end(), error.message) ==
        checked_.errors.end())
      checked_.errors.push_back(error.message);
  }

 private:
  const Core& core_;
  const Caller& caller_;
  const JobFileLookups& lookups_;
  JobFileChecked& checked_;
};

// The place of a step in the file; for a task of an array, the key in the job that all tasks share.
std::string place_of_step(const spec::JobFile& file, std::size_t index, const std::string& name) {
  if (!file.spec.pipeline->array.empty()) return name;
  const Places& places = file.steps[index].where;
  const auto own = places.find("");
  const std::string place = own == places.end() ? name : own->second;
  const std::string step = "jobs." + file.spec.pipeline->steps[index].name;
  return place.empty() ? step : place + ": " + step;
}

// The place of the refused value. If it has none, the place of its step, or of the file.
std::string place_of(const Refusal& refusal, const spec::JobFile& file, const std::string& name) {
  const auto of_key = [&](const Places& places, const std::string& compute) {
    const auto found = places.find(refusal.key);
    if (refusal.key == "compute") return compute;
    return refusal.key.empty() || found == places.end() ? std::string() : found->second;
  };
  const std::string of_job = of_key(file.where, file.compute_where);
  if (refusal.step.empty()) return of_job.empty() ? name : of_job;
  const auto& steps = file.spec.pipeline->steps;
  for (std::size_t i = 0; i < steps.size() && i < file.steps.size(); ++i) {
    if (steps[i].name != refusal.step) continue;
    const std::string of_step = of_key(file.steps[i].where, file.steps[i].compute_where);
    return of_step.empty() ? place_of_step(file, i, name) : of_step;
  }
  return name;
}

// The refusals of a job. If the file has faults, a value that could not be read is not refused as
// well.
std::vector<Refusal> refusals_of(const Core& core, const Caller& caller, const JobFileToCheck& what,
                                 const spec::JobFileReading& parsed) {
  Judging how{Judging::What::all, what.wait_anyway};
  if (parsed.faults) return core.refusals(parsed.file->spec, caller, how);
  JobSpec spec = parsed.file->spec;
  if (!spec.is_pipeline()) spec.command = Argv{{"true"}};  // the command may be one of the faults
  if (!validate(spec) || parsed.unread.contains("compute")) how.what = Judging::What::names;
  std::vector<Refusal> found = core.refusals(spec, caller, how);
  std::erase_if(found, [&](const Refusal& one) { return parsed.unread.contains(one.key); });
  return found;
}

void check_steps(NamesOfJobs& names, const std::string& name, spec::JobFile& file) {
  PipelineSpec pipeline = *file.spec.pipeline;
  for (std::size_t i = 0; i < pipeline.steps.size() && i < file.steps.size(); ++i) {
    PipelineStep& step = pipeline.steps[i];
    step.spec.project = file.spec.project;  // the project that the step's job will have
    const std::string where = place_of_step(file, i, name);
    names.check(where, step.spec, file.steps[i].environment, file.steps[i].where, step.bindings);
    step.spec.project.clear();
  }
  file.spec.pipeline = std::move(pipeline);
}

// Reads a job that only a command line describes.
spec::JobFileReading without_file(const CheckJobFile& request) {
  const auto place_of = [&](const char* key) {
    const auto found = request.places.find(key);
    return found == request.places.end() ? std::string() : found->second;
  };
  spec::JobFile file;
  file.spec = *request.spec;
  file.compute_where = place_of("compute");
  file.where = request.places;
  if (!request.environment.empty())
    file.environment = spec::EnvironmentReference{request.environment, place_of("environment")};
  if (file.spec.pipeline) file.steps.resize(file.spec.pipeline->steps.size());
  if (file.spec.pipeline && !file.spec.pipeline->array.empty())
    for (spec::StepFiles& task : file.steps) {  // values of the command line apply to each task
      task.environment = file.environment;
      task.compute_where = file.compute_where;
      task.where = file.where;
    }
  if (!request.faults_are_said) return {std::move(file), Status()};
  return {std::move(file), make_error(ErrorCode::invalid_argument, "flags are wrong")};
}

}  // namespace

spec::JobFileReading parse(const CheckJobFile& request) {
  if (request.spec) return without_file(request);
  SentFiles files(request.files);
  const spec::FindComponent find =
      [&](const AssetReference& reference) -> Result<spec::FoundComponent> {
    const auto found = request.components.find(to_string(reference));
    if (found != request.components.end()) return spec::FoundComponent{"", found->second};
    return make_error(ErrorCode::not_found,
                      fmt::format("{} was not sent with this job file", to_string(reference)));
  };
  return spec::parse_job_in_part(
      request.name, request.text, request.overrides,
      [&files](const std::string& path) { return files.read(path); }, find);
}

JobFileChecked check_job_file(const Core& core, const Caller& caller, const JobFileLookups& lookups,
                              const JobFileToCheck& what, spec::JobFileReading parsed) {
  JobFileChecked checked;
  checked.knows_parts = true;
  const bool is_whole = static_cast<bool>(parsed.faults);
  if (!is_whole && !what.faults_are_said)
    for (Error& fault : spec::faults_of(parsed.faults.error()))
      checked.errors.push_back(std::move(fault.message));
  if (!checked.errors.empty() || !parsed.file) return checked;
  spec::JobFile& file = *parsed.file;
  checked.notes = std::move(file.notes);
  checked.code = file.code_dir.value_or("");
  NamesOfJobs names(core, caller, lookups, checked);
  if (file.spec.pipeline)
    check_steps(names, what.name, file);
  else
    names.check(what.name, file.spec, file.environment, file.where);
  if (const Status replaced = replace_images(file.spec, lookups.mapped_images); !replaced)
    names.add(at(what.name, replaced.error()));
  for (std::string& line : image_replacement_lines(file.spec))
    checked.notes.push_back(std::move(line));
  for (const Refusal& refusal : refusals_of(core, caller, what, parsed))
    names.add(at(place_of(refusal, file, what.name), refusal.error));
  if (checked.errors.empty() && is_whole) checked.spec = std::move(file.spec);
  return checked;
}

Status check_variables_size(const std::map<std::string, std::string>& variables) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : variables) bytes += name.size() + value.size();
  if (bytes <= kMaxVariablesBytes) return {};
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("environment_variables: names and values have {} bytes together, but at most {} "
                  "are possible; put large values into a file of the job's code folder",
                  bytes, kMaxVariablesBytes));
}

}  // namespace lockstep::launcher
