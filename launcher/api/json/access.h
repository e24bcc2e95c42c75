#pragma once
// Users, projects, quotas, secrets and the audit log as JSON.

#include <vector>

#include "common/domain/people/access.h"
#include "common/domain/people/audit.h"
#include "common/domain/people/quota.h"
#include "common/domain/people/secrets.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// The user who asks, with their quotas and what they use of them.
struct Oneself {
  UserView user;
  std::vector<QuotaView> quotas;
};

void keys(const UserView& user, See& see);
void keys(const Oneself& oneself, See& see);
void keys(const ProjectView& project, See& see);
void keys(const QuotaView& quota, See& see);
void keys(const SecretView& secret, See& see);
void keys(const AuditEntry& entry, See& see);
void keys(const AuditVerified& verified, See& see);

}  // namespace lockstep::api
