#include "runner/steps/log_capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr Duration kRetryEvery = milliseconds(500);
constexpr std::size_t kSyncOneByOne = 64;  // more dirty files than this: one syncfs

}  // namespace

struct LogCapture::Stream {
  int rank = 0;
  LogStream which = LogStream::out;
  std::string path;
  io::Fd pipe;  // the end we read; empty after its end
  io::Fd file;
  std::uint64_t bytes = 0;
  std::string pending;  // read, and refused by the disk: the pipe is not watched meanwhile
};

LogCapture::LogCapture(io::EventLoop& loop, io::AttemptDir directory)
    : loop_(loop), directory_(std::move(directory)) {}

LogCapture::~LogCapture() {
  for (auto& stream : streams_) close(*stream);
}

Result<LogCapture::Writers> LogCapture::open(int rank, std::uint32_t uid) {
  Writers writers;
  for (const LogStream which : {LogStream::out, LogStream::err}) {
    auto stream = std::make_unique<Stream>();
    stream->rank = rank;
    stream->which = which;
    stream->path = directory_.log(rank, which);
    TRY_ASSIGN(stream->file, io::open_file(stream->path, O_WRONLY | O_CREAT | O_APPEND, 0644));
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
      return errno_error(errno, fmt::format("a pipe for the output of rank {}", rank));
    stream->pipe.reset(fds[0]);
    io::Fd& writer = which == LogStream::out ? writers.out : writers.err;
    writer.reset(fds[1]);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    fcntl(fds[0], F_SETPIPE_SZ, static_cast<int>(kReadBytes));  // a smaller one serves too
    if (uid != geteuid() && fchown(fds[1], uid, static_cast<gid_t>(-1)) != 0)
      return errno_error(errno, fmt::format("the output pipe of rank {} for uid {}", rank, uid));
    Stream* raw = stream.get();
    streams_.push_back(std::move(stream));
    loop_.watch(fds[0], io::EventLoop::Interest::read, [this, raw] { read_some(*raw); });
  }
  return writers;
}

void LogCapture::read_some(Stream& stream) {
  buffer_.resize(kReadBytes);
  ssize_t length = 0;
  do {
    length = read(stream.pipe.get(), buffer_.data(), buffer_.size());
  } while (length < 0 && errno == EINTR);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0) return close(stream);
  stream.pending.assign(buffer_, 0, static_cast<std::size_t>(length));
  if (!flush(stream)) loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
}

// False, with a reason and a time to retry, when something is left.
bool LogCapture::flush(Stream& stream) {
  while (!stream.pending.empty()) {
    const ssize_t written = write(stream.file.get(), stream.pending.data(), stream.pending.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      reason_ = fmt::format("ranks wait: their output cannot be written to {}: {}", stream.path,
                            std::strerror(errno));
      if (retry_at_ == Instant::never()) retry_at_ = Instant{};  // at once; retry() knows the time
      return false;
    }
    stream.bytes += static_cast<std::uint64_t>(written);
    stream.pending.erase(0, static_cast<std::size_t>(written));
  }
  return true;
}

void LogCapture::retry(Instant now) {
  if (now < retry_at_) return;
  bool all = true;
  for (auto& stream : streams_) {
    if (stream->pending.empty()) continue;
    if (!flush(*stream)) {
      all = false;
    } else if (stream->pipe) {
      Stream* raw = stream.get();
      loop_.watch(raw->pipe.get(), io::EventLoop::Interest::read, [this, raw] { read_some(*raw); });
    }
  }
  retry_at_ = all ? Instant::never() : now + kRetryEvery;
  if (all) reason_.clear();
}

void LogCapture::close(Stream& stream) {
  if (!stream.pipe) return;
  loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
  stream.pipe.reset();
}

bool LogCapture::drain() {
  std::vector<Stream*> dirty;
  for (auto& stream : streams_) {
    // A descriptor that a process beyond our reach still holds gives EAGAIN: it had its time.
    while (stream->pipe && stream->pending.empty()) {
      const std::uint64_t before = stream->bytes;
      read_some(*stream);
      if (stream->pending.empty() && stream->bytes == before) close(*stream);
    }
    if (!stream->pending.empty()) return false;
    if (stream->bytes > 0) dirty.push_back(stream.get());
  }
  if (dirty.size() > kSyncOneByOne) return syncfs(dirty[0]->file.get()) == 0;
  for (const Stream* stream : dirty)
    if (fdatasync(stream->file.get()) != 0) return false;
  return true;
}

std::vector<LogSize> LogCapture::sizes() const {
  std::vector<LogSize> result;
  for (const auto& stream : streams_) {
    if (result.empty() || result.back().rank != stream->rank)
      result.push_back({stream->rank, 0, 0});
    (stream->which == LogStream::out ? result.back().stdout_bytes : result.back().stderr_bytes) =
        stream->bytes;
  }
  return result;
}

std::string LogCapture::stderr_tail(int rank) const {
  for (const auto& stream : streams_) {
    if (stream->rank != rank || stream->which != LogStream::err) continue;
    const auto file = io::open_file(stream->path, O_RDONLY);
    if (!file) return "";
    const std::uint64_t skip =
        stream->bytes - std::min<std::uint64_t>(stream->bytes, kStderrTailBytes);
    std::string text(kStderrTailBytes, '\0');
    const ssize_t length = pread(file->get(), text.data(), text.size(), static_cast<off_t>(skip));
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }
  return "";
}

}  // namespace lockstep::runner
