#include "common/snapshot/tree_merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/utf8.h"

namespace lockstep::snapshot {

namespace {

struct NodeEntry {
  int node_rank = 0;
  Entry entry;
};

bool same_content(const Entry& a, const Entry& b) {
  return a.kind == b.kind && a.digest == b.digest && a.target == b.target;
}

class Merger {
 public:
  Merger(const DirectoryObjects& objects, std::vector<Beside>& beside)
      : objects_(objects), beside_(beside) {}

  // Returns the digest and size of a directory entry; the name is empty.
  Result<Entry> merge(const std::vector<NodeTree>& folders, const std::string& path, int depth);

 private:
  Result<Entry> merge_entry(std::vector<NodeEntry> same_name, const std::string& path, int depth,
                            std::vector<NodeEntry>& left_over);
  void place_beside(const std::vector<NodeEntry>& left_over, const std::string& path,
                    std::set<std::string>& names, Directory& out);

  const DirectoryObjects& objects_;
  std::vector<Beside>& beside_;
};

Result<Entry> Merger::merge(const std::vector<NodeTree>& folders, const std::string& path,
                            int depth) {
  if (depth > kMaxTreeDepth)
    return make_error(ErrorCode::corrupt, path + " is too many folders deep");
  std::map<std::string, std::vector<NodeEntry>> by_name;
  for (const NodeTree& folder : folders) {
    TRY_ASSIGN(const std::string bytes, objects_.read(folder.root));
    TRY_ASSIGN(Directory directory, decode_directory(bytes));
    for (Entry& entry : directory.entries) {
      auto& same_name = by_name[entry.name];
      same_name.push_back({folder.node_rank, std::move(entry)});
    }
  }
  std::set<std::string> names;
  for (const auto& [name, entries] : by_name) names.insert(name);
  Directory merged;
  for (auto& [name, entries] : by_name) {
    std::vector<NodeEntry> left_over;
    TRY_ASSIGN(Entry entry, merge_entry(std::move(entries), path + name, depth, left_over));
    merged.entries.push_back(std::move(entry));
    place_beside(left_over, path, names, merged);
  }
  std::sort(merged.entries.begin(), merged.entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  const std::string bytes = encode(merged);
  Entry out;
  out.kind = EntryKind::directory;
  out.mode = 0755;
  out.size = bytes.size();
  out.digest = sha256(bytes);
  TRY(objects_.write(out.digest, bytes));
  return out;
}

// The merged entry of one name: the entry of the lowest rank; folders of several ranks are joined.
Result<Entry> Merger::merge_entry(std::vector<NodeEntry> same_name, const std::string& path,
                                  int depth, std::vector<NodeEntry>& left_over) {
  Entry first = same_name.front().entry;
  std::vector<NodeTree> folders;
  for (NodeEntry& item : same_name) {
    const bool joins = first.kind == EntryKind::directory && item.entry.kind == first.kind;
    if (joins) folders.push_back({item.node_rank, item.entry.digest});
    if (joins || same_content(first, item.entry)) continue;
    const bool is_known =
        std::any_of(left_over.begin(), left_over.end(),
                    [&](const NodeEntry& other) { return same_content(other.entry, item.entry); });
    if (!is_known) left_over.push_back(std::move(item));
  }
  const bool differ = std::any_of(folders.begin(), folders.end(), [&](const NodeTree& folder) {
    return folder.root != first.digest;
  });
  if (!differ) return first;
  TRY_ASSIGN(const Entry joined, merge(folders, path + "/", depth + 1));
  first.digest = joined.digest;
  first.size = joined.size;
  return first;
}

std::string beside_name(const std::string& name, int node_rank, int tries) {
  std::string suffix = ".node" + std::to_string(node_rank);
  // The most bars of a name. Later names are numbered: a folder may have many of them, and a suffix
  // must stay short.
  constexpr int kMaxBars = 8;
  suffix.append(static_cast<std::size_t>(std::min(tries, kMaxBars)), '_');
  if (tries > kMaxBars) suffix += std::to_string(tries);
  return std::string(head(name, kMaxNameBytes - suffix.size())) + suffix;
}

void Merger::place_beside(const std::vector<NodeEntry>& left_over, const std::string& path,
                          std::set<std::string>& names, Directory& out) {
  for (const NodeEntry& item : left_over) {
    Entry entry = item.entry;
    for (int tries = 0; !names.insert(entry.name).second; ++tries)
      entry.name = beside_name(item.entry.name, item.node_rank, tries);
    beside_.push_back({item.node_rank, path + item.entry.name, path + entry.name});
    out.entries.push_back(std::move(entry));
  }
}

// A three-way merge: compares each node's tree with the tree that all of them began with.
class CheckpointMerger {
 public:
  explicit CheckpointMerger(const DirectoryObjects& objects) : objects_(objects) {}

  // Returns the digest and size of a directory entry; the name is empty.
  Result<Entry> merge(const std::optional<Digest>& base, const std::vector<NodeTree>& folders,
                      const std::string& path, int depth);

 private:
  struct Versions {  // the versions of one name
    std::optional<Entry> base;
    std::vector<NodeEntry> nodes;
  };
  Result<Directory> read(const Digest& digest) const;
  Result<std::optional<Entry>> choose(const Versions& versions, std::size_t nodes,
                                      const std::string& path, int depth);

  const DirectoryObjects& objects_;
};

Result<Directory> CheckpointMerger::read(const Digest& digest) const {
  TRY_ASSIGN(const std::string bytes, objects_.read(digest));
  return decode_directory(bytes);
}

Result<Entry> CheckpointMerger::merge(const std::optional<Digest>& base,
                                      const std::vector<NodeTree>& folders, const std::string& path,
                                      int depth) {
  if (depth > kMaxTreeDepth)
    return make_error(ErrorCode::corrupt, path + " is too many folders deep");
  std::map<std::string, Versions> by_name;
  if (base) {
    TRY_ASSIGN(Directory directory, read(*base));
    for (Entry& entry : directory.entries) by_name[entry.name].base = std::move(entry);
  }
  for (const NodeTree& folder : folders) {
    TRY_ASSIGN(Directory directory, read(folder.root));
    for (Entry& entry : directory.entries) {
      auto& same_name = by_name[entry.name];
      same_name.nodes.push_back({folder.node_rank, std::move(entry)});
    }
  }
  Directory merged;  // by_name has the order of a directory
  for (const auto& [name, versions] : by_name) {
    TRY_ASSIGN(std::optional<Entry> entry, choose(versions, folders.size(), path + name, depth));
    if (entry) merged.entries.push_back(*std::move(entry));
  }
  const std::string bytes = encode(merged);
  Entry out;
  out.kind = EntryKind::directory;
  out.mode = 0755;
  out.size = bytes.size();
  out.digest = sha256(bytes);
  TRY(objects_.write(out.digest, bytes));
  return out;
}

Result<std::optional<Entry>> CheckpointMerger::choose(const Versions& versions, std::size_t nodes,
                                                      const std::string& path, int depth) {
  const Entry* changed = nullptr;
  for (const NodeEntry& node : versions.nodes)
    if (changed == nullptr && node.entry != versions.base) changed = &node.entry;
  const bool removed = versions.nodes.size() < nodes;
  if (changed == nullptr) return removed ? std::nullopt : versions.base;
  std::optional<Entry> chosen = *changed;
  if (chosen->kind != EntryKind::directory) return chosen;
  std::vector<NodeTree> folders;
  for (const NodeEntry& node : versions.nodes)
    if (node.entry.kind == EntryKind::directory)
      folders.push_back({node.node_rank, node.entry.digest});
  const bool was_folder = versions.base && versions.base->kind == EntryKind::directory;
  TRY_ASSIGN(const Entry joined,
             merge(was_folder ? std::optional(versions.base->digest) : std::nullopt, folders,
                   path + "/", depth + 1));
  chosen->digest = joined.digest;
  chosen->size = joined.size;
  return chosen;
}

}  // namespace

Result<Digest> merge_checkpoints(const std::optional<Digest>& base, std::vector<NodeTree> trees,
                                 const DirectoryObjects& objects) {
  if (trees.size() == 1) return trees.front().root;
  std::sort(trees.begin(), trees.end(),
            [](const NodeTree& a, const NodeTree& b) { return a.node_rank < b.node_rank; });
  TRY_ASSIGN(const Entry root, CheckpointMerger(objects).merge(base, trees, "", 0));
  return root.digest;
}

Result<Digest> merge_trees(std::vector<NodeTree> trees, const DirectoryObjects& objects,
                           std::vector<Beside>& beside) {
  std::sort(trees.begin(), trees.end(),
            [](const NodeTree& a, const NodeTree& b) { return a.node_rank < b.node_rank; });
  const bool differ = std::any_of(trees.begin(), trees.end(), [&](const NodeTree& tree) {
    return tree.root != trees.front().root;
  });
  if (!differ) return trees.front().root;
  TRY_ASSIGN(const Entry root, Merger(objects, beside).merge(trees, "", 0));
  return root.digest;
}

}  // namespace lockstep::snapshot
