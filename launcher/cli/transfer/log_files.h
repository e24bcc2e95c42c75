#pragma once
// Downloads the logs of one attempt as files in a folder: std_log_process_<rank>.txt for a rank's
// stdout and std_err_process_<rank>.txt for its stderr. The launcher stores the two streams
// separately, without the order between them. environment_<node rank>.txt is the log of solving and
// building that node's environment.

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cli/link/connection.h"

namespace lockstep::cli {

struct LogFile {
  std::string name;
  std::uint64_t bytes = 0;
};

// Downloads the logs until now, and returns the files in order of rank; an empty stream gets no
// file. `folder` must exist.
Result<std::vector<LogFile>> download_logs(Connection& connection, const JobId& job,
                                           std::uint32_t attempt, const std::string& folder);

}  // namespace lockstep::cli
