#include "runner/logs/log_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/io/disk.h"
#include "runner/logs/log_capture_impl.h"

namespace lockstep::runner {

namespace {

constexpr Duration kRetryEvery = milliseconds(500);
constexpr Duration kShowAfter = seconds(1);  // shorter waits are not shown

}  // namespace

// Writes buffered bytes. False: some bytes are left. Then a reason and a time to retry are set.
bool LogCapture::flush(Stream& stream) {
  while (!stream.pending.empty()) {
    const ssize_t written =
        io::disk::write(stream.file.get(), stream.pending.data(), stream.pending.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0 && !waits_for_disk_) {
      if (!stream.cut) stream.cut = Stream::Cut{};
      stream.cut->dropped += std::exchange(stream.pending, {}).size();
      return true;
    }
    if (written <= 0) {
      reason_ = fmt::format("ranks wait: their output cannot be written to {}: {}", stream.path,
                            std::strerror(errno));
      // The write is tried again at once; retry() sets the next time.
      if (retry_at_ == Instant::never()) retry_at_ = Instant{};
      return false;
    }
    stream.bytes += static_cast<std::uint64_t>(written);
    spooled_ += static_cast<std::uint64_t>(written);
    kept_ += static_cast<std::uint64_t>(written);
    stream.last = stream.pending[static_cast<std::size_t>(written) - 1];
    stream.pending.erase(0, static_cast<std::size_t>(written));
  }
  return true;
}

void LogCapture::give_up_on_disk() {
  waits_for_disk_ = false;
  if (retry_at_ != Instant::never()) retry_at_ = {};
}

bool LogCapture::retry_disk() {
  bool all = true;
  for (auto& stream : streams_) free_taken(*stream, kBlock);
  for (auto& stream : streams_) {
    if (stream->pending.empty()) continue;
    if (!flush(*stream)) {
      all = false;
    } else if (stream->pipe && !stream->paused) {
      watch(*stream);
    }
  }
  return all;
}

void LogCapture::retry(Instant now) {
  if (now < retry_at_) return;
  const auto waits = [](const auto& stream) { return !stream->pending.empty(); };
  const auto is_paused = [](const auto& stream) { return stream->paused; };
  retry_at_ = Instant::never();
  if (std::any_of(streams_.begin(), streams_.end(), waits) && !retry_disk()) {
    retry_at_ = now + kRetryEvery;
    return;
  }
  reason_.clear();
  if (std::none_of(streams_.begin(), streams_.end(), is_paused)) return paused_since_.reset();
  if (!paused_since_) paused_since_ = now;
  const bool lasts = now - *paused_since_ >= kShowAfter;
  if (lasts) reason_ = spool_reason();
  retry_at_ = lasts ? now + kRetryEvery : *paused_since_ + kShowAfter;
}

}  // namespace lockstep::runner
