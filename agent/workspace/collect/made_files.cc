#include "agent/workspace/collect/made_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "agent/workspace/collect/open_below.h"
#include "common/base/cut.h"
#include "common/base/quoted_name.h"
#include "common/io/clock.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/manifest.h"

namespace lockstep::agent {
namespace {

using Matches = snapshot::KeepPatterns::Matches;
using Stream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Folders of the working directory that are collected as outputs, logs or checkpoint.
constexpr std::array<std::string_view, 3> kCollected = {kOutputsFolder, kLogsFolder,
                                                        kReservedFolder};
// Caches that Python's tools write wherever they run.
constexpr std::array<std::string_view, 3> kNoise = {"__pycache__", ".ipynb_checkpoints",
                                                    ".pytest_cache"};

template <typename Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

// Cuts the name to kMaxNotKeptNameBytes.
std::string shown(const std::string& name, bool is_folder) {
  const std::string end = is_folder ? "/" : "";
  std::string text = quoted_name(name) + end;
  for (std::size_t limit = kMaxNotKeptNameBytes; text.size() > kMaxNotKeptNameBytes; limit -= 4)
    text = quoted_name(cut(name, limit)) + end;
  return text;
}

}  // namespace

MadeFiles::MadeFiles(io::Fd staged, const std::vector<std::string>& keep)
    : staged_(std::move(staged)), patterns_(keep), ends_(io::since_boot() + kLongestMatching) {}

bool MadeFiles::is_time_over() {
  gave_up_ = gave_up_ || io::since_boot() >= ends_;
  return gave_up_;
}

bool MadeFiles::is_staged(const std::string& path, const struct stat& info) {
  if (!staged_) return false;
  const auto [folder, name] = split(path);
  if (staged_folder_ != folder) {
    staged_folder_ = folder;
    staged_fd_ = snapshot::open_entry(staged_.get(), folder.empty() ? "." : *staged_folder_,
                                      O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }
  struct stat was {};
  if (!staged_fd_ ||
      ::fstatat(staged_fd_.get(), std::string(name).c_str(), &was, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if ((was.st_mode & S_IFMT) != (info.st_mode & S_IFMT)) return false;
  return !S_ISREG(info.st_mode) ||
         (was.st_size == info.st_size && was.st_mtim.tv_sec == info.st_mtim.tv_sec &&
          was.st_mtim.tv_nsec == info.st_mtim.tv_nsec);
}

const Matches& MadeFiles::matches_of_folder(std::string_view folder) {
  if (matched_folder_ == folder) return folder_matches_;
  folder_matches_.reset();
  for (std::size_t from = 0; from < folder.size();) {
    const auto slash = std::min(folder.find('/', from), folder.size());
    folder_matches_ = patterns_.match(folder.substr(0, slash), true, folder_matches_);
    from = slash + 1;
  }
  matched_folder_ = folder;
  return folder_matches_;
}

const Matches& MadeFiles::matches(const std::string& path, bool is_directory) {
  if (patterns_.empty()) return matches_;
  if (path.size() > kLongestMatchedPath || is_time_over()) {
    matches_.reset();
    return matches_;
  }
  matches_ = patterns_.match(path, is_directory, matches_of_folder(split(path).first));
  return matches_;
}

bool MadeFiles::enters(const std::string& folder) {
  const auto [above, name] = split(folder);
  if (above.empty() && is_one_of(kCollected, name)) return false;
  if (is_one_of(left_out_, folder)) return false;
  if (gave_up_) return false;
  return !is_one_of(kNoise, name) || patterns_.keeps(matches(folder, true));
}

bool MadeFiles::takes(const std::string& path, const struct stat& info) {
  if (is_one_of(kCollected, path)) return false;
  return patterns_.keeps(matches(path, S_ISDIR(info.st_mode))) && !is_staged(path, info);
}

namespace {

// A walk, depth first, that holds a descriptor for each folder on the way down.
class Walk {
 public:
  explicit Walk(MadeFiles& made) : made_(made) {}

  MadeLook run(const io::Fd& base);

 private:
  struct Folder {
    Stream stream;
    std::size_t path_bytes = 0;  // length of the folder's part of path_, with the '/'
  };
  struct Top {
    std::uint64_t size = 0;
    bool is_folder = false;
  };

  void enter(int parent, const char* name);
  void see(int folder, const dirent& entry);
  void see_folder(int folder, const char* name, const struct stat& info);
  void add(const struct stat& info);
  Top& top();
  void cannot_look();
  bool is_over();
  void list_names();

  MadeFiles& made_;
  MadeLook look_;
  std::vector<Folder> open_;  // folders from the working directory down
  std::string path_;          // path of the current entry
  std::map<std::string, Top> tops_;
  Matches seen_;
  std::size_t looked_at_ = 0;
  const Duration ends_ = io::since_boot() + kLongestLook;
};

bool Walk::is_over() {
  const bool over = looked_at_ >= kMostLookedAt || io::since_boot() >= ends_;
  look_.not_kept.at_least = look_.not_kept.at_least || over;
  return over;
}

void Walk::enter(int parent, const char* name) {
  const int fd = ::openat(parent, name, kFolderFlags);
  Stream stream(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!stream) {
    if (fd >= 0) ::close(fd);
    return cannot_look();
  }
  open_.push_back({std::move(stream), path_.size()});
}

void Walk::see_folder(int folder, const char* name, const struct stat& info) {
  if (!made_.enters(path_)) return;
  if (!made_.is_staged(path_, info)) ++looked_at_;
  if (open_.size() > static_cast<std::size_t>(snapshot::kMaxTreeDepth)) return cannot_look();
  path_ += '/';
  enter(folder, name);
}

Walk::Top& Walk::top() {
  const auto slash = path_.find('/');
  Top& top = tops_[path_.substr(0, slash)];
  top.is_folder = slash != std::string::npos;
  return top;
}

// Counts the folder as not kept, because it may hold files.
void Walk::cannot_look() {
  look_.not_kept.at_least = true;
  if (!path_.empty()) top().is_folder = true;
}

void Walk::add(const struct stat& info) {
  const Matches& matches = made_.matches(path_, false);
  seen_ |= matches;
  if (made_.patterns().keeps(matches)) {
    look_.keeps_any = true;
    return;
  }
  if (!S_ISREG(info.st_mode)) return;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  ++look_.not_kept.files;
  look_.not_kept.size.count += size;
  top().size += size;
}

void Walk::see(int folder, const dirent& entry) {
  struct stat info {};
  if (::fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISDIR(info.st_mode)) return see_folder(folder, entry.d_name, info);
  if (open_.size() == 1 && is_one_of(kCollected, path_)) return;
  const bool is_file = S_ISREG(info.st_mode) || S_ISLNK(info.st_mode);
  if (is_file && made_.is_staged(path_, info)) return;
  ++looked_at_;
  if (is_file) add(info);
}

MadeLook Walk::run(const io::Fd& base) {
  enter(base.get(), ".");
  while (!open_.empty() && !is_over()) {
    Folder& folder = open_.back();
    const dirent* entry = ::readdir(folder.stream.get());
    if (entry == nullptr) {
      open_.pop_back();
      continue;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    path_.resize(folder.path_bytes);
    path_ += name;
    see(::dirfd(folder.stream.get()), *entry);
  }
  list_names();
  // If some folders could not be read, it is not known which patterns match nothing.
  if (!look_.not_kept.at_least) look_.not_kept.unmatched = made_.patterns().unmatched(seen_);
  return std::move(look_);
}

void Walk::list_names() {
  std::vector<std::pair<std::string, Top>> all(tops_.begin(), tops_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.size > b.second.size; });
  const std::size_t named = std::min(all.size(), kMaxNotKeptNames);
  for (std::size_t i = 0; i < named; ++i)
    look_.not_kept.names.push_back(shown(all[i].first, all[i].second.is_folder));
  look_.not_kept.more = all.size() - named;
}

}  // namespace

MadeLook look_for_made(const io::Fd& base, MadeFiles& made) { return Walk(made).run(base); }

bool may_have_made(const io::Fd& base, bool has_staged) {
  if (has_staged) return true;
  const int copy = ::openat(base.get(), ".", kFolderFlags);
  const Stream stream(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) return false;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || is_one_of(kCollected, name) || is_one_of(kNoise, name))
      continue;
    struct stat info {};
    if (::fstatat(copy, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || is_whiteout(info))
      continue;
    return true;
  }
  return false;
}

}  // namespace lockstep::agent
