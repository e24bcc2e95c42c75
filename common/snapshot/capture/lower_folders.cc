#include "common/snapshot/capture/lower_folders.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace lockstep::snapshot {

LowerFolders::LowerFolders(const Scan& upper, const LowerTree* lower)
    : upper_(upper), lower_(lower), below_(upper.folders.size(), nullptr) {
  if (lower == nullptr) return;
  if (!upper.folders[0].opaque) below_[0] = find(lower->root);
  // A folder's children have larger indexes, so its own match is known before theirs.
  for (std::size_t i = 0; i < upper.folders.size(); ++i) {
    if (below_[i] == nullptr) continue;
    for (const std::size_t child : upper.folders[i].folders) {
      if (upper.folders[child].opaque) continue;
      for (const Entry& entry : below_[i]->entries) {
        const bool same =
            entry.kind == EntryKind::directory && entry.name == upper.folders[child].name;
        if (same) below_[child] = find(entry.digest);
      }
    }
  }
}

const Directory* LowerFolders::find(const Digest& digest) const {
  const auto found = lower_->directories.find(digest);
  return found == lower_->directories.end() ? nullptr : &found->second;
}

void LowerFolders::show_through(std::size_t index, Directory& directory) {
  if (below_[index] == nullptr) return;
  const ScannedFolder& folder = upper_.folders[index];
  std::set<std::string_view> hidden(folder.whiteouts.begin(), folder.whiteouts.end());
  for (const Entry& entry : directory.entries) hidden.insert(entry.name);
  std::vector<Entry> shown;
  for (const Entry& entry : below_[index]->entries)
    if (hidden.count(entry.name) == 0) shown.push_back(entry);
  for (const Entry& entry : shown) count(entry, 0);
  directory.entries.insert(directory.entries.end(), shown.begin(), shown.end());
}

void LowerFolders::count(const Entry& entry, int depth) {
  if (entry.kind == EntryKind::file) {
    ++files_;
    total_.count += entry.size;
  }
  if (entry.kind != EntryKind::directory || depth > kMaxTreeDepth) return;
  if (const Directory* folder = find(entry.digest))
    for (const Entry& inner : folder->entries) count(inner, depth + 1);
}

}  // namespace lockstep::snapshot
