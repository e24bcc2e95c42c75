#include "launcher/cli/transfer/download_marks.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/downloaded.h"

namespace lockstep::cli {

DownloadMarks marks_of_job(const std::string& owner) {
  return {owner, {"", "artifacts", "named-outputs", "checkpoint"}};
}

DownloadMarks marks_of_asset(const RegisteredAsset& asset) {
  return {asset.name + ":" + asset.version, {asset.name}};
}

Status check_target(const std::string& target, const DownloadMarks& marks) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
    return make_error(ErrorCode::conflict,
                      fmt::format("{} is a file; name a folder with -p", quoted_name(target)));
  if (marks.owner.empty()) return {};
  for (const std::string& folder : marks.folders) {
    const std::string place = folder.empty() ? target : target + "/" + folder;
    const auto other = snapshot::downloaded_from(place);
    if (!other || *other == marks.owner) continue;
    return make_error(ErrorCode::conflict,
                      fmt::format("{} holds what was downloaded of {}; name another folder with -p",
                                  quoted_name(place), quoted_name(*other)));
  }
  return {};
}

std::optional<std::string> mark_folders(const std::string& ready, const DownloadMarks& marks) {
  std::optional<std::string> unmarked;
  if (marks.owner.empty()) return unmarked;
  for (const std::string& folder : marks.folders) {
    const std::string path = ready + "/" + folder;
    if (folder.empty() || !io::exists(path)) continue;
    if (!snapshot::mark_downloaded(path, marks.owner) && !unmarked) unmarked = folder;
  }
  return unmarked;
}

std::string unmarked_text(const std::string& folder) {
  return fmt::format(
      "{} cannot be marked as a download: its file system has no extended attributes. Later jobs "
      "whose source has it take it along, and another download may mix with it: name it in the "
      "source's .amlignore or .gitignore, or download outside the source with -p",
      quoted_name(folder));
}

}  // namespace lockstep::cli
