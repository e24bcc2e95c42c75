#include "common/snapshot/content/walk_meter.h"

#include <fmt/format.h>

#include "common/base/bytes.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::uint64_t kEntriesBetweenPauses = 4096;

}  // namespace

Status WalkMeter::entry() {
  if (++entries_ % kEntriesBetweenPauses == 0) TRY(pause());
  if (entries_ <= walk_.most_entries) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the folder has more than {} files and folders; split it into "
                                "several folders, or leave out files",
                                walk_.most_entries));
}

Result<std::string> WalkMeter::read(const BlobStore& store, const Digest& digest, int depth) {
  if (depth > walk_.most_depth)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the folder has more than {} levels", walk_.most_depth));
  TRY(pause());
  std::string all;
  TRY(store.stream(digest, [&](std::string_view part) -> Status {
    TRY(pause());
    if (all.size() + part.size() > kMaxDirectoryObjectBytes)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("blob {} is larger than {}", digest.hex(),
                                    to_string(Bytes{kMaxDirectoryObjectBytes})));
    bytes_ += part.size();
    if (bytes_ > walk_.most_bytes)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("the lists of the folder's files have more than {}; split it "
                                    "into several folders, or leave out files",
                                    to_string(Bytes{walk_.most_bytes})));
    all += part;
    return {};
  }));
  return all;
}

}  // namespace lockstep::snapshot
