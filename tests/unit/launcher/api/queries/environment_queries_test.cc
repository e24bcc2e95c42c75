// Environments by name, as clients ask for them: registered ones, and the operator's map behind.

#include "launcher/api/queries/environment_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "launcher/api/mapped_environments.h"
#include "launcher/api/queries/queries.h"
#include "launcher/daemon/ports/operator_files_on_disk.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Instant kNow{1'700'000'000'000'000'000};
const std::string kUrl = "azureml://registries/azureml/environments/sklearn-1.5/labels/latest";

RegisteredEnvironment host(std::string name, std::string version, std::string interpreter) {
  return {{std::move(name), std::move(version), HostEnvironment{std::move(interpreter)}},
          "for tests",
          {{"team", "vision"}}};
}

class Environments : public testing::Test {
 protected:
  void add(RegisteredEnvironment environment) {
    const Instant at = kNow + seconds(++added_);
    state_.apply(at, EnvironmentRegistered{std::move(environment), "ada"});
  }
  // The message of a refusal; "" for an answer.
  static std::string refusal(const ClientReply& answer) {
    const auto* refused = std::get_if<Refused>(&answer);
    return refused == nullptr ? "" : refused->message;
  }
  EnvironmentView show(const std::string& reference) const {
    const ClientReply answer = show_environment(state_, reference, viewer_);
    EXPECT_EQ(refusal(answer), "");
    const auto* reply = std::get_if<EnvironmentReply>(&answer);
    return reply == nullptr ? EnvironmentView{} : reply->environment;
  }
  std::vector<std::string> list(const std::string& name = "",
                                ArchivedToo archived = ArchivedToo::no) const {
    const ClientReply answer = list_environments(state_, name, viewer_, archived);
    EXPECT_EQ(refusal(answer), "");
    std::vector<std::string> all;
    if (const auto* reply = std::get_if<EnvironmentsReply>(&answer))
      for (const auto& view : reply->environments)
        all.push_back(view.environment.spec.name + ":" + view.environment.spec.version);
    return all;
  }

  State state_;
  const Caller caller_ = LauncherItself{};
  const Viewer viewer_{state_, caller_};
  int added_ = 0;
};

TEST_F(Environments, AreShownByNameAndVersion) {
  add(host("tools", "1", "a"));
  add(host("tools", "2", "b"));
  for (const char* newest : {"tools", "tools@latest", "tools:2"})
    EXPECT_EQ(show(newest).environment, host("tools", "2", "b")) << newest;
  const EnvironmentView first = show("tools:1");
  EXPECT_EQ(first.environment, host("tools", "1", "a"));
  EXPECT_EQ(first.created, kNow + seconds(1));
  EXPECT_EQ(first.created_by, "ada");
  EXPECT_EQ(first.definition, digest_of(HostEnvironment{"a"}));
  EXPECT_TRUE(first.locks.empty());
  EXPECT_EQ(first.last_job.value, "");
}

TEST_F(Environments, UnknownOnesAreRefusedWithWhatThereIs) {
  add(host("tools", "1", "a"));
  add(host("tools", "beta", "b"));
  EXPECT_EQ(refusal(show_environment(state_, "tools:3", viewer_)),
            "environment 'tools' has no version '3'; it has beta, 1");
  EXPECT_EQ(refusal(show_environment(state_, "nope@latest", viewer_)),
            "there is no environment 'nope'; `lockstep environment list` shows all, `lockstep "
            "environment create -f FILE` makes one");
  EXPECT_EQ(std::get<Refused>(show_environment(state_, "nope", viewer_)).code,
            ErrorCode::not_found);
  EXPECT_NE(refusal(list_environments(state_, "nope", viewer_)), "");
  for (int i = 0; i < 30; ++i) add(host("many", "v" + std::to_string(i), "a"));
  EXPECT_EQ(refusal(show_environment(state_, "many:x", viewer_)),
            "environment 'many' has no version 'x'; it has v29, v28, v27, v26, v25, v24, v23, v22, "
            "v21, v20, …");
}

TEST_F(Environments, AreListedByNameAndOneByOneNewestFirst) {
  EXPECT_TRUE(list().empty());
  add(host("b", "1", "a"));
  add(host("a", "1", "a"));
  add(host("b", "2", "b"));
  EXPECT_EQ(list(), (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(list("b"), (std::vector<std::string>{"b:2", "b:1"}));
}

TEST_F(Environments, ArchivedOnesAreLeftOutOfListsAndOfLatest) {
  add(host("tools", "1", "a"));
  add(host("tools", "2", "b"));
  add(host("old", "1", "c"));
  state_.apply(kNow, EnvironmentArchived{"tools", "2", true});
  state_.apply(kNow, EnvironmentArchived{"old", "", true});
  EXPECT_EQ(show("tools@latest").environment.spec.version, "1");
  EXPECT_TRUE(show("tools:2").archived) << "by its version it is there";
  EXPECT_EQ(list(), (std::vector<std::string>{"tools:1"}));
  EXPECT_EQ(list("tools"), (std::vector<std::string>{"tools:1"}));
  EXPECT_EQ(list("", ArchivedToo::yes), (std::vector<std::string>{"old:1", "tools:2"}));
  EXPECT_EQ(list("tools", ArchivedToo::only), (std::vector<std::string>{"tools:2"}));
  EXPECT_EQ(refusal(show_environment(state_, "old@latest", viewer_)),
            "all versions of environment 'old' are archived, or by others than its owner and those "
            "whom the owner lets; name one, or restore it with `lockstep environment restore -n "
            "old`");
}

TEST_F(Environments, ALongListFitsIntoAMessage) {
  VenvEnvironment large{"python3", {}, {std::string(1'000'000, 'x')}, {}};
  for (int i = 0; i < 100; ++i)
    add({{"e" + std::to_string(i), "1", large}, std::string(100'000, 'd'), {}});
  const ClientReply answer = list_environments(state_, "", viewer_);
  const auto& all = std::get<EnvironmentsReply>(answer).environments;
  ASSERT_EQ(all.size(), 100U);
  std::size_t bytes = 0;
  for (const auto& view : all) {
    bytes += canonical_form(view.environment.spec.definition).size();
    bytes += view.environment.description.size();
    EXPECT_EQ(view.definition, digest_of(large));  // that is never left out
  }
  EXPECT_GT(bytes, 1U << 20);
  EXPECT_LT(bytes, kMaxPageBytes + (2U << 20));
}

// Jobs "first" and "second" of alice's and "third" of bob's have one definition, and a lock each
// for their accounts.
class Locks : public Environments {
 protected:
  void SetUp() override {
    add({{"tools", "1", venv_}, "", {}});
    for (const char* name : {"alice", "bob"}) {
      state_.apply(kNow, UserAdded{name, name, "ada"});
      state_.apply(kNow, RoleGranted{name, {Role::submitter, "default"}, "ada"});
    }
    state_.apply(kNow, ProjectCreated{"hers", "ada"});
    state_.apply(kNow, RoleGranted{"alice", {Role::submitter, "hers"}, "ada"});
    submit("first", "alice");
    submit("second", "alice");
    submit("third", "bob");
    lock("first", "alice", "hers");
    lock("third", "bob", "his");
  }
  void submit(const std::string& name, const std::string& account) {
    JobSpec spec;
    spec.name = name;
    spec.command = ShellCommand{"true"};
    spec.environment = EnvironmentSpec{"other", "9", venv_};
    spec.submitter = spec.run_as = account;
    spec.project = account == "alice" ? "hers" : "default";
    state_.apply(kNow, JobSubmitted{JobId(name), name, spec, 0, 0});
  }
  void lock(const std::string& job, const std::string& account, const std::string& tree) {
    state_.apply(kNow + seconds(9), EnvironmentLocked{digest_of(venv_),
                                                      0,
                                                      {"linux-x86_64-python3.11", sha256(tree)},
                                                      {JobId(job), 1},
                                                      NodeId(7),
                                                      account});
  }
  EnvironmentView seen_by(const Caller& caller) const {
    const ClientReply answer = show_environment(state_, "tools", Viewer(state_, caller));
    EXPECT_EQ(refusal(answer), "");
    return std::get<EnvironmentReply>(answer).environment;
  }

  const VenvEnvironment venv_{"python3", {}, {"six"}, {}};
};

TEST_F(Locks, ThoseOfOnesOwnAccountAndItsNewestJobAreShown) {
  const EnvironmentView view = seen_by(UserCaller{"alice"});
  EXPECT_EQ(view.last_job.value, "second");
  ASSERT_EQ(view.locks.size(), 1U);
  const EnvironmentView::Lock want{
      {"linux-x86_64-python3.11", sha256("hers")}, kNow + seconds(9), "node 7", JobId("first")};
  EXPECT_EQ(view.locks[0], want);
}

TEST_F(Locks, OthersAreNotEvenNamed) {
  const EnvironmentView view = seen_by(UserCaller{"bob"});
  ASSERT_EQ(view.locks.size(), 1U);
  EXPECT_EQ(view.locks[0].lock.tree, sha256("his"));
  EXPECT_EQ(view.last_job.value, "third");
  const EnvironmentView nobodys = seen_by(Nobody{});
  EXPECT_TRUE(nobodys.locks.empty());
  EXPECT_EQ(nobodys.last_job.value, "");
}

TEST_F(Locks, AnAdminSeesAll) {
  const EnvironmentView view = seen_by(LauncherItself{});
  EXPECT_EQ(view.locks.size(), 2U);
  EXPECT_EQ(view.last_job.value, "third");
}

// ---- the operator's map
// --------------------------------------------------------------------------

class Mapped : public Environments {
 protected:
  OperatorFilesOnDisk files() const { return OperatorFilesOnDisk({"", "", map()}); }
  std::string map() const { return directory_.path() + "/environments.map"; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() + "/" + name) << text;
  }
  EnvironmentView found(const std::string& reference) const {
    const ClientReply answer = with_map(state_, files(), reference, caller_);
    EXPECT_EQ(refusal(answer), "");
    const auto* reply = std::get_if<EnvironmentReply>(&answer);
    return reply == nullptr ? EnvironmentView{} : reply->environment;
  }
  std::string refused(const std::string& reference) const {
    return refusal(with_map(state_, files(), reference, caller_));
  }

  test::TempDir directory_;
};

TEST_F(Mapped, WhatAzureHasIsRefusedWithTheLineToAdd) {
  EXPECT_EQ(refused(kUrl), "'" + kUrl +
                               "' is an environment of Azure, and this launcher has no environment "
                               "for it. Add this line to " +
                               map() + " on the launcher's machine:\n  " + kUrl +
                               ": sklearn-1.5.yml\nand write sklearn-1.5.yml, an environment file "
                               "as for `lockstep environment create -f`, into the same folder");
  write("environments.map", kUrl + ": sklearn-1.5.yml\n");
  write("sklearn-1.5.yml", "name: mine\nversion: 4\ninterpreter: python3\n");
  const EnvironmentView view = found(kUrl);
  EXPECT_EQ(view.environment.spec,
            (EnvironmentSpec{"sklearn-1.5", "4", HostEnvironment{"python3"}}));
  EXPECT_EQ(view.created_by, "environments.map");
}

TEST_F(Mapped, OneEntryByNameIsForEveryVersionOfARegistry) {
  write("environments.map", "sklearn-1.5: {interpreter: python3}\n");
  EXPECT_EQ(found(kUrl).environment.spec.name, "sklearn-1.5");
  const std::string versioned = "azureml://registries/azureml/environments/sklearn-1.5/versions/26";
  EXPECT_EQ(found(versioned).environment.spec.version, "26");
  EXPECT_EQ(found("sklearn-1.5@latest").environment.spec.name, "sklearn-1.5");
  EXPECT_EQ(found("sklearn-1.5").environment.spec.name, "sklearn-1.5");
  EXPECT_NE(refused("sklearn-1.5:26"), "") << "a version that was named is no other";
}

TEST_F(Mapped, WhatIsRegisteredCountsFirst) {
  write("environments.map",
        "tools: {interpreter: of_the_map}\ntools:1: {interpreter: of_the_map}\n"
        "'tools:9': {interpreter: of_the_map}\n");
  EXPECT_EQ(found("tools").environment.spec.definition,
            EnvironmentDefinition(HostEnvironment{"of_the_map"}));
  add(host("tools", "1", "registered"));
  for (const char* name : {"tools", "tools@latest", "tools:1"})
    EXPECT_EQ(found(name).environment.spec.definition,
              EnvironmentDefinition(HostEnvironment{"registered"}))
        << name;
  EXPECT_EQ(found("tools:9").environment.spec.definition,
            EnvironmentDefinition(HostEnvironment{"of_the_map"}));
  EXPECT_EQ(refused("tools:8"), "environment 'tools' has no version '8'; it has 1");
}

TEST_F(Mapped, AnEnvironmentOfAzuresOwnIsAskedForOfTheMap) {
  EXPECT_EQ(refused("AzureML-sklearn-1.5@latest"),
            "'AzureML-sklearn-1.5' is an environment of Azure, and this launcher has no "
            "environment for it. Add this line to " +
                map() +
                " on the launcher's machine:\n  AzureML-sklearn-1.5: AzureML-sklearn-1.5.yml\nand "
                "write AzureML-sklearn-1.5.yml, an environment file as for `lockstep environment "
                "create -f`, into the same folder");
  EXPECT_THAT(refused("AzureML-sklearn-1.5:7"), HasSubstr("\n  AzureML-sklearn-1.5:7: AzureML"));
  write("environments.map", "AzureML-sklearn-1.5:7: {interpreter: python3}\n");
  EXPECT_EQ(found("AzureML-sklearn-1.5:7").environment.spec.version, "7");
  add(host("AzureML-sklearn-1.5", "1", "python3"));
  EXPECT_EQ(refused("AzureML-sklearn-1.5:2"),
            "environment 'AzureML-sklearn-1.5' has no version '2'; it has 1");
}

TEST_F(Mapped, WhatIsWrongInItHasItsPlace) {
  write("environments.map", "tools: {interpretor: x}\n");
  EXPECT_EQ(refused("tools"), "the launcher's " + map() +
                                  ":1:9: unknown key 'interpretor'; did you mean 'interpreter'?");
  EXPECT_EQ(refused("azureml://registries/r/models/m/versions/1").substr(0, 60),
            "'azureml://registries/r/models/m/versions/1' is not the addr");
}

// Who opened the pipe would wait for ever, and with it all of the launcher.
TEST_F(Mapped, WhatIsNoRegularFileIsNotWaitedFor) {
  const std::string pipe = directory_.path() + "/pipe";
  const std::string no_file = "read " + pipe + ": it is not a regular file";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write("r.txt", "six\n-r pipe\n");
  write("environments.map",
        "entry: pipe\nlines: {requirements: pipe}\nconda: {conda_file: pipe}\n"
        "deep: {requirements: r.txt}\nfolder: .\ndevice: /dev/zero\n");
  EXPECT_EQ(refused("entry"), "the launcher's " + map() + ":1:8: " + no_file);
  EXPECT_THAT(refused("lines"), StartsWith("the launcher's " + map() + ":2:23: "));
  EXPECT_THAT(refused("lines"), HasSubstr(no_file));
  EXPECT_THAT(refused("conda"), StartsWith("the launcher's " + map() + ":3:21: "));
  EXPECT_THAT(refused("conda"), HasSubstr(no_file));
  EXPECT_EQ(refused("deep"), "the launcher's " + directory_.path() + "/r.txt:2: " + no_file);
  EXPECT_EQ(refused("folder"), "the launcher's " + map() + ":5:9: read " + directory_.path() +
                                   "/.: it is not a regular file");
  EXPECT_EQ(refused("device"),
            "the launcher's " + map() + ":6:9: read /dev/zero: it is not a regular file");
  ASSERT_EQ(::unlink(map().c_str()), 0);
  ASSERT_EQ(::mkfifo(map().c_str(), 0600), 0);
  EXPECT_EQ(refused("entry"),
            "the launcher could not read " + map() + ": it is not a regular file");
}

}  // namespace
}  // namespace lockstep::launcher
