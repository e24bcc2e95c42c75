#pragma once
// Entries of the launcher's audit log, as plain values: who requested what on which object, and the
// outcome. An entry never holds values of variables or secrets. launcher/audit stores the log and
// chains its entries.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep {

enum class AuditOutcome {
  done,     // the request changed something, or there was nothing left to change
  refused,  // the request changed nothing; `detail` says why
  read,     // somebody read an object of another user
  note,     // a remark about the log itself, or something that the launcher noticed
};
Word describe(AuditOutcome outcome);
std::string_view to_string(AuditOutcome outcome);

inline constexpr std::size_t kMaxAuditEntriesInReply = 1'000;
inline constexpr std::size_t kMaxAuditNotes = 1'000;

struct AuditEntry {
  std::uint64_t number = 0;  // 1, 2, … without gaps
  Instant at;
  std::string who;      // "alice", "alice (attempt train.1)", "node gpu-1", "lockstepd"
  std::string key;      // the requester's, as in key_word.h; "": none
  std::string address;  // "": unknown
  std::string what;     // "cancel job"
  std::string object;   // "job train"
  AuditOutcome outcome = AuditOutcome::note;
  std::string detail;
  std::string project = {};  // the project of the object; "": none, or an entry older than projects
  static void table(auto& s, auto&& see) {
    see(field<1>, "number", s.number);
    see(field<2>, "at", s.at);
    see(field<3>, "who", s.who);
    see(field<4>, "key", s.key);
    see(field<5>, "address", s.address);
    see(field<6>, "what", s.what);
    see(field<7>, "object", s.object);
    see(field<8>, "outcome", s.outcome);
    see(field<9>, "detail", s.detail, kCutText);
    see(field<10>, "project", s.project);
  }
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// The number and the digest of an entry. Somebody who keeps a mark outside the log can check later
// whether the log still has that entry.
struct AuditMark {
  std::uint64_t number = 0;
  std::string digest;  // 64 hexadecimal digits
  static void table(auto& s, auto&& see) {
    see(field<1>, "number", s.number);
    see(field<2>, "digest", s.digest, {.bytes = 256});
  }
  friend bool operator==(const AuditMark&, const AuditMark&) = default;
};

// ---- requests ----------------------------------------------------------------------------------

struct QueryAudit {  // answered by AuditReply, a page at a time, the newest page first
  static constexpr int kBody = 190;
  Instant since;             // only entries at this time or later
  std::string user, node;    // only entries by or about this user or node; "": all
  std::uint64_t before = 0;  // only entries with a smaller number; 0: up to the newest
  std::uint32_t limit = 0;   // 0: as many as one reply holds
  std::string verb = {};     // "cancel job", "cancel"; "": all. See has_verb()
  std::string object = {};   // "job train", "train"; "": all. See has_object()
  std::string project = {};  // only entries about objects of this project
  static void table(auto& s, auto&& see) {
    see(field<1>, "since", s.since);
    see(field<2>, "user", s.user, kUserNameRule);
    see(field<3>, "node", s.node, kUserNameRule);
    see(field<4>, "before", s.before);
    see(field<5>, "limit", s.limit);
    see(field<6>, "verb", s.verb, kUserNameRule);
    see(field<7>, "object", s.object, {.bytes = 1'024});
    see(field<8>, "project", s.project, kUserNameRule);
  }
  friend bool operator==(const QueryAudit&, const QueryAudit&) = default;
};
struct VerifyAudit {  // answered by AuditVerified
  static constexpr int kBody = 191;
  AuditMark mark;  // the log must have this entry; number 0: nothing is checked
  static void table(auto& s, auto&& see) { see(field<1>, "mark", s.mark); }
  friend bool operator==(const VerifyAudit&, const VerifyAudit&) = default;
};

// ---- replies -----------------------------------------------------------------------------------

struct AuditReply {
  static constexpr int kBody = 195;
  std::vector<AuditEntry> entries;  // oldest first
  std::uint64_t before = 0;         // QueryAudit::before for the next page; 0: this is the last
  static void table(auto& s, auto&& see) {
    see(field<1>, "entries", s.entries, {.count = kMaxAuditEntriesInReply});
    see(field<2>, "before", s.before);
  }
  friend bool operator==(const AuditReply&, const AuditReply&) = default;
};
struct AuditVerified {
  static constexpr int kBody = 196;
  std::uint64_t entries = 0, first = 0;  // how many were checked, and the number of the first
  AuditMark last;
  std::string problem;             // the first problem: file, line and fault; "": none
  std::vector<std::string> notes;  // harmless remarks
  static void table(auto& s, auto&& see) {
    see(field<1>, "entries", s.entries);
    see(field<2>, "first", s.first);
    see(field<3>, "last", s.last);
    see(field<4>, "problem", s.problem, kCutText);
    see(field<5>, "notes", s.notes, {.count = kMaxAuditNotes});
  }
  friend bool operator==(const AuditVerified&, const AuditVerified&) = default;
};

// Whether all words of `verb` are in what was asked for, in any order: "cancel", "job cancel".
bool has_verb(const AuditEntry& entry, std::string_view verb);
// Whether one of the entry's objects is called so, with its kind or without, and of an environment
// or an asset also without the version: "job train", "train", "data faces".
bool has_object(const AuditEntry& entry, std::string_view object);

}  // namespace lockstep
