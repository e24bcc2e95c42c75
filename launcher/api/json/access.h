#pragma once
// Users, projects, quotas, secrets and the audit log as JSON.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/people/access.h"
#include "common/domain/people/audit.h"
#include "common/domain/people/quota.h"
#include "common/domain/people/secrets.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const UserView& user);
Json to_json(const std::vector<UserView>& users);
// The user who asks, with their quotas and what they use of them.
Json to_json(const UserView& user, const std::vector<QuotaView>& quotas);
Json to_json(const ProjectView& project);
Json to_json(const std::vector<ProjectView>& projects);
Json to_json(const QuotaView& quota);
Json to_json(const std::vector<QuotaView>& quotas);
Json to_json(const SecretView& secret);
Json to_json(const std::vector<SecretView>& secrets);
Json to_json(const AuditEntry& entry);
Json to_json(const std::vector<AuditEntry>& entries);
Json to_json(const AuditVerified& verified);

}  // namespace lockstep::api
