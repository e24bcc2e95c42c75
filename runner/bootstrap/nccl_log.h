#pragma once
// The variables by which NCCL of a rank writes its debug log into a file. The runner reads from it
// which network NCCL chose (runner/fabric/transport_check.h). Pure.

#include <map>
#include <string>

namespace lockstep::runner {

// The variables with which NCCL writes its log into `folder`, as the ranks see it. Empty if the job
// says itself what NCCL logs and where: a person looks for that in the ranks' logs.
std::map<std::string, std::string> nccl_log_variables(
    const std::map<std::string, std::string>& of_job, const std::string& folder);

}  // namespace lockstep::runner
