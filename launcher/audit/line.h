#pragma once
// One entry as a line of text: a JSON object whose last fields are `prev`, the previous entry's
// digest (64 zeros for the first entry), and `digest`, the SHA-256 of the line up to that field. So
// no entry can be changed, removed, added or moved without rewriting all later ones. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/people/audit.h"

namespace lockstep::launcher {

inline const std::string kNoAuditDigest(64, '0');
inline constexpr std::size_t kMaxAuditText = 2'048;  // bytes of each text in an entry; cut to this

struct AuditLine {
  std::string text;  // the line without the newline
  std::string digest;
};
AuditLine audit_line(const AuditEntry& entry, const std::string& prev);

// The fields of a line that chain it. nullopt: the line is not an entry, or its digest is wrong.
struct AuditLink {
  std::uint64_t number = 0;
  std::string_view prev, digest;
};
std::optional<AuditLink> audit_link(std::string_view line);
std::optional<AuditEntry> audit_entry(std::string_view line);

// The entry that records the removal of the oldest entries, which keeps the log bounded; `last` is
// the newest of those removed.
AuditEntry removal_note(const AuditMark& last);
// Reads `last` from a removal_note. nullopt: the entry is another one.
std::optional<AuditMark> removed_by(const AuditEntry& entry);

}  // namespace lockstep::launcher
