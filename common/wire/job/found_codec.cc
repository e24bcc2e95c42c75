#include "common/wire/job/found_codec.h"

#include <algorithm>

#include "common/wire/table_codec.h"
#include "proto/fabric.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::FoundRank, FoundRank);
LOCKSTEP_TABLE_CODEC(lockstep::RankStanding, RankStanding);
LOCKSTEP_TABLE_CODEC(lockstep::RankPace, RankPace);

namespace {

// The subject of a finding. Earlier runners give it in the text of `fact`. A newer one may know
// subjects that we do not.
FoundAbout about_of(const Found& from, FoundKind kind) {
  if (from.about() == 0 && kind == FoundKind::not_started && from.fact() == "the rendezvous")
    return FoundAbout::rendezvous;
  if (from.about() == 0 && kind == FoundKind::cycle && from.fact() == "lock")
    return FoundAbout::lock;
  return with_number<FoundAbout>(from.about()).value_or(FoundAbout::named);
}

}  // namespace

void to_wire(const lockstep::Found& from, Found* to) {
  write_table(from, to);
  to->set_about(describe(from.about).number);
}

Status from_wire(const Found& from, lockstep::Found* to) {
  TRY(read_table(from, to));
  to->about = about_of(from, to->kind);
  return {};
}

void write_found(const FoundList& from, FoundsOnWire* to) {
  const std::size_t count = std::min(from.size(), kMaxFound);
  for (std::size_t i = 0; i < count; ++i) to_wire(from[i], to->Add());
}

// Reads a list of findings. A newer runner may know kinds and verdicts that we do not.
Status read_found(const FoundsOnWire& from, FoundList* to) {
  TRY(check_count(from.size(), kMaxFound, "found"));
  for (const Found& one : from) {
    const bool is_newer = one.kind() > static_cast<int>(FoundKind::different_versions) + 1 ||
                          one.verdict() > static_cast<int>(FoundVerdict::hangs) + 1;
    if (!is_newer) TRY(from_wire(one, &to->emplace_back()));
  }
  return {};
}

}  // namespace lockstep::pb
