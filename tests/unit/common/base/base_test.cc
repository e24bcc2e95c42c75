#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/base/cut.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/size_flag.h"
#include "common/base/time.h"

namespace lockstep {
namespace {

TEST(SizeFlag, ANumberWithoutAUnitIsTakenOnlyWhenItCanBeMeant) {
  const auto parse = [](const char* text) { return parse_size_flag("--cache-size", text, "50g"); };
  EXPECT_EQ(*parse("10g"), gibibytes(10));
  EXPECT_EQ(*parse("10k"), kibibytes(10));
  EXPECT_EQ(*parse("1048576"), mebibytes(1));
  EXPECT_EQ(parse("50").error().message,
            "--cache-size: '50' without a unit means 50 B; did you mean 50g? Write 50g");
  for (const char* text : {"1048575", "1.5", "0", "0g", "", "much", "-1g"}) {
    EXPECT_FALSE(parse(text)) << text;
  }
}

TEST(Digest, MatchesTheStandardsExamples) {  // FIPS 180-4 example values
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, IncrementalEqualsWhole) {
  Sha256 hash;
  hash.update("a");
  hash.update("bc");
  EXPECT_EQ(hash.finish(), sha256("abc"));
}

TEST(Digest, TextRoundTripsAndBadTextIsRefused) {
  const Digest digest = sha256("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_EQ(Digest::from_bytes(digest.view()), digest);
  EXPECT_FALSE(Digest::from_hex("abc"));
  EXPECT_FALSE(Digest::from_hex(std::string(64, 'G')));
  EXPECT_FALSE(Digest::from_bytes("short"));
}

TEST(Time, FormatsAsRfc3339) {
  EXPECT_EQ(to_string(Instant{1'769'860'800'123'000'000}), "2026-01-31T12:00:00.123Z");
}

TEST(Time, ParsesDurations) {
  EXPECT_EQ(parse_duration("90"), seconds(90));
  EXPECT_EQ(parse_duration("1.5m"), seconds(90));
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("2h"), minutes(120));
  for (const char* bad : {"", "x", "-1", "5 parsecs", "1e300", "nan"})
    EXPECT_LT(parse_duration(bad).count(), 0) << bad;
}

TEST(Time, FormatsDurationsForPeople) {
  EXPECT_EQ(format_duration(milliseconds(8)), "8ms");
  EXPECT_EQ(format_duration(milliseconds(12'540)), "12.5s");
  EXPECT_EQ(format_duration(seconds(190)), "3m10s");
  EXPECT_EQ(format_duration(minutes(62)), "1h02m");
}

TEST(Bytes, ParsesTheFieldsForms) {
  EXPECT_EQ(parse_bytes("2g"), gibibytes(2));
  EXPECT_EQ(parse_bytes("512M"), mebibytes(512));
  EXPECT_EQ(parse_bytes("1.5k"), Bytes{1536});
  EXPECT_EQ(parse_bytes("7"), Bytes{7});
  EXPECT_EQ(parse_bytes("2GiB"), gibibytes(2));
  for (const char* bad : {"", "g", "-1g", "2x", "99999999999t"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(Result, CarriesAnErrorWithItsContext) {
  const auto inner = []() -> Status { return errno_error(ENOENT, "/x"); };
  const auto outer = [&]() -> Result<int> {
    TRY(inner());
    return 1;
  };
  const auto result = outer();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().within("open").message, "open: /x: No such file or directory");
}

TEST(Cut, KeepsWholeCharactersAndShowsThatMoreWasThere) {
  EXPECT_EQ(cut("short", 5), "short");
  EXPECT_EQ(cut("longer", 4), "long…");
  EXPECT_EQ(cut("aüb", 2), "a…") << "no half of the ü";
  EXPECT_EQ(cut("üü", 0), "…");
}

TEST(Cut, OfALongTextTheBeginningAndTheEndAreKeptAndWhatIsLeftOutIsSaid) {
  EXPECT_EQ(cut_middle(std::string(300, 'a'), 300), std::string(300, 'a'));
  for (const std::string piece : {"a", "ü", "語"}) {
    std::string text = "first ";
    while (text.size() < 100'000) text += piece;
    text += " last";
    const std::string got = cut_middle(text, 300);
    EXPECT_LE(got.size(), 300U);
    EXPECT_GT(got.size(), 200U);
    EXPECT_TRUE(got.starts_with("first " + piece)) << got;
    EXPECT_TRUE(got.ends_with(piece + " last")) << got;
    const auto note = got.find("\n[… ");
    const auto end = got.find(" bytes left out …]\n");
    ASSERT_TRUE(note != std::string::npos && end != std::string::npos) << got;
    const auto after = end + std::string(" bytes left out …]\n").size();
    const auto left_out = std::stoul(got.substr(note + std::string("\n[… ").size()));
    EXPECT_EQ(note + left_out + (got.size() - after), text.size());
    EXPECT_EQ((note - 6) % piece.size(), 0U) << "half a character";
  }
}

}  // namespace
}  // namespace lockstep
