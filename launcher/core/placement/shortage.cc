#include "launcher/core/placement/shortage.h"

#include <algorithm>

#include "launcher/core/placement/node_fit.h"

namespace lockstep::launcher {

namespace {

bool is_over(Bytes asked, Bytes cap) { return cap.count != 0 && asked > cap; }

}  // namespace

void Shortage::add(const std::string& node, const Inventory& inventory, const Shape& shape) {
  bool is_explained = lacks_engine(inventory);
  const auto check = [&](bool is_exceeded, AskedAmount amount) {
    if (!is_exceeded) return;
    exceeded_.insert(amount);
    is_explained = true;
  };
  const std::size_t gpus = inventory.gpus.size();
  most_gpus_ = std::max(most_gpus_, gpus);
  check(shape.cpus && static_cast<std::size_t>(*shape.cpus) > inventory.cpus.size(),
        AskedAmount::cpus);
  check(shape.memory && *shape.memory > inventory.memory, AskedAmount::memory);
  const bool has_few_gpus = shape.gpus && static_cast<std::size_t>(*shape.gpus) > gpus;
  check(has_few_gpus, AskedAmount::gpus);
  const LimitRequest& limits = shape.limits;
  const LimitCaps& caps = inventory.caps;
  check(limits.pids && caps.pids != 0 && *limits.pids > caps.pids, AskedAmount::pids);
  check(limits.log && is_over(*limits.log, caps.log), AskedAmount::log);
  check(limits.disk && is_over(*limits.disk, caps.disk), AskedAmount::disk);
  const bool lacks_one_each = static_cast<std::size_t>(shape.gpus_at_least) > gpus;
  if (lacks_one_each) lacks_gpu_for_each_rank_ = is_explained = true;
  if (gpus == 0 && (has_few_gpus || lacks_one_each) && without_gpu_.empty()) without_gpu_ = node;
  if (!is_explained && too_small(inventory, shape)) cannot_limit_ = true;
}

ShortOf Shortage::total() const {
  ShortOf total;
  total.amounts.assign(exceeded_.begin(), exceeded_.end());
  total.no_gpus = most_gpus_ == 0;
  total.node_without_gpu = without_gpu_;
  total.gpu_for_each_rank = lacks_gpu_for_each_rank_;
  total.limits = cannot_limit_;
  return total;
}

}  // namespace lockstep::launcher
