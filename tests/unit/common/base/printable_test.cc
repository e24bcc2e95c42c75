#include "common/base/printable.h"

#include <gtest/gtest.h>

#include "tests/support/hostile_text.h"

namespace lockstep {
namespace {

TEST(Printable, NothingIsLeftThatATerminalWouldObeyOrNotShow) {
  for (const std::string& text : test::hostile_texts()) {
    EXPECT_EQ(test::not_for_a_terminal(printable(text)), "") << text;
    EXPECT_EQ(test::not_for_a_terminal(in_one_line(text)), "") << text;
    std::string colors;
    EXPECT_EQ(test::not_for_a_terminal(printable_log(text, &colors), true), "") << text;
    EXPECT_NE(test::not_for_a_terminal(text), "") << text;
  }
  for (char32_t code = 0; code < 0x20; ++code) EXPECT_TRUE(is_hidden(code)) << std::uint32_t(code);
  for (const char32_t code :
       {0x7fu, 0x80u, 0x9bu, 0x9fu, 0xadu, 0x61cu, 0x200bu, 0x202au, 0x202eu, 0x2066u, 0x2069u,
        0xfeffu, 0xfff9u, 0xfffeu, 0x1fffffu & 0x10ffffu, 0xe0001u, 0xe0100u})
    EXPECT_TRUE(is_hidden(code)) << std::uint32_t(code);
  for (const char32_t code :
       {0x20u, 0x7eu, 0xa0u, 0xe9u, 0x2026u, 0x20acu, 0x5d0u, 0x627u, 0x4e2du, 0xfffdu, 0x1f642u})
    EXPECT_FALSE(is_hidden(code)) << std::uint32_t(code);
}

TEST(Printable, WhatIsHiddenBecomesAQuestionMark) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("a\x1b[31mb\r\x7f"), "a?[31mb??");
  EXPECT_EQ(printable("x\xc2\x9by\xe2\x80\xaez"), "x?y?z");
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac"), "caf\xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(in_one_line("it failed:\nwhy\n"), "it failed: why");
  EXPECT_EQ(in_lines("it failed:\nwhy\x1b\n\n", 2), "it failed:\n  why?");
}

TEST(Printable, OtherBlanksAreSpaces) {
  for (const char* blank : {"\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x89", "\xe2\x80\xaf",
                            "\xe2\x81\x9f", "\xe2\xa0\x80", "\xe3\x80\x80"})
    EXPECT_EQ(printable(std::string("a") + blank + "b"), "a b") << blank;
  EXPECT_EQ(printable("\xe2\xa0\x8b"), "\xe2\xa0\x8b") << "a pattern with dots";
}

TEST(Printable, MarksStayWhereTheyStandOnALetter) {
  for (const char* text : {"e\xcc\x81t\xc3\xa9",                     // decomposed Latin
                           "\xd7\xa9\xd7\x81\xd6\xb8\xd7\x9c",       // Hebrew
                           "\xe0\xb8\x97\xe0\xb8\xb5\xe0\xb9\x88",   // Thai
                           "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7"})  // Devanagari
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\xcc\x81"
                      "a"),
            "?a")
      << "it would stand on what is before the text";
  EXPECT_EQ(printable("a \xcc\x81\xcc\x81"), "a ??");
  EXPECT_EQ(printable("a=\xcc\xb8"
                      "b"),
            "a=?b");
  EXPECT_EQ(printable("a\n\xcc\x81"), "a\n?");
  EXPECT_EQ(printable("a\x1b\xcc\x81"), "a??");
  std::string tower = "a";
  for (int i = 0; i < 100; ++i) tower += "\xcc\x81";
  const std::string shown = printable(tower);
  EXPECT_EQ(shown.substr(0, 13), tower.substr(0, 13));
  EXPECT_EQ(shown.substr(13), std::string(94, '?'));
  EXPECT_EQ(printable(shown), shown) << "printers and terminals both filter";
}

TEST(Printable, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(printable("a\xe2\x82"), "a\xef\xbf\xbd") << "one for what is begun";
  EXPECT_EQ(printable("\xe2\x82z"), "\xef\xbf\xbdz");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\xef\xbf\xbd"
            "31m")
      << "CSI of 8 bits";
}

TEST(Printable, JoinersStayWhereTheyJoin) {
  for (const char* text :
       {"\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x94\xa5",            // heart on fire
        "\xe2\x9c\x94\xef\xb8\x8f done", "\xd9\x85\xe2\x80\x8c\xdb\x8c"})  // Persian
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("a\xe2\x80\x8d"
                      "b\xef\xb8\x8f"),
            "a?b?");
  EXPECT_EQ(printable("\xe2\x9c\x94\xe2\x80\x8d\xe2\x80\x8d"), "\xe2\x9c\x94\xe2\x80\x8d?")
      << "only one";
  EXPECT_EQ(printable("\xe2\x9c\x94\xef\xb8\x8f\xef\xb8\x8f"), "\xe2\x9c\x94\xef\xb8\x8f?");
}

std::string shown(std::string_view text, std::string colors = "") {
  return printable_log(text, &colors);
}

TEST(PrintableLog, ColorsStayAndEndWithTheirLine) {
  EXPECT_EQ(shown("a \x1b[31mred\x1b[0m b\n"), "a \x1b[31mred\x1b[0m b\n");
  EXPECT_EQ(shown("\x1b[1;31mone\ntwo\n"), "\x1b[1;31mone\x1b[0m\n\x1b[1;31mtwo\x1b[0m\n");
  EXPECT_EQ(shown("\x1b[8mhidden"), "\x1b[8mhidden\x1b[0m") << "not what comes behind it";
  EXPECT_EQ(shown("\x1b[31m\x1b[m\n"), "\n");
  std::string colors;
  EXPECT_EQ(printable_log("\x1b[32mgr", &colors), "\x1b[32mgr\x1b[0m");
  EXPECT_EQ(printable_log("een\n", &colors), "\x1b[32meen\x1b[0m\n");
  EXPECT_EQ(printable_log("\x1b[mplain\n", &colors), "plain\n");
  EXPECT_EQ(colors, "");
}

TEST(PrintableLog, OtherSequencesAreShown) {
  EXPECT_EQ(shown("\x1b[2J\x1b]0;x\x07\x1b[31n\x1b[?25l\x1b"), "?[2J?]0;x??[31n?[?25l?");
  EXPECT_EQ(shown("\x1b[" + std::string(100, '1') + "m"), "?[" + std::string(100, '1') + "m");
  EXPECT_EQ(shown("dos\r\nline\r\r\n"), "dos\nline\n");
  EXPECT_EQ(shown("good\rbad\n"), "good?bad\n");
  EXPECT_EQ(shown("end\r"), "end");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "\x1b[3" + std::to_string(i % 8) + "m";
  EXPECT_LT(shown(many + "x").size(), 400u);
}

TEST(PrintableLog, IsShownInPiecesWithoutCuttingCharactersOrSequences) {
  EXPECT_EQ(showable_log("abc"), 3u);
  for (const char* begun : {"abc\xe2\x82", "abc\x1b", "abc\x1b[", "abc\x1b[3", "abc\x1b[31;1",
                            "abc\r", "abc\x1b[3\xe2"})
    EXPECT_EQ(showable_log(begun), 3u) << begun;
  EXPECT_EQ(showable_log("abc\x1b[31m"), 8u);
  EXPECT_EQ(showable_log("abc\x1b]0"), 6u) << "shown anyway";
  EXPECT_EQ(showable_log("abc\x1b[" + std::string(70, '1')), 75u) << "too long for a colour";
  EXPECT_EQ(showable_log("\x1b["), 0u);
}

TEST(EscapedJson, MeansTheSame) {
  EXPECT_EQ(escaped_json("{\n  \"a\": \"caf\xc3\xa9\"\n}"), "{\n  \"a\": \"caf\xc3\xa9\"\n}");
  EXPECT_EQ(escaped_json("\"\x7f\xc2\x9b\xe2\x80\xae\""), "\"\\u007f\\u009b\\u202e\"");
  EXPECT_EQ(escaped_json("\"\xc2\xa0\xcc\x81"
                         "e\xcc\x81\""),
            "\"\\u00a0\\u0301"
            "e\xcc\x81\"");
  EXPECT_EQ(escaped_json("\"\xf3\xa0\x80\x81\""), "\"\\udb40\\udc01\"");
}

}  // namespace
}  // namespace lockstep
