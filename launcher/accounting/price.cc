#include "launcher/accounting/price.h"

#include <algorithm>

namespace lockstep::launcher {
namespace {

// Of nothing, whatever is held, nothing.
double share_of(double held, double all) { return all > 0 && held > 0 ? held / all : 0; }

}  // namespace

double price_of_part(const Size& machine, int cpus, int gpus, Bytes memory, bool whole) {
  const double price = machine.price_per_hour.value_or(0);
  if (whole || !(price > 0)) return std::max(price, 0.0);
  const double share = std::max(
      {share_of(cpus, machine.vcpus), share_of(gpus, machine.gpus),
       share_of(static_cast<double>(memory.count), static_cast<double>(machine.memory.count))});
  return price * std::min(share, 1.0);
}

}  // namespace lockstep::launcher
