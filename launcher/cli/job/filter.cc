#include "launcher/cli/job/filter.h"

#include <fmt/format.h>
#include <strings.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "launcher/cli/base/verb_table.h"
#include "launcher/cli/follow/log_selection.h"

namespace lockstep::cli {

namespace {

Error wrong(const std::string& what) {
  return make_error(ErrorCode::invalid_argument, "job list: " + what);
}

std::optional<JobStatus> status_in_any_case(const std::string& word) {
  for (const JobStatus status : all_statuses())
    if (::strcasecmp(std::string(to_string(status)).c_str(), word.c_str()) == 0) return status;
  return std::nullopt;
}

Status read_statuses(const std::string& words, std::vector<JobStatus>& statuses) {
  for (std::size_t begin = 0; begin <= words.size();) {
    const auto end = std::min(words.find(',', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    const auto status = status_in_any_case(word);
    if (!status) {
      std::string known;
      for (const JobStatus one : all_statuses())
        known.append(known.empty() ? "" : ", ").append(to_string(one));
      return wrong(
          fmt::format("--status '{}' is unknown; a job's status is one of {}", word, known));
    }
    statuses.push_back(*status);
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::vector<JobStatus> all_statuses() {
  std::vector<JobStatus> all;
  for (int i = 0; i <= static_cast<int>(JobStatus::canceled); ++i)
    all.push_back(static_cast<JobStatus>(i));
  return all;
}

void add_job_filters(CLI::App& verb, JobFilterWords& words) {
  verb.add_flag("--mine", words.mine, "only jobs that you submitted");
  verb.add_option("-u,--user", words.user, "only jobs that this user submitted")
      ->check(filled("leave it out to see the jobs of all users"));
  verb.add_option("--status", words.statuses,
                  "only jobs in this status, such as Failed, or in one of Queued,Running")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("leave it out to see jobs in every status"));
  verb.add_option("--experiment", words.experiment, "only jobs of this experiment")
      ->check(filled("leave it out to see the jobs of all experiments"));
  verb.add_option("--tag", words.tags,
                  "only jobs with this tag: KEY, or KEY=VALUE; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("leave it out to see jobs with any tags"));
  verb.add_option("-p,--parent,--parent-job-name", words.parent,
                  "the jobs of this pipeline's steps, or that this job submitted, oldest first")
      ->check(job_name("leave it out to see jobs that have no parent"));
  auto* only = verb.add_flag("--archived-only", words.archived_only, "only archived jobs");
  verb.add_flag("--include-archived", words.include_archived, "archived jobs too")->excludes(only);
  verb.add_option("--since", words.since,
                  "only jobs submitted since this time: 2h or 1d (ago), 2026-01-31, or "
                  "2026-01-31T12:00:00Z")
      ->check(filled("leave it out to see jobs of all times"));
}

Result<JobFilter> read_job_filter(const JobFilterWords& words, Instant now) {
  JobFilter filter;
  filter.mine = words.mine;
  filter.experiment = words.experiment;
  filter.user = words.user;
  filter.parent = JobId(words.parent);
  if (words.include_archived) filter.archived = ArchivedToo::yes;
  if (words.archived_only) filter.archived = ArchivedToo::only;
  for (const std::string& statuses : words.statuses) TRY(read_statuses(statuses, filter.statuses));
  for (const std::string& tag : words.tags) {
    const auto equals = tag.find('=');
    if (equals == 0)
      return wrong(fmt::format("--tag '{}' has no key; write KEY or KEY=VALUE", tag));
    JobFilter::Tag& wanted = filter.tags.emplace_back();
    wanted.key = tag.substr(0, equals);
    if (equals != std::string::npos) wanted.value = tag.substr(equals + 1);
  }
  if (!words.since.empty()) {
    const auto since = parse_since(words.since, now);
    if (!since) return wrong(since.error().message);
    filter.since = *since;
  }
  return filter;
}

}  // namespace lockstep::cli
