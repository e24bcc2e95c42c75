#include "common/wire/people/audit_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxNotes = 1'000;

static_assert(is_wire_of(lockstep::AuditOutcome::done, AUDIT_OUTCOME_DONE));
static_assert(is_wire_of(lockstep::AuditOutcome::refused, AUDIT_OUTCOME_REFUSED));
static_assert(is_wire_of(lockstep::AuditOutcome::read, AUDIT_OUTCOME_READ));
static_assert(is_wire_of(lockstep::AuditOutcome::note, AUDIT_OUTCOME_NOTE));

void to_wire(const lockstep::AuditMark& from, AuditMark* to) {
  to->set_number(from.number);
  to->set_digest(from.digest);
}
Status from_wire(const AuditMark& from, lockstep::AuditMark* to) {
  to->number = from.number();
  return read_text(from.digest(), "mark.digest", &to->digest, 256);
}

}  // namespace

void to_wire(const lockstep::AuditEntry& from, AuditEntry* to) {
  to->set_number(from.number);
  to->set_at_ns(from.at.ns);
  to->set_who(from.who);
  to->set_key(from.key);
  to->set_address(from.address);
  to->set_what(from.what);
  to->set_object(from.object);
  to->set_outcome(wire_enum<AuditOutcome>(from.outcome));
  to->set_detail(fitting_text(from.detail));
  to->set_project(from.project);
}
Status from_wire(const AuditEntry& from, lockstep::AuditEntry* to) {
  to->number = from.number();
  TRY(read_instant(from.at_ns(), "entry.at", &to->at));
  TRY(read_text(from.who(), "entry.who", &to->who));
  TRY(read_text(from.key(), "entry.key", &to->key));
  TRY(read_text(from.address(), "entry.address", &to->address));
  TRY(read_text(from.what(), "entry.what", &to->what));
  TRY(read_text(from.object(), "entry.object", &to->object));
  TRY(read_enum(from.outcome(), lockstep::AuditOutcome::note, "entry.outcome", &to->outcome));
  TRY(read_text(from.project(), "entry.project", &to->project));
  return read_text(from.detail(), "entry.detail", &to->detail);
}

void to_wire(const lockstep::QueryAudit& from, QueryAudit* to) {
  to->set_since_ns(from.since.ns);
  to->set_user(from.user);
  to->set_node(from.node);
  to->set_before(from.before);
  to->set_limit(from.limit);
  to->set_verb(from.verb);
  to->set_object(from.object);
  to->set_project(from.project);
}
Status from_wire(const QueryAudit& from, lockstep::QueryAudit* to) {
  TRY(read_instant(from.since_ns(), "since", &to->since));
  TRY(read_text(from.user(), "user", &to->user, 256));
  TRY(read_text(from.node(), "node", &to->node, 256));
  TRY(read_text(from.verb(), "verb", &to->verb, 256));
  TRY(read_text(from.object(), "object", &to->object, 1'024));
  TRY(read_text(from.project(), "project", &to->project, 256));
  to->before = from.before();
  to->limit = from.limit();
  return {};
}

void to_wire(const lockstep::VerifyAudit& from, VerifyAudit* to) {
  to_wire(from.mark, to->mutable_mark());
}
Status from_wire(const VerifyAudit& from, lockstep::VerifyAudit* to) {
  return from_wire(from.mark(), &to->mark);
}

void to_wire(const lockstep::AuditReply& from, AuditReply* to) {
  write_list(from.entries, to->mutable_entries());
  to->set_before(from.before);
}
Status from_wire(const AuditReply& from, lockstep::AuditReply* to) {
  to->before = from.before();
  return read_list(from.entries(), kMaxAuditEntriesInReply, "entries", &to->entries);
}

void to_wire(const lockstep::AuditVerified& from, AuditVerified* to) {
  to->set_entries(from.entries);
  to->set_first(from.first);
  to_wire(from.last, to->mutable_last());
  to->set_problem(fitting_text(from.problem));
  write_texts(from.notes, to->mutable_notes());
}
Status from_wire(const AuditVerified& from, lockstep::AuditVerified* to) {
  to->entries = from.entries();
  to->first = from.first();
  TRY(from_wire(from.last(), &to->last));
  TRY(read_text(from.problem(), "problem", &to->problem));
  return read_texts(from.notes(), kMaxNotes, "notes", &to->notes);
}

}  // namespace lockstep::pb
