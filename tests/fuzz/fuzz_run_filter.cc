// MLflow's filters and orders: an answer for every text, and what is taken reads back the same.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "launcher/metrics/search/filter.h"
#include "launcher/metrics/search/like.h"
#include "launcher/metrics/search/order.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::metrics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_order(text).has_value();
  (void)like(text.substr(size / 2), text.substr(0, size / 2));
  auto filter = parse_filter(text);
  if (!filter) return 0;
  const std::string written = to_string(*filter);
  if (written.size() > kMaxFilterBytes) return 0;
  auto again = parse_filter(written);
  if (!again || again->size() != filter->size()) std::abort();
  for (std::size_t i = 0; i < filter->size(); ++i) {
    (*again)[i].column = (*filter)[i].column;
    if ((*again)[i] != (*filter)[i]) std::abort();
  }
  return 0;
}
