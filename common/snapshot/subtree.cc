#include "common/snapshot/subtree.h"

#include <algorithm>

#include "common/base/quoted_name.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

Result<Subtree> alone(const Entry& file, const DirectoryObjects& objects) {
  Directory folder;
  folder.entries.push_back(file);
  const std::string bytes = encode(folder);
  const Digest root = sha256(bytes);
  TRY(objects.write(root, bytes));
  return Subtree{root, file.name};
}

}  // namespace

Result<Subtree> subtree(const Digest& root, const std::string& path,
                        const DirectoryObjects& objects) {
  Digest at = root;
  for (std::size_t from = 0; from < path.size();) {
    const auto slash = std::min(path.find('/', from), path.size());
    const std::string name = path.substr(from, slash - from);
    TRY_ASSIGN(const std::string bytes, objects.read(at));
    TRY_ASSIGN(const Directory folder, decode_directory(bytes));
    const auto entry = std::find_if(folder.entries.begin(), folder.entries.end(),
                                    [&](const Entry& one) { return one.name == name; });
    const std::string shown = quoted_name(path.substr(0, slash));
    if (entry == folder.entries.end())
      return make_error(ErrorCode::not_found, "it has no " + shown);
    if (entry->kind == EntryKind::symlink)
      return make_error(ErrorCode::unsupported, shown + " is a symlink; name what it leads to");
    from = slash + 1;
    if (entry->kind == EntryKind::directory) {
      at = entry->digest;
      continue;
    }
    if (from < path.size())
      return make_error(ErrorCode::not_found, shown + " is a file, not a folder");
    return alone(*entry, objects);
  }
  return Subtree{at, ""};
}

}  // namespace lockstep::snapshot
