#include "launcher/api/checks/compute_changes.h"

#include <gtest/gtest.h>

namespace lockstep::launcher {
namespace {

ComputeSpec hosts(const std::vector<std::string>& names) {
  ComputeSpec spec{"lab", ComputeType::virtualmachine, "", "", {}, NodeSource::ssh, {}};
  for (const std::string& name : names) {
    spec.hosts.emplace_back();
    spec.hosts.back().name = spec.hosts.back().address = name;
  }
  return spec;
}

TEST(ComputeChanges, KeysAreNamedAndValuesAreNot) {
  ComputeSpec before{"lab", ComputeType::amlcompute, "", "", {}, NodeSource::command, {}};
  before.settings = {{"program", {"vms"}}, {"image", {"a"}}, {"old", {"x"}}};
  ComputeSpec after = before;
  EXPECT_EQ(changed_keys(before, after), "nothing");
  after.description = "secret words";
  after.tags["owner"] = "secret words";
  after.scale.max_instances = 9;
  after.settings = {{"program", {"vms"}}, {"image", {"secret words"}}, {"new", {"secret words"}}};
  EXPECT_EQ(changed_keys(before, after),
            "description, tags, max_instances, lockstep.command.new, lockstep.command.image, "
            "lockstep.command.old");
}

TEST(ComputeChanges, HostsAreNamed) {
  const ComputeSpec before = hosts({"vm1", "vm2"});
  ComputeSpec after = hosts({"vm2", "vm3"});
  after.hosts[0].password_secret = "pw";
  after.tunnel = TunnelUse::always;
  EXPECT_EQ(changed_keys(before, after),
            "lockstep.tunnel, hosts (added vm3; removed vm1; changed vm2)");
  std::vector<std::string> many;
  for (int i = 10; i < 35; ++i) many.push_back("n" + std::to_string(i));
  EXPECT_TRUE(changed_keys(hosts({}), hosts(many)).ends_with("n29 and 5 more)"));
}

TEST(ComputeChanges, WhoOwnsASecretIsNoChangeOfTheirs) {
  ComputeSpec known = hosts({"vm1"});
  known.hosts[0].secret_owner = "root";
  EXPECT_EQ(changed_keys(known, hosts({"vm1"})), "nothing");
}

}  // namespace
}  // namespace lockstep::launcher
