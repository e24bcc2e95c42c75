#include "launcher/cli/text/in_vain_lines.h"

#include <fmt/format.h>

#include "common/base/printable.h"

namespace lockstep::cli {

std::string in_vain_lines(const std::vector<JobView>& jobs, const std::string& table) {
  std::string lines;
  for (const JobView& job : jobs) {
    if (!job.in_vain) continue;
    const std::string reason = in_one_line(job.reason);
    if (table.find(reason) == std::string::npos)
      lines += fmt::format("{}: {}\n", in_one_line(job.spec.name), reason);
  }
  return lines;
}

}  // namespace lockstep::cli
