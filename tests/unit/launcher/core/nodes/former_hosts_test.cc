// Where a machine is that its target no longer names.

#include <gtest/gtest.h>

#include "common/domain/why/nodes/machines.h"
#include "launcher/state/targets/computes.h"

namespace lockstep::launcher {
namespace {

ComputeSpec with_hosts(const std::vector<std::string>& addresses) {
  ComputeSpec spec;
  spec.name = "lab";
  spec.type = ComputeType::virtualmachine;
  spec.source = NodeSource::ssh;
  for (const std::string& address : addresses) {
    SshHost host;
    host.name = address.substr(0, 3);
    host.address = address;
    spec.hosts.push_back(std::move(host));
  }
  return spec;
}

TEST(FormerHosts, AHostIsKnownUntilItsMachineIsGone) {
  Computes computes;
  computes.apply(Instant{1}, ComputeCreated{with_hosts({"vm1.a", "vm2.a"}), "ann"});
  for (const char* name : {"vm1", "vm2"})
    computes.apply(Instant{2}, MachineWanted{"lab", name, HostOfTarget{}});
  EXPECT_EQ(computes.host_of("lab", "vm1")->address, "vm1.a");
  EXPECT_EQ(computes.host_of("lab", "vm3"), nullptr);
  EXPECT_EQ(computes.host_of("other", "vm1"), nullptr);
  computes.apply(Instant{3}, ComputeUpdated{with_hosts({"vm2.a"}), "ann"});
  EXPECT_EQ(computes.host_of("lab", "vm1")->address, "vm1.a");
  // Attached again elsewhere while the old machine is being removed, and detached again.
  computes.apply(Instant{4}, ComputeUpdated{with_hosts({"vm1.b", "vm2.a"}), "ann"});
  EXPECT_EQ(computes.host_of("lab", "vm1")->address, "vm1.a");
  computes.apply(Instant{5}, ComputeUpdated{with_hosts({"vm2.a"}), "ann"});
  EXPECT_EQ(computes.host_of("lab", "vm1")->address, "vm1.a");
  computes.apply(Instant{6}, ComputeUpdated{with_hosts({"vm1.b", "vm2.a"}), "ann"});
  computes.apply(Instant{7}, MachineGone{"lab", "vm1", MachineRemoved{}});
  EXPECT_EQ(computes.host_of("lab", "vm1")->address, "vm1.b");
}

TEST(FormerHosts, AHostWithoutAMachineIsForgotten) {
  Computes computes;
  computes.apply(Instant{1}, ComputeCreated{with_hosts({"vm1.a"}), "ann"});
  computes.apply(Instant{2}, ComputeUpdated{with_hosts({}), "ann"});
  EXPECT_EQ(computes.host_of("lab", "vm1"), nullptr);
  EXPECT_TRUE(computes.find("lab")->former_hosts.empty());
}

}  // namespace
}  // namespace lockstep::launcher
