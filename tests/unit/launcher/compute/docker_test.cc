#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "common/io/process.h"
#include "common/io/programs/run_program.h"
#include "launcher/compute/docker/attached.h"
#include "launcher/compute/docker/cpu_choice.h"
#include "launcher/compute/docker/engine.h"
#include "launcher/compute/docker/machine.h"
#include "launcher/compute/docker/settings.h"
#include "launcher/compute/first_process.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::compute::docker {
namespace {

constexpr Host kHost{4, std::uint64_t{8} << 30};

Settings read(const std::string& json) {
  const auto settings = settings_from(json, kHost);
  EXPECT_TRUE(settings) << settings.error().message;
  return settings.value_or(Settings{});
}

TEST(DockerSettings, OnlyTheImageIsNeeded) {
  const Settings settings = read(R"({"image": "debian:12"})");
  EXPECT_EQ(settings.network, "host");
  EXPECT_FALSE(settings.cpus);
  EXPECT_EQ(settings.shm_size, kHost.memory / 2);
  EXPECT_EQ(read(R"({"image": "debian:12", "memory": 1073741824})").shm_size, 1u << 29);
}

TEST(DockerSettings, TheSizeSaysWhatTheSettingsLeaveOut) {
  const auto sized = [](const std::string& more) {
    return read(R"({"image": "a", "size": {"name": "s.1", "cpus": 2, "memory": 1073741824})" +
                more + "}");
  };
  EXPECT_EQ(sized("").cpus, 2);
  EXPECT_EQ(sized("").memory, 1u << 30);
  EXPECT_EQ(sized("").shm_size, 1u << 29);
  EXPECT_EQ(sized(R"(, "cpus": 0.5)").cpus, 0.5);
  EXPECT_EQ(sized(R"(, "memory": 536870912)").memory, 1u << 29);
  EXPECT_TRUE(sized(R"(, "cpus": 3)").beyond_host.empty());
}

TEST(DockerSettings, AContainerHasNoMoreThanTheMachine) {
  const Settings settings =
      read(R"({"image": "a", "size": {"name": "big", "cpus": 5, "memory": 17179869184}})");
  EXPECT_EQ(settings.cpus, 4);
  EXPECT_EQ(settings.memory, kHost.memory);
  EXPECT_EQ(missing_on(kHost, settings), "");
  ASSERT_EQ(settings.beyond_host.size(), 2u);
  EXPECT_EQ(settings.beyond_host[0],
            "size big has 5 cpus, but this machine has 4 cpus; the container gets 4 cpus");
  EXPECT_EQ(
      settings.beyond_host[1],
      "size big has 16.0 GiB memory, but this machine has 8.0 GiB; the container gets 8.0 GiB");
  for (const char* size : {"3", R"({"cpus": 0})", R"({"cpus": 1, "gpus": 1})", R"({"name": "--x"})",
                           R"({"memory": 1})"})
    EXPECT_FALSE(settings_from(std::string(R"({"image": "a", "size": )") + size + "}", kHost))
        << size;
}

TEST(DockerSettings, WhatTheMachineLacksIsSaid) {
  EXPECT_EQ(missing_on(kHost, read(R"({"image": "a", "cpus": 4, "memory": 8589934592})")), "");
  EXPECT_EQ(missing_on(kHost, read(R"({"image": "a", "cpus": 4.5})")),
            "settings.cpus is 4.5, but this machine has 4");
  EXPECT_NE(missing_on(kHost, read(R"({"image": "a", "memory": 8589934593})")), "");
}

TEST(DockerSettings, OptionsThatLockstepSetsAreNamed) {
  const auto why = [](const std::string& args) {
    return settings_from(R"({"image": "a", "args": [)" + args + "]}", kHost).error().message;
  };
  EXPECT_EQ(why(R"("--cpus=2")"), "settings.args has --cpus; write settings.cpus instead");
  EXPECT_EQ(why(R"("--name", "x")"), "settings.args has --name, which Lockstep sets itself");
  EXPECT_EQ(why(R"("--privileged")"), "settings.args are not possible: '--privileged' is refused");
  EXPECT_EQ(read(R"({"image": "a", "args": ["--init", "--ulimit", "nofile=9"]})").args.size(), 3u);
}

TEST(DockerContainers, LinesOfPsAreRead) {
  const auto found = containers_from(
      "a1\tUp 3 seconds\tvms\tvm1\td1\t0,1\n"
      "b2\tExited (137) 5 minutes ago\tvms\tvm2\td1\t\n"
      "c3\tUp 2 hours (Paused)\tvms\tvm3\n"
      "d4\tCreated\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].state, Container::State::running);
  EXPECT_EQ(found[0].machine + found[0].cpus + found[0].reason, "vm10,1");
  EXPECT_EQ(found[1].state, Container::State::exited);
  EXPECT_EQ(found[1].reason, "Exited (137)");
  EXPECT_EQ(found[2].state, Container::State::paused);
  EXPECT_EQ(found[3].state, Container::State::other);
  EXPECT_EQ(found[3].machine, "");
}

TEST(DockerCpus, ContainersGetThoseThatTheFewestHave) {
  CpuChoice choice({0, 1, 4, 5});
  choice.add("0-0");
  EXPECT_EQ(choice.take(1), "1-1");
  EXPECT_EQ(choice.take(2), "4,5");
  EXPECT_EQ(choice.take(4), "0,1,4,5");
  EXPECT_EQ(choice.take(5), "") << "more than there are";
  EXPECT_EQ(choice.take(0), "") << "all that the agent finds";
}

TEST(DockerEngine, WhatItSaysBecomesAFailure) {
  const auto code = [](const char* errors) { return engine_failure("s", "docker", errors).code; };
  EXPECT_EQ(code("Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"),
            Failure::unreachable);
  EXPECT_EQ(code("Got permission denied while trying to connect to the Docker daemon socket"),
            Failure::no_permission);
  EXPECT_EQ(code("write /x: no space left on device"), Failure::no_space);
  EXPECT_EQ(code("pull access denied for x, repository does not exist"), Failure::unsupported);
  EXPECT_EQ(code("Get \"https://r/v2/\": dial tcp: lookup r: no such host"), Failure::unreachable);
  EXPECT_EQ(code("The container name \"/x\" is already in use"), Failure::conflict);
  EXPECT_EQ(code("something new"), Failure::failed);
  EXPECT_EQ(last_line("docker: why.\nSee 'docker run --help'.\ntime=\"x\" level=error\n"),
            "docker: why.");
}

// Runs the script that adds accounts on files of a test's folder.
io::ProgramOutput add_accounts(const test::TempDir& root, const std::string& accounts) {
  std::string script = add_accounts_script();
  for (const std::string folder : {"/etc/", "/home/"})
    for (std::size_t at = 0; (at = script.find(folder, at)) != script.npos;) {
      script.insert(at, root.path());
      at += root.path().size() + folder.size();
    }
  const auto done =
      io::run_program({"/bin/sh", "-c", script, accounts, root / "absent"}, seconds(30));
  return done ? *done : io::ProgramOutput{-1, "", done.error().message};
}

// Else jobs of one user would run as another one.
TEST(DockerAccounts, AUidOfAnotherNameIsNotGivenAgain) {
  const test::TempDir root;
  const std::string before =
      "root:x:0:0::/root:/bin/sh\n+nis\nimages:x:020000:20000::/:/bin/sh\nbob:x:500:500::/:/bin/sh";
  root.file("etc/passwd", before);  // its last line has no end
  root.file("etc/group", "");
  root.folder("home");
  const unsigned me = ::geteuid(), mine = ::getegid();
  const std::string free_one =
      me == 0 ? "20002:20002" : std::to_string(me) + ":" + std::to_string(mine);
  const auto done = add_accounts(root, "alice:20000:20000\nbob:20001:20001\ncarol:" + free_one +
                                           "\ndave:" + free_one + "\ntoor:0:0\n");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(done.text, "1\n") << done.errors;
  const std::string added = root.read("etc/passwd");
  EXPECT_TRUE(added.starts_with(before + "\ncarol:x:" + free_one + ":")) << added;
  EXPECT_EQ(std::count(added.begin(), added.end(), '\n'), 5) << added;
  for (const char* said : {"alice is not added: its uid 20000 is images's",
                           "dave is not added: ", "toor is not added: its uid 0 is root's"})
    EXPECT_NE(done.errors.find(said), std::string::npos) << done.errors;
  EXPECT_EQ(std::count(done.errors.begin(), done.errors.end(), '\n'), 3) << done.errors;
}

// {name: uid} of the lines that a container gets.
std::map<std::string, std::string> ids_given(const test::TempDir& state,
                                             std::vector<std::string> accounts) {
  Request request;
  request.state = state.path();
  request.accounts = std::move(accounts);
  std::istringstream lines(accounts_for(request));
  std::map<std::string, std::string> ids;
  for (std::string line; std::getline(lines, line);)
    ids.try_emplace(line.substr(0, line.find(':')), line.substr(line.find(':') + 1));
  return ids;
}

// Else a container would have other ids than the one before, whose files are the jobs'.
TEST(DockerAccounts, AnIdThatWasMadeUpStaysWhenOtherNamesCome) {
  // Two names that would have the same id, each alone.
  std::map<std::string, std::string> names;  // by id
  std::string first, second, id;
  for (int i = 0; second.empty() && i < 5'000; ++i) {
    const test::TempDir fresh;
    const std::string name = "ls-unknown-" + std::to_string(i);
    id = ids_given(fresh, {name}).at(name);
    const auto [known, is_new] = names.try_emplace(id, name);
    if (is_new) continue;
    first = known->second;
    second = name;
  }
  ASSERT_NE(second, "");
  const test::TempDir state;
  EXPECT_EQ(ids_given(state, {second}).at(second), id);
  const auto both = ids_given(state, {first, second});
  EXPECT_EQ(both.at(second), id);
  EXPECT_NE(both.at(first), id);
  EXPECT_EQ(ids_given(state, {first}).at(first), both.at(first)) << "though the other is gone";
  EXPECT_EQ(ids_given(state, {second, "ls-other", first}).at(second), id);
}

TEST(DockerAccounts, OnlyThoseOfTheRequestAreGivenAndTheLaunchersOwn) {
  const test::TempDir state;
  std::set<std::string> given;
  for (const auto& [name, id] : ids_given(state, {"ls-unknown", "daemon", "root"}))
    given.insert(name);
  std::set<std::string> expected{"ls-unknown", "daemon"};
  if (const auto own = io::current_user(); own && own->uid != 0) expected.insert(own->name);
  EXPECT_EQ(given, expected);
}

TEST(DockerAccounts, ADamagedListOfIdsGivesNobodyAnotherAccountsId) {
  const test::TempDir state;
  state.file("accounts", "ls-unknown:0\nls-other:1000\n:::\nls-third:99999999999\nls-good:20007\n");
  const auto ids = ids_given(state, {"ls-unknown", "ls-other", "ls-third", "ls-good"});
  EXPECT_EQ(ids.at("ls-good"), "20007:20007");
  for (const char* name : {"ls-unknown", "ls-other", "ls-third"}) {
    const int id = std::stoi(ids.at(name));
    EXPECT_GE(id, 20'000) << name;
    EXPECT_LT(id, 59'000) << name;
  }
}

TEST(DockerMachine, ItsLineOfTheEngineHasNoToken) {
  Request request;
  request.launcher = "a1b2";
  request.target = "vms";
  request.state = "/state";
  request.machines = {{"fd00::1", "the token"}};
  const Settings settings = read(R"({"image": "base", "cpus": 1.5, "network": "lab"})");
  const auto words = run_words(request, settings, "0123", "fd00::1", "0,1");
  const auto has = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const char* word : {"lockstep-a1b2-vms-fd00--1", "--label=lockstep.machine=fd00::1",
                           "--cpus=1.5", "--network=lab", "--hostname=fd00--1",
                           "/state/bundle-0123:/opt/lockstep-node:ro,z", "base:latest", "0,1"})
    EXPECT_TRUE(has(word)) << word;
  for (const std::string& word : words) EXPECT_EQ(word.find("the token"), word.npos);
}

TEST(DockerMachine, AnAgentSaysThatItHasItsIdentity) {
  EXPECT_TRUE(
      says_joined("[…] [agent] [info] lockstep-agent 0.1.0 of node vm1 (2), home /h, pid 8"));
  EXPECT_FALSE(says_joined("[…] [agent] [info] joined as node vm1 (2)")) << "not yet written";
  EXPECT_FALSE(says_joined("lockstep-agent: no token"));
}

}  // namespace
}  // namespace lockstep::compute::docker
