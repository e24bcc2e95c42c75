#include "launcher/store/wal_check.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kHeaderBytes = 32, kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // its last bit: checksums are of big-endian words

std::uint32_t word(std::string_view bytes, std::size_t at, bool big = true) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + (big ? i : 3 - i)]);
  return value;
}

struct Sum {
  std::uint32_t first = 0, second = 0;
  void add(std::string_view bytes, bool big) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(bytes, at, big) + second;
      second += word(bytes, at + 4, big) + first;
    }
  }
  bool is_at(std::string_view bytes, std::size_t at) const {
    return word(bytes, at) == first && word(bytes, at + 4) == second;
  }
};

class Wal {
 public:
  explicit Wal(std::string_view bytes) : bytes_(bytes), big_((word(bytes, 0) & 1) != 0) {
    sum_.add(bytes.substr(0, 24), big_);
    page_ = word(bytes, 8);
  }
  bool header_stands() const {
    const bool size = page_ >= 512 && page_ <= 65'536 && (page_ & (page_ - 1)) == 0;
    return (word(bytes_, 0) & ~1u) == kMagic && size && sum_.is_at(bytes_, 24);
  }
  std::size_t frames() const { return (bytes_.size() - kHeaderBytes) / step(); }
  std::size_t place(std::size_t frame) const { return kHeaderBytes + frame * step(); }
  // Whether a frame is valid; called in order, since each sum continues the one before.
  bool stands(std::size_t frame) {
    const auto text = bytes_.substr(place(frame), step());
    sum_.add(text.substr(0, 8), big_);
    sum_.add(text.substr(kFrameHeaderBytes), big_);
    return is_of_this_round(frame) && sum_.is_at(text, 16);
  }
  // Frames of before the WAL was begun anew have other salts.
  bool is_of_this_round(std::size_t frame) const {
    return bytes_.substr(place(frame) + 8, 8) == bytes_.substr(16, 8);
  }
  bool is_commit(std::size_t frame) const { return word(bytes_, place(frame) + 4) != 0; }

 private:
  std::size_t step() const { return kFrameHeaderBytes + page_; }
  std::string_view bytes_;
  bool big_ = false;
  Sum sum_;
  std::uint32_t page_ = 0;
};

Error damaged(const std::string& path, std::size_t at, const char* what) {
  return make_error(
      ErrorCode::corrupt,
      fmt::format("journal {0}: {0}-wal is damaged: {1} at byte {2} was changed after it was "
                  "written, so the commits from there on cannot be trusted; `lockstepd fsck` shows "
                  "what is left; restore the file from a backup",
                  path, what, at));
}

}  // namespace

Status check_wal(const std::string& path) {
  auto bytes = io::read_file(path + "-wal", gibibytes(4));
  if (!bytes && bytes.error().code == ErrorCode::not_found) return {};
  if (!bytes) return bytes.error();
  if (bytes->size() < kHeaderBytes + kFrameHeaderBytes) return {};  // the WAL is empty
  Wal wal(*bytes);
  if (!wal.header_stands()) {
    // The header was synced before the first frame was written; zeros were never written at all.
    const auto rest = std::string_view(*bytes).substr(kHeaderBytes);
    if (rest.find_first_not_of('\0') == rest.npos) return {};
    return damaged(path, 0, "its header");
  }
  std::size_t first_bad = 0;
  while (first_bad < wal.frames() && wal.stands(first_bad)) ++first_bad;
  bool later_commit = false;
  for (std::size_t frame = first_bad; frame < wal.frames(); ++frame) {
    if (!wal.is_of_this_round(frame)) continue;
    if (later_commit) return damaged(path, wal.place(first_bad), "a page");
    later_commit = wal.is_commit(frame);
  }
  return {};
}

}  // namespace lockstep::launcher
