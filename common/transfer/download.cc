#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "common/transfer/request_window.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobWanted;

constexpr std::uint64_t kBytesPerRequest = 8u << 20;
constexpr std::size_t kDigestsPerRequest = 2'000;
constexpr int kMaxRounds = 3;

class Downloader {
 public:
  Downloader(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
             const OnProgress& on_progress, const TransferOptions& options)
      : window_(socket, options),
        root_(root),
        job_(options.of_job),
        into_(into),
        on_progress_(on_progress) {}

  Status run(const std::vector<BlobWanted>& wanted);
  // Fetches directories, level by level.
  Status run_directories();
  // Fetches all files when the directories are there.
  Status run_tree();

 private:
  Status fetch(const std::vector<BlobWanted>& wanted);
  Status fetch_part(const BlobWanted& blob, std::uint64_t offset);
  Status fetch_all(std::vector<Digest> digests, std::uint64_t bytes);
  Result<bool> take(BulkMessage& answer);

  RequestWindow window_;
  const Digest root_;  // root of the tree that everything belongs to
  const JobId job_;
  snapshot::BlobStore& into_;
  const OnProgress& on_progress_;
  Progress progress_;
  std::unordered_set<Digest> absent_;
  std::unordered_set<Digest> damaged_;  // blobs whose bytes did not match the digest
  std::deque<std::pair<BlobWanted, std::uint64_t>> later_;  // parts of blobs of unknown size
};

Status Downloader::run(const std::vector<BlobWanted>& wanted) {
  std::vector<BlobWanted> open = wanted;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::unordered_set<Digest> seen;
    std::erase_if(open, [&](const BlobWanted& blob) {
      return into_.has(blob.digest) || !seen.insert(blob.digest).second;
    });
    if (open.empty()) return {};
    if (!absent_.empty()) break;
    if (round == 0) {
      for (const BlobWanted& blob : open) progress_.total_bytes += blob.size;
      if (on_progress_) on_progress_(progress_);
    }
    TRY(fetch(open));
  }
  std::erase_if(open, [&](const BlobWanted& blob) { return into_.has(blob.digest); });
  if (open.empty()) return {};
  for (const BlobWanted& blob : open)
    if (damaged_.count(blob.digest) != 0)
      return make_error(
          ErrorCode::corrupt,
          fmt::format("the launcher's copy of blob {} is damaged; send the same files again, from "
                      "where they came: with `lockstep data create`, `model create` or `component "
                      "create` for a registered version, by submitting the job again for its code "
                      "and inputs; then the launcher stores them anew",
                      blob.digest.hex()));
  return make_error(
      ErrorCode::not_found,
      fmt::format("the launcher does not have {} of the blobs that are needed here (the "
                  "first is {})",
                  open.size(), open.front().digest.hex()));
}

Status Downloader::fetch(const std::vector<BlobWanted>& wanted) {
  std::vector<Digest> together;
  std::uint64_t bytes = 0;
  for (const BlobWanted& blob : wanted) {
    if (blob.size == 0 && blob.directory) {
      TRY(fetch_part(blob, 0));
    } else if (blob.size > kBytesPerRequest) {
      for (std::uint64_t offset = 0; offset < blob.size; offset += kBytesPerRequest) {
        TRY(fetch_part(blob, offset));
      }
    } else {
      together.push_back(blob.digest);
      bytes += blob.size;
      if (bytes < kBytesPerRequest && together.size() < kDigestsPerRequest) continue;
      TRY(fetch_all(std::exchange(together, {}), std::exchange(bytes, 0)));
    }
  }
  if (!together.empty()) TRY(fetch_all(std::move(together), bytes));
  TRY(window_.drain());
  while (!later_.empty()) {
    const auto [blob, offset] = later_.front();
    later_.pop_front();
    TRY(fetch_part(blob, offset));
    if (later_.empty()) TRY(window_.drain());
  }
  return {};
}

Status Downloader::fetch_all(std::vector<Digest> digests, std::uint64_t bytes) {
  return window_.request(GetBlobs{std::move(digests), 0, 0, false, root_, job_},
                         std::max<std::uint64_t>(bytes, 1),
                         [this](BulkMessage& answer) { return take(answer); });
}

Status Downloader::fetch_part(const BlobWanted& blob, std::uint64_t offset) {
  const bool is_unknown = blob.size == 0;
  return window_.request(
      GetBlobs{{blob.digest}, offset, kBytesPerRequest, false, root_, job_}, kBytesPerRequest,
      [this, is_unknown](BulkMessage& answer) -> Result<bool> {
        const auto* data = std::get_if<BlobData>(&answer);
        if (is_unknown && data != nullptr && !data->pieces.empty() && data->pieces[0].offset == 0) {
          const BlobPiece& first = data->pieces[0];
          for (auto next = kBytesPerRequest; next < first.total_size; next += kBytesPerRequest) {
            later_.push_back({{first.digest, first.total_size, true}, next});
          }
        }
        return take(answer);
      });
}

Result<bool> Downloader::take(BulkMessage& answer) {
  auto* data = std::get_if<BlobData>(&answer);
  if (data == nullptr) return false;
  for (const BlobPiece& piece : data->pieces) {
    auto put = into_.put_piece(piece);
    // The blob is requested again: the launcher then checks it, and drops it if it is damaged.
    const bool is_damaged = !put && put.error().code == ErrorCode::corrupt;
    if (is_damaged) damaged_.insert(piece.digest);
    if (!put && !is_damaged) return put.error().within("from the launcher");
    progress_.done_bytes +=
        std::min<std::uint64_t>(piece.total_size - piece.offset, kMaxPieceBytes);
  }
  progress_.total_bytes = std::max(progress_.total_bytes, progress_.done_bytes);
  absent_.insert(data->absent.begin(), data->absent.end());
  if (on_progress_) on_progress_(progress_);
  return data->last;
}

Status Downloader::run_directories() {
  for (;;) {
    TRY_ASSIGN(std::vector<BlobWanted> wanted, into_.missing_blobs_from(root_));
    std::erase_if(wanted, [](const BlobWanted& blob) { return !blob.directory; });
    if (wanted.empty()) return {};
    TRY(run(wanted));
  }
}

Status Downloader::run_tree() {
  TRY(run_directories());
  TRY_ASSIGN(const std::vector<BlobWanted> wanted, into_.missing_blobs_from(root_));
  return wanted.empty() ? Status() : run(wanted);
}

}  // namespace

Status download(io::ClientSocket& socket, const Digest& root, const std::vector<BlobWanted>& wanted,
                snapshot::BlobStore& into, const OnProgress& progress, TransferOptions options) {
  return Downloader(socket, root, into, progress, options).run(wanted);
}

Status download_directories(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                            TransferOptions options) {
  const OnProgress nobody;
  return Downloader(socket, root, into, nobody, options).run_directories();
}

Status download_tree(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                     const OnProgress& progress, TransferOptions options) {
  return Downloader(socket, root, into, progress, options).run_tree();
}

}  // namespace lockstep::transfer
