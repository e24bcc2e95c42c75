#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "launcher/api/json/usage.h"
#include "launcher/cli/base/live_screen.h"
#include "launcher/cli/text/targets/usage_view.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

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

class TopScreen : public LiveScreen {
 public:
  TopScreen(Connection& connection, const TopOptions& options)
      : LiveScreen(connection, "lockstep top"), options_(options) {}

 private:
  void ask() override { connection().send(question_of(options_)); }
  bool take(const ClientReply& reply) override {
    const auto* usage = std::get_if<UsageReply>(&reply);
    if (usage != nullptr) usage_ = *usage;
    return usage != nullptr;
  }
  std::string text(const Screen::Size& size) override {
    return tables_of(options_, usage_, size.columns);
  }

  const TopOptions& options_;
  UsageReply usage_;
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
                 "print once and exit, as it does when standard output is no terminal");
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
