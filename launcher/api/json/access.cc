#include "launcher/api/json/access.h"

#include <algorithm>

#include "common/grammar/key_word.h"

namespace lockstep::api {

void keys(const Grant& grant, See& see) {
  see("role", grant.role, "What one may do.");
  see.if_set("project", unless_empty(grant.project),
             "The project that the role is in; missing: the whole launcher.");
}

void keys(const UserView::Key& key, See& see) {
  see("key", key_word(key.key), "The key as one word.");
  see("added", SetTime{key.added}, "When it was added.");
  see("by", key.by, "Who added it.");
}

namespace {

void user_keys(const UserView& user, See& see) {
  see("name", user.name, "The user's name.");
  see("account", user.account, "The account that the user's jobs run as.");
  see("roles", user.grants, "What the user may do.");
  see("keys", user.keys, "Keys that say who one is.");
  see("added", SetTime{user.added}, "When the user was added.");
  see("by", user.by, "Who added the user.");
}

}  // namespace

void keys(const UserView& user, See& see) {
  see.page("user", "User", "A user as `lockstep user show` prints it.");
  user_keys(user, see);
}

void keys(const Oneself& oneself, See& see) {
  see.page("whoami", "Oneself", "The user whose key asks: `lockstep user whoami`.");
  user_keys(oneself.user, see);
  see("quotas", oneself.quotas, "What the user and the user's projects may take.");
}

void keys(const ProjectView& project, See& see) {
  see.page("project", "Project", "A project.");
  see("name", project.name, "Its name.");
  see("users", project.users, "Users with a role in it.");
  see("by", project.by, "Who made it.");
}

namespace {

std::string json_name(QuotaLimit limit) {
  std::string name(to_string(limit));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const char* what_is_limited(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return "Jobs that wait; null: as much as there is.";
    case QuotaLimit::running_jobs:
      return "Jobs that are placed and have not ended; null: as much as there is.";
    case QuotaLimit::nodes: return "Nodes that these hold; null: as much as there is.";
    case QuotaLimit::cpus: return "Logical cpus that these hold; null: as much as there is.";
    case QuotaLimit::gpus: return "GPUs that these hold; null: as much as there is.";
    case QuotaLimit::snapshot_bytes: return "Bytes of one job's source; null: as much as there is.";
    case QuotaLimit::spec_bytes:
      return "Bytes of variables and texts of all jobs that are kept, beyond 4096 each; null: as "
             "much as there is.";
    case QuotaLimit::versions:
      return "Registered versions of environments, data, models and components; null: as many as "
             "there are.";
    case QuotaLimit::version_bytes:
      return "Bytes of the definitions and texts of these versions; null: as much as there is.";
    case QuotaLimit::version_files:
      return "Bytes of the files of these versions, each counted in full; null: as much as there "
             "is.";
    case QuotaLimit::job_files:
      return "Bytes of the logs, outputs, checkpoints and sources of all kept jobs; null: as much "
             "as there is.";
    case QuotaLimit::kept_jobs:
      return "Jobs that have ended, of which the oldest go when there are more; null: as much as "
             "there is.";
  }
  return "";
}

// The line of each limit that has one, in their order, and then the other limits.
std::vector<std::pair<QuotaView::Line, bool>> all_limits(
    const std::vector<QuotaView::Line>& lines) {
  std::vector<std::pair<QuotaView::Line, bool>> all;
  const auto add = [&](const QuotaView::Line& line, bool is_there) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& one) { return one.first.limit == line.limit; });
    if (same == all.end())
      all.emplace_back(line, is_there);
    else if (is_there)
      same->first = line;
  };
  for (const QuotaView::Line& line : lines) add(line, true);
  for (const QuotaLimit limit : kQuotaLimits) {
    QuotaView::Line line;
    line.limit = limit;
    add(line, false);
  }
  return all;
}

}  // namespace

void keys(const QuotaView::Line& line, See& see) {
  see("limit", line.most, what_is_limited(line.limit));
  if (is_summed_up(line.limit))
    see("used", line.used, "How much of it is taken now.");
  else
    see("used", nullptr, "null: what one submission may have is not added up.");
  see("default", line.is_default, "Nobody set the limit.");
}

void keys(const QuotaView& quota, See& see) {
  see.page("quota", "Quota", "What a user, or all jobs of a project, may take and take now.");
  see("kind", quota.holder.kind, "Whose it is.");
  see("name", quota.holder.name, "The user's or project's name.");
  see.object(
      "limits",
      [&](See& see) {
        for (const auto& [line, is_there] : all_limits(quota.lines))
          see.only_if(is_there, json_name(line.limit).c_str(), line);
      },
      "All of these from a launcher.");
}

void keys(const SecretView& secret, See& see) {
  see.page("secret", "Secret", "A secret's name; nobody is shown its text.");
  see("name", secret.name, "Jobs name it as ${{secrets.NAME}}.");
  see("updated", SetTime{secret.updated}, "When it was last set.");
}

void keys(const AuditEntry& entry, See& see) {
  see.page("audit-entry", "Audit entry", "Who asked for what, and what came of it.");
  see("number", entry.number, "1, 2, … without gaps.");
  see("time", SetTime{entry.at}, "When.");
  see("who", entry.who, "A user, a node, or lockstepd.");
  see("key", entry.key, "The key that signed it, as one word; empty: none did.");
  see("address", entry.address, "Where it came from; empty: not known.");
  see("what", entry.what, "What was asked for.");
  see("object", entry.object, "What it was about.");
  see("outcome", entry.outcome,
      "done: it changed something; read: somebody was shown what belongs to another; note: the log "
      "about itself.");
  see("detail", entry.detail, "In words: why it was refused, or what else there is to know.");
  see("project", unless_empty(entry.project),
      "The project that the object belongs to; null: none, or an entry of an earlier version.");
}

void keys(const AuditVerified& verified, See& see) {
  see.page("audit-check", "Check of the audit log", "What `lockstep audit verify` prints.");
  see("whole", verified.problem.empty(), "The log is as it was written.");
  see("entries", verified.entries, "How many entries were looked at.");
  see("first", verified.first, "The number of the first.");
  see("last", verified.last.number, "The number of the last.");
  see("digest", verified.last.digest, "The digest of the last; empty: there is none.");
  see("problem", unless_empty(verified.problem),
      "The first entry that is wrong, and why; null: none.");
  see("notes", verified.notes, "What else there is to know.");
}

}  // namespace lockstep::api
