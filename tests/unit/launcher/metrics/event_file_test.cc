// Event files, as TensorBoard's writers make them and as nobody should: cut at every byte, changed,
// and made up.

#include "launcher/metrics/sources/event_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "launcher/metrics/sources/crc32c.h"
#include "launcher/metrics/sources/proto_reader.h"
#include "tests/unit/launcher/metrics/event_bytes.h"

namespace lockstep::metrics {
namespace {

using test::bytes_field;
using test::double_field;
using test::event;
using test::float_field;
using test::number_field;
using test::record;
using test::simple;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<NamedPoint> read_all(std::string_view bytes) {
  EventFileReader reader("events.out.tfevents.1");
  std::vector<NamedPoint> points;
  const auto done = reader.take(bytes, &points);
  EXPECT_TRUE(done) << done.error().message;
  return points;
}

NamedPoint point(const std::string& name, std::int64_t step, double value,
                 std::int64_t seconds = 100) {
  return {name, {step, Instant{seconds * 1'000'000'000}, value}};
}

// The tensor of a value: type, shape, content.
std::string tensor(std::uint64_t type, const std::string& content) {
  return bytes_field(8, number_field(1, type) + content);
}

TEST(Crc32c, AgreesWithTheStandard) {  // RFC 3720, B.4, and the check value of the catalogue
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(""), 0u);
  // The beginning of every event file.
  EXPECT_TRUE(test::version_record().starts_with(
      std::string_view("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12)));
}

TEST(EventFile, ScalarsOfBothFormsAreRead) {
  const std::string float_bytes = test::little(std::bit_cast<std::uint32_t>(0.5f), 4);
  const std::string bytes =
      test::version_record() + record(event(100, 1, simple("loss", 2.5f))) +
      record(event(100, 2, test::value("acc", tensor(1, bytes_field(4, float_bytes))))) +
      record(event(100, 3, test::value("acc", tensor(1, float_field(5, 0.75f))))) +
      record(event(100, 4, test::value("acc", tensor(1, bytes_field(5, float_bytes))))) +
      record(event(100, 5, test::value("lr", tensor(2, double_field(6, 0.1))))) +
      record(event(100, 6, test::value("n", tensor(9, number_field(10, 7))))) +
      record(event(100, 7, test::value("n", tensor(3, bytes_field(7, test::varint(8))))));
  EXPECT_THAT(
      read_all(bytes),
      ElementsAre(point("loss", 1, 2.5), point("acc", 2, 0.5), point("acc", 3, 0.75),
                  point("acc", 4, 0.5), point("lr", 5, 0.1), point("n", 6, 7), point("n", 7, 8)));
}

TEST(EventFile, NanAndNegativeStepsAreKept) {
  const auto points = read_all(record(event(100, -3, simple("x", std::nanf("")))) +
                               record(event(100, 4, simple("x", INFINITY))));
  EXPECT_THAT(points, ElementsAre(point("x", -3, std::nan("")), point("x", 4, INFINITY)));
}

TEST(EventFile, FieldsMayComeInAnyOrder) {
  const std::string value = bytes_field(5, bytes_field(1, float_field(2, 1) + bytes_field(1, "x")));
  EXPECT_THAT(read_all(record(value + number_field(2, 9) + double_field(1, 100))),
              ElementsAre(point("x", 9, 1)));
}

TEST(EventFile, WhatIsNoScalarIsPassedOver) {
  const std::string shape = bytes_field(2, bytes_field(2, number_field(1, 3)));
  const std::string unknown_shape = bytes_field(2, number_field(3, 1));
  const std::string floats = bytes_field(5, std::string(12, '\0'));
  for (const std::string& content :
       {tensor(1, shape + floats), tensor(1, floats), tensor(7, bytes_field(8, "text")),
        tensor(1, unknown_shape + float_field(5, 1)), tensor(1, ""), tensor(1, shape),
        tensor(1, float_field(5, 1) + float_field(5, 2)), bytes_field(5, "histogram"),
        bytes_field(4, "image"), std::string()})
    EXPECT_THAT(read_all(record(event(1, 1, test::value("x", content)))), IsEmpty());
  EXPECT_THAT(read_all(record(bytes_field(4, "a graph"))), IsEmpty());
}

TEST(EventFile, AScalarShapeIsNoDimension) {
  EXPECT_THAT(read_all(record(event(
                  100, 1, test::value("x", tensor(1, bytes_field(2, "") + float_field(5, 1)))))),
              ElementsAre(point("x", 1, 1)));
}

TEST(EventFile, NamesHaveTheFolderOfTheFile) {
  EXPECT_TRUE(is_event_file("events.out.tfevents.1700000000.host.1.0"));
  EXPECT_FALSE(is_event_file("events.log"));
  EXPECT_EQ(name_of_scalar("events.out.tfevents.1", "loss"), "loss");
  EXPECT_EQ(name_of_scalar("tb/train/events.out.tfevents.1", "epoch/loss"), "tb/train/epoch/loss");
}

TEST(EventFile, ScalarsWithoutAUsableNameAreCounted) {
  EventFileReader reader("f");
  std::vector<NamedPoint> points;
  const std::string too_long(kMaxMetricNameBytes + 1, 'x');
  const std::string bytes =
      record(event(1, 1, simple("", 1))) + record(event(1, 1, simple(too_long, 1)));
  ASSERT_TRUE(reader.take(bytes, &points));
  EXPECT_THAT(points, IsEmpty());
  EXPECT_EQ(reader.unread(), 2u);
}

TEST(EventFile, TimesThatAreNoneAreNone) {
  for (const double time : {std::nan(""), -1.0, 1e300, static_cast<double>(INFINITY)}) {
    const auto points = read_all(record(event(time, 1, simple("x", 1))));
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].point.time, Instant{});
  }
}

std::string some_file() {
  std::string bytes = test::version_record();
  for (int step = 0; step < 20; ++step)
    bytes += record(event(100, step, simple(step % 2 == 0 ? "loss" : "acc", 0.5f * step)));
  return bytes;
}

TEST(EventFile, GrowingByAnyPiecesItGivesTheSame) {
  const std::string bytes = some_file();
  const auto whole = read_all(bytes);
  ASSERT_EQ(whole.size(), 20u);
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    EventFileReader reader("f");
    std::vector<NamedPoint> points;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = random() % 2 == 0 ? 1 : random() % 200;
      ASSERT_TRUE(reader.take(std::string_view(bytes).substr(at, size), &points));
      at += size;
    }
    ASSERT_EQ(points, whole);
    ASSERT_EQ(reader.offset(), bytes.size());
  }
}

TEST(EventFile, AnotherReaderGoesOnWhereOneStopped) {
  const std::string bytes = some_file();
  const auto whole = read_all(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EventFileReader first("f");
    std::vector<NamedPoint> points;
    ASSERT_TRUE(first.take(std::string_view(bytes).substr(0, cut), &points));
    ASSERT_LE(first.offset(), cut);
    EventFileReader second("f", first.offset());
    ASSERT_TRUE(second.take(std::string_view(bytes).substr(first.offset()), &points));
    ASSERT_EQ(points, whole) << "cut at " << cut;
  }
}

TEST(EventFile, AnyChangedByteIsFoundAndWhatCameBeforeIsRead) {
  const std::string bytes = some_file();
  const auto whole = read_all(bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EventFileReader reader("outputs/f");
    std::vector<NamedPoint> points;
    const auto done = reader.take(changed, &points);
    ASSERT_FALSE(done) << "byte " << at;
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_THAT(done.error().message, HasSubstr("outputs/f"));
    const std::string place = "at byte " + std::to_string(reader.offset()) + " ";
    EXPECT_THAT(done.error().message, HasSubstr(place));
    ASSERT_LE(points.size(), whole.size());
    EXPECT_TRUE(std::equal(points.begin(), points.end(), whole.begin()));
    EXPECT_FALSE(reader.take(bytes, &points)) << "it stays damaged";
  }
}

TEST(EventFile, ALongRecordIsPassedOverWithoutBeingHeld) {
  const std::string graph = record(bytes_field(4, std::string(kMaxRecordBytes + 1, 'g')));
  const std::string scalar = record(event(100, 1, simple("x", 1)));
  EXPECT_THAT(read_all(graph + scalar), ElementsAre(point("x", 1, 1)));
  EventFileReader reader("f");
  std::vector<NamedPoint> points;
  for (std::size_t at = 0; at < graph.size(); at += 1'000)
    ASSERT_TRUE(reader.take(std::string_view(graph).substr(at, 1'000), &points));
  EXPECT_EQ(reader.offset(), graph.size());
  ASSERT_TRUE(reader.take(scalar, &points));
  EXPECT_THAT(points, ElementsAre(point("x", 1, 1)));
}

TEST(EventFile, ALengthThatNoFileHasIsRefused) {
  for (const std::uint64_t length : {std::uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 15}) {
    const std::string bytes = test::little(length, 8);
    EventFileReader reader("f");
    std::vector<NamedPoint> points;
    EXPECT_FALSE(reader.take(bytes + test::little(masked_crc32c(bytes), 4), &points));
  }
}

TEST(EventFile, NoiseInAWholeRecordIsNoEvent) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 2'000; ++round) {
    std::string noise(random() % 80, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EventFileReader reader("f");
    std::vector<NamedPoint> points;
    const std::string bytes = record(noise) + record(event(100, 1, simple("x", 1)));
    ASSERT_TRUE(reader.take(bytes, &points));
    ASSERT_FALSE(points.empty()) << "the record behind it is read";
    ASSERT_EQ(points.back(), point("x", 1, 1));
  }
}

TEST(EventFile, DeepNestingIsNotFollowed) {
  std::string nested = simple("x", 1);
  for (int depth = 0; depth < 10'000; ++depth) nested = bytes_field(1, nested);
  EXPECT_THAT(read_all(record(event(1, 1, nested))), IsEmpty());
}

TEST(ProtoReader, BrokenMessagesEnd) {
  for (const std::string& message :
       {std::string("\x80", 1),
        std::string("\x0a\x05"
                    "ab",
                    4),
        std::string("\x0b", 1),
        std::string("\x09"
                    "1234567",
                    8),
        std::string("\x0d"
                    "123",
                    4),
        std::string("\x00\x01", 2), std::string(11, '\xff'),
        std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    ProtoReader reader(message);
    while (reader.next()) {
    }
    EXPECT_TRUE(reader.is_broken());
    EXPECT_FALSE(reader.next());
  }
  ProtoReader empty("");
  EXPECT_FALSE(empty.next());
  EXPECT_FALSE(empty.is_broken());
}

}  // namespace
}  // namespace lockstep::metrics
