#include "launcher/cli/last_job.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

TEST(LastJob, StandsWhereverANameDoes) {
  const std::vector<std::pair<Words, Words>> cases{
      {{"job", "show", "@last"}, {"job", "show", "owl"}},
      {{"job", "logs", "-n", "@last", "-t"}, {"job", "logs", "-n", "owl", "-t"}},
      {{"job", "show", "--name=@last"}, {"job", "show", "--name=owl"}},
      {{"job", "compare", "a", "@last"}, {"job", "compare", "a", "owl"}},
      {{"run", "--after", "prep,@last:ended", "--", "true"},
       {"run", "--after", "prep,owl:ended", "--", "true"}},
      {{"job", "show", "@last/3"}, {"job", "show", "owl/3"}}};
  for (const auto& [words, wanted] : cases) {
    EXPECT_TRUE(names_last_job(words)) << words.back();
    EXPECT_EQ(with_last_job(words, "owl"), wanted);
  }
}

TEST(LastJob, IsNoPartOfACommandOrOfAText) {
  for (const Words& words : std::vector<Words>{{"run", "--", "echo", "@last"},
                                               {"run", "echo", "@last"},
                                               {"job", "update", "x", "--set", "tags.a=@last"},
                                               {"job", "show", "@lastly"},
                                               {"job", "show", "mail@last"}}) {
    EXPECT_FALSE(names_last_job(words)) << words.back();
    EXPECT_EQ(with_last_job(words, "owl"), words);
  }
}

}  // namespace
}  // namespace lockstep::cli
