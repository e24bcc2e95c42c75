// The tables of facts about users, keys, roles and projects.

#include "launcher/store/facts/principal_codec.h"
#include "proto/journal.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(PrincipalTables, Facts) {
  check_table<pb::ProjectCreated, launcher::ProjectCreated>();
  check_table<pb::ProjectRemoved, launcher::ProjectRemoved>();
  check_table<pb::UserAdded, launcher::UserAdded>();
  check_table<pb::UserAccountSet, launcher::UserAccountSet>();
  check_table<pb::UserRemoved, launcher::UserRemoved>();
  check_table<pb::RoleGranted, launcher::RoleGranted>();
  check_table<pb::RoleWithdrawn, launcher::RoleWithdrawn>();
  check_table<pb::UserKeyAdded, launcher::UserKeyAdded>();
  check_table<pb::UserKeyRevoked, launcher::UserKeyRevoked>();
  check_table<pb::QuotaSet, launcher::QuotaSet>();
}

}  // namespace
}  // namespace lockstep::test
