#include "launcher/compute/ssh/settings.h"

#include <gtest/gtest.h>

namespace lockstep::compute::ssh {
namespace {

std::string with(const std::string& host) { return R"({"hosts": [)" + host + "]}"; }

TEST(SshSettings, AHostNeedsOnlyAnAddress) {
  const auto settings = settings_from(with(R"({"address": "vm1.example.org"})"));
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->hosts.size(), 1u);
  EXPECT_EQ(settings->hosts[0].name, "vm1.example.org");
  EXPECT_EQ(settings->hosts[0].port, 0);
  EXPECT_EQ(settings->hosts[0].jump, Jump{});
  EXPECT_EQ(settings->tunnel, TunnelUse::automatic);
  const auto all = settings_from(with(R"j({"name": "a", "address": "fe80::1", "user": "DOM\\ann",
      "port": 22, "key": "~/.ssh/id", "password": "p w'\"", "directory": "/opt/lock step"})j"));
  EXPECT_FALSE(all) << "a blank in the remote directory";
  const auto good = settings_from(with(R"j({"name": "a", "address": "fe80::1", "user": "DOM\\ann",
      "port": 22, "key": "~/.ssh/id", "password": "p w'\"", "directory": "/opt/lockstep"})j"));
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->hosts[0].password, "p w'\"");
}

TEST(SshSettings, AJumpIsOfAHostOrOfAll) {
  const auto settings = settings_from(R"({"hosts": [{"address": "a"}, {"address": "b", "jump": "c"},
      {"address": "c", "jump": "none"}], "jump": "ann@gate:2222", "tunnel": "always"})");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->hosts[0].jump, (Jump{"ann", "gate", 2222}));
  EXPECT_EQ(settings->hosts[1].jump, (Jump{"", "c", 0}));
  EXPECT_EQ(settings->hosts[2].jump, Jump{});
  EXPECT_EQ(settings->tunnel, TunnelUse::always);
  EXPECT_EQ(*jump_from("", "u.v-w@[fe80::1]:22"), (Jump{"u.v-w", "fe80::1", 22}));
  EXPECT_EQ(*jump_from("", "[::1]"), (Jump{"", "::1", 0}));
}

TEST(SshSettings, AJumpIsNoCommand) {
  for (const char* text : {"",           "@gate",        "-l@gate",       "-J",      "a b@gate",
                           "$(id)@gate", "a;b@gate",     "a\\b@gate",     "gate:",   "gate:0",
                           "gate:65536", "gate:22x",     "gate:22,other", "gate;id", "gate`id`",
                           "'gate",      "[::1",         "[]:22",         "[-v]",    "::1:22",
                           "gate:+22",   "ann@bob@gate", "gate\n",        "%h",      "[::1]22"}) {
    const auto jump = jump_from("hosts[0].jump", text);
    ASSERT_FALSE(jump) << text;
    EXPECT_NE(jump.error().message.find("is not [USER@]HOST[:PORT]"), std::string::npos);
  }
}

TEST(SshSettings, WhatCouldBecomeACommandIsRefused) {
  const std::pair<std::string, const char*> bad[] = {
      {"[]", "settings is not an object"},
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
      {with(R"({"address": "a", "key": "id"})"), "is not a path that begins with / or ~"},
      {with(R"({"address": "a", "key": "/%d/x"})"),
       "is not a path that begins with / or ~, without %"},
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
      {with(R"({"address": "a", "jump": "b;c"})"), "hosts[0].jump 'b;c' is not"},
      {with(R"({"address": "a", "jump": 7})"), "jump is not a string"},
      {R"({"hosts": [{"address": "a"}], "jump": "-x"})", "settings.jump '-x' is not"},
      {R"({"hosts": [{"address": "a"}], "tunnel": "yes"})", "settings.tunnel is 'yes'"},
      {R"({"hosts": [{"address": "a"}], "tunnel": true})", "tunnel is not a string"},
      {R"({"hosts": [{"address": "a"}], "tunel": "auto"})", "unknown key 'tunel'"},
  };
  for (const auto& [text, words] : bad) {
    const auto hosts = settings_from(text);
    ASSERT_FALSE(hosts) << text;
    EXPECT_NE(hosts.error().message.find(words), std::string::npos)
        << text << ": " << hosts.error().message;
    EXPECT_EQ(hosts.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::compute::ssh
