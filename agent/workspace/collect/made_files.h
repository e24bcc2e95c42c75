#pragma once
// Finds files that ranks made in a working directory, outside the folders that are always
// collected: new files, and changed files of the staged tree. The job's `keep` patterns keep some
// of them; the others are listed, so that no file is lost silently. It reads names, sizes and times
// but no file content, through descriptors, with the rights of the calling thread.

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/scan.h"
#include "common/snapshot/ignore/kept_files.h"

namespace lockstep::agent {

// Limits of one search. Files beyond them are not counted; NotKept::at_least reports that.
inline constexpr std::size_t kMostLookedAt = 100'000;  // entries that were not staged
inline constexpr Duration kLongestLook = seconds(10);
// How long names are matched against the patterns, in the search and the capture together. Files
// found later are not kept.
inline constexpr Duration kLongestMatching = seconds(60);
// Longer paths match no pattern: no program can open them by one path.
inline constexpr std::size_t kLongestMatchedPath = 4'096;

// The selection of a capture: the entries that ranks made and that the patterns keep.
class MadeFiles final : public snapshot::Selection {
 public:
  // `staged`: the tree that the working directory began with; a closed Fd if it began empty.
  MadeFiles(io::Fd staged, const std::vector<std::string>& keep);

  // A folder of the working directory that is collected by itself, besides those that always are.
  void leave_out(const std::string& folder) { left_out_.push_back(folder); }

  bool enters(const std::string& folder) override;
  bool takes(const std::string& path, const struct stat& info) override;

  // Whether the entry was staged and is unchanged; for a folder, whether it was staged.
  bool is_staged(const std::string& path, const struct stat& info);
  const snapshot::KeepPatterns::Matches& matches(const std::string& path, bool is_directory);
  const snapshot::KeepPatterns& patterns() const { return patterns_; }
  // Whether kLongestMatching was over: some files that match the patterns may not have been found.
  bool gave_up() const { return gave_up_; }

 private:
  const snapshot::KeepPatterns::Matches& matches_of_folder(std::string_view folder);
  bool is_time_over();

  const io::Fd staged_;
  const snapshot::KeepPatterns patterns_;
  std::vector<std::string> left_out_;
  // Results for the last folder asked about.
  std::optional<std::string> staged_folder_;
  io::Fd staged_fd_;  // closed: the folder was not staged
  std::string matched_folder_;
  snapshot::KeepPatterns::Matches folder_matches_, matches_;
  const Duration ends_;  // in time since boot
  bool gave_up_ = false;
};

struct MadeLook {
  NotKept not_kept;
  bool keeps_any = false;  // a file or symlink that the patterns keep
};

// `base`: the working directory, or the upper directory of its overlay.
MadeLook look_for_made(const io::Fd& base, MadeFiles& made);

// Whether `base` may have files that ranks made; lists one folder at most. `has_staged`: `base`
// also holds the staged files; then it returns true.
bool may_have_made(const io::Fd& base, bool has_staged);

}  // namespace lockstep::agent
