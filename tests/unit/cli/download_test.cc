// Several nodes' trees merged, what a download would bring, and files moved into place.

#include "launcher/cli/download.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "launcher/cli/move_tree.h"
#include "tests/unit/snapshot/temp_dir.h"

namespace lockstep::cli {
namespace {

using snapshot::Directory;
using snapshot::Entry;
using snapshot::EntryKind;
using snapshot::TempDir;

// Trees written as {"path": "content"}; a path that ends in '/' is an empty folder.
class Objects {
 public:
  using Tree = std::map<std::string, std::string>;

  Digest put(const Tree& tree) {
    std::map<std::string, Tree> folders;
    Directory directory;
    for (const auto& [path, content] : tree) {
      const auto slash = path.find('/');
      if (slash == std::string::npos) {
        directory.entries.push_back(
            {path, EntryKind::file, 0644, content.size(), sha256(content), {}});
        contents_[sha256(content)] = content;
      } else {
        auto& below = folders[path.substr(0, slash)];
        if (slash + 1 < path.size()) below[path.substr(slash + 1)] = content;
      }
    }
    for (const auto& [name, below] : folders)
      directory.entries.push_back({name, EntryKind::directory, 0755, 1, put(below), {}});
    std::sort(directory.entries.begin(), directory.entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    const std::string bytes = encode(directory);
    objects_[sha256(bytes)] = bytes;
    return sha256(bytes);
  }
  Tree get(const Digest& root, const std::string& path = "") {
    Tree tree;
    const auto directory = snapshot::decode_directory(objects_.at(root));
    EXPECT_TRUE(directory);
    if (directory->entries.empty() && !path.empty()) tree[path] = "";
    for (const Entry& entry : directory->entries) {
      if (entry.kind == EntryKind::file) tree[path + entry.name] = contents_.at(entry.digest);
      if (entry.kind == EntryKind::directory)
        for (const auto& [name, content] : get(entry.digest, path + entry.name + "/"))
          tree[name] = content;
    }
    return tree;
  }
  Tree merge(const std::vector<Tree>& trees) {
    std::vector<NodeTree> nodes;
    for (std::size_t i = 0; i < trees.size(); ++i)
      nodes.push_back({static_cast<int>(i), put(trees[i])});
    std::reverse(nodes.begin(), nodes.end());  // their order does not count
    const auto root = merge_trees(
        nodes,
        {[this](const Digest& digest) -> Result<std::string> { return objects_.at(digest); },
         [this](const Digest& digest, const std::string& bytes) -> Status {
           objects_[digest] = bytes;
           return {};
         }},
        beside);
    EXPECT_TRUE(root);
    return get(*root);
  }
  std::vector<Beside> beside;

 private:
  std::map<Digest, std::string> objects_, contents_;
};

using Tree = Objects::Tree;

TEST(MergeTrees, OneNodesTreeIsItself) {
  Objects o;
  EXPECT_EQ(o.merge({{{"a", "1"}, {"b/c", "2"}, {"e/", ""}}}),
            (Tree{{"a", "1"}, {"b/c", "2"}, {"e/", ""}}));
  EXPECT_TRUE(o.beside.empty());
}

TEST(MergeTrees, FoldersAreJoined) {
  Objects o;
  EXPECT_EQ(o.merge({{{"r0", "0"}, {"d/x", "0"}}, {{"r1", "1"}, {"d/y", "1"}, {"z/z/z", "z"}}}),
            (Tree{{"r0", "0"}, {"r1", "1"}, {"d/x", "0"}, {"d/y", "1"}, {"z/z/z", "z"}}));
  EXPECT_TRUE(o.beside.empty());
}

TEST(MergeTrees, TheLowestRankKeepsTheNameAndOthersStandBesideOnlyIfTheyDiffer) {
  Objects o;
  EXPECT_EQ(o.merge({{{"d/a", "0"}, {"same", "s"}},
                     {{"d/a", "1"}, {"same", "s"}},
                     {{"d/a", "1"}, {"same", "s"}},
                     {{"d/a", "3"}}}),
            (Tree{{"d/a", "0"}, {"d/a.node1", "1"}, {"d/a.node3", "3"}, {"same", "s"}}));
  EXPECT_EQ(o.beside, (std::vector<Beside>{{1, "d/a", "d/a.node1"}, {3, "d/a", "d/a.node3"}}));
}

TEST(MergeTrees, AFileAndAFolderOfOneNameAreBothKept) {
  Objects o;
  EXPECT_EQ(o.merge({{{"a", "file"}}, {{"a/x", "1"}}}), (Tree{{"a", "file"}, {"a.node1/x", "1"}}));
  EXPECT_EQ(o.merge({{{"b/x", "1"}}, {{"b", "file"}}, {{"b/y", "2"}}}),
            (Tree{{"b/x", "1"}, {"b/y", "2"}, {"b.node1", "file"}}));
}

TEST(MergeTrees, ANameThatIsTakenIsNotTakenAgain) {
  Objects o;
  EXPECT_EQ(o.merge({{{"a", "0"}, {"a.node1", "mine"}}, {{"a", "1"}}}),
            (Tree{{"a", "0"}, {"a.node1", "mine"}, {"a.node1_", "1"}}));
  const std::string longest(snapshot::kMaxNameBytes, 'n');
  const Tree merged = o.merge({{{longest, "0"}}, {{longest, "1"}}});
  EXPECT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged.count(longest.substr(0, snapshot::kMaxNameBytes - 6) + ".node1"), 1u);
}

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
            "j has attempts 1 to 2, no attempt 3");
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

TEST(PlanDownload, AJobThatWasNeverStartedLeftNothing) {
  JobView job = job_with_two_attempts();
  job.attempts.clear();
  EXPECT_EQ(plan_download(job, {}).error().message, "j was never started: it left nothing");
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

}  // namespace
}  // namespace lockstep::cli
