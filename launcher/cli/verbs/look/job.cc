#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/job.h"
#include "launcher/api/json/metrics.h"
#include "launcher/cli/attach/ranks_meant.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/text/fabric_view.h"
#include "launcher/cli/text/metrics_text.h"
#include "launcher/cli/text/pipeline_view.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/look/look_verbs.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

struct JobOptions {
  std::string name;
  std::vector<std::string> names;  // for cancel
  bool all_steps = false;          // for show
  bool settings = false;           // for explain
  int rank = 0;
  Format format = Format::table;
};

Instant now() { return io::SystemClock().now(); }

constexpr std::size_t kMostTrends = 20;

struct Logged {
  MetricsReply reply;
  Trends trends;
};

// Whoever may not read the job, and an earlier launcher, show it without its metrics.
Logged logged_by(Connection& connection, const JobView& job) {
  Logged logged;
  if (job.spec.metric_lines.empty()) return logged;
  GetMetrics question;
  question.job = JobId(job.spec.name);
  question.buckets = kTrendBuckets;
  auto all = connection.ask_for<MetricsReply>(question);
  if (!all) return logged;
  logged.reply = *std::move(all);
  for (const metrics::MetricSummary& metric : logged.reply.metrics) {
    if (logged.trends.size() >= kMostTrends) break;
    question.name = metric.name;
    const auto curves = connection.ask_for<MetricsReply>(question);
    if (!curves) break;
    logged.trends.emplace(metric.name, trend_of(curves->curves));
  }
  return logged;
}

Json shown_json(const JobView& job, const Logged& logged) {
  Json json = api::to_json(job);
  if (!logged.reply.metrics.empty())
    json["metrics"] = api::metrics_with_trends(logged.reply.metrics, logged.trends);
  return json;
}

std::string shown_metrics(const Logged& logged) {
  const std::string table = metrics_table(logged.reply.metrics, logged.trends);
  return table.empty() ? "" : "\n" + table;
}

int show(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto shown_job =
      chosen_job(**connection, context.terminal, "job show", options.name, "", "state this is");
  if (!shown_job) return fail(context.terminal, shown_job.error());
  const JobView& job = *shown_job;
  const auto columns = context.terminal.columns();
  const StepsShown shown{options.all_steps || !columns, columns};
  const Logged logged = logged_by(**connection, job);
  return print(context, options.format, shown_json(job, logged),
               (job.spec.is_pipeline() ? pipeline_text(job, now(), shown) : job_text(job, now())) +
                   failure_report(job) + shown_metrics(logged));
}

int explain(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto id = job_to_read(**connection, context.terminal, "job explain", options.name,
                              "explanation this is");
  if (!id) return fail(context.terminal, id.error());
  ExplainJob question{*id};
  if (options.settings) question.settings_of_rank = options.rank;
  const auto reply = (*connection)->ask_for<ExplainReply>(question);
  if (!reply) return fail(context.terminal, reply.error());
  const ExplainView& explain = reply->explain;
  if (const JobSpec& spec = explain.job.spec; options.settings && !spec.is_pipeline())
    if (const Status known = expect_rank("job explain", spec, options.rank); !known)
      return fail(context.terminal, known.error(), kExitUsage);
  if (options.settings && !explain.settings)
    return fail(context.terminal,
                make_error(ErrorCode::permission_denied,
                           fmt::format("the network settings of {} are shown only to those who may "
                                       "read it, and by a launcher of this version",
                                       id->value)));
  return print(
      context, options.format, api::to_json(explain),
      options.settings ? settings_text(id->value, *explain.settings) : explain_text(explain));
}

// Each job is canceled, even if another one fails.
int cancel(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  for (const std::string& name : options.names) {
    const auto id = named_job(**connection, "job cancel", name);
    if (!id) {
      code = fail(context.terminal, id.error());
      continue;
    }
    const auto reply = (*connection)->ask_for<Done>(CancelJob{*id});
    if (!reply) {
      code = fail(context.terminal, reply.error());
    } else if (!reply->message.empty()) {
      context.terminal.print_line(reply->message);
    }
  }
  return code;
}

using Verb = int (*)(Context&, const JobOptions&);

CLI::App* add_verb(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options,
                   const char* name, const char* what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return verb;
}

CLI::App* named(CLI::App* verb, const std::shared_ptr<JobOptions>& options) {
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  return verb;
}

void add_show(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb =
      named(add_verb(group, table, options, "show", "show one job in full", show), options);
  verb->add_flag("--all-steps", options->all_steps,
                 "of a pipeline with many steps, also those that a terminal leaves out");
  add_format(*verb, options->format);
}

void add_cancel(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb = add_verb(group, table, options, "cancel", "cancel one or several jobs", cancel);
  auto* names = verb->add_option("-n,--name,NAME", options->names, "the jobs' names");
  names->check(job_name());
  verb->parse_complete_callback([names] {
    if (names->count() == 0) throw CLI::RequiredError("NAME");
  });
}

void add_explain(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb = named(add_verb(group, table, options, "explain",
                              "show why a job waits, or why it runs where it does", explain),
                     options);
  auto* env =
      verb->add_flag("--env", options->settings,
                     "instead: each variable of its network, with value, source and reason");
  verb->add_option("--rank", options->rank, "of --env: the rank (default 0)")
      ->needs(env)
      ->check(whole_number(0));
  add_format(*verb, options->format);
}

}  // namespace

void add_job_verbs(VerbTable table) {
  CLI::App* const added = table.add("job", "create, look at and cancel jobs");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<JobOptions>();
  group.require_subcommand(1);
  add_create_verb(group, table);
  add_list_verb(group, table);
  add_show(group, table, options);
  add_log_verbs(group, table);
  add_events_verb(group, table);
  add_metrics_verb(group, table);
  add_download_verb(group, table);
  add_cancel(group, table, options);
  add_delete_verb(group, table);
  add_validate_verb(group, table);
  add_compare_verb(group, table);
  add_update_verb(group, table);
  add_share_verbs(group, table);
  add_archive_verbs(group, table);
  add_resume_verb(group, table);
  add_files_verbs(group, table);
  add_shell_verb(group, table);
  add_signal_verb(group, table);
  add_stacks_verb(group, table);
  add_diagnose_verb(group, table);
  add_explain(group, table, options);
}

}  // namespace lockstep::cli
