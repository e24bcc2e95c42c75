#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/capture/file_stat.h"
#include "common/snapshot/content/compress.h"
#include "common/transfer/piece_sender.h"
#include "common/transfer/questions.h"
#include "common/transfer/request_window.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {
namespace {

constexpr int kMaxRounds = 3;  // the most rounds of asking for missing blobs and sending them

// The bytes of a blob: in a directory object, or in a file of the captured tree.
struct Source {
  const std::string* bytes = nullptr;
  const snapshot::FileRecord* file = nullptr;
  std::uint64_t size() const { return bytes != nullptr ? bytes->size() : file->size; }
};

class Uploader {
 public:
  Uploader(io::ClientSocket& socket, const snapshot::Snapshot& snapshot,
           const OnProgress& on_progress, const TransferOptions& options)
      : window_(socket, options),
        sender_(window_, [this](std::uint64_t raw) { became_durable(raw); }),
        snapshot_(snapshot),
        on_progress_(on_progress) {}

  Result<UploadResult> run();

 private:
  Result<std::vector<Digest>> ask(const std::vector<Digest>& digests);
  Status send(const Digest& digest, const Source& source);
  Status send_file(const Digest& digest, const snapshot::FileRecord& file);
  void became_durable(std::uint64_t raw);
  UploadResult result() const { return {blobs_sent_, sender_.bytes_sent(), sender_.wire_bytes()}; }
  Error changed(const snapshot::FileRecord& file) const;

  RequestWindow window_;
  PieceSender sender_;
  const snapshot::Snapshot& snapshot_;
  const OnProgress& on_progress_;
  std::unordered_map<Digest, Source> sources_;
  Progress progress_;
  std::uint64_t blobs_sent_ = 0;
};

Result<UploadResult> Uploader::run() {
  std::vector<Digest> open;
  for (const auto& object : snapshot_.directories) {
    if (sources_.try_emplace(object.digest, Source{&object.bytes, nullptr}).second) {
      open.push_back(object.digest);
    }
  }
  for (const auto& file : snapshot_.files) {
    if (sources_.try_emplace(file.digest, Source{nullptr, &file}).second)
      open.push_back(file.digest);
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    TRY_ASSIGN(open, ask(open));
    if (open.empty()) return result();
    progress_ = {};
    for (const Digest& digest : open) progress_.total_bytes += sources_.at(digest).size();
    if (on_progress_) on_progress_(progress_);
    for (const Digest& digest : open) TRY(send(digest, sources_.at(digest)));
    TRY(sender_.flush());
    TRY(window_.drain());
  }
  TRY_ASSIGN(open, ask(open));
  if (open.empty()) return result();
  return make_error(
      ErrorCode::unavailable,
      fmt::format("the launcher still does not have {} blobs after {} rounds of sending (the "
                  "first is {}); try again",
                  open.size(), kMaxRounds, open.front().hex()));
}

// The digests that the other side lacks, in the order of `digests`.
Result<std::vector<Digest>> Uploader::ask(const std::vector<Digest>& digests) {
  std::unordered_set<Digest> missing;
  TRY(in_questions(digests, [&](std::vector<Digest> part) {
    return window_.request(MissingBlobs{std::move(part)}, kDigestsPerQuestion * sizeof(Digest),
                           [&](BulkMessage& answer) -> Result<bool> {
                             const auto* reply = std::get_if<MissingBlobsReply>(&answer);
                             if (reply == nullptr) return false;
                             missing.insert(reply->missing.begin(), reply->missing.end());
                             return true;
                           });
  }));
  TRY(window_.drain());
  std::vector<Digest> ordered;
  std::copy_if(digests.begin(), digests.end(), std::back_inserter(ordered),
               [&](const Digest& digest) { return missing.count(digest) != 0; });
  return ordered;
}

Status Uploader::send(const Digest& digest, const Source& source) {
  ++blobs_sent_;
  if (source.file != nullptr) return send_file(digest, *source.file);
  return sender_.add_blob(digest, *source.bytes);
}

void Uploader::became_durable(std::uint64_t raw) {
  progress_.done_bytes += raw;
  if (on_progress_) on_progress_(progress_);
}

Error Uploader::changed(const snapshot::FileRecord& file) const {
  return make_error(ErrorCode::conflict,
                    fmt::format("{} changed after the snapshot was taken: run the command again",
                                quoted_name(snapshot_.directory + "/" + file.path)));
}

// The file could be read when it was captured. Another capture will see its current state.
Error unreadable(int errnum, const std::string& path) {
  Error error = errno_error(errnum, "cannot read " + quoted_name(path));
  if (snapshot::is_of_one_entry(errnum)) error.code = ErrorCode::conflict;
  return error;
}

bool has_identity(int fd, const snapshot::FileIdentity& identity) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && snapshot::identity_of(info) == identity;
}

bool has_content(int fd, const Digest& digest, const snapshot::FileRecord& file) {
  Sha256 hash;
  std::string part(kMaxPieceBytes, '\0');
  for (std::uint64_t done = 0; done < file.size;) {
    const auto wanted = std::min<std::uint64_t>(part.size(), file.size - done);
    const ssize_t got = ::pread(fd, part.data(), wanted, static_cast<off_t>(file.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    hash.update({part.data(), static_cast<std::size_t>(got)});
    done += static_cast<std::uint64_t>(got);
  }
  return hash.finish() == digest;
}

Status Uploader::send_file(const Digest& digest, const snapshot::FileRecord& file) {
  const std::string path = snapshot_.directory + "/" + file.path;
  const io::Fd fd =
      snapshot::open_captured(snapshot_.opened->get(), snapshot_.report.followed, file.path,
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!fd && (errno == ENOENT || errno == ELOOP)) return changed(file);
  if (!fd) return unreadable(errno, path);
  // A file that is unchanged since it was hashed is not hashed again: the other side verifies it.
  const bool is_as_it_was = file.identity && has_identity(fd.get(), *file.identity);
  Sha256 hash;
  std::string part;
  std::uint64_t offset = 0;
  do {
    part.resize(snapshot::piece_length(file.size, offset));
    for (std::size_t have = 0; have < part.size();) {
      const ssize_t got = ::pread(fd.get(), part.data() + have, part.size() - have,
                                  static_cast<off_t>(file.offset + offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return unreadable(errno, path);
      if (got == 0) return changed(file);
      have += static_cast<std::size_t>(got);
    }
    if (!is_as_it_was) hash.update(part);
    const bool is_last = offset + part.size() == file.size;
    // The digest is checked before the last piece: the other side could only report a wrong one.
    const bool is_that = !is_last || (is_as_it_was ? has_identity(fd.get(), *file.identity) ||
                                                         has_content(fd.get(), digest, file)
                                                   : hash.finish() == digest);
    if (!is_that) return changed(file);
    TRY(sender_.add(snapshot::make_piece(digest, file.size, offset, part), part.size()));
    offset += part.size();
  } while (offset < file.size);
  return {};
}

}  // namespace

Result<UploadResult> upload_snapshot(io::ClientSocket& socket, const snapshot::Snapshot& snapshot,
                                     const OnProgress& progress, TransferOptions options) {
  return Uploader(socket, snapshot, progress, options).run();
}

}  // namespace lockstep::transfer
