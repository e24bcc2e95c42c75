#pragma once
// The ignore files that apply to the folder which a walk is in: those of the repository above the
// tree, then those of the tree from its root down. An `.amlignore` in the root replaces all others.
// Reads ignore files only.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/snapshot/capture.h"
#include "common/snapshot/ignore.h"

namespace lockstep::snapshot {

class IgnoreStack {
 public:
  // `directory`: the tree's root, absolute and without symlinks.
  explicit IgnoreStack(std::string directory) : directory_(std::move(directory)) {}

  // Call it for the root (`folder` is "") first. `holds`: whether the folder has an entry of this
  // name. `notes` gets a line for each ignore file above the tree that does not count.
  template <typename Holds>
  Status enter(int fd, const std::string& folder, const Holds& holds,
               std::vector<std::string>& notes) {
    if (folder.empty() && holds(".amlignore")) {
      has_amlignore_ = true;
      return push(fd, folder, ".amlignore");
    }
    if (has_amlignore_) return {};
    if (folder.empty()) read_repository(notes);
    return holds(".gitignore") ? push(fd, folder, ".gitignore") : Status();
  }
  std::size_t size() const { return files_.size(); }
  void resize_to(std::size_t size);  // forgets the files that were added after this size

  // The entry as it is to be listed if a pattern leaves it out. `path` is relative to the tree.
  std::optional<SkippedPath> leaves_out(const std::string& path, bool is_directory) const;

 private:
  Status push(int fd, const std::string& folder, const std::string& name);
  void read_repository(std::vector<std::string>& notes);

  const std::string directory_;
  std::string below_;  // the tree in its repository: "" or "a/b/"
  std::vector<IgnoreFile> files_;
  bool has_amlignore_ = false;
};

}  // namespace lockstep::snapshot
