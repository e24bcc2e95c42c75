// The machines of a compute file that are attached over ssh: what is read of hosts, defaults and
// Azure's keys, and that each bad one is refused with its place.

#include <gtest/gtest.h>

#include <filesystem>

#include "launcher/files/targets/compute_file.h"
#include "launcher/files/targets/ssh_host.h"
#include "tests/unit/launcher/files/bad_input.h"

namespace lockstep::spec {
namespace {

const std::string kHead = "name: lab\ntype: virtualmachine\n";

ComputeSpec read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto spec = parse_compute("/site/compute.yml", text, overrides);
  EXPECT_TRUE(spec) << spec.error().message;
  return spec ? *spec : ComputeSpec{};
}

SshHost host(const std::string& name, const std::string& address, const std::string& user = "",
             int port = 0) {
  SshHost made;
  made.name = name;
  made.address = address;
  made.user = user;
  made.port = port;
  return made;
}

TEST(ComputeHosts, AreTextsOrMappings) {
  const ComputeSpec spec = read(kHead + R"(lockstep:
  tunnel: always
  hosts:
    - vm1
    - ann@vm2.example.com:2222
    - '[fe80::1]:22'
    - {name: big, address: 10.0.0.4, user: bob, port: 2200, key: ../keys/big, jump: 'gate:22',
       directory: /srv/lockstep}
    - {address: 10.0.0.5, password_secret: vm_password}
    - {address: 'fe80::2'}
)");
  EXPECT_EQ(spec.source, NodeSource::ssh);
  EXPECT_EQ(spec.tunnel, TunnelUse::always);
  ASSERT_EQ(spec.hosts.size(), 6u);
  EXPECT_EQ(spec.hosts[0], host("vm1", "vm1"));
  EXPECT_EQ(spec.hosts[1], host("vm2.example.com", "vm2.example.com", "ann", 2222));
  EXPECT_EQ(spec.hosts[2], host("fe80--1", "fe80::1", "", 22));
  SshHost big = host("big", "10.0.0.4", "bob", 2200);
  big.key = "/keys/big";
  big.jump = "gate:22";
  big.directory = "/srv/lockstep";
  EXPECT_EQ(spec.hosts[3], big);
  EXPECT_EQ(spec.hosts[4].password_secret, "vm_password");
  EXPECT_EQ(spec.hosts[5].address, "fe80::2");
}

TEST(ComputeHosts, TakeWhatTheyLackFromTheDefaults) {
  const ComputeSpec spec =
      read(kHead + R"(ssh_settings: {admin_username: azureuser, ssh_port: 50000,
               ssh_private_key_file: ~/.ssh/id_rsa}
resource_id: /subscriptions/1/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm1
lockstep:
  ssh: {user: ann, jump: gate}
  hosts: [vm1, bob@vm2:22, {address: vm3, password_secret: pw}, {address: vm4, key: vm4.key}]
)");
  ASSERT_EQ(spec.hosts.size(), 4u);
  EXPECT_EQ(spec.hosts[0].user, "ann");  // ours before Azure's
  EXPECT_EQ(spec.hosts[0].port, 50000);
  EXPECT_EQ(spec.hosts[0].key, "~/.ssh/id_rsa");
  EXPECT_EQ(spec.hosts[0].jump, "gate");
  EXPECT_EQ(spec.hosts[1].user, "bob");
  EXPECT_EQ(spec.hosts[1].port, 22);
  EXPECT_EQ(spec.hosts[2].password_secret, "pw");
  EXPECT_EQ(spec.hosts[2].key, "");  // a password instead of the default key
  EXPECT_EQ(spec.hosts[3].key, "/site/vm4.key");
}

TEST(ComputeHosts, APasswordOfOursReplacesAzuresKey) {
  const ComputeSpec spec = read(kHead +
                                "ssh_settings: {ssh_private_key_file: /k}\n"
                                "lockstep: {hosts: [vm1], ssh: {password_secret: pw}}\n");
  EXPECT_EQ(spec.hosts.at(0).password_secret, "pw");
  EXPECT_EQ(spec.hosts.at(0).key, "");
}

TEST(ComputeHosts, CanBeSetByOverrides) {
  const std::string azure =
      kHead + "resource_id: /subscriptions/1\nssh_settings: {admin_username: ann}\n";
  const ComputeSpec spec =
      read(azure, {"lockstep.hosts=[\"vm1\",\"vm2:22\"]", "lockstep.ssh.port=9",
                   "lockstep.ssh.key=k", "lockstep.tunnel=never"});
  ASSERT_EQ(spec.hosts.size(), 2u);
  EXPECT_EQ(spec.hosts[0].user, "ann");
  EXPECT_EQ(spec.hosts[0].port, 9);
  // An override is written in a shell: its path is relative to the current folder.
  EXPECT_EQ(spec.hosts[0].key, (std::filesystem::current_path() / "k").string());
  EXPECT_EQ(spec.tunnel, TunnelUse::never);
}

TEST(ComputeHosts, MayComeLater) {
  EXPECT_EQ(read(kHead + "lockstep: {node_source: ssh}\n").source, NodeSource::ssh);
  EXPECT_TRUE(read(kHead + "lockstep: {node_source: ssh, hosts: []}\n").hosts.empty());
}

TEST(ComputeHosts, OneMachineCanBeTwoHostsByPortOrFolder) {
  EXPECT_EQ(
      read(kHead + "lockstep: {hosts: [{name: a1, address: vm1}, {name: a2, address: vm1, port: "
                   "2222}, {name: a3, address: vm1, directory: /srv/b}]}\n")
          .hosts.size(),
      3u);
}

TEST(HostText, HasADefaultName) {
  EXPECT_EQ(default_host_name("vm1.example.com"), "vm1.example.com");
  EXPECT_EQ(default_host_name("fe80::1"), "fe80--1");
  EXPECT_EQ(default_host_name("::1"), "host---1");
  EXPECT_EQ(default_host_name("10"), "host-10");  // a number would be a node's id
  EXPECT_EQ(default_host_name(std::string(100, 'a')).size(), 63u);
}

TEST(HostText, TakesAccountAndPort) {
  EXPECT_EQ(*parse_host("a@b@vm1"), host("vm1", "vm1", "a@b"));
  EXPECT_EQ(*parse_host("[fe80::1]"), host("fe80--1", "fe80::1"));
  EXPECT_EQ(*parse_host("ann@[::1]:65535"), host("host---1", "::1", "ann", 65535));
  for (const char* bad : {"",
                          "@vm1",
                          "ann@",
                          "vm1:",
                          "vm1:0",
                          "vm1:65536",
                          "vm1:ssh",
                          "vm1:+22",
                          "::1",
                          "[::1",
                          "[]",
                          "[::1]x",
                          "-oProxyCommand=x",
                          "ann@-x",
                          "-x@vm1",
                          "vm 1",
                          "vm1;id",
                          "$(id)",
                          "vm1\n",
                          "a/b"})
    EXPECT_FALSE(parse_host(bad)) << bad;
}

BadInput bad(const char* name, const std::string& below, const std::string& message) {
  return {name, kHead + below, {}, "compute.yml:" + message};
}

std::vector<BadInput> bad_hosts() {
  const std::string secret =
      ": passwords are not read from files; store it with `lockstep secret "
      "set NAME` and write `lockstep.ssh.password_secret: NAME`";
  const std::string address =
      "write the machine's address below `lockstep.hosts`, as in lockstep: {hosts: "
      "[azureuser@20.1.2.3]}";
  const std::string elsewhere =
      "' is of a virtualmachine whose node source is ssh; leave it out here";
  return {
      bad("hosts_are_text", "lockstep: {hosts: vm1}\n",
          "3:19: 'lockstep.hosts' must be a list of hosts, as in [vm1, ann@vm2:2222], not a value"),
      bad("host_is_a_list", "lockstep: {hosts: [[\"::1\"]]}\n",
          "3:20: 'lockstep.hosts': a host is [USER@]ADDRESS[:PORT] or a mapping with 'address', "
          "not "
          "a list; an IPv6 address stands in quotes and brackets: '[fe80::1]:22'"),
      bad("bare_ipv6", "lockstep:\n  hosts:\n  - fe80::1\n",
          "5:5: 'lockstep.hosts': 'fe80::1' is not a host: an IPv6 address stands in brackets: "
          "[fe80::1]"),
      bad("bad_port", "lockstep: {hosts: [vm1:99999]}\n",
          "3:20: 'lockstep.hosts': 'vm1:99999' is not a host: '99999' is not a port from 1 to "
          "65535"),
      bad("option_for_an_address", "lockstep: {hosts: [-oProxyCommand=reboot]}\n",
          "3:20: 'lockstep.hosts': '-oProxyCommand=reboot' is not a host: address "
          "'-oProxyCommand=reboot' is not a host name or an IP address: at most 255 letters, "
          "digits and . _ - :, not beginning with . or -"),
      bad("no_account", "lockstep: {hosts: ['@vm1']}\n",
          "3:20: 'lockstep.hosts': '@vm1' is not a host: no account is before the '@'; write "
          "[USER@]ADDRESS[:PORT]"),
      bad("no_address", "lockstep: {hosts: [{user: ann}]}\n",
          "3:20: 'lockstep.hosts': a host needs an 'address'"),
      bad("unknown_key_of_a_host", "lockstep: {hosts: [{adress: vm1}]}\n",
          "3:21: unknown key 'lockstep.hosts.adress'; did you mean 'lockstep.hosts.address'?"),
      bad("unknown_key_without_a_near_one", "lockstep: {hosts: [{address: vm1, zzzzzz: 1}]}\n",
          "3:35: unknown key 'lockstep.hosts.zzzzzz'; there are name, address, user, port, key, "
          "password_secret, jump, directory"),
      bad("account_in_the_address", "lockstep: {hosts: [{address: ann@vm1}]}\n",
          "3:30: 'lockstep.hosts.address': 'ann@vm1' has an account; write it below 'user'"),
      bad("port_in_the_address", "lockstep: {hosts: [{address: vm1:22}]}\n",
          "3:30: 'lockstep.hosts.address': 'vm1:22' has a port; write it below 'port'"),
      bad("port_is_a_word", "lockstep: {hosts: [{address: vm1, port: ssh}]}\n",
          "3:41: 'lockstep.hosts.port': 'ssh' is not a port from 1 to 65535"),
      bad("port_is_zero", "lockstep: {hosts: [vm1], ssh: {port: 0}}\n",
          "3:38: 'lockstep.ssh.port': '0' is not a port from 1 to 65535"),
      bad("port_is_a_list", "lockstep: {hosts: [vm1], ssh: {port: [22]}}\n",
          "3:38: 'lockstep.ssh.port' must be a number, not a list"),
      bad("name_is_a_number", "lockstep: {hosts: [{address: vm1, name: 7}]}\n",
          "3:41: 'lockstep.hosts.name': '7' is a number, and nodes have numbers of their own"),
      bad("name_with_a_slash", "lockstep: {hosts: [{address: vm1, name: a/b}]}\n",
          "3:41: 'lockstep.hosts.name': name 'a/b' is not a name of 1 to 63 letters, digits and . "
          "_ -, not beginning with . or -"),
      bad("option_for_a_user", "lockstep: {hosts: [{address: vm1, user: -x}]}\n",
          "3:41: 'lockstep.hosts.user': user '-x' is not the name of an account: at most 64 "
          "letters, digits and . _ - @ \\, not beginning with -"),
      bad("key_with_a_percent", "lockstep: {hosts: [vm1], ssh: {key: /k/%h}}\n",
          "3:37: 'lockstep.ssh.key': key '/k/%h' is not a path that begins with / or ~, without %, "
          "quotation marks and control characters, of at most 1024 bytes"),
      bad("relative_directory", "lockstep: {hosts: [{address: vm1, directory: x/y}]}\n",
          "3:46: 'lockstep.hosts.directory': directory 'x/y' is not an absolute path of letters, "
          "digits and / . _ - +, without '..', '//' and a '/' at its end, of at most 1024 bytes"),
      bad("jump_with_a_blank", "lockstep: {hosts: [vm1], ssh: {jump: a b}}\n",
          "3:38: 'lockstep.ssh.jump': jump 'a b' is not [USER@]HOST[:PORT] or none"),
      bad("name_of_a_secret", "lockstep: {hosts: [{address: vm1, password_secret: a-b}]}\n",
          "3:52: 'lockstep.hosts.password_secret': 'a-b' is not a secret's name: 1 to 128 letters, "
          "digits or '_', not beginning with a digit"),
      bad("key_and_password", "lockstep: {hosts: [{address: vm1, key: /k, password_secret: pw}]}\n",
          "3:20: 'lockstep.hosts' has both 'key' and 'password_secret'; ssh logs in with one of "
          "them, so leave one out"),
      bad("password_of_azure", "ssh_settings: {admin_password: pw}\nlockstep: {hosts: [vm1]}\n",
          "3:16: 'ssh_settings.admin_password'" + secret),
      bad("password_of_a_host", "lockstep: {hosts: [{address: vm1, password: pw}]}\n",
          "3:35: 'lockstep.hosts.password'" + secret),
      bad("password_for_all", "lockstep: {hosts: [vm1], ssh: {password: pw}}\n",
          "3:32: 'lockstep.ssh.password'" + secret),
      bad("unknown_key_of_azure", "ssh_settings: {admin_usrname: a}\nlockstep: {hosts: [vm1]}\n",
          "3:16: unknown key 'ssh_settings.admin_usrname'; did you mean "
          "'ssh_settings.admin_username'?"),
      bad("ssh_settings_are_text", "ssh_settings: ann\nlockstep: {hosts: [vm1]}\n",
          "3:15: 'ssh_settings' must be a mapping of keys to values, not a value"),
      bad("azures_resource", "resource_id: /subscriptions/1\nssh_settings: {admin_username: a}\n",
          "3:1: 'resource_id' names a machine of Azure, whose address Lockstep cannot look up; " +
              address),
      bad("only_how_to_log_in", "ssh_settings: {admin_username: a}\n",
          "3:1: 'ssh_settings' says how to log in, and no host is named; " + address),
      bad("unknown_tunnel", "lockstep: {hosts: [vm1], tunnel: sometimes}\n",
          "3:34: 'lockstep.tunnel' must be auto, always or never, not 'sometimes'"),
      bad("tunnel_is_a_list", "lockstep: {hosts: [vm1], tunnel: [auto]}\n",
          "3:34: 'lockstep.tunnel' must be auto, always or never, not a list"),
      bad("same_name_twice", "lockstep:\n  hosts:\n  - vm1\n  - ann@vm1:2222\n",
          "6:5: 'lockstep.hosts': host 'vm1' is also at compute.yml:5:5; leave one of them out, or "
          "give it another 'name'"),
      bad("same_machine_twice", "lockstep:\n  hosts:\n  - vm1\n  - {name: b, address: vm1}\n",
          "6:5: 'lockstep.hosts': 'b' is the same account of the same machine as at "
          "compute.yml:5:5; leave one of them out, or give it another 'directory'"),
      bad("hosts_that_join", "lockstep: {node_source: join, hosts: [vm1]}\n",
          "3:31: 'lockstep.hosts" + elsewhere),
      bad("azures_login_of_nodes_that_join",
          "lockstep: {node_source: join}\nssh_settings: {admin_username: a}\n",
          "4:1: 'ssh_settings" + elsewhere),
      {"hosts_of_an_alias",
       "name: lab\ntype: local\nlockstep: {hosts: [vm1], tunnel: auto}\n",
       {},
       "compute.yml:3:12: 'lockstep.hosts" + elsewhere + "\ncompute.yml:3:26: 'lockstep.tunnel" +
           elsewhere},
      bad("all_at_once",
          "lockstep:\n  sssh: {}\n  ssh: {prot: 1, user: -x}\n  hosts: ['@', {user: a}, vm1]\n",
          "4:3: unknown key 'lockstep.sssh'; did you mean 'lockstep.ssh'?\n"
          "compute.yml:5:9: unknown key 'lockstep.ssh.prot'; did you mean 'lockstep.ssh.port'?\n"
          "compute.yml:5:24: 'lockstep.ssh.user': user '-x' is not the name of an account: at most "
          "64 letters, digits and . _ - @ \\, not beginning with -\n"
          "compute.yml:6:11: 'lockstep.hosts': '@' is not a host: no account is before the '@'; "
          "write [USER@]ADDRESS[:PORT]\n"
          "compute.yml:6:16: 'lockstep.hosts': a host needs an 'address'"),
      {"bad_override",
       kHead,
       {"lockstep.hosts=[\"vm1:x\"]"},
       "--set lockstep.hosts=[\"vm1:x\"]: 'lockstep.hosts': 'vm1:x' is not a host: 'x' is not a "
       "port "
       "from 1 to 65535"},
  };
}

class BadComputeHosts : public testing::TestWithParam<BadInput> {};

TEST_P(BadComputeHosts, AreRefusedWithTheirPlace) {
  const BadInput& bad = GetParam();
  const auto spec = parse_compute("compute.yml", bad.text, bad.overrides);
  ASSERT_FALSE(spec) << "was accepted";
  EXPECT_EQ(spec.error().message, bad.message);
  EXPECT_EQ(spec.error().code, bad.code);
}

INSTANTIATE_TEST_SUITE_P(Computes, BadComputeHosts, testing::ValuesIn(bad_hosts()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::spec
