#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/api/json/job.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/verbs/look/look_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kAskAgainAfter = milliseconds(500);
constexpr Duration kTimeout = seconds(5);  // how long one answer may take while following

struct EventsOptions {
  std::string name;
  bool follow = false;
  Format format = Format::table;
};

std::vector<std::string> cells_of(const JobEvent& event) {
  return {to_string(event.at), event.attempt == 0 ? "-" : std::to_string(event.attempt),
          event.node_name.empty() ? "-" : event.node_name, event.what, event.message};
}

const std::vector<std::string> kHeader = {"TIME", "ATTEMPT", "NODE", "WHAT", "MESSAGE"};

std::string left_out_text(std::uint64_t count) {
  return fmt::format("{} events in between were not kept", count);
}

int list(Context& context, Connection& connection, const EventsOptions& options) {
  const auto reply = connection.ask_for<EventsReply>(ListEvents{JobId(options.name), {}});
  if (!reply) return fail(context.terminal, reply.error());
  Table table(kHeader);
  for (const JobEvent& event : reply->events) {
    table.add(cells_of(event));
  }
  const int code = print(context, options.format, api::to_json(reply->events), table.text());
  if (reply->left_out > 0) context.terminal.print_line(left_out_text(reply->left_out));
  return code;
}

// Formats one of many events: a line, or an element of a YAML list. Never Format::table.
std::string line_in(Format format, const Json& json) {
  if (format == Format::json) return json_line(json) + "\n";
  return format == Format::yaml ? yaml_text(Json::array({json})) : tsv_text(Json::array({json}));
}

// Events are shown as they come: in fixed columns, or as one JSON object per line.
Status show(Context& context, const EventsOptions& options, const JobEvent& event) {
  if (options.format != Format::table) {
    TRY_ASSIGN(const Json asked, what_is_asked(context, api::to_json(event)));
    context.terminal.out(line_in(options.format, asked));
    return {};
  }
  const auto cells = cells_of(event);
  context.terminal.out(printable(fmt::format("{:<24}  {:<7}  {:<12}  {:<16}  {}", cells[0],
                                             cells[1], cells[2], cells[3], cells[4])) +
                       "\n");
  return {};
}

// Asks repeatedly from the newest event on; events of that very instant may be known already.
class EventFollower {
 public:
  EventFollower(Context& context, Connection& connection, const EventsOptions& options)
      : context_(context), connection_(connection), options_(options) {}

  int run() {
    while (true) {
      const auto reply =
          connection_.ask_for<EventsReply>(ListEvents{JobId(options_.name), since_}, kTimeout);
      if (reply) {
        if (const Status shown = take(*reply); !shown)
          return fail(context_.terminal, shown.error());
        if (reply->final || context_.terminal.lost_output()) return 0;
      } else if (!wait_for_launcher(reply.error())) {
        return fail(context_.terminal, reply.error());
      }
      connection_.loop().turn(kAskAgainAfter);
    }
  }

 private:
  Status take(const EventsReply& reply) {
    if (away_) context_.terminal.print_line("the launcher is back");
    away_ = false;
    if (!header_shown_ && options_.format == Format::table)
      context_.terminal.out(fmt::format("{:<24}  {:<7}  {:<12}  {:<16}  {}\n", kHeader[0],
                                        kHeader[1], kHeader[2], kHeader[3], kHeader[4]));
    header_shown_ = true;
    for (const JobEvent& event : reply.events) {
      if (std::find(newest_.begin(), newest_.end(), event) != newest_.end()) continue;
      if (event.at != since_) newest_.clear();
      since_ = event.at;
      newest_.push_back(event);
      TRY(show(context_, options_, event));
    }
    return {};
  }

  bool wait_for_launcher(const Error& error) {
    if (error.code != ErrorCode::unavailable || !header_shown_) return false;
    if (!away_) context_.terminal.print_line("the launcher does not answer; waiting for it");
    away_ = true;
    if (const auto endpoint = context_.find_endpoint()) (void)connection_.reopen(*endpoint);
    return true;
  }

  Context& context_;
  Connection& connection_;
  const EventsOptions& options_;
  Instant since_;
  std::vector<JobEvent> newest_;  // the events at `since_` that were shown
  bool header_shown_ = false;
  bool away_ = false;
};

int events(Context& context, EventsOptions options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job =
      job_to_read(**connection, context.terminal, "job events", options.name, "events these are");
  if (!job) return fail(context.terminal, job.error());
  options.name = job->value;
  if (options.follow) return EventFollower(context, **connection, options).run();
  return list(context, **connection, options);
}

}  // namespace

void add_events_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<EventsOptions>();
  CLI::App* const verb = table.add_below(group, "events", "what happened to a job, in order");
  if (verb == nullptr) return;
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->add_flag("-f,--follow", options->follow, "keep printing until the job ends");
  add_format(*verb, options->format,
             "table (default), json, yaml or tsv; with --follow, one value per event");
  verb->callback([table, options] {
    table.action = [options](Context& context) { return events(context, *options); };
  });
}

}  // namespace lockstep::cli
