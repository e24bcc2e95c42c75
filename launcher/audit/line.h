#pragma once
// One entry as a line of text: a JSON object whose last fields are `prev`, the digest of the entry
// before it (64 zeros before the first), and `digest`, the SHA-256 of all that stands before that
// field in the line. So no entry can be changed, removed, added or moved without all later ones
// being written anew. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/audit.h"

namespace lockstep::launcher {

inline const std::string kNoAuditDigest(64, '0');
inline constexpr std::size_t kMaxAuditText = 2'048;  // of each text in an entry; more is cut

struct AuditLine {
  std::string text;  // without the newline
  std::string digest;
};
AuditLine audit_line(const AuditEntry& entry, const std::string& prev);

// What the chain needs of a line. nullopt: it is no entry, or its text has another digest.
struct AuditLink {
  std::uint64_t number = 0;
  std::string_view prev, digest;
};
std::optional<AuditLink> audit_link(std::string_view line);
std::optional<AuditEntry> audit_entry(std::string_view line);

// The note that the oldest entries were removed, since the log is bounded: `last` was the newest of
// them.
AuditEntry removal_note(const AuditMark& last);
// The same, read. nullopt: it is another entry.
std::optional<AuditMark> removed_by(const AuditEntry& entry);

}  // namespace lockstep::launcher
