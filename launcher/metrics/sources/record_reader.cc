#include "launcher/metrics/sources/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/metrics/sources/crc32c.h"
#include "launcher/metrics/sources/little_endian.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kLengthBytes = 8, kSumBytes = 4;
constexpr std::size_t kHeadBytes = kLengthBytes + kSumBytes;
constexpr std::uint64_t kMostClaimed = std::uint64_t{1} << 62;  // no file is as long

}  // namespace

void RecordReader::feed(std::string_view bytes) {
  if (is_damaged_) return;
  buffer_.erase(0, taken_);
  taken_ = 0;
  buffer_ += bytes;
  (void)pass_over();  // what is passed over is not held
}

// True: no byte of a record that is passed over is missing.
bool RecordReader::pass_over() {
  if (to_skip_ == 0) return true;
  const std::uint64_t now = std::min<std::uint64_t>(to_skip_ - skipped_, waiting());
  skipped_ += now;
  taken_ += static_cast<std::size_t>(now);
  if (skipped_ < to_skip_) return false;
  offset_ += to_skip_;
  to_skip_ = skipped_ = 0;
  ++passed_over_;
  return true;
}

void RecordReader::end_record(std::uint64_t bytes) {
  taken_ += static_cast<std::size_t>(bytes);
  offset_ += bytes;
}

Error RecordReader::damaged(const char* what) const {
  return make_error(ErrorCode::corrupt,
                    fmt::format("the record at byte {} is damaged: {}", offset_, what));
}

Result<std::optional<std::string_view>> RecordReader::next() {
  if (is_damaged_) return damaged("its checksum does not match");
  while (pass_over() && waiting() >= kHeadBytes) {
    const std::string_view rest = std::string_view(buffer_).substr(taken_);
    const std::string_view length_bytes = rest.substr(0, kLengthBytes);
    const std::uint64_t length = little_endian(length_bytes);
    is_damaged_ =
        little_endian(rest.substr(kLengthBytes, kSumBytes)) != masked_crc32c(length_bytes) ||
        length > kMostClaimed;
    if (is_damaged_) return damaged("the checksum of its length does not match");
    const std::uint64_t whole = kHeadBytes + length + kSumBytes;
    if (length > kMaxRecordBytes) {
      to_skip_ = whole;
      continue;
    }
    if (rest.size() < whole) break;
    const std::string_view data = rest.substr(kHeadBytes, static_cast<std::size_t>(length));
    const std::string_view sum = rest.substr(kHeadBytes + data.size(), kSumBytes);
    is_damaged_ = little_endian(sum) != masked_crc32c(data);
    if (is_damaged_) return damaged("its checksum does not match");
    end_record(whole);
    return std::optional(data);
  }
  return std::optional<std::string_view>();
}

}  // namespace lockstep::metrics
