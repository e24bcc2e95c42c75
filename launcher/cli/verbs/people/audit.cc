// The audit log: who did what, and whether the log is unchanged.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/io/clock.h"
#include "launcher/api/json/access.h"
#include "launcher/audit/folder.h"
#include "launcher/audit/page.h"
#include "launcher/audit/verify.h"
#include "launcher/cli/follow/log_selection.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kTimeout = seconds(60);  // for one page
// The time for verifying, which reads the whole log; it may be large.
constexpr Duration kVerifyTimeout = minutes(10);
constexpr Duration kVerifyRepeated = minutes(5);
constexpr int kNewest = 1'000;

struct AuditOptions {
  std::string since, user, node, verb, object, project, home, mark;
  int limit = kNewest;
  Format format = Format::table;
};

std::vector<std::string> cells_of(const AuditEntry& entry) {
  const auto filled = [](const std::string& text) {
    return text.empty() ? "-" : in_one_line(text);
  };
  return {to_string(entry.at),
          filled(entry.who),
          filled(entry.address),
          filled(entry.what),
          filled(entry.object),
          filled(entry.project),
          std::string(to_string(entry.outcome)),
          filled(entry.detail)};
}

// Asks page by page, from the newest on; `whole` becomes false if there are older entries.
Result<std::vector<AuditEntry>> ask_for_entries(Connection& connection, QueryAudit query, int limit,
                                                bool* whole) {
  std::vector<AuditEntry> newest_first;
  const auto most = static_cast<std::size_t>(limit);
  for (;;) {
    // Asks for one entry more than is shown, to learn whether there is one.
    if (limit > 0) query.limit = static_cast<std::uint32_t>(most + 1 - newest_first.size());
    TRY_ASSIGN(const AuditReply page, connection.ask_for<AuditReply>(query, kTimeout));
    newest_first.insert(newest_first.end(), page.entries.rbegin(), page.entries.rend());
    query.before = page.before;
    *whole = limit == 0 || newest_first.size() <= most;
    if (!*whole) newest_first.resize(most);
    if (page.before == 0 || !*whole) break;
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

// "": all entries are of one user.
std::string note_on_users(const std::vector<AuditEntry>& entries, const std::string& name) {
  std::set<std::string> users;
  for (const AuditEntry& entry : entries) users.insert(launcher::user_in(entry, name));
  users.erase("");
  if (name.empty() || users.size() < 2) return "";
  return fmt::format(
      "the name was removed and added again: these are entries of {} users, {}; a name with its "
      "number shows those of one",
      users.size(), fmt::join(users, ", "));
}

int list(Context& context, const AuditOptions& options) {
  QueryAudit query;
  query.user = options.user;
  query.node = options.node;
  query.verb = options.verb;
  query.object = options.object;
  query.project = options.project;
  if (!options.since.empty()) {
    const auto since = parse_since(options.since, io::SystemClock().now());
    if (!since) return fail(context.terminal, since.error().within("audit"), kExitUsage);
    query.since = *since;
  }
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  bool whole = true;
  const auto entries = ask_for_entries(**connection, query, options.limit, &whole);
  if (!entries) return fail(context.terminal, entries.error());
  Table table({"TIME", "WHO", "ADDRESS", "WHAT", "OBJECT", "PROJECT", "OUTCOME", "DETAIL"});
  for (const AuditEntry& entry : *entries) table.add(cells_of(entry));
  const int code = print(context, options.format, api::to_json(*entries), table.text());
  if (const std::string note = note_on_users(*entries, options.user); !note.empty())
    context.terminal.print_line(note);
  if (!whole)
    context.terminal.print_line(
        fmt::format("only the newest {} entries are shown; --limit 0 shows all", options.limit));
  return code;
}

int print_verified(Context& context, const AuditOptions& options, const AuditVerified& found) {
  const bool whole = found.problem.empty();
  std::string text;
  for (const auto& line : found.notes) text += "note: " + line + "\n";
  if (!whole)
    text += fmt::format(
        "broken: {}\n"
        "{} before it {} unchanged\n",
        found.problem,
        found.entries == 1 ? "the entry" : fmt::format("the {} entries", found.entries),
        found.entries == 1 ? "is" : "are");
  else if (found.entries == 0)
    text += "whole: the log has no entries yet\n";
  else
    text += fmt::format(
        "whole: entries {} to {}\n"
        "To check later that none of these entries was rewritten, keep this command on another "
        "machine:\n"
        "  lockstep audit verify --mark {}:{}\n",
        found.first, found.last.number, found.last.number, found.last.digest);
  const int code = print(context, options.format, api::to_json(found), text);
  return code == 0 && !whole ? kExitFailure : code;
}

int verify(Context& context, const AuditOptions& options) {
  VerifyAudit ask;
  if (!options.mark.empty()) {
    const auto mark = launcher::audit_mark_from(options.mark);
    if (!mark)
      return fail(context.terminal,
                  make_error(ErrorCode::invalid_argument,
                             fmt::format("audit verify: --mark '{}' is not NUMBER:DIGEST, as an "
                                         "earlier `lockstep audit verify` printed it",
                                         options.mark)),
                  kExitUsage);
    ask.mark = *mark;
  }
  if (!options.home.empty()) {
    const auto found = launcher::verify_audit(launcher::audit_folder(options.home), {}, ask.mark);
    if (!found) return fail(context.terminal, found.error());
    return print_verified(context, options, *found);
  }
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask(ask, kVerifyTimeout, kVerifyRepeated);
  if (!reply) return fail(context.terminal, reply.error());
  const auto* found = std::get_if<AuditVerified>(&*reply);
  if (found == nullptr)
    return fail(context.terminal,
                make_error(ErrorCode::internal, "the launcher sent an unexpected kind of reply"));
  return print_verified(context, options, *found);
}

// Options that select entries.
void add_filters(CLI::App& group, AuditOptions& options) {
  group
      .add_option("--since", options.since,
                  "only entries since this time: 1h (ago), or 2026-01-31T12:00:00Z")
      ->check(filled("leave it out for all"));
  group
      .add_option("--user", options.user,
                  "only entries by this user or about this user; of a name that was removed and "
                  "added again, by all of them (ann, ann~2)")
      ->check(filled("leave it out for all"));
  group.add_option("--node", options.node, "only entries by this node or about this node")
      ->check(filled("leave it out for all"));
  group
      .add_option("--verb", options.verb,
                  "only entries with these words in WHAT: \"cancel job\", cancel, submit")
      ->check(filled("leave it out for all"));
  group
      .add_option("--object", options.object,
                  "only entries about this object: \"job train\", or train alone")
      ->check(filled("leave it out for all"));
  group.add_option("--project", options.project, "only entries about what belongs to this project")
      ->check(filled("leave it out for all"));
  group.add_option("--limit", options.limit, "show the newest N entries (default 1000; 0: all)")
      ->check(whole_number(0));
}

}  // namespace

void add_audit_verbs(VerbTable table) {
  CLI::App* const added =
      table.add("audit", "show the audit log: who did what, and whose requests were refused");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<AuditOptions>();
  add_filters(group, *options);
  add_format(group, options->format);
  group.footer(
      "\n  The newest entry is last. Only admins may read the audit log. It has no values of "
      "variables,\n"
      "  secrets or tokens.");
  group.callback([table, options, &group] {
    if (!group.get_subcommands().empty()) return;  // verify sets its own action
    table.action = [options](Context& context) { return list(context, *options); };
  });
  auto* check = group.add_subcommand("verify", "check that no entry was changed or removed");
  check->add_option("--home", options->home,
                    "read the log directly in this launcher's home; the launcher may be stopped");
  check->add_option(
      "--mark", options->mark,
      "NUMBER:DIGEST from an earlier verify: check that the log still has this entry");
  add_format(*check, options->format);
  check->footer(
      "\n  Exit code 0: the log is whole. 1: it is not; the output names the first wrong entry.");
  check->callback([table, options] {
    table.action = [options](Context& context) { return verify(context, *options); };
  });
}

}  // namespace lockstep::cli
