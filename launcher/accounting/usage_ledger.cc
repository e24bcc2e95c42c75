#include "launcher/accounting/usage_ledger.h"

#include "common/base/check.h"

namespace lockstep::launcher {

void UsageLedger::charge(const AttemptUse& ended) {
  CHECK(ended.ended.has_value(), "only what has ended is charged");
  add(rows_of(ended, *ended.ended));
}

void UsageLedger::add(const UsageRows& rows) {
  for (const auto& [key, sums] : rows) rows_[key] += sums;
}

void UsageLedger::each(Day since, Day until,
                       const std::function<void(const UsageKey&, const UsageSums&)>& visit) const {
  for (auto row = rows_.lower_bound({since, "", "", "", ""});
       row != rows_.end() && row->first.day < until; ++row)
    visit(row->first, row->second);
}

}  // namespace lockstep::launcher
