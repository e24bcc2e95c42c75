#pragma once
// The on-disk tree of the audit log; no path in it is put together anywhere else.
//
//   <launcher's home>/audit/      0700
//     audit-00000001.jsonl        0600; a segment: one entry a line (line.h); it is only appended
//                                 to; when there are too many segments, the oldest is removed
//     head                        0600: "NUMBER DIGEST" of an entry that is on disk; if it or an
//                                 earlier entry is missing, the log was damaged

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/people/audit.h"

namespace lockstep::launcher {

std::string audit_folder(const std::string& launcher_home);

struct AuditSegment {
  std::uint64_t number = 0;
  std::string path;
};
std::string audit_segment_path(const std::string& folder, std::uint64_t number);
// The segments, oldest first; none if there is no folder.
Result<std::vector<AuditSegment>> audit_segments(const std::string& folder);

std::string audit_head_path(const std::string& folder);
Status write_audit_head(const std::string& folder, const AuditMark& head);
// Reads the head. nullopt: there is none, or it cannot be parsed (it is written without a sync).
std::optional<AuditMark> read_audit_head(const std::string& folder);
// Parses "NUMBER:DIGEST", or the file's form "NUMBER DIGEST". nullopt: `text` is neither.
std::optional<AuditMark> audit_mark_from(const std::string& text);

// The upper bound of a segment's size, whatever AuditLimits says; only its last entry may exceed
// it.
inline constexpr std::uint64_t kMaxSegmentBytes = 64u << 20;

}  // namespace lockstep::launcher
