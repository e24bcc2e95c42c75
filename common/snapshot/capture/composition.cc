#include "common/snapshot/capture/composition.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/io/file_system.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::snapshot {
namespace {

constexpr std::uint32_t kFolderMode = 0755;

}  // namespace

void Composition::add(const Snapshot& captured, const std::string& below) {
  for (const DirectoryObject& object : captured.directories) objects_[object.digest] = object.bytes;
  Digest at = captured.root;
  for (std::string rest = below; !rest.empty();) {
    const auto slash = rest.rfind('/');
    at = folder_of_one(slash == rest.npos ? rest : rest.substr(slash + 1), at);
    rest.resize(slash == rest.npos ? 0 : slash);
  }
  trees_.push_back({static_cast<int>(trees_.size()), at});
}

Digest Composition::folder_of_one(const std::string& name, const Digest& inside) {
  Directory folder;
  folder.entries.push_back(
      {name, EntryKind::directory, kFolderMode, objects_.at(inside).size(), inside, {}});
  std::string bytes = encode(folder);
  const Digest digest = sha256(bytes);
  objects_[digest] = std::move(bytes);
  return digest;
}

Result<Snapshot> Composition::finish(const std::string& root) {
  DirectoryObjects objects;
  objects.read = [this](const Digest& digest) -> Result<std::string> {
    return objects_.at(digest);
  };
  objects.write = [this](const Digest& digest, const std::string& bytes) -> Status {
    objects_[digest] = bytes;
    return {};
  };
  std::vector<Beside> beside;
  Snapshot whole;
  TRY_ASSIGN(whole.root, merge_trees(trees_, objects, beside));
  if (!beside.empty())
    return make_error(ErrorCode::conflict,
                      fmt::format("there are two different entries {}", beside.front().path));
  whole.directory = root;
  TRY_ASSIGN(io::Fd opened, io::open_file(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  whole.opened = std::make_shared<io::Fd>(std::move(opened));
  for (auto& [digest, bytes] : objects_) whole.directories.push_back({digest, std::move(bytes)});
  return whole;
}

bool has_entry(const Snapshot& captured, const std::string& name) {
  for (const DirectoryObject& object : captured.directories) {
    if (object.digest != captured.root) continue;
    const auto root = decode_directory(object.bytes);
    return root && std::any_of(root->entries.begin(), root->entries.end(),
                               [&](const Entry& entry) { return entry.name == name; });
  }
  return false;
}

}  // namespace lockstep::snapshot
