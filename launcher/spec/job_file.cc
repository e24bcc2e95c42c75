#include "launcher/spec/job_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/io/file_system.h"
#include "launcher/spec/job_reader.h"
#include "launcher/spec/script.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

namespace {

// Good, or with everything in `faults` that is wrong; an error is of a text that cannot be read.
Result<ReadJob> read(const Source& source, const std::vector<std::string>& overrides,
                     const ReadText& read_text, Faults& faults) {
  TRY(refuse_script(source));
  TRY_ASSIGN(YamlNode root, parse_yaml(source));
  for (const auto& assignment : overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  return read_job(source, std::move(root), read_text, faults);
}

std::string where_of_compute(const Source& source, const ReadJob& job) {
  return job.compute_place ? source.where(*job.compute_place) : "";
}

bool is_remote(const std::string& code) {
  for (std::string_view prefix : {"azureml:", "http://", "https://", "git+", "git://"})
    if (code.rfind(prefix, 0) == 0) return true;
  return false;
}

Status check_is_local(const Source& source, const ReadJob& job) {
  if (!job.code || !is_remote(*job.code)) return {};
  return source.error(
      job.code_place,
      fmt::format("code '{}' is not supported yet; name a local directory", *job.code),
      ErrorCode::unsupported);
}

JobFile job_file_of(const Source& source, ReadJob& job) {
  JobFile file;
  file.compute_where = where_of_compute(source, job);
  file.spec = std::move(job.spec);
  file.code_dir = std::move(job.code);
  file.environment = std::move(job.environment);
  file.build = std::move(job.build);
  file.notes = std::move(job.notes);
  file.data = std::move(job.local_data);
  return file;
}

void find_all_data(const Source& source, JobFile& file, Faults& faults) {
  for (LocalData& local : file.data)
    for (DataInput& input : file.spec.data)
      if (input.name == local.name) faults.add(local.place, find_data(source, local, input));
}

// `code` is relative to the job file, as on Azure.
Result<std::optional<std::string>> find_code(const Source& source, const ReadJob& job) {
  namespace fs = std::filesystem;
  TRY(check_is_local(source, job));
  if (!job.code) return std::optional<std::string>();
  const fs::path directory = fs::path(source.name).parent_path() / *job.code;
  std::error_code failure;
  const fs::file_status status = fs::status(directory, failure);
  if (fs::is_directory(status)) return std::optional(directory.lexically_normal().string());
  const std::string_view why = fs::exists(status) ? "is not a directory" : "does not exist";
  return source.error(job.code_place, fmt::format("code '{}' {} ({})", *job.code, why,
                                                  directory.lexically_normal().string()));
}

}  // namespace

Result<JobFile> load_job(const std::string& path, const std::vector<std::string>& overrides,
                         const ReadText& read_text) {
  if (path == "-")
    return make_error(
        ErrorCode::invalid_argument,
        "-f -: standard input is not supported; write the job into a file and name the file");
  auto text = io::read_file(path, Bytes{kMaxFileBytes + 1});
  if (!text) return std::move(text).error();
  const Source source{path, without_mark(*text)};
  Faults faults;
  TRY_ASSIGN(ReadJob job, read(source, overrides, read_text, faults));
  auto code = find_code(source, job);
  if (!code) faults.add(job.code_place, code.error());
  JobFile file = job_file_of(source, job);
  if (code) file.code_dir = *std::move(code);
  find_all_data(source, file, faults);
  TRY(faults.status());
  if (file.build) TRY(find_build(*file.build));
  return file;
}

Result<JobFile> parse_job(const std::string& name, std::string_view text,
                          const std::vector<std::string>& overrides, ReadText read_text) {
  const Source source{name, without_mark(text)};
  if (!read_text)
    read_text = [](const std::string& path) -> Result<std::string> {
      return make_error(ErrorCode::not_found, "file " + path + " was not sent with this job file");
    };
  Faults faults;
  TRY_ASSIGN(ReadJob job, read(source, overrides, read_text, faults));
  faults.add(job.code_place, check_is_local(source, job));
  TRY(faults.status());
  return job_file_of(source, job);
}

}  // namespace lockstep::spec
