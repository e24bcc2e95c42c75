#include "common/snapshot/content/blob_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/disk.h"
#include "common/io/files/sparse_file.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::snapshot {
namespace {

// The header of a file, stored in the byte order of memory, like the packs.
struct FileHeader {
  std::uint64_t magic = 0x314253504b534c4c;  // "LLSKPSB1": Lockstep blob, version 1
  std::uint64_t total_size = 0;
  std::uint64_t table = 0;  // offset of the table
  std::uint64_t check = 0;
};
static_assert(sizeof(FileHeader) == 32);

std::uint64_t check_of(const FileHeader& header) {
  return word_hash({reinterpret_cast<const char*>(&header), offsetof(FileHeader, check)});
}

// The number of bytes after which the disk begins to write, while the rest still arrives.
constexpr std::uint64_t kSyncedAtOnce = 8u << 20;

struct TableRow {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t compressed = 0;
};
static_assert(sizeof(TableRow) == 16);

}  // namespace

BlobFileWriter::BlobFileWriter(std::string path, io::Fd fd, const Digest& digest,
                               std::uint64_t total_size, BlobLayout layout)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      digest_(digest),
      total_size_(total_size),
      layout_(layout),
      end_(sizeof(FileHeader)) {}

BlobFileWriter::~BlobFileWriter() {
  if (!path_.empty()) io::disk::unlink(path_.c_str());
}

Result<std::unique_ptr<BlobFileWriter>> BlobFileWriter::create(const std::string& path,
                                                               const Digest& digest,
                                                               std::uint64_t total_size,
                                                               BlobLayout layout) {
  if (total_size > kMaxBlobBytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("blob {} is announced with {} bytes; at most {} can be stored",
                                  digest.hex(), total_size, kMaxBlobBytes));
  }
  TRY_ASSIGN(io::Fd fd, io::open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return std::unique_ptr<BlobFileWriter>(
      new BlobFileWriter(path, std::move(fd), digest, total_size, layout));
}

Status BlobFileWriter::add(const BlobPiece& piece) {
  if (piece.total_size != total_size_) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("blob {}: a piece gives a total size of {} bytes, an earlier piece gave {}",
                    digest_.hex(), piece.total_size, total_size_));
  }
  thread_local std::string scratch;
  TRY_ASSIGN(const std::string_view raw, raw_view(piece, scratch));
  if (pieces_.count(piece.offset) != 0) return {};
  TRY(store(piece, raw));
  raw_bytes_ += raw.size();
  if (piece.offset == hashed_) {
    hash_.update(raw);
    hashed_ += raw.size();
  }
  return {};
}

Status BlobFileWriter::store(const BlobPiece& piece, std::string_view raw) {
  if (layout_ == BlobLayout::whole) {
    if (const Status put = io::write_sparse_at(fd_.get(), piece.offset, raw); !put)
      return put.error().within(path_);
    pieces_[piece.offset] = {piece.offset, static_cast<std::uint32_t>(raw.size()), 0u};
    return {};
  }
  TRY(write_all_at(fd_.get(), end_, piece.data, path_));
  pieces_[piece.offset] = {end_, static_cast<std::uint32_t>(piece.data.size()),
                           piece.compressed ? 1u : 0u};
  end_ += piece.data.size();
  if (end_ - sync_from_ < kSyncedAtOnce) return {};
  io::disk::begin_sync(fd_.get(), static_cast<off_t>(sync_from_),
                       static_cast<off_t>(end_ - sync_from_));
  sync_from_ = end_;
  return {};
}

// Pieces that arrived out of order are read back.
Status BlobFileWriter::hash_the_rest() {
  while (hashed_ < total_size_) {
    const Stored& stored = pieces_.at(hashed_);
    BlobPiece piece{digest_, total_size_, hashed_, stored.compressed != 0,
                    std::string(stored.size, '\0')};
    TRY(read_exactly_at(fd_.get(), stored.offset, piece.data.data(), piece.data.size(), path_));
    TRY_ASSIGN(const std::string raw, raw_of(piece));
    hash_.update(raw);
    hashed_ += raw.size();
  }
  return {};
}

Status BlobFileWriter::finish() {
  // The file may end in a hole.
  if (layout_ == BlobLayout::whole &&
      io::disk::ftruncate(fd_.get(), static_cast<off_t>(total_size_)) != 0)
    return errno_error(errno, "cannot set the size of " + path_);
  TRY(hash_the_rest());
  if (hash_.finish() != digest_) {
    return make_error(
        ErrorCode::corrupt,
        fmt::format("blob {}: the received bytes do not match the digest", digest_.hex()));
  }
  return layout_ == BlobLayout::whole ? Status() : write_table();
}

Status BlobFileWriter::write_table() {
  std::string table;
  table.reserve(pieces_.size() * sizeof(TableRow));
  for (const auto& [raw_offset, stored] : pieces_) {
    const TableRow row{stored.offset, stored.size, stored.compressed};
    table.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
  TRY(write_all_at(fd_.get(), end_, table, path_));
  FileHeader header;
  header.total_size = total_size_;
  header.table = end_;
  header.check = check_of(header);
  TRY(write_all_at(fd_.get(), 0, {reinterpret_cast<const char*>(&header), sizeof header}, path_));
  if (io::disk::fdatasync(fd_.get()) != 0) return errno_error(errno, "cannot fdatasync " + path_);
  return {};
}

Result<BlobFileReader> BlobFileReader::open(const std::string& path, BlobLayout layout) {
  io::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return make_error(ErrorCode::not_found, "no blob at " + path);
  if (!fd) return errno_error(errno, "cannot open " + path);
  if (layout == BlobLayout::whole) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return errno_error(errno, "cannot stat " + path);
    return BlobFileReader(path, std::move(fd), layout, static_cast<std::uint64_t>(info.st_size), 0);
  }
  FileHeader header;
  TRY(read_exactly_at(fd.get(), 0, &header, sizeof header, path));
  if (header.magic != FileHeader{}.magic || header.check != check_of(header)) {
    return make_error(ErrorCode::corrupt, path + " is not a blob file");
  }
  return BlobFileReader(path, std::move(fd), layout, header.total_size, header.table);
}

Result<BlobPiece> BlobFileReader::piece(const Digest& digest, std::uint64_t offset) const {
  if (layout_ == BlobLayout::whole) {
    BlobPiece piece{digest, total_size_, offset, false,
                    std::string(piece_length(total_size_, offset), '\0')};
    TRY(read_exactly_at(fd_.get(), offset, piece.data.data(), piece.data.size(), path_));
    return piece;
  }
  TableRow row;
  const std::uint64_t at = table_ + offset / kMaxPieceBytes * sizeof row;
  TRY(read_exactly_at(fd_.get(), at, &row, sizeof row, path_));
  if (row.size > kMaxPieceBytes || row.compressed > 1) {
    return make_error(ErrorCode::corrupt, path_ + " has a broken table of pieces");
  }
  BlobPiece piece{digest, total_size_, offset, row.compressed != 0, std::string(row.size, '\0')};
  TRY(read_exactly_at(fd_.get(), row.offset, piece.data.data(), piece.data.size(), path_));
  return piece;
}

}  // namespace lockstep::snapshot
