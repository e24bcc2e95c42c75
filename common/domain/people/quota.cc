#include "common/domain/people/quota.h"

#include <fmt/format.h>

#include "common/base/bytes.h"

namespace lockstep {

std::string_view to_string(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return "queued-jobs";
    case QuotaLimit::running_jobs: return "running-jobs";
    case QuotaLimit::nodes: return "nodes";
    case QuotaLimit::cpus: return "cpus";
    case QuotaLimit::gpus: return "gpus";
    case QuotaLimit::snapshot_bytes: return "snapshot-size";
    case QuotaLimit::spec_bytes: return "spec-size";
    case QuotaLimit::versions: return "versions";
    case QuotaLimit::version_bytes: return "version-size";
    case QuotaLimit::version_files: return "version-files";
    case QuotaLimit::job_files: return "job-files";
    case QuotaLimit::kept_jobs: return "kept-jobs";
  }
  return "?";
}

bool is_in_bytes(QuotaLimit limit) {
  return limit == QuotaLimit::snapshot_bytes || limit == QuotaLimit::spec_bytes ||
         limit == QuotaLimit::version_bytes || limit == QuotaLimit::version_files ||
         limit == QuotaLimit::job_files;
}

bool is_summed_up(QuotaLimit limit) { return limit != QuotaLimit::snapshot_bytes; }

std::string amount(QuotaLimit limit, std::uint64_t n) {
  return is_in_bytes(limit) ? to_string(Bytes{n}) : std::to_string(n);
}

std::string_view to_string(QuotaHolder::Kind kind) {
  switch (kind) {
    case QuotaHolder::Kind::user: return "user";
    case QuotaHolder::Kind::project: return "project";
  }
  return "?";
}

std::string to_string(const QuotaHolder& holder) {
  return fmt::format("{} '{}'", to_string(holder.kind), holder.name);
}

}  // namespace lockstep
