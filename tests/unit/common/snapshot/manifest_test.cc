#include "common/snapshot/manifest.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::snapshot {
namespace {

Entry file(std::string name, std::uint32_t mode = 0644) {
  return {std::move(name), EntryKind::file, mode, 300, sha256("x"), {}};
}
Entry link(std::string name, std::string target) {
  return {std::move(name), EntryKind::symlink, 0, 0, {}, std::move(target)};
}

std::string raw_object(const std::string& entries, int count) {
  return std::string("LSD\1", 4) + static_cast<char>(count) + entries;
}
std::string raw_file(const std::string& name) {
  return std::string("\0\x24", 2) + static_cast<char>(name.size()) + name + '\0' +
         std::string(32, 'd');
}

void expect_refused(const std::string& bytes, const std::string& why) {
  const auto decoded = decode_directory(bytes);
  ASSERT_FALSE(decoded) << why;
  EXPECT_EQ(decoded.error().code, ErrorCode::corrupt);
  EXPECT_NE(decoded.error().message.find(why), std::string::npos) << decoded.error().message;
}

TEST(Manifest, RoundTripKeepsEverything) {
  Directory directory;
  directory.entries = {file("a", 04755),
                       link("b", "../../etc/passwd"),
                       {"c", EntryKind::directory, 01777, 99, sha256("dir"), {}},
                       file(std::string(255, 'n'), 0),
                       file("\xff\x01 name")};
  const std::string bytes = encode(directory);
  const auto back = decode_directory(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, directory);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(*decode_directory(encode({})), Directory{});
}

TEST(Manifest, EncodingIsFixedForAllTime) {
  Directory directory;
  directory.entries = {file("a"), link("b", "a")};
  EXPECT_EQ(sha256(encode(directory)).hex(),
            sha256(raw_object(std::string("\0\xa4\x03\1a\xac\2", 7) +
                                  std::string(sha256("x").view()) + std::string("\2\0\1b\1a", 6),
                              2))
                .hex());
}

TEST(Manifest, RefusesNamesThatLeaveTheirDirectory) {
  ASSERT_TRUE(decode_directory(raw_object(raw_file("ok"), 1)));
  expect_refused(raw_object(raw_file("a/b"), 1), "'/' in a name");
  expect_refused(raw_object(raw_file("/etc"), 1), "'/' in a name");
  expect_refused(raw_object(raw_file("."), 1), ". or ..");
  expect_refused(raw_object(raw_file(".."), 1), ". or ..");
  expect_refused(raw_object(raw_file(""), 1), "empty name");
  expect_refused(raw_object(raw_file(std::string("a\0b", 3)), 1), "NUL in a name");
}

TEST(Manifest, RefusesWhatIsNotCanonical) {
  expect_refused(raw_object(raw_file("b") + raw_file("a"), 2), "not sorted");
  expect_refused(raw_object(raw_file("a") + raw_file("a"), 2), "not sorted");
  expect_refused(raw_object(raw_file("a") + "x", 1), "after the last");
  expect_refused(raw_object(raw_file("a"), 2), "byte");
  expect_refused(raw_object("", 100), "bad count");
  expect_refused("", "not a directory object");
  expect_refused(std::string("LSD\2\0", 5), "not a directory object");
  expect_refused(raw_object(std::string("\3\0\1a\0", 5) + std::string(32, 'd'), 1), "unknown kind");
  // A size of zero in two bytes.
  expect_refused(raw_object(std::string("\0\x24\1a\x80\0", 6) + std::string(32, 'd'), 1), "size");
  expect_refused(raw_object(std::string("\0\x80\x20\1a\0", 6) + std::string(32, 'd'), 1), "mode");
  expect_refused(raw_object(std::string("\2\0\1a\0", 5) + "......", 1), "empty symlink");
}

TEST(Manifest, DamagedBytesNeverDecodeToAnotherEncoding) {
  Directory directory;
  directory.entries = {file("alpha"),
                       link("beta", "alpha"),
                       {"gamma", EntryKind::directory, 0755, 9, sha256("y"), {}}};
  const std::string good = encode(directory);
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int n = 0; n < 1 + i % 3; ++n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    const auto decoded = decode_directory(bytes);
    if (decoded) {
      EXPECT_EQ(encode(*decoded), bytes);
    }
  }
}

}  // namespace
}  // namespace lockstep::snapshot
