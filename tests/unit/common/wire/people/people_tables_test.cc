// The tables of users, quotas, secrets and the audit.

#include "common/wire/people/access_codec.h"
#include "common/wire/people/audit_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/people/secrets_codec.h"
#include "proto/access.access.h"
#include "proto/audit.access.h"
#include "proto/quota.access.h"
#include "proto/secrets.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(PeopleTables, Users) {
  check_table<pb::Grant, Grant>();
  check_table<pb::AddUser, AddUser>();
  check_table<pb::RemoveUser, RemoveUser>();
  check_table<pb::SetAccount, SetAccount>();
  check_table<pb::ChangeRole, ChangeRole>();
  check_table<pb::AddKey, AddKey>();
  check_table<pb::RevokeKey, RevokeKey>();
  check_table<pb::CreateProject, CreateProject>();
  check_table<pb::RemoveProject, RemoveProject>();
  check_table<pb::UserKey, UserView::Key>();
  check_table<pb::UserView, UserView>();
  check_table<pb::ProjectView, ProjectView>();
  check_table<pb::ListUsers, ListUsers>();
  check_table<pb::ChangePrincipals, ChangePrincipals>();
  check_table<pb::UsersReply, UsersReply>();
  check_table<pb::ProjectsReply, ProjectsReply>();
}

TEST(PeopleTables, Quotas) {
  check_table<pb::QuotaHolder, QuotaHolder>();
  check_table<pb::SetQuota, SetQuota>();
  check_table<pb::QuotaLine, QuotaView::Line>();
  check_table<pb::QuotaView, QuotaView>();
  check_table<pb::ListQuotas, ListQuotas>();
  check_table<pb::QuotasReply, QuotasReply>();
}

TEST(PeopleTables, Secrets) {
  check_table<pb::SetSecret, SetSecret>();
  check_table<pb::RemoveSecret, RemoveSecret>();
  check_table<pb::SecretView, SecretView>();
  check_table<pb::SecretsReply, SecretsReply>();
}

TEST(PeopleTables, Audit) {
  check_table<pb::AuditEntry, AuditEntry>();
  check_table<pb::AuditMark, AuditMark>();
  check_table<pb::QueryAudit, QueryAudit>();
  check_table<pb::VerifyAudit, VerifyAudit>();
  check_table<pb::AuditReply, AuditReply>();
  check_table<pb::AuditVerified, AuditVerified>();
}

}  // namespace
}  // namespace lockstep::test
