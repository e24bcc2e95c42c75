// What a download would bring, and files moved into place.

#include "launcher/cli/transfer/download.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/snapshot/capture/downloaded.h"
#include "launcher/cli/transfer/download_marks.h"
#include "launcher/cli/transfer/move_tree.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::cli {
namespace {

using snapshot::TempDir;

// ---- plan --------------------------------------------------------------------------------------

CollectedOutput output(OutputKind kind, const std::string& name, const std::string& tree) {
  CollectedOutput made;
  made.kind = kind;
  made.name = name;
  made.tree = sha256(tree);
  return made;
}

JobView job_with_two_attempts() {
  JobView job;
  job.spec.name = "j";
  job.status = JobStatus::completed;
  job.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount},
                      {"report", OutputType::uri_file, OutputMode::rw_mount}};
  job.attempts.resize(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    AttemptView& attempt = job.attempts[i];
    attempt.number = i + 1;
    attempt.parts.resize(2);
    for (int node = 0; node < 2; ++node) {
      const std::string where = std::to_string(i + 1) + "." + std::to_string(node);
      attempt.parts[static_cast<std::size_t>(node)].node_rank = node;
      attempt.parts[static_cast<std::size_t>(node)].node_name = "n" + std::to_string(node);
      attempt.parts[static_cast<std::size_t>(node)].outputs = {
          output(OutputKind::outputs, "", "o" + where), output(OutputKind::named, "model", "m")};
    }
  }
  return job;
}

TEST(PlanDownload, TheNewestAttemptUnlessAnotherIsNamed) {
  DownloadRequest request;
  const auto newest = plan_download(job_with_two_attempts(), request);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->attempt, 2u);
  ASSERT_EQ(newest->trees.size(), 1u);
  EXPECT_EQ(newest->trees[0].to.path, "artifacts/outputs");
  EXPECT_EQ(newest->trees[0].from[1].root, sha256("o2.1"));
  EXPECT_TRUE(newest->logs);
  request.attempt = 1;
  EXPECT_EQ(plan_download(job_with_two_attempts(), request)->trees[0].from[0].root, sha256("o1.0"));
  request.attempt = 3;
  EXPECT_EQ(plan_download(job_with_two_attempts(), request).error().message,
            "j has no attempt 3; it has attempts 1 to 2");
}

TEST(PlanDownload, OneNamedOutputOrAll) {
  DownloadRequest request;
  request.artifacts = false;
  request.named = "model";
  const auto one = plan_download(job_with_two_attempts(), request);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->trees.size(), 1u);
  EXPECT_EQ(one->trees[0].to.path, "named-outputs/model");
  EXPECT_FALSE(one->logs);
  request.named = "modle";
  EXPECT_EQ(plan_download(job_with_two_attempts(), request).error().message,
            "j has no output 'modle'; it has model, report");
  request.named = "report";
  EXPECT_EQ(plan_download(job_with_two_attempts(), request).error().message,
            "output 'report' of j is empty in attempt 2");
  DownloadRequest all;
  all.all_named = true;
  EXPECT_EQ(plan_download(job_with_two_attempts(), all)->trees.size(), 2u);
}

TEST(PlanDownload, KeptFilesComeBesideTheOutputs) {
  JobView job = job_with_two_attempts();
  for (PartView& part : job.attempts[1].parts)
    part.outputs.push_back(output(OutputKind::kept, "", "kept" + part.node_name));
  DownloadRequest request;
  const auto plan = plan_download(job, request);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->trees.size(), 2u);
  EXPECT_EQ(plan->trees[1].to.path, "artifacts/kept");
  EXPECT_EQ(plan->trees[1].from.size(), 2u);
  request.artifacts = false;
  request.all_named = true;
  EXPECT_EQ(plan_download(job, request)->trees.size(), 1u);
}

TEST(PlanDownload, ProblemsOfWhatIsNotWantedAreNotSaid) {
  AttemptView attempt = job_with_two_attempts().attempts[0];
  attempt.parts[0].outputs[0].problems = {"pipe was left out: a fifo"};
  attempt.parts[0].outputs[1].problems = {"changed"};
  DownloadRequest request;
  EXPECT_EQ(output_problems(attempt, request),
            std::vector<std::string>{"node n0: ./outputs: pipe was left out: a fifo"});
  request.artifacts = false;
  request.named = "model";
  EXPECT_EQ(output_problems(attempt, request),
            std::vector<std::string>{"node n0: output 'model': changed"});
  request.named = "report";
  EXPECT_TRUE(output_problems(attempt, request).empty());
}

TEST(PlanDownload, ACheckpointThatWasWrittenButNotKeptSaysWhy) {
  DownloadRequest request;
  request.artifacts = false;
  request.checkpoint = true;
  JobView job = job_with_two_attempts();
  EXPECT_EQ(plan_download(job, request).error().message,
            "j saved no checkpoint: nothing was written to $LOCKSTEP_CHECKPOINT_DIR");
  CollectedOutput lost;
  lost.kind = OutputKind::checkpoint;
  lost.problems = {"it has too many files"};
  job.attempts[1].parts[1].outputs.push_back(lost);
  EXPECT_EQ(plan_download(job, request).error().message,
            "j saved no checkpoint: node n1: it has too many files");
}

TEST(PlanDownload, AJobThatWasNeverStartedLeftNothing) {
  JobView job = job_with_two_attempts();
  job.attempts.clear();
  EXPECT_EQ(plan_download(job, {}).error().message, "j was not started, so it has no files");
}

// ---- marks -------------------------------------------------------------------------------------

RegisteredAsset net_of_version(const std::string& version) {
  RegisteredAsset asset;
  asset.name = "net";
  asset.version = version;
  return asset;
}

TEST(DownloadMarks, TheFolderOfAModelIsMarkedAndTakesNoOtherVersion) {
  TempDir dir;
  dir.folder("net");
  dir.folder("own");
  EXPECT_EQ(mark_folders(dir.path(), marks_of_asset(net_of_version("1"))), std::nullopt);
  EXPECT_EQ(snapshot::downloaded_from(dir / "net"), "net:1") << "no user attributes in /tmp";
  EXPECT_EQ(snapshot::downloaded_from(dir.path()), std::nullopt) << "other models go there, too";
  EXPECT_TRUE(check_target(dir.path(), marks_of_asset(net_of_version("1")))) << "the same again";
  const Status mixed = check_target(dir.path(), marks_of_asset(net_of_version("2")));
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().message, dir / "net" +
                                       " holds what was downloaded of net:1; name another folder "
                                       "with -p");
  EXPECT_FALSE(check_target(dir / "net", marks_of_job("owl"))) << "a job's files neither";
  EXPECT_TRUE(check_target(dir / "own", marks_of_job("owl")));
}

TEST(DownloadMarks, AFolderThatCannotBeMarkedIsSaidWithWhatToDo) {
  EXPECT_EQ(mark_folders("/proc", {"owl", {"", "nowhere", "self", "sys"}}), "self")
      << "/proc has no user attributes";
  EXPECT_EQ(mark_folders("/proc", {"", {"self"}}), std::nullopt) << "nothing was to be marked";
  const std::string text = unmarked_text("./owl");
  EXPECT_NE(text.find("./owl cannot be marked as a download"), text.npos) << text;
  EXPECT_NE(text.find(".gitignore, or download outside the source with -p"), text.npos) << text;
}

// ---- move --------------------------------------------------------------------------------------

TEST(MoveTree, JoinsFoldersAndReplacesFiles) {
  TempDir from, to;
  from.file("a/new", "new");
  from.file("a/both", "theirs", 0755);
  from.folder("locked");
  from.file("locked/x", "x");
  ASSERT_EQ(::chmod((from / "locked").c_str(), 0), 0);
  from.link("/nowhere", "a/link");
  to.file("a/both", "mine");
  to.file("a/mine", "mine");
  to.link("elsewhere", "a/link");
  ASSERT_TRUE(move_tree(from.path(), to.path()));
  EXPECT_EQ(to.read("a/new"), "new");
  EXPECT_EQ(to.read("a/both"), "theirs");
  EXPECT_EQ(to.read("a/mine"), "mine");
  EXPECT_EQ(to.read("locked/x"), "x");
  char target[100] = {};
  EXPECT_EQ(::readlink((to / "a/link").c_str(), target, sizeof target), 8);
}

TEST(MoveTree, NothingLandsBehindASymlinkOfTheTarget) {
  TempDir from, to, outside;
  from.file("a/b", "x");
  ASSERT_EQ(::symlink(outside.path().c_str(), (to / "a").c_str()), 0);
  const Status moved = move_tree(from.path(), to.path());
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
  EXPECT_FALSE(io::exists(outside / "b"));
}

TEST(MoveTree, AFolderInTheWayOfAFileIsSaidAndKept) {
  TempDir from, to;
  from.file("a", "x");
  to.file("a/mine", "mine");
  const Status moved = move_tree(from.path(), to.path());
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().message.find("in the way"), std::string::npos);
  EXPECT_EQ(to.read("a/mine"), "mine");
}

TEST(MoveTree, WhatIsInTheWayIsMetBeforeAnythingIsMoved) {
  TempDir from, to;
  from.file("a/first", "new");
  from.file("a/new", "new");
  from.file("z/last", "new");
  to.file("a/first", "old");
  to.file("z", "a file");
  const Status moved = move_tree(from.path(), to.path());
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
  EXPECT_NE(moved.error().message.find("/z is in the way"), std::string::npos);
  EXPECT_EQ(to.read("a/first"), "old");
  EXPECT_FALSE(io::exists(to / "a/new"));
  EXPECT_EQ(from.read("a/new"), "new") << "it can be moved later";
  ASSERT_EQ(::unlink((to / "z").c_str()), 0);
  EXPECT_TRUE(move_tree(from.path(), to.path()));
  EXPECT_EQ(to.read("a/first"), "new");
}

TEST(MoveTree, TheWayIsLookedAtInFoldersThatMayNotBeEntered) {
  TempDir from, to;
  from.file("locked/sub/x", "x");
  ASSERT_EQ(::chmod((from / "locked").c_str(), 0), 0);
  to.folder("locked/sub/x");
  EXPECT_FALSE(move_tree(from.path(), to.path()));
  struct stat info {};
  ASSERT_EQ(::stat((from / "locked").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0U);
}

}  // namespace
}  // namespace lockstep::cli
