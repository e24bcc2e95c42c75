#include "launcher/core/shortage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "launcher/core/node_fit.h"

namespace lockstep::launcher {

namespace {

constexpr std::string_view kGpus = "--gpus";

bool is_over(Bytes asked, Bytes cap) { return cap.count != 0 && asked > cap; }

// "lockstep.resources" of "lockstep.resources.cpus".
std::string_view section_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

}  // namespace

void Shortage::add(const std::string& node, const Inventory& inventory, const Shape& shape) {
  bool is_explained = lacks_engine(inventory);
  const auto check = [&](bool is_exceeded, std::string_view flag, std::string_view key) {
    if (!is_exceeded) return;
    exceeded_[flag] = key;
    is_explained = true;
  };
  const std::size_t gpus = inventory.gpus.size();
  most_gpus_ = std::max(most_gpus_, gpus);
  check(shape.cpus && static_cast<std::size_t>(*shape.cpus) > inventory.cpus.size(), "--cpus",
        "lockstep.resources.cpus");
  check(shape.memory && *shape.memory > inventory.memory, "--memory", "lockstep.resources.memory");
  const bool has_few_gpus = shape.gpus && static_cast<std::size_t>(*shape.gpus) > gpus;
  check(has_few_gpus, kGpus, "lockstep.resources.gpus");
  const LimitRequest& limits = shape.limits;
  const LimitCaps& caps = inventory.caps;
  check(limits.pids && caps.pids != 0 && *limits.pids > caps.pids, "--pids-limit",
        "lockstep.limits.pids");
  check(limits.log && is_over(*limits.log, caps.log), "--log-limit", "lockstep.limits.log");
  check(limits.disk && is_over(*limits.disk, caps.disk), "--disk-limit", "lockstep.limits.disk");
  const bool lacks_one_each = static_cast<std::size_t>(shape.gpus_at_least) > gpus;
  if (lacks_one_each) lacks_gpu_for_each_rank_ = is_explained = true;
  if (gpus == 0 && (has_few_gpus || lacks_one_each) && without_gpu_.empty()) without_gpu_ = node;
  if (!is_explained && too_small(inventory, shape)) cannot_limit_ = true;
}

std::string Shortage::less() const {
  if (exceeded_.empty())
    return lacks_gpu_for_each_rank_
               ? "leave out lockstep.gpus_per_rank, or ask for fewer ranks on each node (-n; "
                 "distribution.process_count_per_instance in a job file)"
           : cannot_limit_ ? "leave out --require-limits (lockstep.limits.enforcement in a job "
                             "file)"
                           : "ask for less";
  const bool has_no_gpus = most_gpus_ == 0 && exceeded_.count(kGpus) != 0;
  if (has_no_gpus && exceeded_.size() == 1)
    return fmt::format("leave out {} ({} in a job file)", kGpus, exceeded_.at(kGpus));
  std::vector<std::string_view> flags, keys;
  for (const auto& [flag, key] : exceeded_) {
    flags.push_back(flag);
    const std::string_view named = exceeded_.size() == 1 ? key : section_of(key);
    if (std::find(keys.begin(), keys.end(), named) == keys.end()) keys.push_back(named);
  }
  return fmt::format("ask for less ({}; {} in a job file)", fmt::join(flags, ", "),
                     fmt::join(keys, " and "));
}

std::string Shortage::remedy(const std::string& or_more, const std::string& restart) const {
  std::string text = less() + or_more;
  if (most_gpus_ == 0 && !without_gpu_.empty())
    text +=
        fmt::format("; if {} has gpus, Lockstep does not see them: run `nvidia-smi` there, then {}",
                    without_gpu_, restart);
  return text;
}

}  // namespace lockstep::launcher
