#pragma once
// One larger blob in one file. In pieces, the file has a header, the pieces in the order of their
// arrival, and at the end a table of the pieces. Each piece is compressed separately or not at all,
// so that it can be sent as it is stored. Whole, it has the bytes of the blob alone, without blocks
// of zeros. BlobFileWriter fills a file under tmp/ and verifies the digest; the caller moves the
// file to its final place.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/file_system.h"

namespace lockstep::snapshot {

inline constexpr std::uint64_t kMaxBlobBytes = std::uint64_t{1} << 50;

enum class BlobLayout { pieces, whole };

class BlobFileWriter {
 public:
  static Result<std::unique_ptr<BlobFileWriter>> create(const std::string& path,
                                                        const Digest& digest,
                                                        std::uint64_t total_size,
                                                        BlobLayout layout = BlobLayout::pieces);
  ~BlobFileWriter();  // removes the file unless it was finished and moved

  const std::string& path() const { return path_; }
  std::uint64_t total_size() const { return total_size_; }
  // Pieces may come in any order; a piece that is already there is ignored.
  Status add(const BlobPiece& piece);
  bool complete() const { return raw_bytes_ == total_size_; }
  // Verifies the digest of the whole blob. In pieces, it then writes the table and fsyncs. Then the
  // caller may move the file.
  Status finish();
  void moved() { path_.clear(); }

 private:
  struct Stored {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t compressed = 0;
  };
  BlobFileWriter(std::string path, io::Fd fd, const Digest& digest, std::uint64_t total_size,
                 BlobLayout layout);
  Status store(const BlobPiece& piece, std::string_view raw);
  Status hash_the_rest();
  Status write_table();

  std::string path_;
  io::Fd fd_;
  const Digest digest_;
  const std::uint64_t total_size_;
  const BlobLayout layout_;
  std::uint64_t raw_bytes_ = 0;  // raw bytes received
  std::uint64_t end_ = 0;        // the end of the file
  // In pieces: everything before this offset is being written to the disk.
  std::uint64_t sync_from_ = 0;
  std::uint64_t hashed_ = 0;  // length of the hashed prefix in raw bytes
  Sha256 hash_;
  std::map<std::uint64_t, Stored> pieces_;  // the stored pieces by raw offset
};

class BlobFileReader {
 public:
  // Opens a file; returns not_found, or corrupt if the header or the table is damaged.
  static Result<BlobFileReader> open(const std::string& path,
                                     BlobLayout layout = BlobLayout::pieces);
  std::uint64_t total_size() const { return total_size_; }
  int fd() const { return fd_.get(); }
  // Reads a piece. `offset` is a multiple of kMaxPieceBytes below the size.
  Result<BlobPiece> piece(const Digest& digest, std::uint64_t offset) const;

 private:
  BlobFileReader(std::string path, io::Fd fd, BlobLayout layout, std::uint64_t total_size,
                 std::uint64_t table)
      : path_(std::move(path)),
        fd_(std::move(fd)),
        layout_(layout),
        total_size_(total_size),
        table_(table) {}
  std::string path_;
  io::Fd fd_;
  BlobLayout layout_;
  std::uint64_t total_size_ = 0;
  std::uint64_t table_ = 0;  // the offset of the table; in pieces
};

}  // namespace lockstep::snapshot
