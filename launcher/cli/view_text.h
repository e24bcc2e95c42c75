#pragma once
// Views as tables and paragraphs for people. `now` is only used to say how long ago something was.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/views.h"

namespace lockstep::cli {

// `columns`: of the terminal that it must fit into; nullopt: everything is shown in full.
std::string job_table(const std::vector<JobView>& jobs, Instant now,
                      std::optional<std::size_t> columns = std::nullopt);
std::string job_text(const JobView& job, Instant now);
std::string explain_text(const ExplainView& explain);
std::string node_table(const std::vector<NodeView>& nodes);
// "": it agrees with the launcher's, or is not known.
std::string clock_trouble(const NodeView& node);
std::string node_text(const NodeView& node, Instant now);
std::string status_text(const LauncherStatus& status, Instant now);

// "0-3,8": sorted ids as ranges; "" when there are none.
std::string ranges_of(std::vector<int> ids);

// What a person reads when a job did not complete: who failed first, where, when, how, its last
// words on stderr, what was then terminated, and where to look. "" for a job that completed.
std::string failure_report(const JobView& job);

// What `run`, `job create --stream` and `job stream` exit with for a final job: its first failing
// exit code, 0 when it completed, 130 when it was canceled.
int exit_code_of(const JobView& job);

}  // namespace lockstep::cli
