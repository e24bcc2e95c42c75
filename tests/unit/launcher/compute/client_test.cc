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

// Words before and with the destination, and variables, of the ssh that holds a connection.
std::vector<std::string> all_words(const Host& host, const std::string& known_hosts = "/known") {
  const auto client = Client::open(host, {known_hosts, "/nowhere", "/program"});
  std::vector<std::string> words = (*client)->words();
  EXPECT_EQ(words.back(), host.address);
  EXPECT_EQ(*(words.end() - 2), "--");
  for (const std::string& word : (*client)->environment()) words.push_back(word);
  return words;
}

std::string word_with(const std::vector<std::string>& words, const std::string& part) {
  for (const std::string& word : words)
    if (word.find(part) != std::string::npos) return word;
  return "";
}

TEST(SshClient, ThePasswordIsInNoWordAndNoVariable) {
  const auto words = all_words({.name = "vm1", .address = "vm1", .password = "hunter2"});
  EXPECT_EQ(word_with(words, "hunter2"), "");
  EXPECT_NE(word_with(words, "SSH_ASKPASS=/program"), "");
}

TEST(SshClient, AHostThatIsSilentIsGivenUpInTime) {
  const Host host{.name = "vm1", .address = "vm1"};
  EXPECT_NE(word_with(all_words(host), "ServerAliveInterval=10"), "");
  const auto client = Client::open(host, {"/known", "/nowhere", "/program"}, seconds(6));
  EXPECT_NE(word_with((*client)->words(), "ServerAliveInterval=2"), "");
}

TEST(SshClient, NothingOfThePersonsIsForwarded) {
  const auto words = all_words({.name = "vm1", .address = "vm1"});
  for (const char* word : {"-a", "-x", "ClearAllForwardings=yes", "PermitLocalCommand=no"})
    EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
  EXPECT_EQ(word_with(words, "ProxyCommand"), "") << "the configuration's own counts";
}

TEST(SshClient, AJumpHasTheSameKeyAndKnownHostsAndNoPassword) {
  const Host host{.name = "vm1",
                  .address = "vm1",
                  .key = "/k'ey",
                  .password = "hunter2",
                  .jump = {"ann", "gate", 2222}};
  const std::string command = word_with(all_words(host, "/100%/known"), "ProxyCommand=");
  for (const char* part :
       {"-o BatchMode=yes", "'UserKnownHostsFile=\"/100%%/known\" ~/.ssh/known_hosts'",
        R"(-i '/k'\''ey')", "-p 2222 -l ann -W '[%h]:%p' -- gate", "'ClearAllForwardings=yes'"})
    EXPECT_NE(command.find(part), std::string::npos) << part << " in " << command;
}

TEST(SshClient, AFailureOfTheJumpIsToldInItsOwnWords) {
  const Host host{.name = "vm1", .address = "vm1", .jump = {"", "gate", 0}};
  const Failed failed = failure_of(host, "connect",
                                   "ssh: connect to host gate port 22: Connection refused\r\n"
                                   "Connection closed by UNKNOWN port 65535\r\n",
                                   "/known");
  EXPECT_EQ(failed.code, Failure::unreachable);
  EXPECT_EQ(failed.message,
            "no ssh server answers at vm1 (through gate): "
            "ssh: connect to host gate port 22: Connection refused");
}

}  // namespace
}  // namespace lockstep::compute::ssh
