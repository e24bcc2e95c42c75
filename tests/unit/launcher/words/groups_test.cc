// The sentence of every reason, with example values, is in golden/reasons.txt. Where words change,
// LOCKSTEP_WRITE_GOLDEN=1 launcher_words_test writes the file again; read the difference before it
// is committed.

#include "launcher/words/why.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/domain/why/all/convert.h"
#include "tests/unit/support/every_reason.h"

namespace lockstep::words {
namespace {

std::string all_sentences() {
  std::string text;
  for (const Why& why : lockstep::testing::every_reason())
    text += to_data(why).code + "\n  " + text_of(why) + "\n";
  return text;
}

TEST(WhyWords, SentencesAreThoseOfTheGoldenFile) {
  const std::string path = LOCKSTEP_GOLDEN "/reasons.txt";
  if (std::getenv("LOCKSTEP_WRITE_GOLDEN") != nullptr) std::ofstream(path) << all_sentences();
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(all_sentences(), golden.str());
}

TEST(WhyWords, EachIsOneLine) {
  for (const Why& why : lockstep::testing::every_reason()) {
    const std::string text = text_of(why);
    EXPECT_NE(text, "") << to_data(why).code;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  }
  EXPECT_EQ(text_of(Why()), "");
}

TEST(WhyWords, AReasonOfALaterVersionIsShownAsItIs) {
  const auto why = why_of({"of_tomorrow", {{"count", {std::int64_t{7}}}, {"what", {WhyList{}}}}});
  ASSERT_TRUE(why);
  EXPECT_EQ(text_of(*why), "of_tomorrow (count 7, what )");
}

}  // namespace
}  // namespace lockstep::words
