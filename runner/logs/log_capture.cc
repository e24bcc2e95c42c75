#include "runner/logs/log_capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/redrawn.h"
#include "common/base/utf8.h"
#include "common/io/disk.h"
#include "runner/logs/log_capture_impl.h"
#include "runner/logs/log_stamps.h"

namespace lockstep::runner {

namespace {

constexpr std::size_t kReadBytes = 256 << 10;
// The number of files above which syncfs is called once instead.
constexpr std::size_t kSyncOneByOne = 64;
constexpr std::uint64_t kFreeStep = 1 << 20;
// Bytes of each log that are kept for failure reports.
constexpr std::uint64_t kKeptTail = 64 << 10;
// Plus the bytes before the first whole character.
constexpr std::size_t kQuoted = kStderrTailBytes + 3;
// A paused stream continues when it has this much room.
constexpr std::uint64_t kWorthwhile = 64 << 10;

// Reads the last bytes of a file of this size, at most `most`.
std::string end_of(int file, std::uint64_t size, std::uint64_t most) {
  const std::uint64_t wanted = std::min(size, most);
  std::string text(wanted, '\0');
  const ssize_t length = pread(file, text.data(), wanted, static_cast<off_t>(size - wanted));
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

}  // namespace

LogCapture::LogCapture(io::EventLoop& loop, io::AttemptDir directory, Bytes spool, Bytes limit)
    : loop_(loop),
      directory_(std::move(directory)),
      spool_bytes_(spool.count),
      limit_bytes_(limit.count),
      clock_note_(directory_.clock_set()),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {}

LogCapture::~LogCapture() {
  for (auto& stream : streams_) close(*stream);
}

Result<LogCapture::Writers> LogCapture::open(int rank, std::uint32_t uid) {
  Writers writers;
  for (const LogStream which : {LogStream::out, LogStream::err}) {
    auto stream = std::make_unique<Stream>(rank, which, directory_.log(rank, which));
    TRY_ASSIGN(stream->file, io::open_file(stream->path, O_WRONLY | O_CREAT | O_APPEND, 0600));
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
      return errno_error(errno, fmt::format("a pipe for the output of rank {}", rank));
    stream->pipe.reset(fds[0]);
    io::Fd& writer = which == LogStream::out ? writers.out : writers.err;
    writer.reset(fds[1]);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    // If this fails, a smaller pipe is used.
    fcntl(fds[0], F_SETPIPE_SZ, static_cast<int>(kReadBytes));
    if (uid != geteuid() && fchown(fds[1], uid, static_cast<gid_t>(-1)) != 0)
      return errno_error(errno, fmt::format("the output pipe of rank {} for uid {}", rank, uid));
    by_key_[{rank, which}] = stream.get();
    streams_.push_back(std::move(stream));
    watch(*streams_.back());
  }
  return writers;
}

void LogCapture::watch(Stream& stream) {
  loop_.watch(stream.pipe.get(), io::EventLoop::Interest::read,
              [this, &stream] { take_some(stream); });
}

// ---- the spool ----------------------------------------------------------------------------------

std::uint64_t LogCapture::share() const { return spool_bytes_ / 2 / streams_.size(); }

// The room of a stream. Half of the spool is common, and the streams share the other half, so all
// together never exceed it.
std::uint64_t LogCapture::room(const Stream& stream) const {
  const std::uint64_t common = spool_bytes_ / 2 - std::min(spool_bytes_ / 2, spooled_);
  const std::uint64_t own = share() - std::min(share(), stream.spooled());
  return std::max(common, own);
}

// The bytes that may still be kept of a stream, shared in the same way, so that a loud rank does
// not cost the others their last lines.
std::uint64_t LogCapture::left_to_keep(const Stream& stream) const {
  const std::uint64_t half = limit_bytes_ / 2;
  const std::uint64_t common = half - std::min(half, kept_);
  const std::uint64_t mine = half / streams_.size();
  return std::max(common, mine - std::min(mine, stream.kept()));
}

void LogCapture::pause(Stream& stream) {
  loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
  stream.paused = true;
  retry_at_ = {};  // tried at once; retry() sets the next time
}

void LogCapture::resume_paused() {
  const std::uint64_t least = std::min(kWorthwhile, std::max<std::uint64_t>(share() / 2, 1));
  for (auto& stream : streams_) {
    if (!stream->paused || room(*stream) < least) continue;
    stream->paused = false;
    paused_since_.reset();
    retry_at_ = {};
    if (stream->pipe) watch(*stream);
  }
}

void LogCapture::taken(const std::vector<LogSize>& durable) {
  const auto take = [this](int rank, LogStream which, std::uint64_t bytes) {
    const auto found = by_key_.find({rank, which});
    if (found == by_key_.end()) return;
    Stream& stream = *found->second;
    bytes = std::min(bytes, stream.bytes);
    if (bytes <= stream.taken) return;
    spooled_ -= bytes - stream.taken;
    stream.taken = bytes;
    free_taken(stream, std::clamp(share(), kWorthwhile, kFreeStep));
  };
  for (const LogSize& size : durable) {
    take(size.rank, LogStream::out, size.stdout_bytes);
    take(size.rank, LogStream::err, size.stderr_bytes);
  }
  resume_paused();
}

// Frees the space of taken bytes. If the file system cannot do this, it is freed with the attempt's
// directory.
void LogCapture::free_taken(Stream& stream, std::uint64_t at_least) {
  const std::uint64_t kept = stream.bytes - std::min(stream.bytes, kKeptTail);
  const std::uint64_t end = std::min(stream.taken, kept) / kBlock * kBlock;
  if (end < stream.freed + at_least) return;
  (void)io::disk::fallocate(stream.file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            static_cast<off_t>(stream.freed),
                            static_cast<off_t>(end - stream.freed));
  stream.freed = end;
  stream.stamps.free_before(end);
}

// "output of rank 3 is paused: …"; "" while all output of the ranks is read.
std::string LogCapture::spool_reason() const {
  std::vector<int> ranks;
  for (const auto& stream : streams_) {
    int waiting = 0;
    if (!stream->paused || !stream->pipe) continue;
    if (ioctl(stream->pipe.get(), FIONREAD, &waiting) != 0 || waiting == 0) continue;
    if (ranks.empty() || ranks.back() != stream->rank) ranks.push_back(stream->rank);
  }
  if (ranks.empty()) return "";
  const std::string who = ranks.size() == 1
                              ? fmt::format("rank {}", ranks[0])
                              : fmt::format("{} ranks (the first is {})", ranks.size(), ranks[0]);
  return fmt::format(
      "output of {} is paused: the launcher has not yet stored {} of earlier logs (limit: agent "
      "--log-spool {})",
      who, to_string(Bytes{spooled_}), to_string(Bytes{spool_bytes_}));
}

// ---- reading and writing ------------------------------------------------------------------------

void LogCapture::take_some(Stream& stream) {
  if (!stream.cut && room(stream) == 0) return pause(stream);
  read_some(stream, room(stream));
}

// Reads a pipe. > 0: the number of bytes in the buffer; else nothing is available now, or the
// stream was closed.
ssize_t LogCapture::read_pipe(Stream& stream, std::uint64_t most) {
  ssize_t length = 0;
  do {
    length = read(stream.pipe.get(), buffer_.get(), std::min<std::uint64_t>(most, kReadBytes));
  } while (length < 0 && errno == EINTR);
  if (length == 0 || (length < 0 && errno != EAGAIN)) close(stream);
  if (length > 0) {
    stream.written.bytes += length;
    stream.written.lines += std::count(buffer_.get(), buffer_.get() + length, '\n');
  }
  return length;
}

LogCapture::Written LogCapture::written(int rank) const {
  Written all;
  for (const LogStream which : {LogStream::out, LogStream::err}) {
    const auto found = by_key_.find({rank, which});
    if (found == by_key_.end()) continue;
    all.bytes += found->second->written.bytes;
    all.lines += found->second->written.lines;
  }
  return all;
}

// Notes how far this clock is from the machine's. The note is written before the log's bytes,
// because the agent reads it with the first of them. The larger of two readings is kept: an
// interruption makes one too small.
void LogCapture::note_clock() {
  const auto set_by = [this] {
    const Instant wall = io::wall_clock();
    return wall - clock_.now();
  };
  const Duration first = set_by();
  clock_note_.measured(std::max(first, set_by()));
}

// Returns how much was read, whether it was kept or not.
std::uint64_t LogCapture::read_some(Stream& stream, std::uint64_t most) {
  if (!stream.cut && left_to_keep(stream) == 0) stream.cut = Stream::Cut{};
  if (stream.cut) return drop_some(stream);
  const std::uint64_t left = left_to_keep(stream);
  const ssize_t length = read_pipe(stream, std::min(most, left));
  if (length <= 0) return 0;
  note_clock();
  const bool is_alone = std::exchange(last_read_, &stream) == &stream;
  kept_ += stream.stamps.read_at(stream.bytes, clock_.now(), is_alone).count;
  const std::string_view bytes(buffer_.get(), static_cast<std::size_t>(length));
  stream.pending = bytes;
  // The kept part ends with a whole character.
  if (const std::size_t whole = whole_characters(bytes); bytes.size() == left && whole < left) {
    stream.cut = Stream::Cut{0, std::string(bytes.substr(whole)), left - whole};
    stream.pending.resize(whole);
  }
  if (!flush(stream)) loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
  return static_cast<std::uint64_t>(length);
}

// The note is written when the first byte is dropped, so a log that just fits has none.
std::uint64_t LogCapture::drop_some(Stream& stream) {
  const ssize_t length = stream.pipe ? read_pipe(stream, kReadBytes) : 0;
  if (length <= 0) return 0;
  const auto bytes = static_cast<std::uint64_t>(length);
  Stream::Cut& cut = *stream.cut;
  const std::uint64_t begun = std::exchange(cut.begun, 0);
  if (std::exchange(cut.dropped, cut.dropped + begun + bytes) == 0) {
    stream.pending = fmt::format(
        "{}[lockstep: this log is cut here: the limit of the job's logs on a node, {}, is reached, "
        "and what rank {} writes to {} from here on is not kept (--log-limit)]\n",
        stream.last == '\n' ? "" : "\n", to_string(Bytes{limit_bytes_}), stream.rank,
        stream.which == LogStream::out ? "stdout" : "stderr");
    if (!flush(stream) && stream.pipe)
      loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
  }
  if (stream.which != LogStream::err) return bytes;
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kQuoted));
  cut.tail.append(buffer_.get() + bytes - kept, kept);
  if (cut.tail.size() > kQuoted) cut.tail.erase(0, cut.tail.size() - kQuoted);
  return bytes;
}

LogCapture::Dropped LogCapture::dropped() const {
  Dropped all;
  int last = -1;
  for (const auto& stream : streams_) {
    if (!stream->cut || stream->cut->dropped == 0) continue;
    all.bytes += stream->cut->dropped;
    if (std::exchange(last, stream->rank) == stream->rank) continue;
    if (all.ranks++ == 0) all.first_rank = stream->rank;
  }
  return all;
}

void LogCapture::close(Stream& stream) {
  if (!stream.pipe) return;
  loop_.unwatch(stream.pipe.get(), io::EventLoop::Interest::read);
  stream.pipe.reset();
  stream.paused = false;
}

bool LogCapture::take_now(int rank) {
  for (const LogStream which : {LogStream::out, LogStream::err}) {
    const auto found = by_key_.find({rank, which});
    if (found == by_key_.end() || !found->second->pipe) continue;
    Stream& stream = *found->second;
    if (!stream.pending.empty()) return false;
    read_some(stream, kReadBytes);
  }
  return true;
}

bool LogCapture::drain() {
  std::vector<Stream*> dirty;
  for (auto& stream : streams_) {
    // Reads the rest of a pipe, whatever the spool's limit. A process that we cannot end may still
    // hold the descriptor and write: its time is over.
    const int capacity = stream->pipe ? fcntl(stream->pipe.get(), F_GETPIPE_SZ) : 0;
    auto left = static_cast<std::uint64_t>(std::max(capacity, static_cast<int>(kBlock)));
    while (stream->pipe && stream->pending.empty()) {
      const std::uint64_t got = read_some(*stream, left);
      left -= std::min(left, got);
      if (stream->pending.empty() && (got == 0 || left == 0)) close(*stream);
    }
    if (!stream->pending.empty()) return false;
    if (stream->bytes > 0) dirty.push_back(stream.get());
  }
  make_durable(dirty);
  return true;
}

// Syncs the logs, once: a second sync after a failed one would succeed although the kernel has
// dropped the bytes. While the machine runs they are read from memory, and the launcher probably
// has them.
void LogCapture::make_durable(const std::vector<Stream*>& dirty) {
  const auto say = [](const std::string& what) {
    spdlog::error("{} could not be made durable: {}; a power failure may lose its last lines", what,
                  std::strerror(errno));
  };
  if (dirty.size() > kSyncOneByOne) {
    if (io::disk::syncfs(dirty[0]->file.get()) != 0) say(directory_.logs());
    return;
  }
  for (const Stream* stream : dirty)
    if (io::disk::fdatasync(stream->file.get()) != 0) say(stream->path);
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

Bytes LogCapture::times() const {
  Bytes all;
  for (const auto& stream : streams_) all.count += stream->stamps.size().count;
  return all;
}

std::string LogCapture::stderr_tail(int rank) const {
  const auto found = by_key_.find({rank, LogStream::err});
  if (found == by_key_.end()) return "";
  const Stream& stream = *found->second;
  const auto file = io::open_file(stream.path, O_RDONLY);
  if (!file) return "";
  std::string text = end_of(file->get(), stream.bytes, kQuoted);
  // One state of a progress bar is enough, so more of the file is read: the text before the bar may
  // help more.
  if (text.find('\r') != std::string::npos) text = end_of(file->get(), stream.bytes, kKeptTail);
  if (stream.cut) text += stream.cut->tail;
  return std::string(tail(last_states(text), kStderrTailBytes));
}

}  // namespace lockstep::runner
