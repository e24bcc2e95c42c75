#include "common/snapshot/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/snapshot/varint.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kMagic{"LSD\1", 4};
constexpr std::uint32_t kModeMask = 07777;

Error broken(const ByteReader& in, std::string_view what) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("directory object: {} at byte {}", what, in.position()));
}

std::string_view why_bad_target(std::string_view target) {
  if (target.empty()) return "empty symlink target";
  if (target.size() > kMaxTargetBytes) return "symlink target too long";
  if (target.find('\0') != target.npos) return "NUL in a symlink target";
  return "";
}

// Overwrites `entry`. Returns its name, which refers to the bytes of `in`.
Result<std::string_view> decode_entry(ByteReader& in, Entry& entry) {
  std::string_view text, name;
  std::uint64_t number = 0;
  if (!in.byte(number) || number > 2) return broken(in, "unknown kind");
  entry.kind = static_cast<EntryKind>(number);
  const bool is_link = entry.kind == EntryKind::symlink;
  if (!in.varint(number) || number > (is_link ? 0 : kModeMask)) return broken(in, "bad mode");
  entry.mode = static_cast<std::uint32_t>(number);
  if (!in.varint(number) || !in.take(number, name)) return broken(in, "bad name length");
  if (const auto why = why_bad_name(name); !why.empty()) return broken(in, why);
  entry.name = name;
  entry.size = 0;
  entry.digest = {};
  entry.target.clear();
  if (!in.varint(number)) return broken(in, "bad size");
  if (is_link) {
    if (!in.take(number, text)) return broken(in, "bad target length");
    if (const auto why = why_bad_target(text); !why.empty()) return broken(in, why);
    entry.target = text;
    return name;
  }
  entry.size = number;
  if (entry.kind == EntryKind::directory && number > kMaxDirectoryObjectBytes) {
    return broken(in, "directory object too large");
  }
  if (!in.take(entry.digest.bytes.size(), text)) return broken(in, "truncated digest");
  entry.digest = *Digest::from_bytes(text);
  return name;
}

// Calls `expect` with the number of entries that an honest object has, then `visit` for each entry.
template <typename Expect, typename Visit>
Status decode(std::string_view bytes, const Expect& expect, const Visit& visit) {
  ByteReader in(bytes);
  std::string_view magic;
  if (bytes.size() > kMaxDirectoryObjectBytes) return broken(in, "too large");
  if (!in.take(kMagic.size(), magic) || magic != kMagic) {
    return broken(in, "not a directory object of version 1");
  }
  std::uint64_t count = 0;
  // Bytes of a symlink with one character in its name and in its target.
  constexpr std::size_t kSmallestEntry = 6;
  if (!in.varint(count) || count > bytes.size() / kSmallestEntry) return broken(in, "bad count");
  // Memory grows only with the entries that exist, since a hostile object may claim an entry for
  // every six bytes.
  expect(std::min<std::uint64_t>(count, bytes.size() / 40 + 1));
  Entry entry;
  std::string_view previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(const std::string_view name, decode_entry(in, entry));
    if (i > 0 && !(previous < name)) return broken(in, "entries are not sorted and unique");
    previous = name;
    if (!visit(entry)) return {};
  }
  if (!in.at_end()) return broken(in, "bytes after the last entry");
  return {};
}

}  // namespace

std::string_view why_bad_name(std::string_view name) {
  if (name.empty()) return "empty name";
  if (name.size() > kMaxNameBytes) return "name too long";
  if (name == "." || name == "..") return "name is . or ..";
  if (name.find('/') != name.npos) return "'/' in a name";
  if (name.find('\0') != name.npos) return "NUL in a name";
  return "";
}

std::string encode(const Directory& directory) {
  std::string out(kMagic);
  put_varint(out, directory.entries.size());
  const Entry* previous = nullptr;
  for (const Entry& entry : directory.entries) {
    CHECK(why_bad_name(entry.name).empty(), "an entry's name must be valid");
    CHECK(previous == nullptr || previous->name < entry.name, "entries must be sorted and unique");
    previous = &entry;
    const bool is_link = entry.kind == EntryKind::symlink;
    CHECK(entry.mode <= (is_link ? 0 : kModeMask), "an entry's mode must be valid");
    out.push_back(static_cast<char>(entry.kind));
    put_varint(out, entry.mode);
    put_varint(out, entry.name.size());
    out += entry.name;
    if (is_link) {
      CHECK(why_bad_target(entry.target).empty(), "a symlink's target must be valid");
      put_varint(out, entry.target.size());
      out += entry.target;
    } else {
      put_varint(out, entry.size);
      out += entry.digest.view();
    }
  }
  return out;
}

Result<Directory> decode_directory(std::string_view bytes) {
  Directory directory;
  TRY(decode(
      bytes, [&](std::size_t count) { directory.entries.reserve(count); },
      [&](Entry& entry) {
        directory.entries.push_back(std::move(entry));
        return true;
      }));
  return directory;
}

Status each_entry(std::string_view bytes, const std::function<bool(const Entry&)>& visit) {
  return decode(
      bytes, [](std::size_t) {}, visit);
}

}  // namespace lockstep::snapshot
