#include "launcher/compute/ssh/client.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::compute::ssh {
namespace {

Failure code_of(const std::string& errors) {
  return failure_of(Host{.name = "vm1", .address = "vm1"}, "connect", errors, "/known").code;
}

TEST(SshClient, WhatSshSaysBecomesAFailure) {
  EXPECT_EQ(code_of("ssh: connect to host vm1 port 22: Connection refused\r\n"),
            Failure::unreachable);
  EXPECT_EQ(code_of("ssh: connect to host vm1 port 22: Connection timed out"),
            Failure::unreachable);
  EXPECT_EQ(code_of("ssh: Could not resolve hostname vm1: Name or service not known"),
            Failure::unreachable);
  EXPECT_EQ(code_of("ann@vm1: Permission denied (publickey)."), Failure::unauthenticated);
  EXPECT_EQ(code_of("@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@\n"
                    "Host key verification failed."),
            Failure::host_key);
  EXPECT_EQ(code_of(""), Failure::failed);
  EXPECT_EQ(code_of("something new"), Failure::failed);
}

TEST(SshClient, TheMessageNamesTheHostAndWhatWasRefused) {
  const Host host{.name = "vm1", .address = "vm1", .port = 2222, .key = "/k"};
  const Failed failed = failure_of(host, "connect", "x: Permission denied (publickey).", "/known");
  EXPECT_EQ(failed.message, "vm1 port 2222 refused the key /k: x: Permission denied (publickey).");
}

TEST(SshClient, ThePasswordIsInNoWordAndNoVariable) {
  const Host host{.name = "vm1", .address = "vm1", .password = "hunter2"};
  const auto client = Client::open(host, {"/known", "/nowhere", "/program"});
  ASSERT_TRUE(client);
  std::vector<std::string> words = client->words({});
  for (const std::string& word : client->environment()) words.push_back(word);
  EXPECT_TRUE(std::none_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("hunter2") != std::string::npos;
  }));
  EXPECT_EQ(client->words({}).back(), "vm1");
  EXPECT_EQ(*(client->words({}).end() - 2), "--");
}

}  // namespace
}  // namespace lockstep::compute::ssh
