#pragma once
// The git repository that a folder is in, and its ignore files above the folder: `.gitignore` of
// each folder from the repository's root down to the folder's parent, and `info/exclude`; also the
// place of its index. It reads only these files, and does what git does: a repository of another
// user, or on another file system, is ignored.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/snapshot/ignore/git_index.h"
#include "common/snapshot/ignore/ignore.h"

namespace lockstep::snapshot {

inline constexpr std::uint64_t kMaxIgnoreFileBytes = 16u << 20;

// The content of the ignore file `name` in an open folder; `shown`: its name for people. nullopt:
// it is a symlink or not a regular file, which git ignores. Returns resource_exhausted if it is
// larger than kMaxIgnoreFileBytes.
Result<std::optional<std::string>> read_ignore_file(int folder, const std::string& name,
                                                    const std::string& shown);

struct Repository {
  std::string below;  // the folder's path in the repository: "" for its root, or "a/b/"
  // The weakest first. Their bases are relative to the repository's root, their names for people to
  // the folder ("../.gitignore").
  std::vector<IgnoreFile> files;
  std::vector<std::string> notes;  // files that are not used, with the reason
  TrackedFiles tracked;            // the tracked files below the folder

  struct Match {
    const IgnoreFile* file = nullptr;
    const IgnorePattern* pattern = nullptr;
  };
  // The pattern that leaves out the folder itself, or one that it lies in; null: none does.
  Match of_itself() const;
};

// Finds the repository around `folder`, which is absolute, without symlinks. nullopt: there is
// none.
std::optional<Repository> find_repository(const std::string& folder);

}  // namespace lockstep::snapshot
