#include "launcher/core/memory/machine_samples.h"

#include <algorithm>
#include <tuple>

namespace lockstep::launcher {

const Inventory* MachineSamples::of(const std::string& target) const {
  const auto known = inventories_.find(target);
  if (known == inventories_.end()) return nullptr;
  std::vector<const Inventory*> sizes;
  for (const auto& [machine, inventory] : known->second) sizes.push_back(&inventory);
  const auto size = [](const Inventory* one) {
    return std::tuple(one->gpus.size(), one->cpus.size(), one->memory.count);
  };
  std::sort(sizes.begin(), sizes.end(),
            [&](const Inventory* a, const Inventory* b) { return size(a) < size(b); });
  return sizes[sizes.size() / 2];
}

void MachineSamples::learn(const std::string& target, const std::string& machine,
                           const Inventory& inventory) {
  auto& all = inventories_[target];
  std::erase_if(all, [&](const auto& one) { return one.first == machine; });
  all.emplace_back(machine, inventory);
  if (all.size() > kMostSamples) all.erase(all.begin());
}

void MachineSamples::lacks(const std::string& target, const std::string& machine,
                           const std::string& account, const Why& why, Instant now) {
  Lacking& lacking = lacking_accounts_[target][account];
  if (now - lacking.last > kLackingAccountFor) lacking.machines.clear();
  lacking.machines.insert(machine);
  lacking.why = why;
  lacking.last = now;
}

bool MachineSamples::counts(const Lacking& lacking, Instant now) {
  return lacking.machines.size() >= 2 && now - lacking.last <= kLackingAccountFor;
}

const Why* MachineSamples::why_lacking(const std::string& target, const std::string& account,
                                       Instant now) const {
  const auto known = lacking_accounts_.find(target);
  if (known == lacking_accounts_.end()) return nullptr;
  const auto found = known->second.find(account);
  const bool is_so = found != known->second.end() && counts(found->second, now);
  return is_so ? &found->second.why : nullptr;
}

std::optional<std::pair<std::string, Why>> MachineSamples::lacking(const std::string& target,
                                                                   Instant now) const {
  if (const auto known = lacking_accounts_.find(target); known != lacking_accounts_.end())
    for (const auto& [account, lacking] : known->second)
      if (counts(lacking, now)) return std::pair(account, lacking.why);
  return std::nullopt;
}

void MachineSamples::forget(const std::string& target, const std::string& machine) {
  if (const auto known = inventories_.find(target); known != inventories_.end()) {
    std::erase_if(known->second, [&](const auto& one) { return one.first == machine; });
    if (known->second.empty()) inventories_.erase(known);
  }
  if (const auto known = lacking_accounts_.find(target); known != lacking_accounts_.end())
    for (auto& [account, lacking] : known->second) lacking.machines.erase(machine);
}

}  // namespace lockstep::launcher
