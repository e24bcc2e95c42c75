// Several nodes' trees as one: outputs, and checkpoints.

#include "common/snapshot/tree_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace lockstep::snapshot {
namespace {

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
    const auto directory = decode_directory(objects_.at(root));
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
    const auto root = merge_trees(put_all(trees), access(), beside);
    EXPECT_TRUE(root);
    return get(*root);
  }
  Tree join(const std::optional<Tree>& base, const std::vector<Tree>& trees) {
    std::optional<Digest> root;
    if (base) root = put(*base);
    const auto joined = merge_checkpoints(root, put_all(trees), access());
    EXPECT_TRUE(joined);
    return get(*joined);
  }
  std::vector<Beside> beside;

 private:
  std::vector<NodeTree> put_all(const std::vector<Tree>& trees) {
    std::vector<NodeTree> nodes;
    for (std::size_t i = 0; i < trees.size(); ++i)
      nodes.push_back({static_cast<int>(i), put(trees[i])});
    std::reverse(nodes.begin(), nodes.end());  // their order does not count
    return nodes;
  }
  DirectoryObjects access() {
    return {[this](const Digest& digest) -> Result<std::string> { return objects_.at(digest); },
            [this](const Digest& digest, const std::string& bytes) -> Status {
              objects_[digest] = bytes;
              return {};
            }};
  }

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
  const std::string longest(kMaxNameBytes, 'n');
  const Tree merged = o.merge({{{longest, "0"}}, {{longest, "1"}}});
  EXPECT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged.count(longest.substr(0, kMaxNameBytes - 6) + ".node1"), 1u);
}

// The ending grew with each name that was taken, until nothing was left of a name.
TEST(MergeTrees, AnEndingStaysShortHoweverManyNamesAreTaken) {
  Objects o;
  Tree first = {{"a", "0"}};
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string name = "a.node1" + std::string(i, '_');
    if (name.size() <= kMaxNameBytes) first[name] = "taken";
  }
  for (int i = 0; i < 300; ++i) first["a.node1________" + std::to_string(i)] = "taken";
  const Tree merged = o.merge({first, {{"a", "1"}}});
  EXPECT_EQ(merged.size(), first.size() + 1);
  EXPECT_EQ(merged.at("a.node1________300"), "1");
}

TEST(MergeTrees, ANameIsCutBetweenCharacters) {
  Objects o;
  std::string name;
  for (int i = 0; i < 127; ++i) name += "é";  // 254 bytes: 249 are left, the last one cuts an é
  const Tree merged = o.merge({{{name, "0"}}, {{name, "1"}}});
  EXPECT_EQ(merged.count(name.substr(0, 248) + ".node1"), 1u);
}

TEST(MergeCheckpoints, WithoutABaseTreesAreJoinedAndTheLowestRankWins) {
  Objects o;
  EXPECT_EQ(o.join(std::nullopt, {{{"a", "0"}, {"d/x", "0"}}, {{"a", "1"}, {"d/y", "1"}}}),
            (Tree{{"a", "0"}, {"d/x", "0"}, {"d/y", "1"}}));
  EXPECT_EQ(o.join(std::nullopt, {{{"a", "1"}}}), (Tree{{"a", "1"}}));
}

TEST(MergeCheckpoints, WhatANodeChangedWinsOverWhatOthersStillHave) {
  Objects o;
  const Tree base = {{"step", "100"}, {"d/deep/step", "100"}, {"kept", "k"}};
  const Tree writer = {{"step", "200"}, {"d/deep/step", "200"}, {"kept", "k"}, {"new", "n"}};
  EXPECT_EQ(o.join(base, {base, writer}), writer);
  EXPECT_EQ(o.join(base, {writer, base}), writer);
}

TEST(MergeCheckpoints, WhatOneRemovedIsGoneUnlessAnotherChangedIt) {
  Objects o;
  const Tree base = {{"old-1", "1"}, {"old-2", "2"}, {"folder/a", "a"}};
  EXPECT_EQ(o.join(base, {{{"old-2", "2"}, {"folder/a", "a"}}, base}),
            (Tree{{"old-2", "2"}, {"folder/a", "a"}}));
  EXPECT_EQ(o.join(base, {{{"old-2", "2"}}, {{"old-1", "changed"}, {"old-2", "2"}}}),
            (Tree{{"old-1", "changed"}, {"old-2", "2"}}));
}

TEST(MergeCheckpoints, OfTwoChangesTheLowestRanksIsTaken) {
  Objects o;
  EXPECT_EQ(o.join(Tree{{"a", "old"}}, {{{"a", "0"}}, {{"a", "1"}}}), (Tree{{"a", "0"}}));
  EXPECT_EQ(o.join(Tree{{"a", "old"}}, {{{"a", "old"}}, {{"a", "1"}}, {{"a", "2"}}}),
            (Tree{{"a", "1"}}));
}

TEST(MergeCheckpoints, AFileMayBecomeAFolder) {
  Objects o;
  EXPECT_EQ(o.join(Tree{{"a", "file"}}, {{{"a", "file"}}, {{"a/x", "1"}}}), (Tree{{"a/x", "1"}}));
  EXPECT_EQ(o.join(Tree{{"a/x", "1"}}, {{{"a", "file"}}, {{"a/x", "1"}}}), (Tree{{"a", "file"}}));
}

}  // namespace
}  // namespace lockstep::snapshot
