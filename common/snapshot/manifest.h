#pragma once
// A directory as a value: its sorted entries, and their one encoding as bytes. A directory object
// is a blob; its SHA-256 is the directory's digest, and a root digest names a whole tree. The
// decoder is strict: it accepts only the canonical encoding, and no name that could lead out of the
// directory. No I/O here.
//
//   object := "LSD" version(1) count entry*    entries in ascending byte order of unique names
//   entry  := kind(1: 0 file, 1 directory, 2 symlink) mode name_length name
//             file, directory: size digest(32);  symlink: target_length target
// Numbers are LEB128 varints in their shortest form. mode <= 07777. The size of a directory is its
// object's size.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"

namespace lockstep::snapshot {

enum class EntryKind : std::uint8_t { file = 0, directory = 1, symlink = 2 };

struct Entry {
  std::string name;
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0;  // permission bits, 07777; 0 for symlinks
  std::uint64_t size = 0;  // file: bytes; directory: bytes of its object; symlink: 0
  Digest digest;           // for a file or directory
  std::string target;      // symlink: as read, never followed
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Directory {
  std::vector<Entry> entries;  // sorted by name
  friend bool operator==(const Directory&, const Directory&) = default;
};

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxTargetBytes = 4095;
inline constexpr std::size_t kMaxDirectoryObjectBytes = std::size_t{256} << 20;
inline constexpr int kMaxTreeDepth = 256;
// the most entries of a tree that is written out
inline constexpr std::uint64_t kMaxTreeEntries = 16'000'000;

// Encodes a directory. CHECKs that the entries are sorted and valid, because only our own code
// makes them.
std::string encode(const Directory& directory);
// Reads a directory. Returns corrupt with the fault and its byte.
Result<Directory> decode_directory(std::string_view bytes);
// Reads a directory without keeping the entries: an object may have millions. `visit` gets them in
// order, before later ones are known to be valid. When it returns false, the rest is not read.
Status each_entry(std::string_view bytes, const std::function<bool(const Entry&)>& visit);

// Why this cannot be the name of an entry; "" when it can.
std::string_view why_bad_name(std::string_view name);

}  // namespace lockstep::snapshot
