#include "launcher/core/queue/quota_queue.h"

#include <algorithm>

namespace lockstep::launcher {
namespace {

Demand demand_in_line(const State& state, const JobSpec& spec,
                      const std::optional<Demand>& measured) {
  return measured ? *measured : least_demand(state, spec);
}

}  // namespace

QuotaQueue::Key QuotaQueue::key_of(const JobSpec& spec) {
  const Shape shape = shape_of(spec);
  return {spec.submitter, spec.project, spec.queue.priority, shape.nodes,
          shape.cpus,     shape.gpus,   shape.gpus_at_least};
}

void QuotaQueue::hold(const Job& job, std::optional<Demand> measured) {
  const Key key = key_of(job.spec);
  Line& line = lines_[key];
  line.orders.insert(job.order);
  keys_.insert_or_assign(job.order, key);
  if (measured) line.measured = measured;
}

void QuotaQueue::remove(const Job& job) {
  const auto key = keys_.find(job.order);
  if (key == keys_.end()) return;
  const auto line = lines_.find(key->second);
  line->second.orders.erase(job.order);
  if (line->second.orders.empty()) lines_.erase(line);
  keys_.erase(key);
}

Why QuotaQueue::reason(const State& state, const Job& job) const {
  const auto line = lines_.find(key_of(job.spec));
  if (line == lines_.end()) return {};
  return over_quota(state, job.spec, demand_in_line(state, job.spec, line->second.measured));
}

// Takes the first job of the line and advances to the next line. A line that became empty is
// removed.
std::optional<std::uint64_t> QuotaQueue::take_first(const State& state, Lines::iterator& it) {
  Line& line = it->second;
  const std::uint64_t first = *line.orders.begin();
  const JobSpec& spec = state.job(state.queue().at(first))->spec;
  if (over_quota(state, spec, demand_in_line(state, spec, line.measured))) {
    ++it;
    return std::nullopt;
  }
  line.orders.erase(first);
  keys_.erase(first);
  it = line.orders.empty() ? lines_.erase(it) : std::next(it);
  return first;
}

std::set<std::uint64_t> QuotaQueue::take_fitting(const State& state) {
  std::set<std::uint64_t> orders;
  for (auto it = lines_.begin(); it != lines_.end();)
    if (const auto order = take_first(state, it)) orders.insert(*order);
  return orders;
}

std::optional<std::uint64_t> QuotaQueue::take_next(const State& state, const JobSpec& spec) {
  auto line = lines_.find(key_of(spec));
  if (line == lines_.end()) return std::nullopt;
  return take_first(state, line);
}

void QuotaQueue::nodes_changed() {
  for (auto& [key, line] : lines_) line.measured.reset();
}

}  // namespace lockstep::launcher
