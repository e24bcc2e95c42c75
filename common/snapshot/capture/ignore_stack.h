#pragma once
// The ignore files that apply to the folder which a walk is in: first the files of the repository
// above the tree, then the files of the tree from its root down. No pattern leaves out a file that
// git tracks. An `.amlignore` in the root replaces all of them. Reads ignore files and git's index
// only.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/snapshot/capture/capture_options.h"
#include "common/snapshot/ignore/git_index.h"
#include "common/snapshot/ignore/ignore.h"

namespace lockstep::snapshot {

class IgnoreStack {
 public:
  // `directory`: the tree's root, absolute and without symlinks.
  explicit IgnoreStack(std::string directory) : directory_(std::move(directory)) {}

  // Enters a folder; call it for the root (`folder` is "") first. `holds`: whether the folder has
  // an entry of this name. `notes` gets a line for each ignore file above the tree that does not
  // count.
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

  // Whether a pattern leaves the entry out. `path` is relative to the tree, and the calls come in
  // the order of the walk. Adds the entry to `skipped`; in an ignored folder that holds tracked
  // files, adds "FOLDER/*" once for all its untracked ones. `notes`: as in enter().
  bool leaves_out(const std::string& path, bool is_directory, std::vector<SkippedPath>& skipped,
                  std::vector<std::string>& notes);

 private:
  Status push(int fd, const std::string& folder, const std::string& name);
  void read_repository(std::vector<std::string>& notes);
  std::optional<SkippedPath> matching(const std::string& path, bool is_directory) const;

  // A folder that a pattern leaves out, and that has files which git tracks.
  struct Entered {
    std::string path;  // "data/"
    SkippedPath others;
    bool is_listed = false;
  };

  const std::string directory_;
  std::string below_;  // the tree in its repository: "" or "a/b/"
  std::vector<IgnoreFile> files_;
  bool has_amlignore_ = false;
  TrackedFiles tracked_;
  std::optional<Entered> entered_;  // the last entered folder
};

}  // namespace lockstep::snapshot
