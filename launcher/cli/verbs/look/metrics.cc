// `lockstep job metrics`: the numbers that a job logged, as a table or as a curve.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "common/base/printable.h"
#include "launcher/api/json/metrics.h"
#include "launcher/cli/base/live_screen.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/metrics_text.h"
#include "launcher/cli/verbs/look/look_verbs.h"

namespace lockstep::cli {

namespace {

constexpr int kWidth = 80;  // of a curve where no terminal is
constexpr int kWidest = 200;
constexpr int kRowsBesides = 6;  // of a screen with one curve: its title, frame and axis
constexpr int kPointsOfCsv = 1'000;

struct MetricsOptions {
  std::string job, metric, name;
  bool along_time = false, logarithmic = false, follow = false, csv = false;
  int points = 0;  // 0: as many as are drawn
  Format format = Format::table;
};

CurveLook look_of(const MetricsOptions& options, std::size_t columns) {
  CurveLook look;
  look.along_time = options.along_time;
  look.scale = options.logarithmic ? metrics::Scale::logarithmic : metrics::Scale::linear;
  look.width = std::clamp(static_cast<int>(columns), 1, kWidest);
  return look;
}

GetMetrics question_of(const MetricsOptions& options, const JobId& job, int width) {
  GetMetrics question;
  question.job = job;
  question.name = options.metric;
  question.axis = options.along_time ? metrics::Axis::time : metrics::Axis::step;
  question.buckets = options.points > 0 ? options.points : options.csv ? kPointsOfCsv : 2 * width;
  return question;
}

std::string text_of(const MetricsReply& logged, const MetricsOptions& options,
                    const CurveLook& look) {
  if (!options.metric.empty()) return curves_text(options.metric, logged.curves, look);
  return metrics_table(logged.metrics) + params_text(logged.params);
}

Error nothing_logged(const MetricsReply& logged, const JobId& job, const std::string& metric) {
  if (logged.metrics.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("{} has logged no metrics; a job file says with "
                                  "lockstep.metrics which numbers its ranks print",
                                  job.value));
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(logged.metrics.size(), 10); ++i)
    names += (i == 0 ? "" : ", ") + in_one_line(logged.metrics[i].name);
  return make_error(ErrorCode::not_found, fmt::format("{} has no metric '{}'; it has {}", job.value,
                                                      in_one_line(metric), names));
}

bool is_empty(const MetricsReply& logged, const MetricsOptions& options) {
  return options.metric.empty() ? logged.metrics.empty() && logged.params.empty()
                                : logged.curves.empty();
}

// Ends by itself when the job has ended: what its last ranks print is read before that.
class MetricsScreen : public LiveScreen {
 public:
  MetricsScreen(Connection& connection, const MetricsOptions& options, JobId job)
      : LiveScreen(connection, "metrics of " + job.value),
        options_(options),
        job_(std::move(job)) {}

  const MetricsReply& logged() const { return logged_; }

 private:
  void ask() override {
    connection().send(question_of(options_, job_, kWidest));
    connection().send(ShowJob{job_});
  }
  bool take(const ClientReply& reply) override {
    if (const auto* job = std::get_if<JobReply>(&reply)) is_over_ = is_final(job->job.status);
    const auto* logged = std::get_if<MetricsReply>(&reply);
    if (logged == nullptr) return false;
    logged_ = *logged;
    if (is_over_) end(0);
    return true;
  }
  std::string text(const Screen::Size& size) override {
    if (is_empty(logged_, options_)) return "nothing is logged yet\n";
    CurveLook look = look_of(options_, size.columns);
    look.height = std::max(static_cast<int>(size.rows) - kRowsBesides, 4);
    if (logged_.curves.size() > 1) look.height = std::min(look.height, CurveLook().height);
    return text_of(logged_, options_, look);
  }

  const MetricsOptions& options_;
  const JobId job_;
  MetricsReply logged_;
  bool is_over_ = false;
};

int follow(Context& context, const MetricsOptions& options) {
  if (!Screen::is_possible())
    return fail(
        context.terminal,
        make_error(ErrorCode::invalid_argument,
                   "job metrics: --follow draws on a terminal, and standard output is none; "
                   "leave it out, or ask again and again with -o json"),
        kExitUsage);
  hold_interrupts(true);
  const auto connection = context.connect(Context::Need::launcher);
  hold_interrupts(true);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job =
      job_to_read(**connection, context.terminal, "job metrics", options.job, "metrics these are");
  if (!job) return fail(context.terminal, job.error());
  MetricsReply last;
  const auto ended = [&]() -> Result<int> {
    MetricsScreen screen(**connection, options, *job);
    TRY_ASSIGN(const int code, screen.run());
    last = screen.logged();
    return code;
  }();
  if (!ended) return fail(context.terminal, ended.error());
  // The screen is gone with what it showed.
  if (*ended != 0 || is_empty(last, options)) return *ended;
  const std::size_t width = context.terminal.columns().value_or(kWidth);
  return print(context, Format::table, {}, text_of(last, options, look_of(options, width)));
}

int show(Context& context, const MetricsOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job =
      job_to_read(**connection, context.terminal, "job metrics", options.job, "metrics these are");
  if (!job) return fail(context.terminal, job.error());
  const CurveLook look = look_of(options, context.terminal.columns().value_or(kWidth));
  const auto logged = (*connection)->ask_for<MetricsReply>(question_of(options, *job, look.width));
  if (!logged) return fail(context.terminal, logged.error());
  if (is_empty(*logged, options) && options.format == Format::table)
    return fail(context.terminal, nothing_logged(*logged, *job, options.metric));
  const bool has_curves = !options.metric.empty();
  return print(context, options.format, api::to_json(*logged),
               options.csv ? metrics_csv(*logged, has_curves) : text_of(*logged, options, look));
}

// --name is the job, as everywhere, unless the job was given as NAME: then it is the metric.
void settle_name(MetricsOptions& options) {
  if (options.job.empty()) {
    options.job = std::exchange(options.name, "");
    if (options.job.empty()) throw CLI::RequiredError("NAME");
  }
  if (options.name.empty()) return;
  if (!options.metric.empty())
    throw CLI::ValidationError("--name", "the metric is already given with --metric");
  options.metric = std::exchange(options.name, "");
}

// Options that say how a curve is drawn or cut.
void expect_metric(const CLI::App& verb, const MetricsOptions& options) {
  for (const char* option : {"--time", "--log", "--points"})
    if (options.metric.empty() && verb.get_option(option)->count() > 0)
      throw CLI::ValidationError(option, "needs --metric");
}

}  // namespace

void add_metrics_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<MetricsOptions>();
  CLI::App* const verb = table.add_below(group, "metrics", "the numbers that a job logged");
  if (verb == nullptr) return;
  verb->add_option("NAME", options->job, "the job's name")->check(job_name());
  verb->add_option("-n,--name", options->name,
                   "the job's name; behind NAME the metric's, as --metric")
      ->check(job_name());
  verb->add_option("-m,--metric", options->metric,
                   "the curve of this metric, for each attempt and rank");
  verb->add_flag("--time", options->along_time, "of --metric: along time, not steps");
  verb->add_flag("--log", options->logarithmic, "of --metric: a logarithmic scale");
  verb->add_option("--points", options->points,
                   "of --metric: into how many pieces a curve is cut (default: what is drawn)")
      ->check(whole_number(1, metrics::kMaxBuckets));
  auto* live = verb->add_flag("-f,--follow", options->follow,
                              "on a terminal: drawn anew every 2 seconds, until the job has ended");
  add_format(*verb, options->format, "table (default), json, yaml, tsv or csv", nullptr,
             &options->csv);
  live->excludes(verb->get_option("--output"));
  verb->parse_complete_callback([verb, options] {
    settle_name(*options);
    expect_metric(*verb, *options);
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) {
      return options->follow ? follow(context, *options) : show(context, *options);
    };
  });
}

}  // namespace lockstep::cli
