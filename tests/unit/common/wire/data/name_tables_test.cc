// The tables of names that people share.

#include "common/wire/data/name_codec.h"
#include "proto/name.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(NameTables, Names) {
  check_table<pb::NameGrants, NameGrants>();
  check_table<pb::ShareName, ShareName>();
  check_table<pb::DeleteVersions, DeleteVersions>();
  check_table<pb::AnnotateVersion, AnnotateVersion>();
}

}  // namespace
}  // namespace lockstep::test
