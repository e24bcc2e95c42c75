#include "common/domain/people/quota.h"

#include <fmt/format.h>

#include "common/base/bytes.h"

namespace lockstep {

Word describe(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return {1, "queued-jobs"};
    case QuotaLimit::running_jobs: return {2, "running-jobs"};
    case QuotaLimit::nodes: return {3, "nodes"};
    case QuotaLimit::cpus: return {4, "cpus"};
    case QuotaLimit::gpus: return {5, "gpus"};
    case QuotaLimit::snapshot_bytes: return {6, "snapshot-size"};
    case QuotaLimit::spec_bytes: return {7, "spec-size"};
    case QuotaLimit::versions: return {57, "versions"};
    case QuotaLimit::version_bytes: return {58, "version-size"};
    case QuotaLimit::version_files: return {77, "version-files"};
    case QuotaLimit::job_files: return {79, "job-files"};
    case QuotaLimit::kept_jobs: return {179, "kept-jobs"};
  }
  return {};
}
std::string_view to_string(QuotaLimit limit) { return describe(limit).word; }

bool is_in_bytes(QuotaLimit limit) {
  return limit == QuotaLimit::snapshot_bytes || limit == QuotaLimit::spec_bytes ||
         limit == QuotaLimit::version_bytes || limit == QuotaLimit::version_files ||
         limit == QuotaLimit::job_files;
}

bool is_summed_up(QuotaLimit limit) { return limit != QuotaLimit::snapshot_bytes; }

std::string amount(QuotaLimit limit, std::uint64_t n) {
  return is_in_bytes(limit) ? to_string(Bytes{n}) : std::to_string(n);
}

Word describe(QuotaHolder::Kind kind) {
  switch (kind) {
    case QuotaHolder::Kind::user: return {1, "user"};
    case QuotaHolder::Kind::project: return {2, "project"};
  }
  return {};
}
std::string_view to_string(QuotaHolder::Kind kind) { return describe(kind).word; }

std::string to_string(const QuotaHolder& holder) {
  return fmt::format("{} '{}'", to_string(holder.kind), holder.name);
}

}  // namespace lockstep
