#include "launcher/core/retry.h"

#include <fmt/format.h>

namespace lockstep::launcher {

std::optional<Retry> retry_after(const Job& job, const ExitReport& report) {
  if (job.cancel_by || !is_infrastructure(report.cause)) return std::nullopt;
  if (report.cause == Cause::port_taken && job.uncharged_retries < kMaxUnchargedRetries)
    return Retry{false, report.message + "; retried with another port, uncharged"};
  if (job.charged_retries >= job.spec.retry.max) return std::nullopt;
  return Retry{true, fmt::format("{}; retry {} of {}", report.message, job.charged_retries + 1,
                                 job.spec.retry.max)};
}

}  // namespace lockstep::launcher
