#include "launcher/cli/quota_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "launcher/cli/output.h"

namespace lockstep::cli {
namespace {

bool is_summed_up(QuotaLimit limit) { return limit != QuotaLimit::snapshot_bytes; }

std::string json_name(QuotaLimit limit) {
  std::string name(to_string(limit));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

Json quotas_json(const std::vector<QuotaView>& quotas) {
  Json list = Json::array();
  for (const QuotaView& view : quotas) {
    Json limits = Json::object();
    for (const auto& line : view.lines)
      limits[json_name(line.limit)] = {
          {"limit", line.most ? Json(*line.most) : Json(nullptr)},
          {"used", is_summed_up(line.limit) ? Json(line.used) : Json(nullptr)},
          {"default", line.is_default}};
    list.push_back({{"kind", std::string(to_string(view.holder.kind))},
                    {"name", view.holder.name},
                    {"limits", limits}});
  }
  return list;
}

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
