#pragma once
// Views as tables and paragraphs for people. `now` is only used to show ages.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// A column more: a cell for each job that has one, by its name.
struct JobColumn {
  std::string header;
  std::map<std::string, std::string> cells;
};
// `columns` is the width of the terminal that the table must fit; nullopt: everything is shown in
// full.
std::string job_table(const std::vector<JobView>& jobs, Instant now,
                      std::optional<std::size_t> columns = std::nullopt,
                      const std::vector<JobColumn>& more = {});
std::string job_text(const JobView& job, Instant now);
std::string explain_text(const ExplainView& explain);
std::string node_table(const std::vector<NodeView>& nodes);
// "0.20 s behind the launcher's (± 0.4 ms)".
std::string in_words(const ClockOffset& offset);
// How the node's clock differs from the launcher's; "" if they agree or the difference is unknown.
std::string clock_trouble(const NodeView& node);
// `launcher_version` is shown beside an agent's that differs; "": unknown.
std::string node_text(const NodeView& node, Instant now, const std::string& launcher_version = "");
std::string status_text(const LauncherStatus& status, Instant now);

// The report for a job that did not complete: which rank failed first, where, when and how, the end
// of its stderr, which ranks were then terminated, and where to look. "" for a job that completed.
std::string failure_report(const JobView& job);

// The exit code of `run`, `job create --stream` and `job stream` for a final job: 0 when it
// completed, else the report's exit code; without one, 130 when it was canceled and 125 otherwise.
int exit_code_of(const JobView& job);

}  // namespace lockstep::cli
