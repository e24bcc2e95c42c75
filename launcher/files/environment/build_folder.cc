#include "launcher/files/environment/build_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/base/quoted_name.h"

namespace lockstep::spec {

namespace {

namespace fs = std::filesystem;

Error wrong(const std::string& where, std::string_view why, ErrorCode code) {
  return make_error(code, fmt::format("{}: {}", where, why));
}

bool is_within(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

// Checks the kinds of files. A folder that cannot be read is refused later, by the capture.
Status check_kinds(const BuildFolder& build) {
  std::error_code failure;
  fs::recursive_directory_iterator entry(build.path, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    const fs::file_status status = entry->symlink_status(failure);
    const bool is_device = fs::is_character_file(status) || fs::is_block_file(status);
    if (is_device || fs::is_fifo(status))
      return wrong(
          build.where,
          fmt::format("{} cannot be uploaded, because it is {}; move it out of the folder",
                      quoted_name(entry->path().string()), is_device ? "a device" : "a fifo"),
          ErrorCode::unsupported);
  }
  return {};
}

}  // namespace

Status find_build(const BuildFolder& build) {
  std::error_code failure;
  const fs::file_status folder = fs::status(build.path, failure);
  if (!fs::exists(folder))
    return wrong(build.where, fmt::format("{} does not exist", build.path), ErrorCode::not_found);
  if (!fs::is_directory(folder))
    return wrong(
        build.where,
        fmt::format("{} is not a directory; name the directory that the image is built from",
                    build.path),
        ErrorCode::invalid_argument);
  if (fs::is_empty(build.path, failure))
    return wrong(build.where,
                 fmt::format("{} is empty; put {} into it", build.path, build.dockerfile),
                 ErrorCode::not_found);
  const fs::path file = fs::path(build.path) / build.dockerfile;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status))
    return wrong(build.dockerfile_where, fmt::format("{} does not exist", file.string()),
                 ErrorCode::not_found);
  if (!fs::is_regular_file(status))
    return wrong(build.dockerfile_where, fmt::format("{} is not a file", file.string()),
                 ErrorCode::invalid_argument);
  if (!is_within(fs::canonical(file, failure), fs::canonical(build.path, failure)))
    return wrong(
        build.dockerfile_where,
        fmt::format(
            "{} is a symlink that points outside the folder; container engines do not follow it",
            file.string()),
        ErrorCode::invalid_argument);
  return check_kinds(build);
}

}  // namespace lockstep::spec
