// Versions of registered data and models: what makes a new one, who may make it, what archiving
// does, and that their files are kept. That replay and compaction keep them is checked at the end
// of every test of the core (launcher_fixture).

#include "launcher/core/names/objects.h"
#include "launcher/state/compact.h"
#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RegisteredAsset files(const std::string& content, const std::string& version = "",
                      InputType type = InputType::uri_folder) {
  RegisteredAsset asset;
  asset.name = "faces";
  asset.version = version;
  asset.type = type;
  asset.path = "./" + content;
  asset.tree = sha256(content);
  return asset;
}

struct AssetTest : ::testing::Test {
  TestLauncher launcher;

  // The version, or why there is none.
  std::string create(RegisteredAsset asset, const std::string& user = "ada",
                     const std::string& project = "") {
    launcher.send(
        CreateAssetInput{launcher.next_reply(), std::move(asset), project, UserCaller{user}});
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused.front().message;
    return launcher.expect_one<ReplyAsset>().version;
  }
  std::string set_archived(const std::string& version, bool archived,
                           const std::string& user = "ada") {
    launcher.send(ArchiveAssetInput{
        launcher.next_reply(), {AssetKind::data, "faces", version, archived}, UserCaller{user}});
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused.front().message;
    return launcher.expect_one<ReplyDone>().message;
  }
  void ask(PrincipalInput::Ask ask) {
    launcher.send(PrincipalInput{launcher.next_reply(), std::move(ask)});
    launcher.expect_one<ReplyDone>();
  }
  const AssetName& faces() const {
    return *launcher.core->state().assets().find(AssetKind::data, "faces");
  }
  const OwnedName& owned() const {
    return *launcher.core->state().names().find(NameKind::data, "faces");
  }
  std::string newest() const {
    const AssetVersion* version = faces().newest(owned());
    return version == nullptr ? "none" : version->asset.version;
  }
};

TEST_F(AssetTest, AVersionIsCountedWhereNoneIsGiven) {
  EXPECT_EQ(create(files("a")), "1");
  EXPECT_EQ(create(files("b")), "2");
  EXPECT_EQ(create(files("c", "7")), "7");
  EXPECT_EQ(create(files("d", "beta")), "beta");
  EXPECT_EQ(create(files("e")), "8");
  EXPECT_EQ(newest(), "8");
}

TEST_F(AssetTest, ALongNumberDoesNotEndTheCounting) {
  EXPECT_EQ(create(files("a", "18446744073709551615")), "18446744073709551615");
  EXPECT_EQ(create(files("b", "999999999999999999")), "999999999999999999");
  EXPECT_EQ(create(files("c")), "1") << "so long a number is a word";
  EXPECT_EQ(create(files("d", "99999999999999999")), "99999999999999999");
  EXPECT_EQ(create(files("e")), "100000000000000000");
  EXPECT_EQ(create(files("f")), "100000000000000001") << "the one before is longer, but taken";
}

TEST_F(AssetTest, TheSameContentAgainIsTheSameVersion) {
  EXPECT_EQ(create(files("a")), "1");
  EXPECT_EQ(create(files("a")), "1");
  EXPECT_EQ(create(files("a", "1")), "1");
  EXPECT_EQ(launcher.facts<AssetRegistered>().size(), 1U);
  EXPECT_EQ(create(files("b")), "2");
  EXPECT_EQ(create(files("a")), "3") << "what is older was replaced on purpose";
}

TEST_F(AssetTest, AVersionNeverChanges) {
  EXPECT_EQ(create(files("a", "1")), "1");
  EXPECT_THAT(create(files("b", "1")),
              HasSubstr("data asset faces:1 already exists with other files, and a version cannot "
                        "be changed; choose another version, or leave the version out"));
  EXPECT_THAT(create(files("a", "1", InputType::mltable)),
              HasSubstr("faces:1 already exists with type uri_folder"));
  EXPECT_EQ(launcher.facts<AssetRegistered>().size(), 1U);
}

TEST_F(AssetTest, AModelAndDataMayHaveOneName) {
  EXPECT_EQ(create(files("a")), "1");
  EXPECT_EQ(create(files("b", "", InputType::custom_model)), "1");
  EXPECT_EQ(faces().versions.size(), 1U);
}

TEST_F(AssetTest, WhatIsNoAssetIsRefused) {
  RegisteredAsset asset = files("a");
  asset.name = "a b";
  EXPECT_THAT(create(asset), HasSubstr("name: 'a b' is not valid"));
  EXPECT_THAT(create(files("a", "latest")), HasSubstr("'latest' stands for the newest version"));
  asset = files("a");
  asset.tree.reset();
  EXPECT_EQ(create(asset), "path: the asset has no files");
  asset = files("a");
  asset.file = "../a";
  asset.type = InputType::uri_file;
  EXPECT_THAT(create(asset), HasSubstr("is not a file's name"));
  asset.file = "";
  EXPECT_THAT(create(asset), HasSubstr("a uri_file is one file"));
  asset = files("a");
  asset.description = std::string(kMaxAssetDescriptionBytes + 1, 'x');
  EXPECT_THAT(create(asset), HasSubstr("description: has 16385 bytes"));
  EXPECT_TRUE(launcher.facts<AssetRegistered>().empty());
}

TEST_F(AssetTest, AnArchivedVersionIsNotTheLatest) {
  create(files("a"));
  create(files("b"));
  EXPECT_THAT(set_archived("2", true), HasSubstr("data asset faces:2: archived"));
  EXPECT_EQ(newest(), "1");
  EXPECT_NE(faces().find("2"), nullptr) << "a job that names it gets it";
  EXPECT_EQ(create(files("a")), "1") << "the newest that is not archived has this content";
  EXPECT_EQ(create(files("b")), "3") << "what is archived is not given out again";
  EXPECT_EQ(set_archived("2", true), "data asset faces:2: already archived");
  EXPECT_THAT(set_archived("9", true), HasSubstr("has no version '9'; it has 3, 2, 1"));
  EXPECT_THAT(set_archived("", true), HasSubstr("all versions of data asset faces: archived"));
  EXPECT_EQ(newest(), "none");
  EXPECT_EQ(create(files("c")), "4");
  EXPECT_EQ(newest(), "4") << "archiving was about the versions of then";
  EXPECT_EQ(set_archived("", false), "all versions of data asset faces: restored");
  EXPECT_EQ(create(files("c")), "4");
}

TEST_F(AssetTest, CompactionKeepsTheFlagsAndDropsWhatChangedThem) {
  create(files("a"));
  create(files("b"));
  for (int i = 0; i < 5; ++i) {
    set_archived("", true);
    set_archived("", false);
  }
  set_archived("1", true);
  std::size_t kept = 0;
  for (const StampedFact& fact : compact(launcher.all_facts()))
    kept += std::holds_alternative<AssetArchived>(fact.fact) ? 1 : 0;
  EXPECT_EQ(kept, 1U);
}

TEST_F(AssetTest, DescriptionAndTagsChangeLaterAndCountAsTheirMakers) {
  create(files("a"));
  const auto update = [&](AnnotateVersion ask, const std::string& user = "ada") {
    ask.kind = NameKind::data;
    ask.name = "faces";
    launcher.send(AnnotateVersionInput{launcher.next_reply(), std::move(ask), UserCaller{user}});
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused.front().message;
    return launcher.expect_one<ReplyDone>().message;
  };
  AnnotateVersion ask;
  ask.version = "1";
  ask.description = "ten faces";
  ask.set_tags = {{"stage", "test"}, {"owner", "ada"}};
  EXPECT_EQ(update(ask), "data asset faces:1 is updated");
  EXPECT_EQ(update(ask), "data asset faces:1 is unchanged: it has this description and these tags");
  EXPECT_EQ(faces().find("1")->asset.description, "ten faces");
  EXPECT_EQ(faces().find("1")->asset.tags.at("stage"), "test");
  EXPECT_EQ(create(files("a")), "1") << "its content is the same";
  AnnotateVersion remove;
  remove.version = "1";
  remove.remove_tags = {"stage", "nosuch"};
  EXPECT_EQ(update(remove), "data asset faces:1 is updated");
  EXPECT_EQ(faces().find("1")->asset.tags.size(), 1U);
  EXPECT_EQ(faces().find("1")->asset.description, "ten faces");
  remove.version = "2";
  EXPECT_THAT(update(remove), HasSubstr("data asset 'faces' has no version '2'"));
  ask.set_tags = {{"", "x"}};
  EXPECT_THAT(update(ask), HasSubstr("tags: a key has 1 to 1024 bytes"));
  std::size_t annotations = 0;
  for (const StampedFact& fact : compact(launcher.all_facts()))
    annotations += std::holds_alternative<VersionAnnotated>(fact.fact) ? 1 : 0;
  EXPECT_EQ(annotations, 0U) << "the registration has them";
}

TEST_F(AssetTest, ItsFilesAreKeptArchivedOrNot) {
  create(files("a"));
  create(files("b"));
  set_archived("1", true);
  std::vector<std::string> kept;
  each_root(launcher.core->state(), [&](const Root& root) { kept.push_back(describe(root)); });
  EXPECT_THAT(kept, ElementsAre("data asset faces:1", "data asset faces:2"));
}

TEST_F(AssetTest, ANameBelongsToItsProject) {
  ask(CreateProject{"vision"});
  ask(AddUser{"alice", "", {}, {Role::submitter, "default"}});
  ask(AddUser{"eve", "", {}, {Role::submitter, "vision"}});
  ask(AddUser{"vic", "", {}, {Role::viewer, "default"}});
  EXPECT_EQ(create(files("a"), "alice"), "1");
  EXPECT_EQ(faces().project, "default");
  EXPECT_THAT(create(files("b"), "eve"), HasSubstr("the name 'faces' is taken"));
  EXPECT_THAT(create(files("b"), "vic"), HasSubstr("may not add versions to this name"));
  EXPECT_THAT(create(files("b"), "alice", "vision"), HasSubstr("vision"));
  EXPECT_THAT(set_archived("1", true, "eve"), HasSubstr("may not archive, restore"));
  const State& state = launcher.core->state();
  const UserCaller eve{"eve"}, vic{"vic"};
  EXPECT_TRUE(sees_asset_with(state, vic, sha256("a")));
  EXPECT_FALSE(sees_asset_with(state, eve, sha256("a"))) << "a digest grants nothing";
  EXPECT_FALSE(sees_asset_with(state, vic, sha256("b")));
  EXPECT_THAT(no_such_asset(state, vic, AssetKind::data, "face").message,
              HasSubstr("did you mean 'faces'?"));
  EXPECT_THAT(no_such_asset(state, eve, AssetKind::data, "face").message,
              testing::Not(HasSubstr("faces")))
      << "the nearest name is one that they may see";
}

// ---- outputs of jobs ----------------------------------------------------------------------------

struct RegisteredOutputs : AssetTest {
  RegisteredOutputs() { ask(AddUser{"alice", "", {}, {Role::submitter, "default"}}); }

  FakeNode node = launcher.join("n1");

  // Runs a job with such an output to its end; `content`: what its rank wrote, "": nothing. `size`:
  // of what it wrote.
  JobId run(const std::string& name, OutputAsset as, const std::string& content, int code = 0,
            const Result<Bytes>& size = Bytes{}) {
    JobSpec spec = job_spec(name);
    OutputSpec output;
    output.name = "made";
    output.asset = std::move(as);
    spec.outputs = {output};
    const JobId job = launcher.submit(spec);
    PartReport report = lockstep::launcher::report(attempt(job), PartState::finished);
    report.exit = node_exit({code == 0 ? rank_exit(0) : rank_exit(0, Cause::exit_code, code)});
    if (!content.empty()) {
      CollectedOutput collected;
      collected.kind = OutputKind::named;
      collected.name = "made";
      collected.tree = sha256(content);
      report.outputs = {collected};
    }
    launcher.observe(node, report);
    launcher.drop_notices();
    if (code != 0 || content.empty()) return job;
    EXPECT_EQ(launcher.expect_one<MergeOutputs>().job, job);
    launcher.send(
        OutputsMergedInput{job, {{"made", sha256(content), "", {}}}, "", {{"made", size}}});
    launcher.drop_notices();
    return job;
  }
  std::vector<std::string> problems(const JobId& job) {
    const JobView view = launcher.view(job);
    EXPECT_EQ(view.status, JobStatus::completed);
    return view.merged.empty() ? std::vector<std::string>() : view.merged.front().problems;
  }
};

TEST_F(RegisteredOutputs, AnOutputWithANameIsRegisteredWhenTheJobHasCompleted) {
  const JobId job = run("train", {"faces", "", InputType::uri_folder}, "a");
  EXPECT_THAT(problems(job), testing::IsEmpty());
  const AssetVersion& made = *faces().newest(owned());
  EXPECT_EQ(made.asset.version, "1");
  EXPECT_EQ(made.asset.tree, sha256("a"));
  EXPECT_EQ(made.by, launcher.view(job).spec.submitter);
  EXPECT_EQ(maker_of(made.asset), job);
  EXPECT_EQ(launcher.view(job).merged.front().registered, "faces:1");
  const JobId again = run("again", {"faces", "", InputType::uri_folder}, "a");
  EXPECT_EQ(newest(), "1") << "the same files";
  EXPECT_EQ(launcher.view(again).merged.front().registered, "faces:1");
  run("other", {"faces", "9", InputType::uri_folder}, "b");
  EXPECT_EQ(newest(), "9");
}

TEST_F(RegisteredOutputs, WhyOneIsNotRegisteredIsAProblemOfTheOutput) {
  run("train", {"faces", "3", InputType::uri_folder}, "a");
  EXPECT_THAT(problems(run("two", {"faces", "3", InputType::uri_folder}, "b")),
              ElementsAre(HasSubstr("not registered as faces: data asset faces:3 already exists "
                                    "with other files")));
  EXPECT_THAT(problems(run("none", {"faces", "4", InputType::uri_folder}, "")),
              ElementsAre("not registered as faces: no rank wrote to it"));
  EXPECT_EQ(newest(), "3");
}

TEST_F(RegisteredOutputs, CountForTheJobsOwnerWithTheirFiles) {
  ask(SetQuota{{QuotaHolder::Kind::project, "default"}, {{QuotaLimit::version_files, 1'000}}, {}});
  EXPECT_THAT(problems(run("one", {"faces", "", InputType::uri_folder}, "a", 0, Bytes{600})),
              testing::IsEmpty());
  EXPECT_EQ(faces().find("1")->files, Bytes{600});
  EXPECT_THAT(problems(run("two", {"faces", "", InputType::uri_folder}, "b", 0, Bytes{401})),
              ElementsAre(HasSubstr("project 'default' has 600 B in files of registered versions, "
                                    "this one would add 401 B, and 1000 B are allowed")));
  EXPECT_THAT(problems(run("three", {"faces", "", InputType::uri_folder}, "c", 0,
                           make_error(ErrorCode::invalid_argument, "it has more than 5 files"))),
              ElementsAre("not registered as faces: it has more than 5 files"));
  EXPECT_THAT(problems(run("four", {"faces", "", InputType::uri_folder}, "d", 0, Bytes{400})),
              testing::IsEmpty());
  EXPECT_EQ(newest(), "2");
}

TEST_F(RegisteredOutputs, TwoOutputsOfOneNameAreTwoVersions) {
  JobSpec spec = job_spec("pair");
  for (const char* name : {"a", "b"}) {
    OutputSpec output;
    output.name = name;
    output.asset = OutputAsset{"faces", "", InputType::uri_folder};
    spec.outputs.push_back(output);
  }
  const JobId job = launcher.submit(spec);
  PartReport report = lockstep::launcher::report(attempt(job), PartState::finished);
  report.exit = node_exit({rank_exit(0)});
  for (const char* name : {"a", "b"}) {
    CollectedOutput collected;
    collected.kind = OutputKind::named;
    collected.name = name;
    collected.tree = sha256(name);
    report.outputs.push_back(collected);
  }
  launcher.observe(node, report);
  launcher.drop_notices();
  EXPECT_EQ(launcher.expect_one<MergeOutputs>().job, job);
  launcher.send(
      OutputsMergedInput{job, {{"a", sha256("a"), "", {}}, {"b", sha256("b"), "", {}}}, ""});
  launcher.drop_notices();
  ASSERT_EQ(faces().versions.size(), 2U);
  EXPECT_EQ(faces().find("1")->asset.tree, sha256("a"));
  EXPECT_EQ(faces().find("2")->asset.tree, sha256("b"));
}

TEST_F(RegisteredOutputs, AJobThatFailedRegistersNothing) {
  run("bad", {"faces", "", InputType::uri_folder}, "a", 1);
  EXPECT_EQ(launcher.core->state().assets().find(AssetKind::data, "faces"), nullptr);
}

}  // namespace
}  // namespace lockstep::launcher
