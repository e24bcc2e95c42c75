#include "launcher/api/json/access.h"

#include <algorithm>

#include "common/grammar/key_word.h"
#include "launcher/api/json/value.h"

namespace lockstep::api {

namespace {

Json grant_json(const Grant& grant) {
  Json json{{"role", std::string(to_string(grant.role))}};
  if (!grant.project.empty()) json["project"] = grant.project;
  return json;
}

std::string json_name(QuotaLimit limit) {
  std::string name(to_string(limit));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

Json to_json(const UserView& user) {
  Json keys = Json::array(), roles = Json::array();
  for (const auto& key : user.keys)
    keys.push_back({{"key", key_word(key.key)}, {"added", to_string(key.added)}, {"by", key.by}});
  for (const Grant& grant : user.grants) roles.push_back(grant_json(grant));
  return {{"name", user.name}, {"account", user.account},        {"roles", roles},
          {"keys", keys},      {"added", to_string(user.added)}, {"by", user.by}};
}

Json to_json(const UserView& user, const std::vector<QuotaView>& quotas) {
  Json json = to_json(user);
  json["quotas"] = to_json(quotas);
  return json;
}

Json to_json(const ProjectView& project) {
  return {{"name", project.name}, {"users", project.users}, {"by", project.by}};
}

Json to_json(const QuotaView& quota) {
  Json limits = Json::object();
  for (const auto& line : quota.lines)
    limits[json_name(line.limit)] = {
        {"limit", line.most ? Json(*line.most) : Json(nullptr)},
        {"used", is_summed_up(line.limit) ? Json(line.used) : Json(nullptr)},
        {"default", line.is_default}};
  return {{"kind", std::string(to_string(quota.holder.kind))},
          {"name", quota.holder.name},
          {"limits", limits}};
}

Json to_json(const SecretView& secret) {
  return {{"name", secret.name}, {"updated", to_string(secret.updated)}};
}

Json to_json(const AuditEntry& entry) {
  return {{"number", entry.number},
          {"time", to_string(entry.at)},
          {"who", entry.who},
          {"key", entry.key},
          {"address", entry.address},
          {"what", entry.what},
          {"object", entry.object},
          {"outcome", std::string(to_string(entry.outcome))},
          {"detail", entry.detail},
          {"project", entry.project.empty() ? Json(nullptr) : Json(entry.project)}};
}

Json to_json(const AuditVerified& verified) {
  const bool whole = verified.problem.empty();
  return {{"whole", whole},
          {"entries", verified.entries},
          {"first", verified.first},
          {"last", verified.last.number},
          {"digest", verified.last.digest},
          {"problem", whole ? Json(nullptr) : Json(verified.problem)},
          {"notes", verified.notes}};
}

Json to_json(const std::vector<UserView>& users) { return list_of<UserView>(users, to_json); }
Json to_json(const std::vector<ProjectView>& projects) {
  return list_of<ProjectView>(projects, to_json);
}
Json to_json(const std::vector<QuotaView>& quotas) { return list_of<QuotaView>(quotas, to_json); }
Json to_json(const std::vector<SecretView>& secrets) {
  return list_of<SecretView>(secrets, to_json);
}
Json to_json(const std::vector<AuditEntry>& entries) {
  return list_of<AuditEntry>(entries, to_json);
}

}  // namespace lockstep::api
