// What flags make of a target, and ssh's command line for its hosts.

#include "launcher/cli/targets/compute_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "launcher/cli/targets/ssh_words.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ComputeOptions with_hosts(const std::vector<std::string>& hosts) {
  ComputeOptions options;
  options.name = "lab";
  options.hosts.hosts = hosts;
  return options;
}

TEST(ComputeOptions, HostsMakeAVirtualmachine) {
  ComputeOptions options = with_hosts({"vm1,ann@vm2:2222", "vm3"});
  options.hosts.user = "bob";
  options.hosts.key = "k";
  options.hosts.tunnel = "always";
  const auto spec = spec_to_create("attach", options);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->type, ComputeType::virtualmachine);
  EXPECT_EQ(spec->source, NodeSource::ssh);
  EXPECT_EQ(spec->tunnel, TunnelUse::always);
  ASSERT_EQ(spec->hosts.size(), 3u);
  EXPECT_EQ(spec->hosts[0].user, "bob");
  EXPECT_EQ(spec->hosts[1].user, "ann");
  EXPECT_EQ(spec->hosts[1].port, 2222);
  EXPECT_EQ(spec->hosts[2].key, (std::filesystem::current_path() / "k").string());
}

TEST(ComputeOptions, FlagsStandOverAFile) {
  const test::TempDir dir;
  const std::string file = dir.path() + "/vm.yml";
  std::ofstream(file) << "name: vm\ntype: virtualmachine\nresource_id: /subscriptions/1\n"
                         "ssh_settings: {admin_username: azureuser, ssh_port: 50000}\n";
  ComputeOptions options = with_hosts({"20.1.2.3"});
  options.file = file;
  options.hosts.port = "22";
  const auto spec = spec_to_create("attach", options);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->name, "lab");
  ASSERT_EQ(spec->hosts.size(), 1u);
  EXPECT_EQ(spec->hosts[0].address, "20.1.2.3");
  EXPECT_EQ(spec->hosts[0].user, "azureuser");
  EXPECT_EQ(spec->hosts[0].port, 22);
}

TEST(ComputeOptions, BadOnesAreRefused) {
  const auto refusal = [](const auto& change) {
    ComputeOptions options = with_hosts({"vm1"});
    change(options);
    const auto spec = spec_to_create("create", options);
    return spec ? std::string("accepted") : spec.error().message;
  };
  EXPECT_EQ(refusal([](auto& o) { o.hosts.hosts = {"vm1:x"}; }),
            "compute create: --host: 'vm1:x' is not a host: 'x' is not a port from 1 to 65535");
  EXPECT_EQ(refusal([](auto& o) { o.hosts.hosts = {"vm1,"}; }),
            "compute create: --host: '' is not a host: it has no address; write "
            "[USER@]ADDRESS[:PORT]");
  EXPECT_THAT(refusal([](auto& o) {
                o.hosts.hosts = {"vm1", "ann@vm1:3"};
              }),
              HasSubstr("two hosts have the name 'vm1'"));
  EXPECT_THAT(refusal([](auto& o) { o.hosts.port = "0"; }), HasSubstr("--port: '0' is not a port"));
  EXPECT_THAT(refusal([](auto& o) { o.hosts.user = "-oX"; }),
              HasSubstr("user '-oX' is not the name of an account"));
  EXPECT_THAT(refusal([](auto& o) { o.hosts.directory = "x"; }), HasSubstr("directory 'x'"));
  EXPECT_THAT(refusal([](auto& o) { o.type = "local"; }),
              HasSubstr("--host is for a virtualmachine with the node source ssh"));
  EXPECT_THAT(refusal([](auto& o) { o.node_source = "join"; }), HasSubstr("--host is for"));
  EXPECT_THAT(refusal([](auto& o) {
                o.hosts.hosts.clear();
                o.type = "virtualmachine";
                o.node_source = "ssh";
                o.hosts.user = "ann";
              }),
              HasSubstr("no host is named"));
  EXPECT_THAT(refusal([](auto& o) { o.hosts.hosts.clear(); }), HasSubstr("--type or --host"));
  EXPECT_THAT(refusal([](auto& o) { o.overrides = {"a=b"}; }),
              HasSubstr("--set overrides keys of a compute file"));
  EXPECT_THAT(refusal([](auto& o) { o.name = "x"; }), HasSubstr("3 to 24"));
}

TEST(ComputeOptions, UpdateChangesTextsAndTheTunnel) {
  ComputeSpec known;
  known.name = "lab";
  ComputeOptions options;
  options.overrides = {"lockstep.tunnel=always", "tags.room=cellar", "location=here"};
  options.description = "ours";
  const auto spec = spec_to_update(known, options);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->tunnel, TunnelUse::always);
  EXPECT_EQ(spec->tags.at("room"), "cellar");
  EXPECT_EQ(spec->location, "here");
  EXPECT_EQ(spec->description, "ours");
  options.overrides = {"lockstep.tunnel=perhaps"};
  EXPECT_EQ(spec_to_update(known, options).error().message,
            "tunnel: 'perhaps' is not auto, always or never");
  options.overrides = {"lockstep.hosts=[a]"};
  EXPECT_THAT(spec_to_update(known, options).error().message,
              HasSubstr("`lockstep compute attach` and `detach` change hosts"));
}

TEST(ComputeOptions, TimeoutsArePositive) {
  MachineWait wait;
  EXPECT_EQ(*timeout_of(wait), Duration::zero());
  wait.timeout = "5m";
  EXPECT_EQ(*timeout_of(wait), minutes(5));
  for (const char* bad : {"0", "x", "-1s"}) {
    wait.timeout = bad;
    EXPECT_FALSE(timeout_of(wait)) << bad;
  }
}

SshHost host_named(const std::string& name) {
  SshHost host;
  host.name = name;
  host.address = name + ".lan";
  return host;
}

TEST(SshWords, PutTheAddressBehindTheOptions) {
  EXPECT_THAT(ssh_words(host_named("vm1"), "", {}), ElementsAre("ssh", "--", "vm1.lan"));
  SshHost host = host_named("vm1");
  host.user = "ann";
  host.port = 2222;
  host.jump = "gate:22";
  EXPECT_THAT(ssh_words(host, "/k", {"ls", "-l"}),
              ElementsAre("ssh", "-i", "/k", "-o", "IdentitiesOnly=yes", "-p", "2222", "-l", "ann",
                          "-J", "gate:22", "--", "vm1.lan", "ls", "-l"));
  host.jump = "none";
  EXPECT_EQ(testing::PrintToString(ssh_words(host, "", {})).find("-J"), std::string::npos);
  EXPECT_THAT(
      ssh_words(host_named("vm1"), "", {}, "/home/l/known_hosts"),
      ElementsAre("ssh", "-o", "UserKnownHostsFile=\"/home/l/known_hosts\" ~/.ssh/known_hosts",
                  "--", "vm1.lan"));
  host = host_named("-oProxyCommand=x");
  const auto words = ssh_words(host, "", {});
  EXPECT_EQ(words[words.size() - 2], "--");
}

TEST(SshWords, TheOnlyHostNeedsNoName) {
  ComputeView target;
  target.spec.name = "lab";
  target.spec.source = NodeSource::ssh;
  EXPECT_THAT(host_to_connect(target, "").error().message, HasSubstr("has no hosts"));
  target.spec.hosts = {host_named("vm1")};
  EXPECT_EQ(host_to_connect(target, "")->name, "vm1");
  target.spec.hosts.push_back(host_named("vm2"));
  EXPECT_EQ(host_to_connect(target, "").error().message,
            "target 'lab' has 2 hosts: vm1, vm2; name one: `lockstep compute connect-ssh lab vm1`");
  EXPECT_EQ(host_to_connect(target, "vm2")->name, "vm2");
  EXPECT_THAT(host_to_connect(target, "vm22").error().message, HasSubstr("did you mean 'vm2'?"));
}

TEST(SshWords, OtherSourcesHaveNoHosts) {
  ComputeView target;
  target.spec.name = "lab";
  target.spec.source = NodeSource::join;
  EXPECT_THAT(host_to_connect(target, "n1").error().message, HasSubstr("joined with a token"));
  target.spec.source = NodeSource::none;
  EXPECT_THAT(host_to_connect(target, "").error().message, HasSubstr("the nodes of target local"));
}

}  // namespace
}  // namespace lockstep::cli
