#include "common/wire/people/quota_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxLimits = 64;  // in one message
constexpr int kLastEarlierLimit = 58;   // earlier peers refuse views with later ones
constexpr std::size_t kMaxHolders = kMaxUsers + kMaxProjects + 1;

// On the wire and in journals, for ever; the enum's own order may change.
int number_of(lockstep::QuotaHolder::Kind kind) {
  switch (kind) {
    case lockstep::QuotaHolder::Kind::user: return 1;
    case lockstep::QuotaHolder::Kind::project: return 2;
  }
  return 0;
}

}  // namespace

int number_of(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return 1;
    case QuotaLimit::running_jobs: return 2;
    case QuotaLimit::nodes: return 3;
    case QuotaLimit::cpus: return 4;
    case QuotaLimit::gpus: return 5;
    case QuotaLimit::snapshot_bytes: return 6;
    case QuotaLimit::spec_bytes: return 7;
    case QuotaLimit::versions: return 57;
    case QuotaLimit::version_bytes: return 58;
    case QuotaLimit::version_files: return 77;
    case QuotaLimit::job_files: return 79;
    case QuotaLimit::kept_jobs: return 179;
  }
  return 0;
}

Status read_limit(int number, const char* field, QuotaLimit* out) {
  for (const QuotaLimit limit : kQuotaLimits) {
    if (number_of(limit) != number) continue;
    *out = limit;
    return {};
  }
  return bad_field(field, "has a value that this version does not know");
}

void to_wire(const lockstep::QuotaHolder& from, QuotaHolder* to) {
  to->set_kind(number_of(from.kind));
  to->set_name(from.name);
}
Status from_wire(const QuotaHolder& from, lockstep::QuotaHolder* to) {
  using Kind = lockstep::QuotaHolder::Kind;
  for (const Kind kind : {Kind::user, Kind::project}) {
    if (number_of(kind) != from.kind()) continue;
    to->kind = kind;
    return read_text(from.name(), "quota.holder.name", &to->name, 256);
  }
  return bad_field("quota.holder", "has a value that this version does not know");
}

void to_wire(const lockstep::SetQuota& from, SetQuota* to) {
  to_wire(from.holder, to->mutable_holder());
  for (const auto& [limit, value] : from.set) {
    QuotaValue* one = to->add_set();
    one->set_limit(number_of(limit));
    one->set_value(value);
  }
  for (const QuotaLimit limit : from.unset) to->add_unset(number_of(limit));
}
Status from_wire(const SetQuota& from, lockstep::SetQuota* to) {
  TRY(from_wire(from.holder(), &to->holder));
  TRY(check_count(from.set_size(), kMaxLimits, "quota.set"));
  TRY(check_count(from.unset_size(), kMaxLimits, "quota.unset"));
  for (const QuotaValue& one : from.set()) {
    QuotaLimit limit{};
    TRY(read_limit(one.limit(), "quota.set.limit", &limit));
    to->set[limit] = one.value();
  }
  for (const int number : from.unset())
    TRY(read_limit(number, "quota.unset", &to->unset.emplace_back()));
  return {};
}

void to_wire(const lockstep::QuotaView& from, QuotaView* to) {
  to_wire(from.holder, to->mutable_holder());
  for (const auto& line : from.lines) {
    const int limit = number_of(line.limit);
    QuotaLine* one = limit > kLastEarlierLimit ? to->add_later_lines() : to->add_lines();
    one->set_limit(limit);
    if (line.most) one->set_most(*line.most);
    one->set_is_default(line.is_default);
    one->set_used(line.used);
  }
}
Status from_wire(const QuotaView& from, lockstep::QuotaView* to) {
  TRY(from_wire(from.holder(), &to->holder));
  for (const auto* lines : {&from.lines(), &from.later_lines()}) {
    TRY(check_count(lines->size(), kMaxLimits, "quota.lines"));
    for (const QuotaLine& line : *lines) {
      QuotaLimit limit{};
      // A later launcher's limit: those that this version knows are shown all the same.
      if (!read_limit(line.limit(), "quota.line.limit", &limit)) continue;
      auto& one = to->lines.emplace_back();
      one.limit = limit;
      if (line.has_most()) one.most = line.most();
      one.is_default = line.is_default();
      one.used = line.used();
    }
  }
  return {};
}

void to_wire(const lockstep::ListQuotas& from, ListQuotas* to) {
  if (from.holder) to_wire(*from.holder, to->mutable_holder());
  to->set_all(from.all);
}
Status from_wire(const ListQuotas& from, lockstep::ListQuotas* to) {
  to->all = from.all();
  return from.has_holder() ? from_wire(from.holder(), &to->holder.emplace()) : Status();
}

void to_wire(const lockstep::QuotasReply& from, QuotasReply* to) {
  write_list(from.quotas, to->mutable_quotas());
}
Status from_wire(const QuotasReply& from, lockstep::QuotasReply* to) {
  return read_list(from.quotas(), kMaxHolders, "quotas", &to->quotas);
}

}  // namespace lockstep::pb
