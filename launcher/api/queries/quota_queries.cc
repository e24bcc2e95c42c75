#include "launcher/api/queries/quota_queries.h"

#include <set>

#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

using Holders = std::set<QuotaHolder>;

Holders own(const Principals& principals, const Caller& caller) {
  Holders holders;
  const User* user = principals.user(owner_of(caller));
  if (user == nullptr) return holders;
  holders.insert({QuotaHolder::Kind::user, user->name});
  for (const Grant& grant : user->grants)
    if (is_of_project(grant.role)) holders.insert({QuotaHolder::Kind::project, grant.project});
  return holders;
}

Holders all(const State& state) {
  Holders holders;
  for (const auto& [holder, quota] : state.principals().quotas()) holders.insert(holder);
  for (const auto& [holder, usage] : state.usage().all()) holders.insert(holder);
  return holders;
}

bool is_there(const Principals& principals, const QuotaHolder& holder) {
  return holder.kind == QuotaHolder::Kind::user ? principals.user(holder.name) != nullptr
                                                : principals.has_project(holder.name);
}

}  // namespace

ClientReply list_quotas(const Core& core, const Caller& caller, const ListQuotas& question) {
  const Principals& principals = core.state().principals();
  const Decision manages = may(principals, caller, Permission::manage_users, {});
  Holders holders = own(principals, caller);
  if (question.holder) {
    if (!manages.allowed && holders.count(*question.holder) == 0)
      return Refused{ErrorCode::permission_denied, "only an admin sees the quota of " +
                                                       to_string(*question.holder) +
                                                       "; `lockstep quota show` shows yours"};
    if (!is_there(principals, *question.holder))
      return Refused{ErrorCode::not_found, "there is no " + to_string(*question.holder) +
                                               "; `lockstep quota list` shows quotas"};
    holders = {*question.holder};
  } else if (question.all && manages.allowed) {
    holders.merge(all(core.state()));
  }
  QuotasReply reply;
  for (const QuotaHolder& holder : holders) reply.quotas.push_back(core.quota_view(holder));
  return reply;
}

}  // namespace lockstep::launcher
