#include "common/snapshot/live/torn_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/snapshot/live/pieces.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

// How much later than the end of a killed rank a file's change time may be. File times are rounded
// to ticks, and the end of a rank is noticed a little later.
constexpr Duration kTicks = milliseconds(100);

// Changes single files of a captured tree.
class TreeEdit {
 public:
  explicit TreeEdit(Snapshot& tree) : tree_(tree) {
    for (const DirectoryObject& object : tree.directories) known_[object.digest] = &object.bytes;
  }
  // Returns the file's former entry; `whole` replaces it if it is one blob.
  Result<Entry> replace(const std::string& path, const FileVersion& whole) {
    TRY_ASSIGN(tree_.root, in(tree_.root, path, whole));
    for (auto& [digest, bytes] : fresh_) tree_.directories.push_back({digest, bytes});
    fresh_.clear();
    known_.clear();
    for (const DirectoryObject& object : tree_.directories) known_[object.digest] = &object.bytes;
    return was_;
  }

 private:
  Result<Digest> in(const Digest& folder, const std::string& path, const FileVersion& whole);

  Snapshot& tree_;
  std::map<Digest, const std::string*> known_;
  std::map<Digest, std::string> fresh_;
  Entry was_;
};

Result<Digest> TreeEdit::in(const Digest& folder, const std::string& path,
                            const FileVersion& whole) {
  const auto slash = path.find('/');
  const std::string name = path.substr(0, slash);
  const auto object = known_.find(folder);
  if (object == known_.end())
    return make_error(ErrorCode::not_found, path + ": its folder is not in the captured tree");
  TRY_ASSIGN(Directory directory, decode_directory(*object->second));
  const bool is_file = slash == std::string::npos;
  const EntryKind kind = is_file ? EntryKind::file : EntryKind::directory;
  const auto entry =
      std::find_if(directory.entries.begin(), directory.entries.end(),
                   [&](const Entry& one) { return one.name == name && one.kind == kind; });
  if (entry == directory.entries.end())
    return make_error(ErrorCode::not_found, path + ": it is not in the captured tree");
  if (!is_file) {
    TRY_ASSIGN(entry->digest, in(entry->digest, path.substr(slash + 1), whole));
    entry->size = fresh_.at(entry->digest).size();
  } else {
    was_ = *entry;
    if (whole.pieces.size() > 1) {
      directory.entries.erase(entry);
    } else {
      entry->mode = whole.mode;
      entry->size = whole.identity.size;
      entry->digest = whole.pieces.empty() ? sha256("") : whole.pieces.front().digest;
    }
  }
  std::string bytes = encode(directory);
  const Digest digest = sha256(bytes);
  fresh_[digest] = std::move(bytes);
  return digest;
}

}  // namespace

bool was_cut_off(std::int64_t ctime_ns, const std::vector<Instant>& killed) {
  return std::any_of(killed.begin(), killed.end(), [&](const Instant& at) {
    return ctime_ns >= at.ns - kFileAtRest.count() && ctime_ns <= at.ns + kTicks.count();
  });
}

bool begins_with(int fd, const LowerTree& tree, const std::string& path) {
  Digest at = tree.root;
  for (std::size_t from = 0;;) {
    const auto slash = path.find('/', from);
    const bool is_file = slash == std::string::npos;
    const std::string name = path.substr(from, is_file ? slash : slash - from);
    const auto folder = tree.directories.find(at);
    if (folder == tree.directories.end()) return false;
    const EntryKind kind = is_file ? EntryKind::file : EntryKind::directory;
    const auto& entries = folder->second.entries;
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& one) {
      return one.name == name && one.kind == kind;
    });
    if (entry == entries.end()) return false;
    if (is_file) return digest_of_range(fd, 0, entry->size) == entry->digest;
    at = entry->digest;
    from = slash + 1;
  }
}

Result<Digest> set_aside(const std::vector<TornFile>& torn, Snapshot& tree) {
  TreeEdit edit(tree);
  std::vector<PiecedFile> both;
  bool has_empty = false;
  for (const TornFile& file : torn) {
    TRY_ASSIGN(const Entry was, edit.replace(file.path, *file.whole));
    PiecedFile partial{file.path, was.mode, true, {}};
    if (was.size != 0) partial.pieces.push_back({0, was.size, was.digest});
    has_empty = has_empty || was.size == 0 || file.whole->pieces.empty();
    both.push_back(std::move(partial));
    both.push_back({file.path, file.whole->mode, false, file.whole->pieces});
  }
  if (has_empty) tree.directories.push_back({sha256(""), ""});
  std::vector<DirectoryObject> list = encode(both);
  const Digest root = list.back().digest;
  std::move(list.begin(), list.end(), std::back_inserter(tree.directories));
  return root;
}

}  // namespace lockstep::snapshot
