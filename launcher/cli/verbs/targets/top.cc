#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/usage.h"
#include "launcher/cli/terminal/screen.h"
#include "launcher/cli/text/targets/usage_view.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kRefresh = seconds(2);
constexpr Duration kAnswersWithin = seconds(6);

struct TopOptions {
  bool nodes = false, jobs = false, once = false;
  UsageOrder order = UsageOrder::cpu;
  Format format = Format::table;
};

GetUsage question_of(const TopOptions& options) {
  return {options.nodes || !options.jobs, options.jobs || !options.nodes};
}

std::string tables_of(const TopOptions& options, UsageReply usage,
                      std::optional<std::size_t> columns) {
  sort_usage(options.order, &usage.nodes, &usage.jobs);
  const GetUsage asked = question_of(options);
  std::string text;
  if (asked.nodes) text += node_usage_table(usage.nodes, columns);
  if (asked.nodes && asked.jobs) text += "\n";
  if (asked.jobs) text += job_usage_table(usage.jobs, columns);
  if (usage.more > 0) text += fmt::format("and {} more jobs\n", usage.more);
  return text;
}

// The screen that refreshes itself: asks, draws the answer, and repeats until `q` or Ctrl-C.
class TopScreen {
 public:
  TopScreen(Connection& connection, const TopOptions& options)
      : connection_(connection), options_(options) {}
  ~TopScreen() {
    connection_.stop_listening();
    connection_.loop().unwatch(STDIN_FILENO, io::EventLoop::Interest::read);
  }
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  // Returns the exit code, or the error that ended it.
  Result<int> run() {
    TRY(connection_.loop().watch_signals({SIGINT, SIGTERM, SIGHUP},
                                         [this](int signal) { on_signal(signal); }));
    Connection::Listener listener;
    listener.on_control = [this](const Envelope<ClientReply>& envelope) { take(envelope.body); };
    listener.on_bulk = [](const BulkEnvelope&) {};
    listener.on_control_up = [this] { ask(); };
    listener.on_bulk_up = [] {};
    TRY(connection_.listen(std::move(listener)));
    if (screen_.reads_keys())
      connection_.loop().watch(STDIN_FILENO, io::EventLoop::Interest::read, [this] { on_keys(); });
    ask();
    while (!code_ && !failure_) {
      const Instant now = clock_.now();
      if (now >= ask_at_) ask();
      draw();
      connection_.loop().turn(ask_at_ - now);
    }
    if (failure_) return *failure_;
    return *code_;
  }

 private:
  void ask() {
    ask_at_ = clock_.now() + kRefresh;
    connection_.send(question_of(options_));
  }
  void take(const ClientReply& reply) {
    if (const auto* usage = std::get_if<UsageReply>(&reply)) {
      usage_ = *usage;
      heard_ = clock_.now();
    } else if (const auto* refused = std::get_if<Refused>(&reply)) {
      failure_ = make_error(refused->code, refused->message);
    }
  }
  void on_signal(int signal) {
    if (signal == SIGINT) code_ = kExitInterrupted;
    if (signal == SIGTERM || signal == SIGHUP) code_ = 128 + signal;
  }
  void on_keys() {
    const std::string keys = screen_.typed();
    if (keys.find_first_of("qQ") != keys.npos) code_ = 0;
    if (keys.empty()) code_ = 0;  // the terminal is closed
  }
  void draw() {
    const Instant now = clock_.now();
    std::string head = fmt::format("lockstep top  {}", to_string(now).substr(11, 8) + "Z");
    if (!usage_)
      head += "  waiting for the launcher";
    else if (now - heard_ > kAnswersWithin)
      head += fmt::format("  the launcher has not answered for {}",
                          format_duration(std::chrono::floor<seconds>(now - heard_)));
    head += screen_.reads_keys() ? "  (q: quit)\n\n" : "  (Ctrl-C: quit)\n\n";
    const std::string body = usage_ ? tables_of(options_, *usage_, screen_.size().columns) : "";
    if (!screen_.draw(head + body)) code_ = kExitOutputClosed;
  }

  Connection& connection_;
  const TopOptions& options_;
  io::SystemClock clock_;
  Screen screen_;
  std::optional<UsageReply> usage_;
  Instant heard_, ask_at_;
  std::optional<int> code_;
  std::optional<Error> failure_;
};

int watch(Context& context, const TopOptions& options) {
  hold_interrupts(true);
  const auto connection = context.connect(Context::Need::launcher);
  hold_interrupts(true);
  if (!connection) return fail(context.terminal, connection.error());
  const auto ended = [&]() -> Result<int> { return TopScreen(**connection, options).run(); }();
  if (!ended) return fail(context.terminal, ended.error());
  return *ended;
}

int top(Context& context, const TopOptions& options) {
  if (options.format == Format::table && !options.once && Screen::is_possible())
    return watch(context, options);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  auto usage = (*connection)->ask_for<UsageReply>(question_of(options));
  if (!usage) return fail(context.terminal, usage.error());
  sort_usage(options.order, &usage->nodes, &usage->jobs);
  return print(context, options.format, api::to_json(*usage),
               tables_of(options, *usage, context.terminal.columns()));
}

}  // namespace

void add_top_verb(VerbTable table) {
  CLI::App* const verb = table.add("top", "show what nodes and jobs use now");
  if (verb == nullptr) return;
  const auto options = std::make_shared<TopOptions>();
  verb->add_flag("--nodes", options->nodes, "only nodes");
  verb->add_flag("--jobs", options->jobs, "only jobs");
  verb->add_flag("--once", options->once,
                 "print once and exit, as it does when standard output is not a terminal");
  verb->add_option_function<std::string>(
          "--sort",
          [options](const std::string& word) {
            const auto order = usage_order_from(word);
            if (!order)
              throw CLI::ValidationError("--sort",
                                         "'" + word + "' is not cpu, memory, gpu, network or name");
            options->order = *order;
          },
          "cpu (default), memory, gpu, network or name")
      ->type_name("cpu|memory|gpu|network|name");
  add_format(*verb, options->format);
  verb->footer(
      "\n  On a terminal it refreshes every 2 seconds; q or Ctrl-C ends it. Agents report every 5 "
      "seconds;\n"
      "  a value that is too old is marked with its age. `lockstep job show NAME` shows each "
      "rank.");
  verb->callback([table, options] {
    table.action = [options](Context& context) { return top(context, *options); };
  });
}

}  // namespace lockstep::cli
