#pragma once
// Reads one file that a program may be writing, as pieces: earlier bytes are verified and kept, and
// only new bytes become new pieces. A file that was rewritten is read from its start. It knows
// nothing about trees, and keeps nothing between calls.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/digest.h"
#include "common/base/time.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/live/pieces.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

// A file as it was read at some time. Its size is identity.size.
struct FileVersion {
  FileIdentity identity;
  std::uint32_t mode = 0;
  std::vector<Piece> pieces;
  // Digests of the first and last kCheckedEnd bytes, if it is larger than kReadAgain.
  Digest head, tail;
};
using Version = std::shared_ptr<const FileVersion>;

// The size up to which a file is read again as a whole to see whether it was only appended to. Of a
// larger one that is being written, only both ends of the known part are read.
inline constexpr std::uint64_t kReadAgain = 64u << 20;
inline constexpr std::uint64_t kCheckedEnd = 64u << 10;
// The size up to which a file at rest is one piece, whatever it was before.
inline constexpr std::uint64_t kSmallFile = 64u << 10;
// The largest new piece of a file that is being written.
inline constexpr std::uint64_t kPieceOfGrowing = 16u << 20;

// The time without a change after which a file is at rest.
inline constexpr Duration kFileAtRest = seconds(1);
enum class Rest { at_rest, written };  // whether a program is writing the file

struct ReadResult {
  Version version;
  std::vector<DirectoryObject> held;  // new pieces, as far as `may_hold` allows
  bool is_held = true;                // all new pieces are in `held`
};

// The digest of a range of the open file. nullopt: it cannot be read, or the file is shorter.
std::optional<Digest> digest_of_range(int fd, std::uint64_t offset, std::uint64_t size);

// Whether the open file begins with all bytes of `before`, and is the same file: later bytes were
// appended.
bool is_continued(int fd, const FileIdentity& now, const FileVersion& before);

// Reads the file's present version. `before`: a version of the same file, or of one that had its
// path; null: none. nullopt: it cannot be read now, or changed while it was read; a file that is
// being written may only grow.
std::optional<ReadResult> read_version(int fd, const FileVersion* before, Rest rest,
                                       std::uint64_t may_hold);

}  // namespace lockstep::snapshot
