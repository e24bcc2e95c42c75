#pragma once
// Reads the paths that git tracks in a repository from its index, versions 2 to 4
// (gitformat-index(5)). An index that shares another one's entries ("split index") is not read.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::snapshot {

inline constexpr std::size_t kSha1Bytes = 20, kSha256Bytes = 32;  // the sizes of an object's id

// The tracked files, links and submodules below `below` ("" or "a/b/"), relative to it, sorted.
// `id_bytes`: of the repository's object ids. Errors: corrupt if the bytes are not an index;
// unsupported for an unknown version or extension.
Result<std::vector<std::string>> paths_in_index(std::string_view index, std::size_t id_bytes,
                                                std::string_view below);

// The paths in the index of a repository around a tree, read when they are first asked for.
class TrackedFiles {
 public:
  TrackedFiles() = default;  // for a tree without a repository
  TrackedFiles(std::string file, std::size_t id_bytes, std::string below)
      : file_(std::move(file)), id_bytes_(id_bytes), below_(std::move(below)) {}

  bool has(const std::string& path, std::vector<std::string>& notes);
  // Whether a path below the folder is tracked; `folder` has no '/' at its end.
  bool has_below(const std::string& folder, std::vector<std::string>& notes);

 private:
  // Reads the index. `notes` gets a line if that fails; then nothing is tracked.
  void read(std::vector<std::string>& notes);

  std::string file_;  // "": there is no index, or it has been read
  std::size_t id_bytes_ = kSha1Bytes;
  std::string below_;
  std::vector<std::string> paths_;
};

}  // namespace lockstep::snapshot
