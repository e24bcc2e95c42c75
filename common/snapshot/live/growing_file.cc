#include "common/snapshot/live/growing_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/snapshot/capture/file_stat.h"

namespace lockstep::snapshot {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;
// The number of neighbouring pieces of a similar size that are merged into one. So a file that
// grows for days has few pieces, and each byte is sent only a few times.
constexpr std::size_t kMergedAtOnce = 16;
constexpr std::array<std::uint64_t, 4> kSmallPieces = {1u << 10, 16u << 10, 256u << 10, 4u << 20};

using Take = std::function<void(std::string_view)>;

// Passes a range of a file to `take`. False: the file cannot be read, or is shorter.
bool read_range(int fd, std::uint64_t offset, std::uint64_t size, const Take& take) {
  std::string buffer(std::min<std::uint64_t>(kReadBytes, size), '\0');
  for (std::uint64_t done = 0; done < size;) {
    const auto wanted = std::min<std::uint64_t>(buffer.size(), size - done);
    const ssize_t got = ::pread(fd, buffer.data(), wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    take({buffer.data(), static_cast<std::size_t>(got)});
    done += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::optional<Digest> digest_of(int fd, std::uint64_t offset, std::uint64_t size) {
  Sha256 hash;
  if (!read_range(fd, offset, size, [&](std::string_view part) { hash.update(part); }))
    return std::nullopt;
  return hash.finish();
}

std::uint64_t end_size(std::uint64_t size) { return std::min(size, kCheckedEnd); }

bool has_ends(int fd, const FileVersion& before) {
  const std::uint64_t size = before.identity.size, end = end_size(size);
  return digest_of(fd, 0, end) == before.head && digest_of(fd, size - end, end) == before.tail;
}

bool has_pieces(int fd, const FileVersion& before) {
  return std::all_of(before.pieces.begin(), before.pieces.end(), [&](const Piece& piece) {
    return digest_of(fd, piece.offset, piece.size) == piece.digest;
  });
}

// Whether the file begins with the contents of `before`.
bool extends(int fd, const FileIdentity& now, const FileVersion& before, Rest rest) {
  const FileIdentity& was = before.identity;
  if (now.device != was.device || now.inode != was.inode || now.size < was.size) return false;
  if (rest == Rest::written && was.size > kReadAgain) return has_ends(fd, before);
  return has_pieces(fd, before);
}

struct Wanted {
  Piece piece;
  bool is_known = false;  // whether the digest is known
};

// Merges pieces at the end while many have about the same size.
void merge_small(std::vector<Wanted>& pieces) {
  std::uint64_t least = 0;
  for (const std::uint64_t small : kSmallPieces) {
    std::size_t first = pieces.size(), alike = 0;
    for (; first > 0 && pieces[first - 1].piece.size < small; --first)
      if (pieces[first - 1].piece.size >= least) ++alike;
    least = small;
    if (alike < kMergedAtOnce) continue;
    const Piece& last = pieces.back().piece;
    const std::uint64_t from = pieces[first].piece.offset;
    const Wanted merged{{from, last.offset + last.size - from, {}}, false};
    pieces.resize(first);
    pieces.push_back(merged);
  }
}

std::vector<Wanted> cut(const FileVersion* before, std::uint64_t size, Rest rest) {
  std::vector<Wanted> pieces;
  std::uint64_t at = 0;
  if (before != nullptr) {
    for (const Piece& piece : before->pieces) pieces.push_back({piece, true});
    at = before->identity.size;
  }
  while (at < size) {
    const std::uint64_t most = rest == Rest::written ? kPieceOfGrowing : size;
    const std::uint64_t part = std::min(size - at, most);
    pieces.push_back({{at, part, {}}, false});
    at += part;
  }
  merge_small(pieces);
  return pieces;
}

bool read_piece(int fd, Wanted& wanted, std::uint64_t& may_hold, ReadResult& result) {
  const bool holds = wanted.piece.size <= may_hold;
  std::string bytes;
  Sha256 hash;
  const bool is_read =
      read_range(fd, wanted.piece.offset, wanted.piece.size, [&](std::string_view part) {
        hash.update(part);
        if (holds) bytes.append(part);
      });
  if (!is_read) return false;
  wanted.piece.digest = hash.finish();
  result.is_held = result.is_held && holds;
  if (!holds) return true;
  may_hold -= wanted.piece.size;
  result.held.push_back({wanted.piece.digest, std::move(bytes)});
  return true;
}

bool read_ends(int fd, FileVersion& version) {
  const std::uint64_t size = version.identity.size, end = end_size(size);
  if (size <= kReadAgain) return true;
  const auto head = digest_of(fd, 0, end), tail = digest_of(fd, size - end, end);
  if (!head || !tail) return false;
  version.head = *head;
  version.tail = *tail;
  return true;
}

}  // namespace

std::optional<Digest> digest_of_range(int fd, std::uint64_t offset, std::uint64_t size) {
  return digest_of(fd, offset, size);
}

bool is_continued(int fd, const FileIdentity& now, const FileVersion& before) {
  return extends(fd, now, before, Rest::at_rest);
}

std::optional<ReadResult> read_version(int fd, const FileVersion* before, Rest rest,
                                       std::uint64_t may_hold) {
  const auto info = stat_of(fd, "");
  if (!info || !S_ISREG(info->mode) || info->holes > kMostHoles.count) return std::nullopt;
  const FileIdentity& identity = info->identity;
  const bool is_one_piece = rest == Rest::at_rest && identity.size <= kSmallFile;
  if (before != nullptr && (is_one_piece || !extends(fd, identity, *before, rest)))
    before = nullptr;
  std::vector<Wanted> pieces = cut(before, identity.size, rest);
  ReadResult result;
  auto version = std::make_shared<FileVersion>();
  version->identity = identity;
  version->mode = info->mode & 07777;
  for (Wanted& wanted : pieces) {
    if (!wanted.is_known && !read_piece(fd, wanted, may_hold, result)) return std::nullopt;
    version->pieces.push_back(wanted.piece);
  }
  if (!read_ends(fd, *version)) return std::nullopt;
  const auto after = stat_of(fd, "");
  if (!after || (rest == Rest::at_rest && after->identity != identity)) return std::nullopt;
  result.version = std::move(version);
  return result;
}

}  // namespace lockstep::snapshot
