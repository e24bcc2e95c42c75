#include "common/snapshot/ignore/git_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kStatBytes = 40, kModeAt = 24;  // bytes of an entry before the object's id
constexpr std::uint16_t kIsExtended = 0x4000;         // bit of the flags
// Mode of an entry in a sparse index; it has no file's path.
constexpr std::uint32_t kFolderMode = 0040000;
constexpr std::uint32_t kKindOfMode = 0170000;
// Limits of the paths. Version 4 stores each path as its difference from the previous one, so a
// small file can expand to a huge list.
constexpr std::size_t kMostPathBytes = 4'096, kMostBytes = 256u << 20;

Error corrupt() { return make_error(ErrorCode::corrupt, "is not a git index, or is truncated"); }

// Reads from the front; after a failure every value is zero.
class Bits {
 public:
  explicit Bits(std::string_view text) : text_(text) {}
  bool failed() const { return failed_; }
  std::size_t left() const { return text_.size(); }

  std::string_view take(std::size_t size) {
    if (size > text_.size()) {
      failed_ = true;
      text_ = {};
      return {};
    }
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }
  std::uint32_t number(std::size_t size) {  // reads a number in big-endian order
    std::uint32_t value = 0;
    for (const char c : take(size)) value = (value << 8) | static_cast<unsigned char>(c);
    return value;
  }
  // Reads an offset in git's encoding: seven bits per byte, and each further byte adds one.
  std::size_t offset() {
    std::uint32_t byte = number(1);
    std::size_t value = byte & 127;
    while ((byte & 128) != 0 && !failed_) {
      if (value > kMostPathBytes) failed_ = true;
      byte = number(1);
      value = ((value + 1) << 7) + (byte & 127);
    }
    return value;
  }
  std::string_view until_zero() {
    const std::size_t end = text_.find('\0');
    if (end == text_.npos) failed_ = true;
    const std::string_view taken = take(std::min(end, text_.size()));
    take(1);
    return taken;
  }

 private:
  std::string_view text_;
  bool failed_ = false;
};

class Entries {
 public:
  Entries(std::uint32_t version, std::size_t id_bytes) : version_(version), id_bytes_(id_bytes) {}

  // The path of the next entry; "": the entry has none.
  std::optional<std::string_view> next(Bits& bits) {
    const std::size_t before = bits.left();
    const std::string_view stat = bits.take(kStatBytes);
    bits.take(id_bytes_);
    const std::uint32_t flags = bits.number(2);
    if (version_ >= 3 && (flags & kIsExtended) != 0) bits.take(2);
    if (version_ == 4) {
      const std::size_t dropped = bits.offset();
      if (dropped > path_.size()) return std::nullopt;
      path_.resize(path_.size() - dropped);
      path_ += bits.until_zero();
    } else {
      path_ = bits.until_zero();
      const std::size_t used = before - bits.left();
      bits.take((8 - used % 8) % 8);  // at least one zero follows the path
    }
    if (bits.failed() || path_.size() > kMostPathBytes) return std::nullopt;
    Bits mode(stat.substr(kModeAt));
    return (mode.number(4) & kKindOfMode) == kFolderMode ? std::string_view() : path_;
  }

 private:
  const std::uint32_t version_;
  const std::size_t id_bytes_;
  std::string path_;
};

// Fails if the index keeps entries in another file.
Status check_extensions(Bits bits, std::size_t id_bytes) {
  while (bits.left() > id_bytes) {
    const std::string_view name = bits.take(4);
    if (name == "link")
      return make_error(ErrorCode::unsupported, "is a split index, which Lockstep does not read");
    bits.take(bits.number(4));
    if (bits.failed()) return corrupt();
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> paths_in_index(std::string_view index, std::size_t id_bytes,
                                                std::string_view below) {
  Bits bits(index);
  const bool is_index = bits.take(4) == "DIRC";
  const std::uint32_t version = bits.number(4), count = bits.number(4);
  if (!is_index || bits.failed()) return corrupt();
  if (version < 2 || version > 4)
    return make_error(ErrorCode::unsupported, fmt::format("has version {}", version));
  Entries entries(version, id_bytes);
  std::vector<std::string> paths;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto path = entries.next(bits);
    if (!path) return corrupt();
    if (path->size() <= below.size() || !path->starts_with(below)) continue;
    paths.emplace_back(path->substr(below.size()));
    bytes += paths.back().size() + sizeof(std::string);
    if (bytes > kMostBytes)
      return make_error(ErrorCode::resource_exhausted,
                        fmt::format("has more than {} bytes of paths", kMostBytes));
  }
  TRY(check_extensions(bits, id_bytes));
  std::sort(paths.begin(), paths.end());
  return paths;
}

void TrackedFiles::read(std::vector<std::string>& notes) {
  if (file_.empty()) return;
  const std::string file = std::exchange(file_, "");
  const auto content = io::read_regular_file(file);
  if (!content && content.error().code == ErrorCode::not_found) return;  // nothing is tracked yet
  auto paths = content ? paths_in_index(*content, id_bytes_, below_)
                       : Result<std::vector<std::string>>(content.error());
  if (paths)
    paths_ = *std::move(paths);
  else
    notes.push_back(fmt::format("{} {}; files that git tracks are left out if a pattern names them",
                                quoted_name(file),
                                content ? paths.error().message : "cannot be read"));
}

bool TrackedFiles::has(const std::string& path, std::vector<std::string>& notes) {
  read(notes);
  return std::binary_search(paths_.begin(), paths_.end(), path);
}

bool TrackedFiles::has_below(const std::string& folder, std::vector<std::string>& notes) {
  read(notes);
  const std::string lead = folder + "/";
  const auto next = std::lower_bound(paths_.begin(), paths_.end(), lead);
  return next != paths_.end() && next->starts_with(lead);
}

}  // namespace lockstep::snapshot
