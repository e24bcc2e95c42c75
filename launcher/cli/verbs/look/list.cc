#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/printable.h"
#include "common/io/clock.h"
#include "launcher/api/json/job.h"
#include "launcher/api/json/metrics.h"
#include "launcher/cli/job/filter.h"
#include "launcher/cli/job/metric_order.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/look/look_verbs.h"
#include "launcher/metrics/curves/braille.h"

namespace lockstep::cli {

namespace {

constexpr const char* kListExamples = R"(
  lockstep job list --mine --status Queued,Running
  lockstep job list --experiment digits --tag model=small --since 1d
  lockstep job list --experiment digits --sort metrics.loss --max-results 5     the best five
  lockstep job list --parent train_pipeline        the jobs of its steps; of a job: its children
A job is listed when it meets every filter that is given.)";

constexpr int kJobsInTable = 50;         // the default number
constexpr int kPipelinesWithSteps = 20;  // rows of a table that show how many steps have ended

struct ListOptions {
  JobFilterWords filter;
  std::optional<MetricOrder> order;
  std::vector<std::string> metrics;
  std::optional<int> max_results;
  bool all_results = false;
  Format format = Format::table;
};

// Asks page by page; `most` 0 = all.
Result<JobsReply> newest_jobs(Connection& connection, const JobFilter& filter, int most) {
  JobsReply all;
  do {
    ListJobs question;
    question.filter = filter;
    if (most > 0) question.limit = most - static_cast<int>(all.jobs.size());
    if (!all.jobs.empty()) question.after = JobId(all.jobs.back().spec.name);
    TRY_ASSIGN(JobsReply page, connection.ask_for<JobsReply>(question));
    std::move(page.jobs.begin(), page.jobs.end(), std::back_inserter(all.jobs));
    all.more = page.jobs.empty() ? 0 : page.more;
    all.more_at_least = page.more_at_least;
  } while (all.more > 0 && (most == 0 || all.jobs.size() < static_cast<std::size_t>(most)));
  return all;
}

// What the jobs logged last of these metrics; a question has at most kMaxLatestJobs of them.
Result<LatestOfJobs> ask_latest(Connection& connection, const std::vector<JobView>& jobs,
                                const std::vector<std::string>& metrics) {
  LatestOfJobs all;
  GetLatest question{{}, metrics};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].spec.metric_lines.empty()) question.jobs.emplace_back(jobs[i].spec.name);
    const bool is_full = question.jobs.size() == kMaxLatestJobs || i + 1 == jobs.size();
    if (!is_full || question.jobs.empty()) continue;
    TRY_ASSIGN(LatestReply latest, connection.ask_for<LatestReply>(question));
    all.merge(latest.jobs);
    question.jobs.clear();
  }
  return all;
}

Result<std::vector<std::string>> wanted_metrics(const ListOptions& options) {
  std::vector<std::string> wanted = options.metrics;
  const bool is_more = options.order && std::find(wanted.begin(), wanted.end(),
                                                  options.order->metric) == wanted.end();
  if (is_more) wanted.insert(wanted.begin(), options.order->metric);
  if (wanted.size() > kMaxLatestMetrics)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("job list: at most {} metrics are shown at once, and {} are named",
                    kMaxLatestMetrics, wanted.size()));
  return wanted;
}

std::vector<JobColumn> columns_of(const LatestOfJobs& latest,
                                  const std::vector<std::string>& metrics) {
  std::vector<JobColumn> columns;
  for (const std::string& metric : metrics) {
    JobColumn& column = columns.emplace_back();
    column.header = in_one_line(metric);
    for (const auto& [job, summaries] : latest)
      if (const auto* const one = latest_of(latest, job.value, metric))
        column.cells[job.value] = metrics::short_number(one->last.value);
  }
  return columns;
}

// With what each job logged last as "metrics", as `job show` has it.
Json with_metrics(const std::vector<JobView>& jobs, const LatestOfJobs& latest) {
  Json list = api::to_json(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (const auto found = latest.find(JobId(jobs[i].spec.name)); found != latest.end())
      list[i]["metrics"] = api::json_of(found->second);
  return list;
}

CLI::Validator metric_name() {
  const auto check = [](const std::string& word) {
    if (!word.empty() && word.size() <= metrics::kMaxMetricNameBytes) return std::string();
    return fmt::format("the name of a metric has 1 to {} bytes", metrics::kMaxMetricNameBytes);
  };
  return CLI::Validator(check, "");
}

// The launcher's lists have no steps, so the steps of the newest pipelines are requested.
void add_steps(Connection& connection, std::vector<JobView>& jobs) {
  int left = kPipelinesWithSteps;
  for (JobView& job : jobs) {
    if (!job.spec.is_pipeline() || left-- <= 0) continue;
    auto reply = connection.ask_for<JobReply>(ShowJob{JobId(job.spec.name)});
    if (reply) job.steps = std::move(reply->job.steps);
  }
}

Result<JobView> show_parent(Connection& connection, const JobId& job) {
  TRY_ASSIGN(JobReply known, connection.ask_for<JobReply>(ShowJob{job}));
  if (known.job.spec.is_pipeline() || known.job.children > 0) return std::move(known.job);
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("job list: --parent {0} is no pipeline, and has submitted no jobs; "
                                "see `lockstep job show {0}`",
                                job.value));
}

// The text if no job is listed. Asks whether archived jobs are the reason.
std::string empty_text(Connection& connection, const JobFilter& filter, const JobView& parent) {
  const bool leaves_out = filter.archived == ArchivedToo::no;
  if (leaves_out && parent.archived && parent.spec.is_pipeline())
    return fmt::format(
        "pipeline '{}' is archived, and its steps with it; --include-archived shows them\n",
        parent.spec.name);
  if (!parent.spec.name.empty()) return "no job of this parent is left\n";
  if (leaves_out) {
    ListJobs archived{true, 1, {}, filter};
    archived.filter.archived = ArchivedToo::only;
    const auto found = connection.ask_for<JobsReply>(archived);
    if (found && !found->jobs.empty())
      return "only archived jobs are left; `lockstep job list --include-archived` shows them\n";
  }
  if (filter == JobFilter{}) return job_table({}, {});
  return "no job meets these filters; `lockstep job list` without them shows all\n";
}

int list(Context& context, const ListOptions& options) {
  const Instant now = io::SystemClock().now();
  const auto filter = read_job_filter(options.filter, now);
  if (!filter) return fail(context.terminal, filter.error(), kExitUsage);
  const auto wanted = wanted_metrics(options);
  if (!wanted) return fail(context.terminal, wanted.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const bool of_steps = !filter->parent.value.empty();
  JobView parent;
  if (of_steps) {
    auto known = show_parent(**connection, filter->parent);
    if (!known) return fail(context.terminal, known.error());
    parent = *std::move(known);
  }
  // People want the newest jobs; a script must get all jobs, unless it asks for fewer.
  const bool all = options.all_results || of_steps || options.format != Format::table;
  const int most = options.max_results.value_or(all ? 0 : kJobsInTable);
  // The best of all jobs may be an old one.
  auto listed = newest_jobs(**connection, *filter, options.order ? 0 : most);
  if (!listed) return fail(context.terminal, listed.error());
  const auto latest = wanted->empty() ? Result<LatestOfJobs>(LatestOfJobs())
                                      : ask_latest(**connection, listed->jobs, *wanted);
  if (!latest) return fail(context.terminal, latest.error());
  const bool filtered = *filter != JobFilter{};
  if (of_steps) std::reverse(listed->jobs.begin(), listed->jobs.end());
  if (options.order) {
    sort_jobs(listed->jobs, *latest, *options.order);
    if (most > 0 && listed->jobs.size() > static_cast<std::size_t>(most))
      listed->jobs.resize(static_cast<std::size_t>(most));
  }
  if (options.format == Format::table) add_steps(**connection, listed->jobs);
  const int code = print(
      context, options.format, with_metrics(listed->jobs, *latest),
      listed->jobs.empty() && options.format == Format::table
          ? empty_text(**connection, *filter, parent)
          : job_table(listed->jobs, now, context.terminal.columns(), columns_of(*latest, *wanted)));
  if (listed->more > 0)
    context.terminal.print_line(fmt::format(
        "only the newest {} of {}{} jobs{} are shown; --max-results N shows more, --all-results "
        "shows all",
        listed->jobs.size(), listed->more_at_least ? "at least " : "",
        static_cast<std::int64_t>(listed->jobs.size()) + listed->more,
        filtered ? " that meet the filters" : ""));
  return code;
}

}  // namespace

void add_list_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* const verb = table.add_below(group, "list", "jobs, newest first");
  if (verb == nullptr) return;
  verb->footer(kListExamples);
  auto* all = verb->add_flag("-a,--all-results", options->all_results, "all jobs");
  verb->add_option("-r,--max-results,--limit", options->max_results,
                   "show the newest N jobs (default: 50 in a table, all in other formats)")
      ->check(whole_number(1))
      ->excludes(all);
  add_job_filters(*verb, options->filter);
  verb->add_option_function<std::string>(
          "--sort",
          [options](const std::string& words) {
            auto order = read_metric_order(words);
            if (!order) throw CLI::ValidationError("--sort", order.error().message);
            options->order = *std::move(order);
          },
          "metrics.NAME: all jobs by what they logged last, the least first; metrics.NAME:desc: "
          "the greatest first")
      ->type_name("metrics.NAME[:desc]");
  verb->add_option("--metrics", options->metrics,
                   "also show what each job logged last of these metrics; with commas between them")
      ->delimiter(',')
      ->check(metric_name())
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return list(context, *options); };
  });
}

}  // namespace lockstep::cli
