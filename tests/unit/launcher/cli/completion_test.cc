#include "launcher/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/cli/command_line.h"
#include "launcher/cli/manual.h"
#include "launcher/cli/verb_tree.h"

namespace lockstep::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

std::vector<Candidate> names_of(Noun noun, const std::string& typed) {
  switch (noun) {
    case Noun::job:
      if (typed == "p_") return {{"p_step", "Running"}};
      return {{"train-1", "Running"}, {"test-2", "Completed"}};
    case Noun::archived_job: return {{"old-3", "Completed"}};
    case Noun::node: return {{"n1", ""}};
    case Noun::compute: return {{"lab", ""}};
    case Noun::data: return {{"faces", ""}};
    case Noun::model: return {{"net", ""}};
    case Noun::component: return {{"fit", ""}};
    case Noun::environment: return {{"torch", ""}};
    case Noun::datastore: return {{"blobs", ""}};
  }
  return {};
}

Words words_for(const Words& typed) {
  static const VerbTree tree;
  Words words;
  for (const Candidate& one : candidates_for(tree.app(), typed, names_of))
    words.push_back(one.word);
  return words;
}

TEST(Completion, VerbsAndTheirGroups) {
  EXPECT_THAT(words_for({"jo"}), ElementsAre("job"));
  EXPECT_THAT(words_for({"job", "str"}), ElementsAre("stream"));
  EXPECT_THAT(words_for({""}), Contains("completion"));
  EXPECT_THAT(words_for({}), Contains("run"));
  EXPECT_THAT(words_for({"user", "key", "sh"}), ElementsAre("show"));
}

TEST(Completion, FlagsAndTheirWords) {
  EXPECT_THAT(words_for({"job", "list", "--max"}), ElementsAre("--max-results"));
  EXPECT_THAT(words_for({"job", "list", "-o", ""}), ElementsAre("table", "json", "yaml", "tsv"));
  EXPECT_THAT(words_for({"job", "list", "--output=y"}), ElementsAre("--output=yaml"));
  EXPECT_THAT(words_for({"job", "list", "--output", "=", "y"}), ElementsAre("yaml"));
  EXPECT_THAT(words_for({"job", "list", "--output", "="}), Not(IsEmpty()));
  EXPECT_THAT(words_for({"run", "--distribution", "p"}), ElementsAre("pytorch"));
  EXPECT_THAT(words_for({"job", "list", "--status", "C"}),
              ElementsAre("CancelRequested", "Completed", "Canceled"));
  EXPECT_THAT(words_for({"run", "--name", "--pri"}), IsEmpty());  // the value of --name
}

TEST(Completion, NamesOfThingsWhereTheyStand) {
  EXPECT_THAT(words_for({"job", "show", "t"}), ElementsAre("train-1", "test-2"));
  EXPECT_THAT(words_for({"job", "cancel", "train-1", "te"}), ElementsAre("test-2"));
  EXPECT_THAT(words_for({"job", "show", "--name", "tr"}), ElementsAre("train-1"));
  EXPECT_THAT(words_for({"job", "compare", "train-1", "te"}), ElementsAre("test-2"));
  EXPECT_THAT(words_for({"job", "archive", "t"}), ElementsAre("train-1", "test-2"));
  EXPECT_THAT(words_for({"job", "restore", ""}), ElementsAre("old-3"));
  EXPECT_THAT(words_for({"job", "restore", "--name", "o"}), ElementsAre("old-3"));
  EXPECT_THAT(words_for({"node", "drain", ""}), ElementsAre("n1"));
  EXPECT_THAT(words_for({"run", "--compute", ""}), ElementsAre("lab"));
  EXPECT_THAT(words_for({"compute", "create", ""}), IsEmpty());  // a new name
  EXPECT_THAT(words_for({"job", "show", "p_"}), ElementsAre("p_step"));
  EXPECT_THAT(words_for({"job", "show", "--name=p_"}), ElementsAre("--name=p_step"));
  EXPECT_THAT(words_for({"data", "show", "-n", "f"}), ElementsAre("faces"));
  EXPECT_THAT(words_for({"data", "create", "-n", ""}), IsEmpty());  // a new name
  EXPECT_THAT(words_for({"model", "download", ""}), ElementsAre("net"));
  EXPECT_THAT(words_for({"component", "show", ""}), ElementsAre("fit"));
  EXPECT_THAT(words_for({"environment", "show", "t"}), ElementsAre("torch"));
  EXPECT_THAT(words_for({"datastore", "show", ""}), ElementsAre("blobs"));
}

TEST(Completion, FilesAndCommandsAreTheShells) {
  EXPECT_THAT(words_for({"job", "create", "-f", ""}), IsEmpty());
  EXPECT_THAT(words_for({"run", "-n", "2", "--", "-"}), IsEmpty());
  EXPECT_THAT(words_for({"nothing", "of", "ours"}), IsEmpty());
}

TEST(Completion, EachShellHasAScript) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(completion_script(shell).value_or(""), HasSubstr("__complete"));
  EXPECT_FALSE(completion_script("tcsh"));
  EXPECT_EQ(parse_command_line({"completion", "tcsh"}).exit_code, kExitUsage);
}

TEST(Manual, HasAPageForEachFirstWord) {
  const VerbTree tree;
  for (const CLI::App* verb : verbs_below(tree.app())) {
    const auto page = manual_page(tree.app(), verb->get_name());
    ASSERT_TRUE(page);
    EXPECT_THAT(*page, HasSubstr(".SH NAME\nlockstep\\-" + verb->get_name() + " \\- "));
  }
  EXPECT_THAT(manual_page(tree.app(), "job").value(), HasSubstr(".SS lockstep job compare\n"));
  EXPECT_THAT(manual_page(tree.app(), "job").value(), Not(HasSubstr("LOCKSTEP_LAUNCHER")));
  EXPECT_THAT(parse_command_line({"help", "--man"}).out, HasSubstr(".TH \"LOCKSTEP\" 1"));
  EXPECT_THAT(parse_command_line({"help", "--man", "fly"}).err, HasSubstr("no verb 'fly'"));
  EXPECT_THAT(parse_command_line({"help", "--manual"}).err, HasSubstr("help --man [VERB]"));
}

TEST(DefaultOutput, HoldsWhereNoneIsTypedAndTheVerbHasOne) {
  EXPECT_TRUE(parse_command_line({"job", "list"}, "json").action);
  EXPECT_TRUE(parse_command_line({"job", "list", "-o", "yaml"}, "json").action);
  EXPECT_TRUE(parse_command_line({"user", "key", "show"}, "json").action);
  EXPECT_TRUE(parse_command_line({"down"}, "json").action);
  EXPECT_TRUE(parse_command_line({"run", "--", "ls", "-o"}, "json").action);
}

TEST(QueryOption, IsParsedBeforeAnythingIsAsked) {
  EXPECT_TRUE(parse_command_line({"job", "list", "--query", "[].name"}).query);
  EXPECT_FALSE(parse_command_line({"job", "list"}).query);
  const CommandLine bad = parse_command_line({"job", "list", "--query", "[?a"});
  EXPECT_EQ(bad.exit_code, kExitUsage);
  EXPECT_THAT(bad.err, HasSubstr("--query: column 4: expected ']' at the end of the filter"));
}

}  // namespace
}  // namespace lockstep::cli
