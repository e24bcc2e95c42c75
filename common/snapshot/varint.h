#pragma once
// LEB128 varints in their shortest form, and a reader that never reads beyond the end. All formats
// of this folder use them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::snapshot {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::size_t position() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }

  bool byte(std::uint64_t& value) {
    if (at_end()) return false;
    value = static_cast<unsigned char>(bytes_[at_++]);
    return true;
  }
  bool take(std::uint64_t count, std::string_view& part) {
    if (count > bytes_.size() - at_) return false;
    part = bytes_.substr(at_, count);
    at_ += count;
    return true;
  }
  // Reads a number. False at the end, for more than 64 bits, and for an encoding that is longer
  // than needed.
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      std::uint64_t next = 0;
      if (!byte(next)) return false;
      if (shift == 63 && next > 1) return false;
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return next != 0 || shift == 0;
    }
    return false;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace lockstep::snapshot
