#include "launcher/compute/ssh/settings.h"

#include <gtest/gtest.h>

namespace lockstep::compute::ssh {
namespace {

std::string with(const std::string& host) { return R"({"hosts": [)" + host + "]}"; }

TEST(SshSettings, AHostNeedsOnlyAnAddress) {
  const auto hosts = hosts_from(with(R"({"address": "vm1.example.org"})"));
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->size(), 1u);
  EXPECT_EQ((*hosts)[0].name, "vm1.example.org");
  EXPECT_EQ((*hosts)[0].port, 0);
  const auto all = hosts_from(with(R"j({"name": "a", "address": "fe80::1", "user": "DOM\\ann",
      "port": 22, "key": "~/.ssh/id", "password": "p w'\"", "directory": "/opt/lock step"})j"));
  EXPECT_FALSE(all) << "a blank in the remote directory";
  const auto good = hosts_from(with(R"j({"name": "a", "address": "fe80::1", "user": "DOM\\ann",
      "port": 22, "key": "~/.ssh/id", "password": "p w'\"", "directory": "/opt/lockstep"})j"));
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ((*good)[0].password, "p w'\"");
}

TEST(SshSettings, WhatCouldBecomeACommandIsRefused) {
  const std::pair<std::string, const char*> bad[] = {
      {"[]", "settings.hosts"},
      {"{}", "settings.hosts"},
      {R"({"hosts": []})", "settings.hosts"},
      {R"({"hosts": {}})", "settings.hosts"},
      {with("7"), "hosts[0] is not an object"},
      {with("{}"), "hosts[0] has no address"},
      {with(R"({"address": 7})"), "address is not a string"},
      {with(R"({"address": "-v"})"), "'-v' is not a valid machine name"},
      {with(R"({"address": "a b"})"), "is not a valid machine name"},
      {with(R"({"address": "a;b"})"), "is not a valid machine name"},
      {with(R"j({"address": "$(id)"})j"), "is not a valid machine name"},
      {with(R"({"address": "a", "name": "../x"})"), "is not a valid machine name"},
      {with(R"({"address": "a", "user": "-l"})"), "is not a valid account name"},
      {with(R"({"address": "a", "user": "a b"})"), "is not a valid account name"},
      {with(R"({"address": "a", "port": 0})"), "port is not a number"},
      {with(R"({"address": "a", "port": "22"})"), "port is not a number"},
      {with(R"({"address": "a", "port": 65536})"), "port is not a number"},
      {with(R"({"address": "a", "key": "id"})"), "is not an absolute path"},
      {with(R"({"address": "a", "key": "/%d/x"})"), "is not an absolute path"},
      {with(R"({"address": "a", "password": "a\nb"})"), "contains a line break"},
      {with(R"({"address": "a", "directory": "x"})"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/"})"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/x/"})"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/x/../y"})"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/x/.."})"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/x//y"})"), "is not an absolute path"},
      {with(R"j({"address": "a", "directory": "/x\"; id"})j"), "is not an absolute path"},
      {with(R"({"address": "a", "directory": "/$HOME"})"), "is not an absolute path"},
      {with(R"({"address": "a", "colour": 1})"), "unknown key 'colour'"},
      {with(R"({"address": "a"}, {"address": "a"})"), "names a twice"},
  };
  for (const auto& [text, words] : bad) {
    const auto hosts = hosts_from(text);
    ASSERT_FALSE(hosts) << text;
    EXPECT_NE(hosts.error().message.find(words), std::string::npos)
        << text << ": " << hosts.error().message;
    EXPECT_EQ(hosts.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::compute::ssh
