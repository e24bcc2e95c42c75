#pragma once
// A list of files that are stored piece by piece, because they grow and only new bytes are sent.
// The list is a tree of directory objects, so it is sent, checked and collected as any other tree.
// Its root has one directory for each file, "00000000", "00000001", …, by path:
//
//   whole | partial     a symlink whose target is the file's path; partial: a rank was writing it
//   0000000000000000    a piece, named by its offset in hexadecimal digits; its mode is the file's
//
// No I/O here, except through the given functions.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::snapshot {

struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  Digest digest;
  friend bool operator==(const Piece&, const Piece&) = default;
};

struct PiecedFile {
  std::string path;  // relative to the tree that it belongs to: "a/b.csv"
  std::uint32_t mode = 0;
  bool partial = false;
  std::vector<Piece> pieces;  // the pieces in order, without gaps

  std::uint64_t size() const {
    return pieces.empty() ? 0 : pieces.back().offset + pieces.back().size;
  }
  friend bool operator==(const PiecedFile&, const PiecedFile&) = default;
};
inline constexpr std::size_t kMaxPiecedFiles = 10'000;
inline constexpr std::size_t kMaxPieces = 1'000'000;  // the most pieces of one file

// The list's objects, the root last. `files` is sorted by path, and each path fits in a symlink.
std::vector<DirectoryObject> encode(const std::vector<PiecedFile>& files);

using ReadObject = std::function<Result<std::string>(const Digest&)>;
// Reads a list. Returns corrupt if the tree has another form, or if a path could lead out of its
// tree.
Result<std::vector<PiecedFile>> decode_pieces(const Digest& root, const ReadObject& read);

// The path of a partial file beside the last complete one: "a/b.csv.partial", or, with a number
// from 2 on, "a/b.csv.partial2" if its folder has an entry of each lower number. A long name is cut
// between characters.
std::string partial_name(const std::string& path, int number = 1);
inline constexpr std::string_view kPartialEnding = ".partial";

enum class Partial {
  beside,    // each partial file by its partial_name
  in_place,  // instead of the last complete version
};
// Returns the digest of the content of a file at `path` of the tree.
using DigestOfFile = std::function<Result<Digest>(const PiecedFile& file, const std::string& path)>;
// The tree `root` with the files of the list. A whole file replaces the entry at its path. Partial
// files are placed as `partial` says, and replace nothing if they are placed beside. An entry that
// is in the way of a folder is replaced.
Result<Digest> put_in_pieces(const Digest& root, const std::vector<PiecedFile>& files,
                             const DirectoryObjects& objects, const DigestOfFile& digest_of,
                             Partial partial = Partial::beside);

}  // namespace lockstep::snapshot
