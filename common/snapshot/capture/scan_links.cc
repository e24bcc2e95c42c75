#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/base/quoted_name.h"
#include "common/snapshot/capture/downloaded.h"
#include "common/snapshot/capture/file_stat.h"
#include "common/snapshot/capture/scanner.h"

namespace lockstep::snapshot {
namespace {

// Limits on what links add to a tree: with two links in each folder to the next one, each level
// would double it.
constexpr std::uint64_t kMostFollowed = 1'000'000;
constexpr int kMostFollowedFolders = 10'000;

}  // namespace

Status Scanner::take_link(std::size_t index, const std::string& name, std::string target,
                          int depth) {
  using What = LinkAction::What;
  const std::string& folder = out_.folders[index].path;
  LinkAction action;
  if (links_) action = links_->judge(folder, name, target);
  switch (action.what) {
    case What::file: return follow_to_file(index, name, action.to);
    case What::folder: return follow_to_folder(index, name, action.to, depth);
    case What::rewrite: target = std::move(action.to); break;
    case What::keep:
      if (!action.why.empty())
        out_.report.kept.push_back({folder + name, target, std::move(action.why)});
      break;
  }
  out_.folders[index].links.push_back({name, std::move(target)});
  return {};
}

Status Scanner::follow_to_file(std::size_t index, const std::string& name,
                               const std::string& real) {
  const ScannedFolder& folder = out_.folders[index];
  struct stat info {};
  if (::lstat(real.c_str(), &info) != 0) return unreadable("stat", folder.path + name);
  if (!S_ISREG(info.st_mode)) return {};  // the target changed since the link was judged
  const FileIdentity identity = identity_of(info);
  const bool is_outermost = folder.followed < 0;
  out_.report.followed.push_back(
      {folder.path + name, real, is_outermost, 1, {is_outermost ? identity.size : 0}});
  followed_files_.emplace_back(index, ScannedFile{name, info.st_mode & 07777, identity});
  return {};
}

// Follows a link to a folder. A pattern for folders ("data/") does not match the link itself, but
// matches the folder that replaces it.
Status Scanner::follow_to_folder(std::size_t index, const std::string& name,
                                 const std::string& real, int depth) {
  const std::string path = out_.folders[index].path + name;
  if (is_kept_out(path, {name, DT_DIR}, true)) return {};
  links_->enter({path + "/", real});
  const io::Fd folder(::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Status taken;
  if (folder) {
    const int outer = out_.folders[index].followed;
    out_.report.followed.push_back({path + "/", real, outer < 0, 0, {}});
    if (outer < 0) out_.folders[index].followed = static_cast<int>(out_.report.followed.size()) - 1;
    ++followed_folders_;
    const auto named = named_download_;
    if (const auto owner = downloaded_from(folder.get())) named_download_ = owner;
    taken = take_folder(index, folder, name, depth);
    named_download_ = named;
    out_.folders[index].followed = outer;
  } else {
    taken = unreadable("open", path + "/");
  }
  links_->leave();
  return taken;
}

Status Scanner::count_followed(std::size_t index) {
  if (++followed_ <= kMostFollowed && followed_folders_ <= kMostFollowedFolders) return {};
  const FollowedLink& link =
      out_.report.followed[static_cast<std::size_t>(out_.folders[index].followed)];
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("symlinks lead out of {} to more than {}, the last ones in {} ({}): name it in "
                  ".amlignore or .gitignore{}",
                  quoted_name(directory_),
                  followed_ > kMostFollowed ? "1,000,000 files and folders" : "10,000 folders",
                  quoted_name(link.path), quoted_name(link.target), kKeepLinks));
}

}  // namespace lockstep::snapshot
