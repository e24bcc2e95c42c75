// Whose a name is, whom its owner lets add versions, what deleting leaves, and what the versions of
// a user and a project come to. That replay and compaction keep all of it is checked at the end of
// every test of the core (launcher_fixture).

#include "launcher/state/people/names.h"

#include <fmt/format.h>

#include "common/domain/job/pipeline.h"
#include "launcher/state/compact.h"
#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

CoreConfig small_quotas() {
  CoreConfig config = CoreConfig{};
  config.versions_per_user = 3;
  config.version_bytes_per_user = Bytes{10'000};
  config.version_files_per_user = mebibytes(10);
  return config;
}

struct NamesTest : ::testing::Test {
  explicit NamesTest(CoreConfig config = CoreConfig{}) : launcher(std::move(config)) {
    ask(CreateProject{"vision"});
    for (const char* user : {"alice", "bob", "carol"})
      ask(AddUser{user, "", {}, {Role::submitter, "default"}});
    ask(AddUser{"eve", "", {}, {Role::submitter, "vision"}});
  }
  TestLauncher launcher;

  void ask(PrincipalInput::Ask ask) {
    launcher.send(PrincipalInput{launcher.next_reply(), std::move(ask)});
    launcher.expect_one<ReplyDone>();
  }
  // The message, or why not.
  std::string answer() {
    const auto refused = launcher.take<ReplyRefused>();
    return refused.empty() ? launcher.expect_one<ReplyDone>().message : refused.front().message;
  }
  // Each content is another definition, or other files. The version, or why there is none.
  std::string add(const std::string& user, NameKind kind, const std::string& content,
                  const std::string& name = "team", const std::string& version = "",
                  Bytes files = {}) {
    if (kind == NameKind::environment) {
      RegisteredEnvironment environment{{name, version, HostEnvironment{content}}, "", {}};
      launcher.send(
          CreateEnvironmentInput{launcher.next_reply(), environment, "", UserCaller{user}, files});
    } else {
      RegisteredAsset asset;
      asset.name = name;
      asset.version = version;
      asset.path = "./" + content.substr(0, 10);
      asset.description = content;
      asset.tree = sha256(content);
      if (kind == NameKind::model) asset.type = InputType::custom_model;
      if (kind == NameKind::component) {
        asset.component = ComponentType::command;
        asset.file = "c.yml";
      }
      launcher.send(CreateAssetInput{launcher.next_reply(), asset, "", UserCaller{user}, files});
    }
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused.front().message;
    return kind == NameKind::environment ? launcher.expect_one<ReplyEnvironment>().version
                                         : launcher.expect_one<ReplyAsset>().version;
  }
  std::string share(const std::string& by, NameKind kind, const std::string& with,
                    bool shared = true) {
    launcher.send(
        ShareNameInput{launcher.next_reply(), {kind, "team", with, shared}, UserCaller{by}});
    return answer();
  }
  std::string remove(const std::string& by, NameKind kind, const std::string& version,
                     const std::string& name = "team") {
    launcher.send(
        DeleteVersionsInput{launcher.next_reply(), {kind, name, version}, UserCaller{by}});
    return answer();
  }
  std::string latest(NameKind kind) const {
    const State& state = launcher.core->state();
    if (kind == NameKind::environment) {
      const EnvironmentVersion* found = state.registered("team", "");
      return found == nullptr ? "none" : found->environment.spec.version;
    }
    const AssetName* known = state.assets().find(AssetKind::data, "team");
    const AssetVersion* found =
        known == nullptr ? nullptr : known->newest(*state.names().find(kind, "team"));
    return found == nullptr ? "none" : found->asset.version;
  }
  std::uint64_t used(const std::string& user, QuotaLimit limit = QuotaLimit::versions) const {
    return of(launcher.core->state().usage().of({QuotaHolder::Kind::user, user}), limit);
  }
};

constexpr NameKind kKinds[] = {NameKind::environment, NameKind::data, NameKind::model,
                               NameKind::component};

TEST_F(NamesTest, AreTheirMakersAndOthersAddVersionsByTheirGrant) {
  for (const NameKind kind : kKinds) {
    EXPECT_EQ(add("alice", kind, "a"), "1");
    const std::string why = add("bob", kind, "b");
    EXPECT_THAT(why, HasSubstr("it belongs to user 'alice' (project default)"));
    EXPECT_THAT(why,
                HasSubstr(fmt::format("`lockstep {} share team --with bob`", to_string(kind))));
    EXPECT_THAT(share("bob", kind, "bob"), HasSubstr("belongs to user 'alice'"));
    EXPECT_THAT(share("alice", kind, "bob"), HasSubstr("user 'bob' may add versions"));
    EXPECT_EQ(add("bob", kind, "b"), "2");
    EXPECT_THAT(add("carol", kind, "c"), HasSubstr("belongs to user 'alice'"));
    EXPECT_THAT(share("bob", kind, "carol"), HasSubstr("belongs to user 'alice'"))
        << "who may add versions may not let others";
    EXPECT_THAT(remove("bob", kind, "1"), HasSubstr("belongs to user 'alice'"));
    share("alice", kind, "");
    EXPECT_EQ(add("carol", kind, "c"), "3");
    share("alice", kind, "", false);
    share("alice", kind, "bob", false);
    for (const char* user : {"bob", "carol"})
      EXPECT_THAT(add(user, kind, "d"), HasSubstr("belongs to user 'alice'"));
    EXPECT_EQ(add("ada", kind, "e"), "4") << "an admin";
  }
}

TEST_F(NamesTest, AreSharedWithThoseWhoMaySubmitIntoTheirProject) {
  EXPECT_EQ(add("alice", NameKind::data, "a"), "1");
  for (const char* user : {"eve", "ghost"})
    EXPECT_THAT(share("alice", NameKind::data, user),
                HasSubstr(fmt::format("user '{}' may not submit into project default", user)));
  EXPECT_THAT(share("alice", NameKind::data, "alice"), HasSubstr("is alice's own"));
  EXPECT_THAT(share("eve", NameKind::data, "eve"), HasSubstr("has no role"));
  EXPECT_TRUE(launcher.facts<NameShared>().empty());
  share("alice", NameKind::data, "bob");
  share("alice", NameKind::data, "bob");
  EXPECT_EQ(launcher.facts<NameShared>().size(), 1U);
  EXPECT_THAT(share("alice", NameKind::model, "bob"), HasSubstr("there is no model 'team'"));
}

// A journal of a launcher that let every submitter of the project add versions.
TEST_F(NamesTest, OfAnEarlierJournalAreOfWhoRegisteredTheFirstVersion) {
  const auto old = [&](const char* version, const char* by) {
    RegisteredEnvironment environment{{"team", version, HostEnvironment{version}}, "", {}};
    launcher.found(EnvironmentRegistered{environment, by, "default"});
    RegisteredAsset asset;
    asset.name = "team";
    asset.version = version;
    asset.tree = sha256(version);
    launcher.found(AssetRegistered{asset, by, "default"});
  };
  old("1", "alice");
  old("2", "bob");
  for (const NameKind kind : {NameKind::environment, NameKind::data}) {
    EXPECT_EQ(latest(kind), "1") << "bob had no grant of hers";
    EXPECT_EQ(launcher.core->state().names().find(kind, "team")->owner, "alice");
    EXPECT_THAT(add("bob", kind, "x"), HasSubstr("belongs to user 'alice'"));
  }
  EXPECT_NE(launcher.core->state().registered("team", "2"), nullptr) << "by number it is there";
  share("alice", NameKind::environment, "bob");
  EXPECT_EQ(latest(NameKind::environment), "2") << "now he has";
  EXPECT_EQ(add("alice", NameKind::data, "x"), "3");
  EXPECT_EQ(latest(NameKind::data), "3");
  remove("alice", NameKind::data, "1");
  remove("alice", NameKind::data, "3");
  EXPECT_EQ(latest(NameKind::data), "none") << "what is left is bob's, whom she does not let";
}

TEST_F(NamesTest, KeepTheirOwnerAndTheirNumbersWhenVersionsAreDeleted) {
  for (const NameKind kind : {NameKind::environment, NameKind::data}) {
    add("alice", kind, "a");
    add("alice", kind, "b");
    EXPECT_THAT(remove("alice", kind, "7"), HasSubstr("has no version '7'"));
    EXPECT_THAT(remove("alice", kind, "2"), HasSubstr("team:2: deleted"));
    EXPECT_EQ(latest(kind), "1");
    EXPECT_EQ(add("alice", kind, "c"), "3") << "what somebody may have written down is not another";
    remove("alice", kind, "1");
    remove("alice", kind, "3");
    EXPECT_EQ(latest(kind), "none");
    EXPECT_THAT(add("bob", kind, "d"), HasSubstr("belongs to user 'alice'"))
        << "her job files may still name it";
    EXPECT_EQ(add("alice", kind, "e"), "4");
    EXPECT_THAT(remove("alice", kind, ""), HasSubstr("deleted, with 1 version; the name is free"));
    EXPECT_EQ(add("bob", kind, "f"), "1");
    EXPECT_EQ(launcher.core->state().names().find(kind, "team")->owner, "bob");
  }
}

TEST_F(NamesTest, LeaveNothingInACompactedJournalWhenTheyAreDeleted) {
  for (int i = 0; i < 5; ++i) {
    add("alice", NameKind::data, std::to_string(i));
    share("alice", NameKind::data, "bob");
    remove("alice", NameKind::data, std::to_string(i + 1));
    share("alice", NameKind::data, "bob", false);
  }
  std::size_t settled = 0, others = 0;
  for (const StampedFact& fact : compact(launcher.all_facts())) {
    settled += std::holds_alternative<NameSettled>(fact.fact) ? 1 : 0;
    others += std::holds_alternative<AssetRegistered>(fact.fact) ||
                      std::holds_alternative<VersionsDeleted>(fact.fact) ||
                      std::holds_alternative<NameShared>(fact.fact)
                  ? 1
                  : 0;
  }
  EXPECT_EQ(settled, 1U);
  EXPECT_EQ(others, 0U);
  std::vector<std::string> roots;
  each_root(launcher.core->state(), [&](const Root& root) { roots.push_back(describe(root)); });
  EXPECT_THAT(roots, IsEmpty()) << "its files are nobody's";
}

TEST_F(NamesTest, AreNotDeletedWhileAJobOrAPipelineNeedsThem) {
  add("alice", NameKind::environment, "a");
  add("alice", NameKind::data, "a");
  JobSpec plain = job_spec("plain");
  plain.environment = EnvironmentSpec{"team", "1", HostEnvironment{"a"}};
  launcher.submit(plain);
  JobSpec pipeline = job_spec("pipeline");
  PipelineStep step;
  step.name = "s";
  step.spec.command = ShellCommand{"true"};
  DataInput input;
  input.name = "d";
  input.source = "azureml:team:1";
  input.tree = sha256("a");
  step.spec.data = {input};
  PipelineSpec steps;
  steps.steps = {step};
  pipeline.pipeline = steps;
  launcher.submit(pipeline);
  EXPECT_THAT(remove("ada", NameKind::environment, "1"),
              HasSubstr("environment team:1 is needed by job 'plain', which has not ended"));
  EXPECT_THAT(remove("ada", NameKind::data, ""), HasSubstr("data asset team:1 is needed by job"));
  launcher.cancel(JobId("plain"), "ada");
  launcher.cancel(JobId("pipeline"), "ada");
  EXPECT_THAT(remove("alice", NameKind::environment, "1"), HasSubstr("deleted"));
  EXPECT_THAT(remove("alice", NameKind::data, ""), HasSubstr("deleted"));
}

struct NameQuotas : NamesTest {
  NameQuotas() : NamesTest(small_quotas()) {}
};

TEST_F(NameQuotas, CountVersionsOfAllKindsByWhoRegisteredThem) {
  for (const NameKind kind : {NameKind::environment, NameKind::data, NameKind::model})
    EXPECT_EQ(add("alice", kind, "a"), "1");
  EXPECT_THAT(add("alice", NameKind::component, "a"),
              HasSubstr("quota: user 'alice' has 3 registered versions, this one would add 1, and "
                        "3 are allowed; versions of environments, data, models and components "
                        "count, archived ones too; delete those that nobody needs, such as "
                        "`lockstep data delete NAME --version V`; an admin may raise it with "
                        "`lockstep quota set --user alice --versions N`"));
  EXPECT_EQ(add("alice", NameKind::data, "a"), "1") << "it is there already";
  EXPECT_EQ(add("bob", NameKind::component, "a"), "1") << "others are not blocked";
  share("alice", NameKind::data, "bob");
  EXPECT_EQ(add("bob", NameKind::data, "b"), "2");
  EXPECT_EQ(used("alice"), 3U);
  EXPECT_EQ(used("bob"), 2U) << "who registers a version pays for it";
  remove("alice", NameKind::model, "1");
  EXPECT_EQ(used("alice"), 3U) << "the name is kept for her";
  EXPECT_EQ(add("alice", NameKind::model, "b"), "2") << "and counts once";
  remove("alice", NameKind::model, "");
  EXPECT_EQ(used("alice"), 2U);
  ask(SetQuota{{QuotaHolder::Kind::project, "default"}, {{QuotaLimit::versions, 4}}, {}});
  EXPECT_THAT(add("carol", NameKind::component, "c", "hers"),
              HasSubstr("quota: project 'default' has 4 registered versions"));
}

TEST_F(NameQuotas, CountTheBytesOfDefinitionsAndTexts) {
  EXPECT_EQ(add("alice", NameKind::model, std::string(6'000, 'x')), "1");
  EXPECT_THAT(add("alice", NameKind::data, std::string(6'000, 'y')),
              HasSubstr("in definitions and texts of registered versions"));
  EXPECT_GT(used("alice", QuotaLimit::version_bytes), 6'000U);
  remove("alice", NameKind::model, "1");
  EXPECT_EQ(add("alice", NameKind::data, std::string(6'000, 'y')), "1");
}

TEST_F(NameQuotas, CountTheBytesOfFilesOfEachVersionInFull) {
  for (const NameKind kind : kKinds) {
    EXPECT_EQ(add("alice", kind, "a", "hers", "", mebibytes(6)), "1");
    EXPECT_EQ(used("alice", QuotaLimit::version_files), mebibytes(6).count);
    const std::string why = add("alice", kind, "b", "hers", "", mebibytes(5));
    EXPECT_THAT(why, HasSubstr("quota: user 'alice' has 6.0 MiB in files of registered versions, "
                               "this one would add 5.0 MiB, and 10.0 MiB are allowed"));
    EXPECT_THAT(why, HasSubstr("`lockstep data delete NAME --version V`"));
    EXPECT_THAT(why, HasSubstr("`lockstep quota set --user alice --version-files SIZE`"));
    EXPECT_EQ(add("alice", kind, "a", "hers", "", mebibytes(6)), "1") << "it is there already";
    EXPECT_EQ(add("bob", kind, "b", "his", "", mebibytes(5)), "1") << "others are not blocked";
    remove("alice", kind, "1", "hers");
    EXPECT_EQ(used("alice", QuotaLimit::version_files), 0U);
    EXPECT_EQ(add("alice", kind, "b", "hers", "", mebibytes(5)), "2");
    remove("alice", kind, "", "hers");
    remove("bob", kind, "", "his");
    EXPECT_EQ(used("alice", QuotaLimit::version_files), 0U);
  }
}

TEST_F(NameQuotas, AreOfAProjectToo) {
  ask(SetQuota{{QuotaHolder::Kind::project, "default"},
               {{QuotaLimit::version_files, mebibytes(8).count}},
               {}});
  EXPECT_EQ(add("alice", NameKind::data, "a", "hers", "", mebibytes(5)), "1");
  EXPECT_THAT(add("bob", NameKind::model, "b", "his", "", mebibytes(5)),
              HasSubstr("quota: project 'default' has 5.0 MiB in files of registered versions"));
  EXPECT_EQ(add("bob", NameKind::environment, "b", "his"), "1") << "it has no files";
  ask(SetQuota{{QuotaHolder::Kind::project, "default"}, {{QuotaLimit::version_files, 1}}, {}});
  EXPECT_EQ(add("bob", NameKind::environment, "c", "his"), "2") << "and needs no room for any";
}

// It names one file 2^60 times: sums of such sizes would pass any limit.
TEST_F(NameQuotas, ATreeBeyondAllSumsIsRefused) {
  ask(SetQuota{
      {QuotaHolder::Kind::user, "alice"}, {{QuotaLimit::version_files, kMaxQuotaValue}}, {}});
  ask(SetQuota{
      {QuotaHolder::Kind::project, "default"}, {{QuotaLimit::version_files, kMaxQuotaValue}}, {}});
  EXPECT_EQ(add("alice", NameKind::data, "a", "small", "", Bytes{1}), "1");
  EXPECT_THAT(add("alice", NameKind::data, "b", "large", "", Bytes{UINT64_MAX}),
              HasSubstr("in files of registered versions"));
  EXPECT_EQ(used("alice", QuotaLimit::version_files), 1U);
}

// A journal of a launcher that did not count files.
TEST_F(NameQuotas, VersionsOfAnEarlierJournalHaveNoFilesThatCount) {
  RegisteredAsset asset;
  asset.name = "team";
  asset.version = "1";
  asset.tree = sha256("old");
  launcher.found(AssetRegistered{asset, "alice", "default", "alice"});
  EXPECT_EQ(used("alice", QuotaLimit::version_files), 0U);
  EXPECT_EQ(add("alice", NameKind::data, "new", "team", "", mebibytes(10)), "2");
  remove("alice", NameKind::data, "1");
  EXPECT_EQ(used("alice", QuotaLimit::version_files), mebibytes(10).count);
}

}  // namespace
}  // namespace lockstep::launcher
