// The operator's fabric.yml is read again when it changes, and an error in it takes nothing away.

#include "launcher/daemon/ports/operator_fabric.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

std::string interface_of(OperatorFabric& fabric) {
  const OperatorSettings settings = fabric.settings_for({"local", "", {}});
  return settings.interface ? settings.interface->names.front() : "";
}

TEST(OperatorFabricTest, FollowsTheFileAndKeepsTheLastGoodVersion) {
  const test::TempDir temp;
  const std::string path = temp.path() + "/fabric.yml";
  OperatorFabric fabric(path);
  EXPECT_TRUE(fabric.settings_for({"local", "", {}}).empty());

  ASSERT_TRUE(io::write_file_atomically(path, "rules:\n  - interface: eth0\n"));
  EXPECT_EQ(interface_of(fabric), "eth0");
  EXPECT_EQ(fabric.settings_for({"local", "", {}}).trouble, "");

  ASSERT_TRUE(io::write_file_atomically(path, "rules:\n  - interfaces: eth1\n"));
  EXPECT_EQ(interface_of(fabric), "eth0");
  EXPECT_NE(fabric.settings_for({"local", "", {}}).trouble.find("fabric.yml has an error"),
            std::string::npos);

  ASSERT_TRUE(io::write_file_atomically(path, "rules:\n  - interface: eth1\n"));
  EXPECT_EQ(interface_of(fabric), "eth1");
  ASSERT_EQ(std::remove(path.c_str()), 0);
  EXPECT_TRUE(fabric.settings_for({"local", "", {}}).empty());
}

}  // namespace
}  // namespace lockstep::launcher
