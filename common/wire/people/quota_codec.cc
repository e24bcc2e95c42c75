#include "common/wire/people/quota_codec.h"

#include "common/wire/table_codec.h"
#include "proto/quota.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::QuotaHolder, QuotaHolder);
LOCKSTEP_TABLE_CODEC(lockstep::SetQuota, SetQuota);
LOCKSTEP_TABLE_CODEC(lockstep::ListQuotas, ListQuotas);
LOCKSTEP_TABLE_CODEC(lockstep::QuotasReply, QuotasReply);

void to_wire(const lockstep::QuotaView& from, QuotaView* to) {
  constexpr int kLastEarlierLimit = 58;  // earlier peers refuse views with later ones
  write_table(from, to);
  for (const auto& line : from.lines)
    to_wire(line, describe(line.limit).number > kLastEarlierLimit ? to->add_later_lines()
                                                                  : to->add_lines());
}
Status from_wire(const QuotaView& from, lockstep::QuotaView* to) {
  TRY(read_table(from, to));
  for (const auto* lines : {&from.lines(), &from.later_lines()}) {
    TRY(check_count(lines->size(), kMostQuotaLimits, "quota_view.lines"));
    for (const QuotaLine& line : *lines) {
      // A later launcher's limit: those that this version knows are shown all the same.
      lockstep::QuotaView::Line known;
      if (from_wire(line, &known)) to->lines.push_back(known);
    }
  }
  return {};
}

}  // namespace lockstep::pb
