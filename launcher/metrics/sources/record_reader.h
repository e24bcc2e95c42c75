#pragma once
// Cuts the bytes of a TFRecord file, which may still grow, into its records, and checks both
// checksums of each. It does no I/O, and holds at most one record.
//
// A record: length (8 bytes, little-endian), masked CRC-32C of these 8, the data, masked CRC-32C of
// the data (4 bytes each).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::metrics {

// Longer records are passed over: those with numbers are short, graphs and pictures are not.
inline constexpr std::size_t kMaxRecordBytes = 4u << 20;

class RecordReader {
 public:
  // `offset`: where in the file a record begins; the bytes from there on follow.
  explicit RecordReader(std::uint64_t offset = 0) : offset_(offset) {}

  void feed(std::string_view bytes);
  // The data of the next record, valid until the next call of either function. nullopt: it is not
  // whole yet. corrupt, with the byte of the file: a checksum does not match. After that the
  // borders of records are unknown, and it stays corrupt.
  Result<std::optional<std::string_view>> next();

  // Where the first record begins that next() has not returned or passed over.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  Error damaged(const char* what) const;
  std::size_t waiting() const { return buffer_.size() - taken_; }
  bool pass_over();
  void end_record(std::uint64_t bytes);

  std::string buffer_;
  std::size_t taken_ = 0;  // bytes of buffer_ that belong to earlier records
  std::uint64_t offset_ = 0;
  std::uint64_t to_skip_ = 0, skipped_ = 0;  // of a record that is passed over
  std::uint64_t passed_over_ = 0;
  bool is_damaged_ = false;
};

}  // namespace lockstep::metrics
