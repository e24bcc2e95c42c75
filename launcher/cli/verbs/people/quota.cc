// Quotas of users and projects.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <charconv>

#include "common/base/bytes.h"
#include "launcher/api/json/access.h"
#include "launcher/cli/text/targets/quota_view.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

struct QuotaOptions {
  std::string user, project;
  std::map<QuotaLimit, std::string> values;
  std::map<QuotaLimit, bool> unset;
  bool unset_all = false;
  Format format = Format::table;
};

std::optional<QuotaHolder> holder_of(const QuotaOptions& options) {
  if (!options.user.empty()) return QuotaHolder{QuotaHolder::Kind::user, options.user};
  if (!options.project.empty()) return QuotaHolder{QuotaHolder::Kind::project, options.project};
  return std::nullopt;
}

Result<std::uint64_t> value_of(QuotaLimit limit, const std::string& text) {
  if (is_in_bytes(limit)) {
    if (const auto bytes = parse_bytes(text)) return bytes->count;
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("--{}: '{}' is not a size; write 500m or 2g", to_string(limit), text));
  }
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc{} && end == text.data() + text.size()) return value;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("--{}: '{}' is not a whole number; `lockstep quota unset` removes a limit",
                  to_string(limit), text));
}

int change(Context& context, const SetQuota& ask) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(ChangePrincipals{ask});
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

int no_limit(Context& context, const char* verb) {
  return fail(context.terminal,
              make_error(ErrorCode::invalid_argument,
                         fmt::format("quota {}: give --user NAME or --project NAME, and a limit "
                                     "such as --gpus; see lockstep quota {} --help",
                                     verb, verb)),
              kExitUsage);
}

int set(Context& context, const QuotaOptions& options) {
  const auto holder = holder_of(options);
  if (!holder || options.values.empty()) return no_limit(context, "set");
  SetQuota ask{*holder, {}, {}};
  for (const auto& [limit, text] : options.values) {
    const auto value = value_of(limit, text);
    if (!value) return fail(context.terminal, value.error(), kExitUsage);
    ask.set[limit] = *value;
  }
  return change(context, ask);
}

int unset(Context& context, const QuotaOptions& options) {
  const auto holder = holder_of(options);
  SetQuota ask;
  for (const QuotaLimit limit : kQuotaLimits) {
    const auto chosen = options.unset.find(limit);
    if (options.unset_all || (chosen != options.unset.end() && chosen->second))
      ask.unset.push_back(limit);
  }
  if (!holder || ask.unset.empty()) return no_limit(context, "unset");
  ask.holder = *holder;
  return change(context, ask);
}

int show_all(Context& context, const QuotaOptions& options, const ListQuotas& question) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<QuotasReply>(question);
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->quotas),
               quotas_text(reply->quotas, !question.all));
}

int list(Context& context, const QuotaOptions& options) {
  return show_all(context, options, {{}, true});
}
int show(Context& context, const QuotaOptions& options) {
  return show_all(context, options, {holder_of(options), false});
}

const char* what_of(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return "queued jobs (default 20000 per user)";
    case QuotaLimit::running_jobs: return "jobs that are placed and have not ended";
    case QuotaLimit::nodes: return "nodes that placed jobs hold";
    case QuotaLimit::cpus: return "cpus that placed jobs hold";
    case QuotaLimit::gpus: return "gpus that placed jobs hold";
    case QuotaLimit::snapshot_bytes: return "size of one job's source directory";
    case QuotaLimit::spec_bytes:
      return "size of the variables and texts of all kept jobs, beyond 4k for each job (default "
             "32m per user)";
    case QuotaLimit::versions:
      return "registered versions of environments, data, models and components (default 10000 per "
             "user, 100000 per project)";
    case QuotaLimit::version_bytes:
      return "size of the definitions and texts of these versions, without their files (default "
             "256m per user, 2g per project)";
    case QuotaLimit::version_files:
      return "size of the files of these versions, each counted in full (default 1t per user, 8t "
             "per project)";
    case QuotaLimit::job_files:
      return "size of the logs, outputs, checkpoints and sources of all kept jobs (default half of "
             "the launcher's disk per user, where there are others)";
    case QuotaLimit::kept_jobs: return "jobs that have ended; the oldest of more are deleted";
  }
  return "";
}

void add_holder(CLI::App& verb, QuotaOptions& options) {
  auto* user = verb.add_option("--user", options.user, "for this user")
                   ->check(filled("`lockstep user list` shows the names"));
  verb.add_option("--project", options.project, "for this project")
      ->check(filled("`lockstep project list` shows the names"))
      ->excludes(user);
}

}  // namespace

void add_quota_verbs(VerbTable table) {
  CLI::App* const added = table.add("quota", "limits on what users and projects may use");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<QuotaOptions>();
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* what,
                       int (*work)(Context&, const QuotaOptions&)) {
    auto* verb = group.add_subcommand(name, what);
    verb->callback([table, options, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
    return verb;
  };
  add_format(*add("list", "list all quotas and how much of each is used", list), options->format);
  auto* show_verb = add("show", "show your quota and your projects' quotas, or one quota", show);
  add_holder(*show_verb, *options);
  add_format(*show_verb, options->format);
  auto* set_verb = add("set", "limit a user or project", set);
  auto* unset_verb = add("unset", "remove limits", unset);
  add_holder(*set_verb, *options);
  add_holder(*unset_verb, *options);
  set_verb->footer(
      "\n  lockstep quota set --user alice --gpus 8 --running-jobs 20\n"
      "  Jobs over a limit wait and do not block other jobs; running jobs continue.");
  for (const QuotaLimit limit : kQuotaLimits) {
    const std::string flag = "--" + std::string(to_string(limit));
    set_verb
        ->add_option_function<std::string>(
            flag, [options, limit](const std::string& text) { options->values[limit] = text; },
            what_of(limit))
        ->type_name(is_in_bytes(limit) ? "SIZE" : "N");
    unset_verb->add_flag(flag, options->unset[limit], what_of(limit));
  }
  unset_verb->add_flag("--all", options->unset_all, "every limit");
}

}  // namespace lockstep::cli
