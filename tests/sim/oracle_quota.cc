// Quotas: counted anew from the committed state at each placement.

#include "tests/sim/oracle.h"

namespace lockstep::sim {

namespace {

bool is_of(const JobSpec& spec, const QuotaHolder& holder) {
  const std::string project = spec.project.empty() ? "default" : spec.project;
  return (holder.kind == QuotaHolder::Kind::user ? spec.submitter : project) == holder.name;
}

std::uint64_t held(const launcher::Job& job, QuotaLimit limit) {
  if (limit == QuotaLimit::running_jobs) return job.is_placed() ? 1 : 0;
  std::uint64_t count = 0;
  for (const launcher::Attempt& attempt : job.attempts)
    for (const launcher::Part& part : attempt.parts)
      if (!part.ended()) count += limit == QuotaLimit::nodes ? 1 : part.allotment.cpus.size();
  return count;
}

std::uint64_t taken_by(const launcher::AttemptPlaced& fact, QuotaLimit limit) {
  if (limit == QuotaLimit::running_jobs) return 1;
  if (limit == QuotaLimit::nodes) return fact.parts.size();
  std::uint64_t cpus = 0;
  for (const auto& part : fact.parts) cpus += part.allotment.cpus.size();
  return cpus;
}

}  // namespace

void Oracle::check_quotas(const launcher::Job& job, const launcher::AttemptPlaced& fact) {
  for (const SetQuota& quota : quotas_) {
    if (!is_of(job.spec, quota.holder)) continue;
    for (const auto& [limit, most] : quota.set) {
      std::uint64_t sum = taken_by(fact, limit);
      for (const auto& [id, other] : state_.jobs())
        if (is_of(other.spec, quota.holder)) sum += held(other, limit);
      if (sum == most) world_.count("launcher:quota_reached");
      if (sum > most)
        world_.violate("oracle:quota",
                       fmt::format("with {} {} holds {} of {} {}", to_string(fact.attempt),
                                   to_string(quota.holder), sum, most, to_string(limit)));
    }
  }
}

}  // namespace lockstep::sim
