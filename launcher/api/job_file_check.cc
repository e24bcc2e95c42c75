#include "launcher/api/job_file_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/client_limits.h"
#include "common/domain/image_replacement.h"
#include "common/domain/pipeline.h"
#include "launcher/api/datastore_access.h"
#include "launcher/api/input_references.h"
#include "launcher/core/compute_requests.h"
#include "launcher/spec/docker_args_reader.h"

namespace lockstep::launcher {
namespace {

// The files that came with the request, each read as often as the bounds allow.
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

// The name becomes what it stands for.
Status resolve(const JobFileLookups& lookups, const spec::EnvironmentReference& reference,
               JobSpec& spec, spec::Notes& notes) {
  ClientReply reply = lookups.show_environment(reference.text);
  if (const auto* refused = std::get_if<Refused>(&reply))
    return make_error(refused->code, refused->message).within(reference.where);
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

using Places = std::map<std::string, std::string>;  // spec::JobFile::where

// What a job, or a pipeline's step, names that only the launcher knows.
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
      add(fits.error().within(where));
    const auto secrets = secrets_of(spec.environment_variables);
    if (const Status known = lookups_.expect_secrets(secrets); !known)
      add(known.error().within(where));
    const auto place_of = [&](const char* section, const std::string& name) {
      const auto found = places.find(fmt::format("{}.{}", section, name));
      return found == places.end() ? where : found->second;
    };
    for (const OutputSpec& output : spec.outputs) {
      JobSpec one;  // the submission looks again
      one.project = spec.project;
      one.outputs = {output};
      if (const Status found = lookups_.place_outputs(one); !found)
        add(found.error().within(place_of("outputs", output.name)));
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
      if (!found) add(found.error().within(place_of("inputs", input.name)));
    }
  }

  // What an array's tasks, or steps with the same names, have in common is said once.
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

void check_steps(NamesOfJobs& names, const std::string& name, spec::JobFile& file) {
  PipelineSpec pipeline = *file.spec.pipeline;
  for (std::size_t i = 0; i < pipeline.steps.size() && i < file.steps.size(); ++i) {
    PipelineStep& step = pipeline.steps[i];
    step.spec.project = file.spec.project;  // as its job will have it
    const std::string where = pipeline.array.empty() ? name + ": jobs." + step.name : name;
    names.check(where, step.spec, file.steps[i].environment, file.steps[i].where, step.bindings);
    step.spec.project.clear();
  }
  file.spec.pipeline = std::move(pipeline);
}

}  // namespace

Result<spec::JobFile> parse(const CheckJobFile& request) {
  SentFiles files(request.files);
  const spec::FindComponent find =
      [&](const AssetReference& reference) -> Result<spec::FoundComponent> {
    const auto found = request.components.find(to_string(reference));
    if (found != request.components.end()) return spec::FoundComponent{"", found->second};
    return make_error(ErrorCode::not_found,
                      fmt::format("{} was not sent with this job file", to_string(reference)));
  };
  return spec::parse_job(
      request.name, request.text, request.overrides,
      [&files](const std::string& path) { return files.read(path); }, find);
}

JobFileChecked check_job_file(const Core& core, const Caller& caller, const JobFileLookups& lookups,
                              const JobFileToCheck& what, Result<spec::JobFile> parsed) {
  const std::string& name = what.name;
  JobFileChecked checked;
  if (!parsed) {
    for (Error& fault : spec::faults_of(parsed.error()))
      checked.errors.push_back(std::move(fault.message));
    return checked;
  }
  checked.notes = std::move(parsed->notes);
  checked.code = parsed->code_dir.value_or("");
  JobSpec& spec = parsed->spec;
  NamesOfJobs names(core, caller, lookups, checked);
  if (spec.pipeline)
    check_steps(names, name, *parsed);
  else
    names.check(name, spec, parsed->environment, parsed->where);
  if (const Status replaced = replace_images(spec, lookups.mapped_images); !replaced)
    names.add(replaced.error().within(name));
  for (std::string& line : image_replacement_lines(spec)) checked.notes.push_back(std::move(line));
  const std::string target = target_of(spec);
  if (!core.state().computes().has(target))
    names.add(core.why_refused(spec, caller, what.wait_anyway)
                  .value_or(no_such_compute(core.state(), target))
                  .within(parsed->compute_where.empty() ? name : parsed->compute_where));
  else if (const auto refused = core.why_refused(spec, caller, what.wait_anyway))
    names.add(Error(*refused).within(name));
  if (checked.errors.empty()) checked.spec = std::move(spec);
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
