#pragma once
// What the ranks of one attempt wrote to their standard streams, as files in a folder:
// std_log_process_<rank>.txt, and std_err_process_<rank>.txt beside it. The launcher keeps the two
// streams apart, without the order between them. And environment_<node rank>.txt: how that node's
// environment was solved and built.

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cli/connection.h"

namespace lockstep::cli {

struct LogFile {
  std::string name;
  std::uint64_t bytes = 0;
};

// What is there now, in order of rank; a stream that is empty gets no file. `folder` exists.
Result<std::vector<LogFile>> download_logs(Connection& connection, const JobId& job,
                                           std::uint32_t attempt, const std::string& folder);

}  // namespace lockstep::cli
