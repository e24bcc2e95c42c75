#include "runner/bootstrap/nccl_log.h"

#include <fmt/format.h>

#include "runner/fabric/transport_check.h"

namespace lockstep::runner {

std::map<std::string, std::string> nccl_log_variables(
    const std::map<std::string, std::string>& of_job, const std::string& folder) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"})
    if (of_job.count(name) > 0) return {};
  return {{"NCCL_DEBUG", "INFO"},
          {"NCCL_DEBUG_SUBSYS", "INIT,NET,ENV"},
          {"NCCL_DEBUG_FILE", fmt::format("{}/{}%h.%p", folder, kNcclLogLead)}};
}

}  // namespace lockstep::runner
