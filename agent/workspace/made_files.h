#pragma once
// Finds files that ranks made or changed in the working directory outside the folders that are
// always collected. Those that match the job's keep patterns are kept; the others are listed, so
// that no file is lost silently. It reads names, sizes and times but no contents, through
// descriptors, with the rights of the calling thread.

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/outputs.h"
#include "common/io/file_system.h"
#include "common/snapshot/keep.h"
#include "common/snapshot/scan.h"

namespace lockstep::agent {

// Named bounds of a look. What lies beyond is not counted, and that is said (NotKept::at_least).
inline constexpr std::size_t kMostLookedAt = 100'000;  // entries that were not staged
inline constexpr Duration kLongestLook = seconds(10);
// How long names are matched against the patterns, in the look and in the capture together. Files
// found later are not kept.
inline constexpr Duration kLongestMatching = seconds(60);
// Longer paths match no pattern: no program can open them by their name.
inline constexpr std::size_t kLongestMatchedPath = 4'096;

// Which entries ranks made, and which of these the patterns keep: the selection of a capture.
class MadeFiles final : public snapshot::Selection {
 public:
  // `staged`: the tree that the working directory began with; closed when it began empty.
  MadeFiles(io::Fd staged, const std::vector<std::string>& keep);

  bool enters(const std::string& folder) override;
  bool takes(const std::string& path, const struct stat& info) override;

  // Whether the entry was staged and is as it was; of a folder, whether it was staged.
  bool is_staged(const std::string& path, const struct stat& info);
  const snapshot::KeepPatterns::Matches& matches(const std::string& path, bool is_directory);
  const snapshot::KeepPatterns& patterns() const { return patterns_; }
  // kLongestMatching is over: not all that the patterns name was found.
  bool gave_up() const { return gave_up_; }

 private:
  const snapshot::KeepPatterns::Matches& matches_of_folder(std::string_view folder);
  bool is_time_over();

  const io::Fd staged_;
  const snapshot::KeepPatterns patterns_;
  // Of the folder that was asked about last.
  std::optional<std::string> staged_folder_;
  io::Fd staged_fd_;  // closed: it was not staged
  std::string matched_folder_;
  snapshot::KeepPatterns::Matches folder_matches_, matches_;
  const Duration ends_;  // of time since boot
  bool gave_up_ = false;
};

struct MadeLook {
  NotKept not_kept;
  bool keeps_any = false;  // a file or symlink that the patterns keep
};

// `base`: the working directory, or the upper directory of its overlay.
MadeLook look_for_made(const io::Fd& base, MadeFiles& made);

// Whether there may be any: false at the price of one listing. `has_staged`: the staged files lie
// in `base` too.
bool may_have_made(const io::Fd& base, bool has_staged);

}  // namespace lockstep::agent
