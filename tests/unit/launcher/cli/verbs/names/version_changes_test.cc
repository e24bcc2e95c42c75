// What `update` of a version is given, and what is told of words that it does not take.

#include "launcher/cli/verbs/names/version_changes.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

std::string words_of(const VersionWords& words) {
  const auto named = read_version_words("data update", words);
  if (!named) return named.error().message;
  return named->name + " " + (named->is_latest ? "latest" : named->version);
}

TEST(VersionWords, AreThoseOfAzOrOneWord) {
  EXPECT_EQ(words_of({"faces", "3", ""}), "faces 3");
  EXPECT_EQ(words_of({"faces:3", "", ""}), "faces 3");
  EXPECT_EQ(words_of({"azureml:faces:3", "", ""}), "faces 3");
  EXPECT_EQ(words_of({"faces", "", "latest"}), "faces latest");
  EXPECT_EQ(words_of({"faces@latest", "", ""}), "faces latest");
  EXPECT_EQ(words_of({"faces", "", ""}), "faces ");
  EXPECT_EQ(words_of({"faces:3", "4", ""}),
            "data update: 'faces:3' already names the version; leave --version out");
  EXPECT_EQ(words_of({"faces@stable", "", ""}),
            "data update: the label 'stable' is not supported; only latest is");
  EXPECT_EQ(words_of({"faces:", "", ""}),
            "data update: 'faces:': nothing stands behind its last character");
}

TEST(VersionChanges, AreOfTheDescriptionAndTheTags) {
  const auto changes = read_version_changes(
      "model update", {"tags.stage=a=b", "description=what it is"}, {"tags.old", "tags"});
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->set_tags.at("stage"), "a=b");
  EXPECT_EQ(changes->description, "what it is");
  EXPECT_EQ(changes->remove_tags, std::vector<std::string>{"old"});
  EXPECT_TRUE(changes->clear_tags);
  EXPECT_EQ(read_version_changes("model update", {}, {"description"})->description, "");
}

TEST(VersionChanges, OtherKeysAreRefusedByName) {
  const auto refusal = [](std::vector<std::string> set, std::vector<std::string> remove = {}) {
    const auto changes = read_version_changes("model update", set, remove);
    return changes ? "" : changes.error().message;
  };
  EXPECT_EQ(refusal({"path=./x"}),
            "model update: --set 'path=./x': 'path' cannot be changed: only description and "
            "tags.KEY can, because a version keeps its content; create another version");
  EXPECT_EQ(refusal({"tags=a"}),
            "model update: --set 'tags=a': write tags.KEY=VALUE, once for each tag");
  EXPECT_EQ(refusal({"tags.a"}),
            "model update: --set 'tags.a': is not of the form KEY=VALUE, as in tags.owner=ada");
  EXPECT_EQ(refusal({"tags.a=b"}, {"tags.a"}),
            "model update: --remove 'tags.a': --set gives it a value as well; write one of them");
}

}  // namespace
}  // namespace lockstep::cli
