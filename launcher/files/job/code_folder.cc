#include "launcher/files/job/code_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "launcher/files/data/component_rules.h"

namespace lockstep::spec {
namespace {

bool is_remote(const std::string& code) {
  for (std::string_view prefix : {"azureml:", "http://", "https://", "git+", "git://"})
    if (code.rfind(prefix, 0) == 0) return true;
  return false;
}

}  // namespace

Status check_code_is_local(const Source& source, const ReadJob& job) {
  if (!job.code || !is_remote(*job.code)) return {};
  return source.error(
      job.code_place,
      fmt::format("code '{}' is not supported yet; name a local directory{}", *job.code,
                  job.code->starts_with("azureml:") ? "" : ", such as a clone of it"),
      ErrorCode::unsupported);
}

Status find_code(const Source& source, ReadJob& job) {
  namespace fs = std::filesystem;
  TRY(check_code_is_local(source, job));
  if (!job.code) return {};
  const fs::path directory = fs::path(source.of(job.code_place).name).parent_path() / *job.code;
  std::error_code failure;
  const fs::file_status status = fs::status(directory, failure);
  const std::string_view why =
      fs::exists(status) ? "is neither a directory nor a file" : "does not exist";
  const std::string shown = directory.lexically_normal().string();
  if (!fs::is_directory(status) && !fs::is_regular_file(status))
    return source.error(job.code_place, fmt::format("code '{}' {} ({})", *job.code, why, shown));
  TRY(check_is_own_file(source, job.code_place, shown));
  job.code = shown;
  return {};
}

Status find_includes(const Source& source, ReadJob& job) {
  namespace fs = std::filesystem;
  std::set<std::string> names;
  for (Include& include : job.includes) {
    const auto refuse = [&](std::string_view why) {
      return source.error(include.place,
                          fmt::format("'additional_includes': {} {}", include.path, why));
    };
    const fs::path folder = fs::path(source.of(include.place).name).parent_path();
    std::error_code failure;
    std::string path = fs::absolute(folder / include.path, failure).lexically_normal().string();
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::string name = fs::path(path).filename().string();
    if (name.empty() || name == "." || name == "..")
      return refuse("has no name of its own to come into the code by");
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) return refuse(fmt::format("does not exist ({})", path));
    if (!fs::is_directory(status) && !fs::is_regular_file(status))
      return refuse("is neither a file nor a folder");
    TRY(check_is_own_file(source, include.place, path));
    if (!names.insert(name).second)
      return refuse(fmt::format("comes into the code as '{}', and so does another one", name));
    include.path = path;
  }
  return {};
}

}  // namespace lockstep::spec
