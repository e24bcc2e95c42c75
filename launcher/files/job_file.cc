#include "launcher/files/job_file.h"

#include <fmt/format.h>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job/code_folder.h"
#include "launcher/files/job/kind.h"
#include "launcher/files/job/reader.h"
#include "launcher/files/pipeline/pipeline_reader.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/script.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

namespace {

// A job as it was read, with the places of errors in its files.
struct ReadFile {
  ReadJob job;
  std::optional<PipelineSpec> pipeline;
  std::vector<ReadJob> steps;
};

// Returns the job, or adds all errors to `faults`; an error is returned only for a text that cannot
// be read.
Result<ReadFile> read(const Source& source, const std::vector<std::string>& overrides,
                      ComponentReader& components, const ReadText& read_text, Faults& faults) {
  TRY(refuse_script(source));
  TRY_ASSIGN(YamlNode root, parse_yaml(source, faults));
  for (const auto& assignment : overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  const auto kind = read_kind(source, root, FileKind::job);
  ReadFile file;
  if (!kind) {
    faults.add(root.place, kind.error());
  } else if (*kind == JobKind::pipeline) {
    auto pipeline = read_pipeline(source, std::move(root), components, read_text, faults);
    file = {std::move(pipeline.job), std::move(pipeline.pipeline), std::move(pipeline.steps)};
  } else if (root.find("component") != nullptr) {
    file.job = read_component_job(source, std::move(root), components, read_text, faults);
  } else {
    file.job = read_job(source, std::move(root), read_text, faults);
  }
  return file;
}

Source job_source(const std::string& name, std::string_view text) {
  return {name, without_mark(text), "a job file", "a 'command'", kMaxFileBytes, kMaxJobNodes};
}

std::string where_of_compute(const Source& source, const ReadJob& job) {
  return job.compute_place ? source.where(*job.compute_place) : "";
}

// Removes places, which refer to the source's text.
std::vector<LocalData> without_sources(std::vector<LocalData> data) {
  for (LocalData& local : data) local.place.source = nullptr;
  return data;
}

std::vector<std::string> paths_of(const std::vector<Include>& includes) {
  std::vector<std::string> paths;
  for (const Include& include : includes) paths.push_back(include.path);
  return paths;
}

// Makes an array of the job. Each task needs the job's files of this machine.
void become_array(JobFile& file, const ArraySpec& array) {
  file.spec = as_array(file.spec, array);
  file.steps.assign(array.indices.size(),
                    {file.code_dir, file.environment, file.build, file.data, file.compute_where,
                     file.includes, file.where, file.keep_links});
  file.code_dir.reset();
  file.environment.reset();
  file.build.reset();
  file.data.clear();
  file.includes.clear();
}

JobFile job_file_of(const Source& source, ReadFile& read) {
  JobFile file;
  file.compute_where = where_of_compute(source, read.job);
  file.spec = std::move(read.job.spec);
  if (read.pipeline) file.spec.pipeline = *std::move(read.pipeline);
  file.code_dir = std::move(read.job.code);
  file.includes = paths_of(read.job.includes);
  file.keep_links = read.job.keep_links;
  file.environment = std::move(read.job.environment);
  file.build = std::move(read.job.build);
  file.notes = std::move(read.job.notes);
  file.data = without_sources(std::move(read.job.local_data));
  file.where = std::move(read.job.where);
  for (ReadJob& step : read.steps)
    file.steps.push_back({std::move(step.code), std::move(step.environment), std::move(step.build),
                          without_sources(std::move(step.local_data)),
                          where_of_compute(source, step), paths_of(step.includes),
                          std::move(step.where), step.keep_links});
  if (read.job.array) become_array(file, *read.job.array);
  return file;
}

void find_data_of(const Source& source, ReadJob& job, JobSpec& spec, Faults& faults) {
  for (LocalData& local : job.local_data)
    for (DataInput& input : spec.data)
      if (input.name == local.name) faults.add(local.place, find_data(source, local, input));
}

// Finds the files of this machine that the job or step needs, except for its image's build folder.
void find_files(const Source& source, ReadJob& job, JobSpec& spec, Faults& faults) {
  faults.add(job.code_place, find_code(source, job));
  faults.add(job.code_place, find_includes(source, job));
  find_data_of(source, job, spec, faults);
}

void find_all_files(const Source& source, ReadFile& file, Faults& faults) {
  find_files(source, file.job, file.job.spec, faults);
  if (!file.pipeline) return;
  for (std::size_t i = 0; i < file.steps.size(); ++i)
    find_files(source, file.steps[i], file.pipeline->steps[i].spec, faults);
}

void find_builds(const ReadFile& file, Faults& faults) {
  if (file.job.build) faults.add({}, find_build(*file.job.build));
  for (const ReadJob& step : file.steps)
    if (step.build) faults.add({}, find_build(*step.build));
}

}  // namespace

Result<JobFile> load_job(const std::string& path, const std::vector<std::string>& overrides,
                         const ReadText& read_text, const FindComponent& find) {
  TRY_ASSIGN(const NamedText file, read_named_text(path, Bytes{kMaxFileBytes + 1}));
  return load_job(file, overrides, read_text, find);
}

Result<JobFile> load_job(const NamedText& named, const std::vector<std::string>& overrides,
                         const ReadText& read_text, const FindComponent& find) {
  const Source source = job_source(named.name, named.text);
  Faults faults;
  ComponentReader components(source, read_text, find, faults);
  TRY_ASSIGN(ReadFile file, read(source, overrides, components, read_text, faults));
  find_all_files(source, file, faults);
  find_builds(file, faults);
  TRY(faults.status());
  return job_file_of(source, file);
}

Result<JobFile> parse_job(const std::string& name, std::string_view text,
                          const std::vector<std::string>& overrides, ReadText read_text,
                          const FindComponent& find) {
  JobFileReading reading = parse_job_in_part(name, text, overrides, std::move(read_text), find);
  TRY(reading.faults);
  return *std::move(reading.file);
}

JobFileReading parse_job_in_part(const std::string& name, std::string_view text,
                                 const std::vector<std::string>& overrides, ReadText read_text,
                                 const FindComponent& find) {
  const Source source = job_source(name, text);
  if (!read_text)
    read_text = [](const std::string& path) -> Result<std::string> {
      return make_error(ErrorCode::not_found, "file " + path + " was not sent with this job file");
    };
  Faults faults;
  ComponentReader components(source, read_text, find, faults);
  auto file = read(source, overrides, components, read_text, faults);
  if (!file) return {std::nullopt, file.error()};
  faults.add(file->job.code_place, check_code_is_local(source, file->job));
  for (const ReadJob& step : file->steps)
    faults.add(step.code_place, check_code_is_local(source, step));
  JobFileReading reading{std::nullopt, faults.status()};
  if (!reading.faults) {
    file->job.array.reset();  // the tasks have the job's values
    for (const std::string_view key : kKeysOfTheLauncher)
      if (faults.is_faulty(key)) reading.unread.emplace(key);
  }
  reading.file = job_file_of(source, *file);
  return reading;
}

}  // namespace lockstep::spec
