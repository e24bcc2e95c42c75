#include "common/snapshot/capture/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <unordered_set>

#include "common/base/quoted_name.h"
#include "common/snapshot/capture/hasher.h"
#include "common/snapshot/capture/lower_folders.h"
#include "common/snapshot/capture/scan.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

Result<std::string> absolute(const std::string& directory) {
  char resolved[PATH_MAX];
  if (::realpath(directory.c_str(), resolved) == nullptr) {
    const auto code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    return make_error(code, errno_error(errno, "cannot open " + directory).message);
  }
  return std::string(resolved);
}

Status refuse_home_and_root(const std::string& directory) {
  const char* home = std::getenv("HOME");
  char resolved[PATH_MAX];
  const bool has_home = home != nullptr && ::realpath(home, resolved) != nullptr;
  const bool is_home = has_home && directory == resolved;
  if (directory != "/" && !is_home) return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("{} is {}: a snapshot would contain everything in it; run the command in a "
                  "project's directory, or name that directory with --code",
                  directory, is_home ? "the home directory" : "the root directory"));
}

std::int64_t wall_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The folder of `tree` with this path ("" or "a/b/"); null if there is none.
const Directory* folder_of(const LowerTree& tree, const std::string& path) {
  const auto root = tree.directories.find(tree.root);
  const Directory* at = root == tree.directories.end() ? nullptr : &root->second;
  for (std::size_t from = 0; at != nullptr && from < path.size();) {
    const auto slash = path.find('/', from);
    const std::string name = path.substr(from, slash - from);
    const auto entry = std::find_if(at->entries.begin(), at->entries.end(), [&](const Entry& one) {
      return one.name == name && one.kind == EntryKind::directory;
    });
    const auto next =
        entry == at->entries.end() ? tree.directories.end() : tree.directories.find(entry->digest);
    at = next == tree.directories.end() ? nullptr : &next->second;
    from = slash + 1;
  }
  return at;
}

// Adds files that were never at rest, as `previous` has them.
void add_previous(const ScannedFolder& folder, const LowerTree& previous, Directory& directory,
                  Snapshot& out) {
  const Directory* before = folder.restless.empty() ? nullptr : folder_of(previous, folder.path);
  for (const std::string& name : folder.restless) {
    const Entry* found = nullptr;
    for (std::size_t i = 0; before != nullptr && i < before->entries.size(); ++i)
      if (before->entries[i].name == name && before->entries[i].kind == EntryKind::file)
        found = &before->entries[i];
    if (found == nullptr) {
      out.skipped.push_back({folder.path + name, "", 0, "it changed each time it was read"});
      continue;
    }
    directory.entries.push_back(*found);
    ++out.lower_files;
    out.lower_total.count += found->size;
  }
}

// Builds directory objects bottom up: a folder's children have larger indexes than the folder.
void build_directories(const Scan& scan, const FileDigests& digests, const LowerTree* lower,
                       const LowerTree* previous, Snapshot& out) {
  LowerFolders below(scan, lower);
  std::vector<DirectoryObject> objects(scan.folders.size());
  for (std::size_t i = scan.folders.size(); i-- > 0;) {
    const ScannedFolder& folder = scan.folders[i];
    Directory directory;
    directory.entries.reserve(folder.files.size() + folder.links.size() + folder.folders.size());
    for (std::size_t f = 0; f < folder.files.size(); ++f) {
      const ScannedFile& file = folder.files[f];
      directory.entries.push_back(
          {file.name, EntryKind::file, file.mode, file.identity.size, digests[i][f], {}});
    }
    for (const std::size_t child : folder.folders) {
      directory.entries.push_back({scan.folders[child].name,
                                   EntryKind::directory,
                                   scan.folders[child].mode,
                                   objects[child].bytes.size(),
                                   objects[child].digest,
                                   {}});
    }
    for (const ScannedLink& link : folder.links) {
      directory.entries.push_back({link.name, EntryKind::symlink, 0, 0, {}, link.target});
    }
    if (previous != nullptr) add_previous(folder, *previous, directory, out);
    below.show_through(i, directory);
    std::sort(directory.entries.begin(), directory.entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    objects[i].bytes = encode(directory);
    objects[i].digest = sha256(objects[i].bytes);
    out.symlinks += folder.links.size();
  }
  out.root = objects[0].digest;
  out.folders = scan.folders.size() - 1;
  out.lower_files += below.files();
  out.lower_total.count += below.total().count;
  std::unordered_set<Digest> seen;
  for (DirectoryObject& object : objects) {
    if (seen.insert(object.digest).second) out.directories.push_back(std::move(object));
  }
}

// Selects one file at the top.
class OneFile final : public Selection {
 public:
  explicit OneFile(const std::string& name) : name_(name) {}
  bool enters(const std::string&) override { return false; }
  bool takes(const std::string& path, const struct stat& info) override {
    return path == name_ && S_ISREG(info.st_mode);
  }

 private:
  const std::string& name_;
};

Status refuse_too_large(const Snapshot& snapshot) {
  for (const DirectoryObject& object : snapshot.directories) {
    if (object.bytes.size() <= kMaxDirectoryObjectBytes) continue;
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("a folder in {} has too many entries: the list of one folder in "
                                  "a snapshot may have at most {}",
                                  snapshot.directory, to_string(Bytes{kMaxDirectoryObjectBytes})));
  }
  return {};
}

// Saves the stat cache. If that fails, only the next capture takes longer.
void save_cache(const CaptureOptions& options, const Scan& scan, const FileDigests& digests,
                std::int64_t scanned_at_ns) {
  std::vector<StatCache::Row> rows;
  for (std::size_t i = 0; i < scan.folders.size(); ++i) {
    for (std::size_t f = 0; f < scan.folders[i].files.size(); ++f) {
      rows.push_back({scan.folders[i].files[f].identity, digests[i][f]});
    }
  }
  const std::string folder = options.stat_cache.substr(0, options.stat_cache.rfind('/') + 1);
  if (!folder.empty() && !io::make_directories(folder, 0700)) return;
  static_cast<void>(StatCache::save(options.stat_cache, std::move(rows), scanned_at_ns));
}

// Hashes files that `cache` does not know, and fills all of `snapshot` but its name.
Result<FileDigests> digest_all(Scan& found, const StatCache& cache, const CaptureOptions& options,
                               Snapshot& snapshot) {
  FileDigests digests(found.folders.size());
  std::vector<ToHash> work;
  for (std::size_t i = 0; i < found.folders.size(); ++i) {
    digests[i].resize(found.folders[i].files.size());
    for (std::size_t f = 0; f < digests[i].size(); ++f) {
      if (const auto known = cache.find(found.folders[i].files[f].identity)) {
        digests[i][f] = *known;
      } else {
        work.push_back({i, f});
      }
    }
  }
  Hasher hasher(snapshot.directory, options, found, digests);
  TRY(hasher.run(work));
  hasher.take_out_skipped();
  snapshot.files_read = work.size();
  snapshot.bytes_read = {hasher.bytes_read()};
  return digests;
}

// Files that changed at `settled_before_ns` or later get no identity.
void list_files(const Scan& found, const FileDigests& digests, std::int64_t settled_before_ns,
                Snapshot& snapshot) {
  for (std::size_t i = 0; i < found.folders.size(); ++i) {
    for (std::size_t f = 0; f < digests[i].size(); ++f) {
      const ScannedFile& file = found.folders[i].files[f];
      snapshot.files.push_back(
          {found.folders[i].path + file.name, digests[i][f], file.identity.size});
      if (file.identity.ctime_ns < settled_before_ns)
        snapshot.files.back().identity = file.identity;
      snapshot.total.count += file.identity.size;
    }
  }
}

}  // namespace

namespace {

// Fills in the files that each followed link adds, and a note if ignore files above the source
// exclude all of it.
void complete_report(Scan& found) {
  std::vector<FollowedLink>& links = found.report.followed;
  for (const ScannedFolder& folder : found.folders) {
    if (folder.followed < 0) continue;
    FollowedLink& link = links[static_cast<std::size_t>(folder.followed)];
    link.files += folder.files.size();
    for (const ScannedFile& file : folder.files) link.total.count += file.identity.size;
  }
  std::sort(links.begin(), links.end(),
            [](const FollowedLink& a, const FollowedLink& b) { return a.path < b.path; });
  const ScannedFolder& root = found.folders.front();
  if (!root.files.empty() || !root.folders.empty() || !root.links.empty()) return;
  const auto from_above =
      std::find_if(found.skipped.begin(), found.skipped.end(),
                   [](const SkippedPath& one) { return one.source.starts_with("../"); });
  if (from_above != found.skipped.end())
    found.report.notes.push_back(
        fmt::format("nothing is left to take: {}:{}: {} leaves out {}; put an .amlignore into the "
                    "folder to take other files",
                    quoted_name(from_above->source), from_above->line,
                    quoted_name(from_above->pattern), quoted_name(from_above->path)));
}

// The target if the path is a symlink; any other path unchanged.
Result<std::string> followed(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  return absolute(path);
}

}  // namespace

Result<Snapshot> capture(const std::string& directory, const CaptureOptions& options) {
  Snapshot snapshot;
  std::string from = directory, name;
  if (!options.only.empty()) {
    TRY_ASSIGN(const std::string file, followed(directory + "/" + options.only));
    from = file.substr(0, std::max<std::size_t>(file.rfind('/'), 1));
    name = file.substr(file.rfind('/') + 1);
  }
  TRY_ASSIGN(snapshot.directory, absolute(from));
  if (!options.allow_home_or_root) TRY(refuse_home_and_root(snapshot.directory));
  const std::int64_t scanned_at_ns = wall_clock_ns();
  ScanOptions scanning;
  scanning.is_source = options.is_source;
  scanning.links = options.links;
  scanning.left_out = options.own_files;
  OneFile only(name);
  if (!name.empty()) scanning.selection = &only;
  TRY_ASSIGN(Scan found, scan(snapshot.directory, scanning));
  if (!name.empty() && found.folders[0].files.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("{}/{} is not there any more", snapshot.directory, name));
  complete_report(found);
  if (options.on_scanned) options.on_scanned(found.report);
  const StatCache cache = StatCache::load(options.stat_cache);
  TRY_ASSIGN(const auto digests, digest_all(found, cache, options, snapshot));
  if (!name.empty()) found.folders[0].files[0].name = options.only;
  build_directories(found, digests, nullptr, nullptr, snapshot);
  if (!name.empty()) found.folders[0].files[0].name = name;
  TRY(refuse_too_large(snapshot));
  list_files(found, digests, scanned_at_ns - StatCache::kTooYoungNs, snapshot);
  const bool is_cache_exact = snapshot.files_read == 0 && cache.size() == snapshot.files.size();
  if (!options.stat_cache.empty() && !is_cache_exact) {
    save_cache(options, found, digests, scanned_at_ns);
  }
  std::move(found.skipped.begin(), found.skipped.end(), std::back_inserter(snapshot.skipped));
  snapshot.report = std::move(found.report);
  snapshot.opened = std::make_shared<io::Fd>(std::move(found.root));
  return snapshot;
}

Result<Snapshot> capture_tree(io::Fd opened, const std::string& shown_as,
                              const TreeOptions& options) {
  Snapshot snapshot;
  snapshot.directory = shown_as;
  CaptureOptions hashing;
  hashing.is_growing = options.is_growing;
  hashing.skip_restless = options.previous.has_value();
  hashing.skip_unreadable = true;
  hashing.most_holes = kMostHoles.count;
  hashing.on_read = options.on_read;
  ScanOptions scanning;
  scanning.is_source = false;
  scanning.is_upper = options.is_upper;
  scanning.selection = options.selection;
  TRY_ASSIGN(Scan found, scan(std::move(opened), shown_as, scanning));
  TRY_ASSIGN(const auto digests, digest_all(found, {}, hashing, snapshot));
  build_directories(found, digests, options.lower ? &*options.lower : nullptr,
                    options.previous ? &*options.previous : nullptr, snapshot);
  TRY(refuse_too_large(snapshot));
  list_files(found, digests, INT64_MIN, snapshot);
  std::move(found.skipped.begin(), found.skipped.end(), std::back_inserter(snapshot.skipped));
  snapshot.opened = std::make_shared<io::Fd>(std::move(found.root));
  return snapshot;
}

Result<Snapshot> assemble(const Scan& scan, const std::vector<std::vector<Digest>>& digests,
                          const std::string& shown_as, const std::optional<LowerTree>& lower) {
  Snapshot snapshot;
  snapshot.directory = shown_as;
  build_directories(scan, digests, lower ? &*lower : nullptr, nullptr, snapshot);
  TRY(refuse_too_large(snapshot));
  return snapshot;
}

std::string stat_cache_path(const std::string& cache_folder, const std::string& directory) {
  const auto resolved = absolute(directory);
  return fmt::format("{}/{}.stat", cache_folder,
                     sha256(resolved ? *resolved : directory).hex().substr(0, 32));
}

}  // namespace lockstep::snapshot
