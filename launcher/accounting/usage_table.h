#pragma once
// A usage report as rows of cells. Pure.

#include <optional>
#include <string_view>

#include "launcher/accounting/grid.h"
#include "launcher/accounting/usage_report.h"

namespace lockstep::launcher {

enum class UsageUnit { seconds, minutes, hours };  // as sreport's -t
std::optional<UsageUnit> usage_unit_from(std::string_view word);

// For people: what was held in this unit, the part of it that was used, mean waiting time, cost.
// The last row is the total.
Grid usage_table(const UsageReport& report, UsageUnit unit);

// For programs: the keys, then each of usage_fields() by its name, as whole numbers. No total.
Grid usage_cells(const UsageReport& report);

}  // namespace lockstep::launcher
