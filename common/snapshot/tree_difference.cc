#include "common/snapshot/tree_difference.h"

#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

class Comparer {
 public:
  Comparer(const std::function<Result<std::string>(const Digest&)>& read, std::uint64_t max_entries)
      : read_(read), left_(max_entries) {}

  FileChanges found;

  // Compares folders at `path`, which ends with '/' or is empty. nullopt: the folder is missing.
  Status compare(const std::optional<Digest>& was, const std::optional<Digest>& is,
                 const std::string& path, int depth) {
    if (was == is || found.more) return {};
    if (depth > kMaxTreeDepth)
      return make_error(ErrorCode::corrupt, "a tree has too many folders in each other");
    TRY_ASSIGN(const Directory before, folder(was));
    TRY_ASSIGN(const Directory now, folder(is));
    auto left = before.entries.begin();
    auto right = now.entries.begin();
    while (left != before.entries.end() || right != now.entries.end()) {
      if (!take_entry()) return {};
      const bool ends = right == now.entries.end(), begins = left == before.entries.end();
      const bool is_removed = ends || (!begins && left->name < right->name);
      const bool is_added = begins || (!ends && right->name < left->name);
      const Entry* const old_entry = is_added ? nullptr : &*left++;
      const Entry* const new_entry = is_removed ? nullptr : &*right++;
      TRY(compare(old_entry, new_entry, path, depth));
    }
    return {};
  }

 private:
  // Compares two entries of one name; at least one exists.
  Status compare(const Entry* was, const Entry* is, const std::string& folder_path, int depth) {
    const auto folder_of = [](const Entry* entry) {
      const bool is_folder = entry != nullptr && entry->kind == EntryKind::directory;
      return is_folder ? std::optional(entry->digest) : std::nullopt;
    };
    const auto is_file = [](const Entry* entry) {
      return entry != nullptr && entry->kind != EntryKind::directory;
    };
    const std::string path = folder_path + (was != nullptr ? was : is)->name;
    if (is_file(was) && is_file(is)) {
      if (*was != *is) count(found.changed, path);
    } else if (is_file(was)) {
      count(found.removed, path);
    } else if (is_file(is)) {
      count(found.added, path);
    }
    return compare(folder_of(was), folder_of(is), path + "/", depth + 1);
  }

  void count(std::uint64_t& counter, const std::string& path) {
    if (found.first.empty()) found.first = path;
    ++counter;
  }

  // Counts an entry. False: enough differences were found.
  bool take_entry() {
    found.more = left_ == 0;
    if (!found.more) --left_;
    return !found.more;
  }

  Result<Directory> folder(const std::optional<Digest>& digest) const {
    if (!digest) return Directory();
    TRY_ASSIGN(const std::string bytes, read_(*digest));
    return decode_directory(bytes);
  }

  const std::function<Result<std::string>(const Digest&)>& read_;
  std::uint64_t left_;
};

}  // namespace

Result<FileChanges> tree_difference(const std::optional<Digest>& was,
                                    const std::optional<Digest>& is,
                                    const std::function<Result<std::string>(const Digest&)>& read,
                                    std::uint64_t max_entries) {
  Comparer comparer(read, max_entries);
  TRY(comparer.compare(was, is, "", 0));
  return std::move(comparer.found);
}

}  // namespace lockstep::snapshot
