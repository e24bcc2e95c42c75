#include "launcher/gateway/http/message/target.h"

#include <gtest/gtest.h>

namespace lockstep::http {
namespace {

using Segments = std::vector<std::string>;

Segments segments_of(std::string_view target) {
  const auto parsed = parse_target(target);
  EXPECT_TRUE(parsed) << target << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->segments : Segments{"?"};
}

TEST(Target, ItsPathIsDecodedBySegments) {
  EXPECT_EQ(segments_of("/"), Segments{});
  EXPECT_EQ(segments_of("/a"), Segments{"a"});
  EXPECT_EQ(segments_of("/a/b%20c/%C3%A4"), (Segments{"a", "b c", "\xc3\xa4"}));
  EXPECT_EQ(segments_of("/a/"), (Segments{"a", ""}));
  EXPECT_EQ(segments_of("//a"), (Segments{"", "a"}));
  EXPECT_EQ(segments_of("/a+b"), Segments{"a+b"}) << "a plus is a blank in queries only";
  EXPECT_EQ(segments_of("/..."), Segments{"..."});
  EXPECT_EQ(segments_of("/a?b/c"), Segments{"a"});
  EXPECT_EQ(segments_of("/%25"), Segments{"%"}) << "decoded once";
  EXPECT_EQ(segments_of("/%2525"), Segments{"%25"});
  EXPECT_EQ(parse_target("/a%20b?c")->path, "/a%20b");
}

TEST(Target, WhatTwoProgramsCouldReadDifferentlyIsRefused) {
  for (const char* target : {"",
                             "a",
                             "*",
                             "http://a/",
                             "/.",
                             "/..",
                             "/a/../b",
                             "/a/./b",
                             "/a/..",
                             "/%2e",
                             "/%2E%2e/b",
                             "/.%2e",
                             "/a%2fb",
                             "/a%2Fb",
                             "/%2f..",
                             "/a\\b",
                             "/a#b",
                             "/%",
                             "/%4",
                             "/%zz",
                             "/%4g",
                             "/% 41",
                             "/%00",
                             "/a%00b",
                             "/%0a",
                             "/%0d%0aX: y",
                             "/%1b",
                             "/%7f",
                             "/%ff",
                             "/%c3",
                             "/%c0%ae%c0%ae",
                             "/%ed%a0%80",
                             "/%u0041",
                             "/?%",
                             "/?a=%zz",
                             "/?a=%00",
                             "/?%ff",
                             "/?a#b"})
    EXPECT_FALSE(parse_target(target)) << target;
}

Query query_of(std::string_view text) { return Query::parse(text).value(); }

TEST(Query, ItsParametersAreDecoded) {
  const Query query = query_of("a=1&b=two+words&c=%26%3D&d&=e&a=2&&");
  EXPECT_EQ(query.size(), 6U);
  EXPECT_EQ(query.one("b").value(), "two words");
  EXPECT_EQ(query.one("c").value(), "&=");
  EXPECT_EQ(query.one("d").value(), "");
  EXPECT_EQ(query.one("nothing").value(), std::nullopt);
  EXPECT_FALSE(query.one("a")) << "it is given twice";
  EXPECT_EQ(query.all("a"), (std::vector<std::string>{"1", "2"}));
}

TEST(Query, NumbersAndFlagsAreStrict) {
  const Query query =
      query_of("n=12&big=99999999999999999999&minus=-1&hex=0x1&empty=&t=true&f=false&y=yes");
  EXPECT_EQ(query.number("n").value(), 12U);
  EXPECT_EQ(query.number("nothing").value(), std::nullopt);
  EXPECT_FALSE(query.number("n", 11));
  for (const char* name : {"big", "minus", "hex", "empty", "y"}) {
    EXPECT_FALSE(query.number(name)) << name;
    EXPECT_FALSE(query.flag(name, false)) << name;
  }
  EXPECT_TRUE(query.flag("t", false).value());
  EXPECT_FALSE(query.flag("f", true).value());
  EXPECT_TRUE(query.flag("nothing", true).value());
}

TEST(Query, UnknownParametersAreNamed) {
  EXPECT_TRUE(query_of("limit=1").expect_only({"limit", "after"}));
  const Status status = query_of("limits=1").expect_only({"limit", "after"});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("limits"), std::string::npos);
  EXPECT_NE(status.error().message.find("did you mean limit?"), std::string::npos)
      << status.error().message;
}

TEST(Query, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i < Query::kMaxParameters; ++i) text += "a&";
  EXPECT_TRUE(Query::parse(text));
  EXPECT_FALSE(Query::parse(text + "a"));
}

TEST(PercentEncoding, GoesThereAndBack) {
  std::string all;
  for (int c = 0x20; c < 0x7f; ++c) all += static_cast<char>(c);
  all += "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(percent_decode(percent_encode(all)).value(), all);
  EXPECT_EQ(percent_encode("a/b c"), "a%2Fb%20c");
}

}  // namespace
}  // namespace lockstep::http
