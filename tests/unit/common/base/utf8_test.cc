#include "common/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/cut.h"

namespace lockstep {
namespace {

constexpr std::string_view kEuro = "\xe2\x82\xac", kFace = "\xf0\x9f\x99\x82";

TEST(Utf8, KnowsCharactersAndWhatIsNone) {
  EXPECT_EQ(first_character("a").code, U'a');
  EXPECT_EQ(first_character("\xc3\xa9x").code, U'\u00e9');
  EXPECT_EQ(first_character(kEuro).length, 3u);
  EXPECT_EQ(first_character(kFace).code, U'\U0001f642');
  // Alone, begun, written longer than needed, half of a pair, beyond the last.
  for (const char* none : {"\x80", "\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3x"})
    EXPECT_EQ(first_character(none).length, 0u) << none;
}

TEST(Utf8, ATextIsCutBetweenCharactersWhereverItIsCut) {
  const std::string text = std::string("a\xc3\xa9").append(kEuro).append(kFace).append("z");
  const std::size_t ends[] = {0, 1, 3, 6, 10, 11};
  for (std::size_t limit = 0; limit <= text.size() + 1; ++limit) {
    std::size_t before = 0, after = 0;
    for (const std::size_t end : ends) {
      if (end <= limit) before = end;
      if (text.size() - end <= limit) after = std::max(after, text.size() - end);
    }
    EXPECT_EQ(head(text, limit).size(), before) << limit;
    EXPECT_EQ(tail(text, limit).size(), after) << limit;
    EXPECT_EQ(whole_characters(text.substr(0, limit)), before) << limit;
  }
}

TEST(Utf8, BytesThatAreNoCharactersAreCutAnywhere) {
  const std::string bytes(20, '\x80');
  EXPECT_EQ(head(bytes, 7).size(), 7u);
  EXPECT_EQ(tail(bytes, 7).size(), 7u);
  EXPECT_EQ(whole_characters(bytes), bytes.size());
  EXPECT_EQ(whole_characters("\xff\xe2\x28"), 3u) << "the rest does not follow";
  EXPECT_EQ(whole_characters("\xed\xa0"), 2u);
  EXPECT_EQ(cut(bytes, 7), std::string(7, '\x80') + "…");
}

TEST(Utf8, ACutMiddleKeepsWholeCharacters) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += kEuro;
  for (std::size_t limit = 201; limit < 210; ++limit) {
    const std::string shown = cut_middle(text, limit);
    EXPECT_LE(shown.size(), limit);
    for (std::string_view rest = shown; !rest.empty();) {
      ASSERT_GT(first_character(rest).length, 0u) << limit;
      rest.remove_prefix(first_character(rest).length);
    }
  }
}

TEST(Utf16, IsReadByItsMark) {
  const auto read = [](const std::string& bytes) { return from_utf16(bytes).value_or("no"); };
  EXPECT_EQ(read(std::string("\xff\xfe", 2)), "");
  EXPECT_EQ(read(std::string("\xff\xfe\x61\0\xfc\0", 6)), "a\xc3\xbc");
  EXPECT_EQ(read(std::string("\xfe\xff\0a\x20\xac", 6)), "a\xe2\x82\xac");
  EXPECT_EQ(read(std::string("\xff\xfe\x3d\xd8\x00\xde", 6)), "\xf0\x9f\x98\x80");
  for (const std::string& bad :
       {std::string("a\0", 2), std::string("\xff\xfe\x61", 3), std::string("\xff\xfe\x3d\xd8", 4),
        std::string("\xff\xfe\x00\xde", 4), std::string("\xff\xfe\x3d\xd8\x61\x00", 6),
        std::string()})
    EXPECT_FALSE(from_utf16(bad));
}

}  // namespace
}  // namespace lockstep
