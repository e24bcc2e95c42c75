#include "launcher/core/computes.h"

namespace lockstep::launcher {

std::string target_of(const JobSpec& spec) {
  return spec.compute.empty() ? std::string(kLocalCompute) : spec.compute;
}

const Compute* Computes::find(const std::string& name) const {
  const auto found = computes_.find(name);
  return found == computes_.end() ? nullptr : &found->second;
}

bool Computes::has(const std::string& name) const {
  return name == kLocalCompute || find(name) != nullptr;
}

std::string Computes::pool_of(const std::string& target) const {
  const Compute* compute = find(target);
  if (target.empty()) return std::string(kLocalCompute);
  if (compute == nullptr) return target;
  switch (compute->spec.type) {
    case ComputeType::local: return std::string(kLocalCompute);
    case ComputeType::virtualmachine: return target;
  }
  return target;
}

const std::set<NodeId>& Computes::nodes_of(const std::string& pool) const {
  static const std::set<NodeId> kNone;
  const auto found = nodes_.find(pool);
  return found == nodes_.end() ? kNone : found->second;
}

ComputeLoad Computes::load_of(const std::string& target) const {
  const auto found = loads_.find(target);
  return found == loads_.end() ? ComputeLoad{} : found->second;
}

void Computes::apply(Instant at, const ComputeCreated& fact) {
  computes_[fact.spec.name] = {fact.spec, at, fact.by};
}

void Computes::apply(Instant, const ComputeUpdated& fact) {
  const auto found = computes_.find(fact.spec.name);
  if (found != computes_.end()) found->second.spec = fact.spec;
}

void Computes::apply(Instant, const ComputeDeleted& fact) { computes_.erase(fact.name); }

void Computes::remove_node(const std::string& pool, NodeId node) {
  const auto found = nodes_.find(pool);
  if (found == nodes_.end()) return;
  found->second.erase(node);
  if (found->second.empty()) nodes_.erase(found);
}

void Computes::count(const JobSpec& spec, const ComputeLoad& change) {
  const auto entry = loads_.try_emplace(target_of(spec)).first;
  ComputeLoad& load = entry->second;
  load.unfinished += change.unfinished;
  load.queued += change.queued;
  load.running += change.running;
  if (load == ComputeLoad{}) loads_.erase(entry);
}

}  // namespace lockstep::launcher
