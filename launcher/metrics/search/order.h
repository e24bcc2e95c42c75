#pragma once
// How search_runs sorts: "metrics.loss ASC", "attributes.start_time DESC", "params.`batch size`".

#include <cstddef>
#include <string_view>

#include "common/base/result.h"
#include "launcher/metrics/search/field.h"

namespace lockstep::metrics {

struct Order {
  Field field;  // no dataset
  bool ascending = true;
  friend bool operator==(const Order&, const Order&) = default;
};

inline constexpr std::size_t kMaxOrders = 20;

// invalid_argument: "order_by: column 9: …".
Result<Order> parse_order(std::string_view text);

}  // namespace lockstep::metrics
