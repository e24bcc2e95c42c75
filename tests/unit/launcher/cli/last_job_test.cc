#include "launcher/cli/last_job.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "launcher/cli/command_line.h"

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

TEST(LastJob, StandsWhereverANameDoes) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"@last", "owl"},
      {"@last/3", "owl/3"},
      {"@last:ended", "owl:ended"},
      {"prep,@last:ended,@last", "prep,owl:ended,owl"}};
  for (const auto& [text, wanted] : cases) {
    EXPECT_TRUE(names_last_job(text)) << text;
    EXPECT_EQ(with_last_job(text, "owl"), wanted);
  }
  for (const std::string text : {"@lastly", "mail@last", "tags.a=@last", "last", ""}) {
    EXPECT_FALSE(names_last_job(text)) << text;
    EXPECT_EQ(with_last_job(text, "owl"), text);
  }
}

// Through the real parser.
TEST(LastJob, IsFoundInWhatTakesAJob) {
  for (const Words& words :
       std::vector<Words>{{"job", "show", "@last"},
                          {"job", "show", "--name=@last"},
                          {"job", "logs", "-n", "@last", "-t"},
                          {"job", "stream", "@last/3"},
                          {"job", "cancel", "a", "@last"},
                          {"job", "delete", "@last"},
                          {"job", "compare", "a", "@last"},
                          {"job", "files", "@last"},
                          {"job", "cat", "@last", "outputs/x"},
                          {"job", "download", "@last"},
                          {"job", "events", "@last"},
                          {"job", "explain", "@last"},
                          {"job", "resume", "@last"},
                          {"job", "share", "@last"},
                          {"job", "archive", "@last"},
                          {"job", "update", "@last", "--set", "tags.a=b"},
                          {"job", "list", "--parent", "@last"},
                          {"job", "shell", "@last", "--", "true"},
                          {"job", "signal", "@last", "USR1"},
                          {"job", "stacks", "@last"},
                          {"environment", "log", "@last"},
                          {"run", "--after", "prep,@last:ended", "--", "true"},
                          {"run", "--sbatch", "job.sh", "--after", "@last"},
                          {"run", "--sbatch", "job.sh", "--after=@last"},
                          {"run", "--from-checkpoint-of", "@last", "--sbatch", "job.sh"}}) {
    const CommandLine line = parse_command_line(words);
    EXPECT_TRUE(line.action) << words[0] << " " << words[1] << ": " << line.err;
    EXPECT_TRUE(line.names_last_job) << words[0] << " " << words[1];
  }
}

TEST(LastJob, IsNoPartOfACommandOrOfAText) {
  for (const Words& words :
       std::vector<Words>{{"run", "--", "echo", "@last"},
                          {"job", "shell", "x", "--", "echo", "@last"},
                          {"run", "--display-name", "@last", "--", "true"},
                          {"run", "--display-name", "@last", "--sbatch", "job.sh"},
                          {"run", "--name", "@last", "--after", "prep", "--", "echo", "@last"},
                          {"run", "--input", "x=@last", "--", "true"},
                          {"job", "create", "-f", "job.yml", "--display-name", "@last"},
                          {"job", "update", "x", "--set", "tags.a=@last"},
                          {"job", "list", "--experiment", "@last"},
                          {"job", "show", "@lastly"},
                          {"job", "show", "mail@last"}}) {
    const CommandLine line = parse_command_line(words);
    EXPECT_TRUE(line.action) << words[0] << " " << words[1] << ": " << line.err;
    EXPECT_FALSE(line.names_last_job) << words[0] << " " << words[1] << " " << words.back();
  }
}

TEST(LastJob, IsReplacedInTheValuesOfThoseOptionsAlone) {
  CLI::App app;
  CLI::App* const verb = app.add_subcommand("run");
  std::vector<std::string> after;
  std::string title, name;
  verb->add_option("--after", after)->delimiter(',')->check(job_name());
  verb->add_option("--display-name", title)->check(filled("leave it out"));
  verb->add_option("NAME", name)->check(job_name());
  bool is_named = false;
  resolve_last_job(app, "owl", is_named);
  app.parse("run @last/3 --after prep,@last:ended --display-name @last");
  EXPECT_TRUE(is_named);
  EXPECT_EQ(after, (Words{"prep", "owl:ended"}));
  EXPECT_EQ(title, "@last");
  EXPECT_EQ(name, "owl/3");
}

}  // namespace
}  // namespace lockstep::cli
