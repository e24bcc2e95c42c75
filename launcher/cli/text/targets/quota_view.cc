#include "launcher/cli/text/targets/quota_view.h"

#include <fmt/format.h>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

std::string quotas_text(const std::vector<QuotaView>& quotas, bool unlimited) {
  Table table({"OF", "WHAT", "USED", "LIMIT"});
  for (const QuotaView& view : quotas) {
    for (const auto& line : view.lines) {
      const bool is_of_interest = !line.is_default || line.used != 0;
      if (!unlimited && !is_of_interest) continue;
      table.add({fmt::format("{} {}", to_string(view.holder.kind), view.holder.name),
                 std::string(to_string(line.limit)),
                 is_summed_up(line.limit) ? amount(line.limit, line.used) : "-",
                 line.most ? amount(line.limit, *line.most) + (line.is_default ? " (default)" : "")
                           : "unlimited"});
    }
  }
  return table.text();
}

}  // namespace lockstep::cli
