#include "runner/logs/log_stamps.h"

namespace lockstep::runner {
namespace {

// The least time between two stamps of a stream. It is shorter in a gang, where ranks of other
// nodes write in between.
constexpr Duration kStampAlone = milliseconds(10);
constexpr Duration kStampAmongOthers = milliseconds(1);
// The bytes of stamps, and the part of the log, above which stamps become coarser; a person sees no
// difference.
constexpr std::uint64_t kFineAnyway = 4u << 10;
constexpr std::uint64_t kFinePart = 8;
constexpr Duration kStampCoarse = milliseconds(100);
static_assert(kStampCoarse <= kLogTimeStep);

}  // namespace

Bytes LogStamps::read_at(std::uint64_t offset, Instant now, bool is_alone) {
  const bool is_fine = size_.count + io::LogTimes::kEntryBytes <= kFineAnyway + offset / kFinePart;
  const Duration fine = is_alone ? kStampAlone : kStampAmongOthers;
  if (now < last_ + (is_fine ? fine : kStampCoarse)) return {};
  if (!times_.append({{offset, now}})) return {};
  last_ = now;
  size_.count += io::LogTimes::kEntryBytes;
  return Bytes{io::LogTimes::kEntryBytes};
}

}  // namespace lockstep::runner
