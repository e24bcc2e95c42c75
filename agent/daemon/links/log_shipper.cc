#include "agent/daemon/links/log_shipper.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/io/attempt/log_times.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kKeysPerResume = 1000;

// Moves the times to the machine's clock. A runner's clock is not changed when the machine's clock
// is set, and the launcher knows only the present offset of the machine's clock.
void follow_wall_clock(std::vector<LogTime>& times, Duration set_by) {
  for (LogTime& time : times)
    if (time.at.ns > -set_by.count()) time.at = time.at + set_by;
}

}  // namespace

LogShipper::LogShipper(io::EventLoop& loop, NodeId node, Send send, Taken taken)
    : LogShipper(loop, node, std::move(send), std::move(taken), Limits{}) {}

LogShipper::LogShipper(io::EventLoop& loop, NodeId node, Send send, Taken taken, Limits limits)
    : loop_(loop),
      node_(node),
      send_(std::move(send)),
      taken_(std::move(taken)),
      limits_(limits),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!inotify_) {
    spdlog::warn(
        "checking logs for new output every {}, because the kernel cannot report changes: {}; "
        "raise fs.inotify.max_user_instances",
        format_duration(limits_.scan_every), errno_error(errno, "inotify_init").message);
    return;
  }
  loop_.watch(inotify_.get(), io::EventLoop::Interest::read, [this] { on_inotify(); });
}

LogShipper::~LogShipper() {
  if (inotify_) loop_.unwatch(inotify_.get(), io::EventLoop::Interest::read);
}

void LogShipper::ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known) {
  const auto [place, added] = attempts_.try_emplace(attempt, Attempt{directory, known, -1, {}, {}});
  if (!added) return;
  Attempt& entry = place->second;
  (void)io::make_directories(directory.logs());
  if (inotify_) {
    entry.watch = ::inotify_add_watch(inotify_.get(), directory.logs().c_str(),
                                      IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    if (entry.watch >= 0) watched_[entry.watch] = attempt;
  }
  scan(attempt, entry);
  next_ = {};
}

void LogShipper::forget(const AttemptId& attempt) {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return;
  for (const auto& [key, stream] : found->second.streams) in_flight_ -= stream.sent - stream.acked;
  if (found->second.watch >= 0) {
    ::inotify_rm_watch(inotify_.get(), found->second.watch);
    watched_.erase(found->second.watch);
  }
  attempts_.erase(found);
}

void LogShipper::scan(const AttemptId& attempt, Attempt& entry) {
  const auto names = io::list_directory(entry.directory.logs());
  if (!names) return;
  for (const std::string& name : *names) changed(attempt, entry, name);
}

void LogShipper::changed(const AttemptId& attempt, Attempt& entry, const std::string& file_name) {
  const auto parsed = io::AttemptDir::parse_log_name(file_name);
  if (!parsed) return;
  const auto [place, added] = entry.streams.try_emplace(*parsed);
  Stream& stream = place->second;
  if (added && entry.known) {
    stream.state = Stream::State::resuming;
    stream.ask_at = {};
  }
  enqueue({attempt, parsed->first, parsed->second}, stream);
  next_ = {};
}

void LogShipper::on_inotify() {
  alignas(inotify_event) char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
    if (got <= 0) return;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (auto& [attempt, entry] : attempts_) scan(attempt, entry);
      }
      const auto watched = watched_.find(event->wd);
      if (watched == watched_.end() || event->len == 0) continue;
      const auto found = attempts_.find(watched->second);
      if (found != attempts_.end()) changed(found->first, found->second, event->name);
    }
  }
}

LogShipper::Stream* LogShipper::find(const LogKey& key) {
  const auto attempt = attempts_.find(key.attempt);
  if (attempt == attempts_.end()) return nullptr;
  const auto stream = attempt->second.streams.find({key.rank, key.stream});
  return stream == attempt->second.streams.end() ? nullptr : &stream->second;
}

void LogShipper::enqueue(const LogKey& key, Stream& stream) {
  switch (stream.state) {
    case Stream::State::queued:
    case Stream::State::resuming: return;
    case Stream::State::idle:
      stream.state = Stream::State::queued;
      ready_.push_back(key);
      return;
  }
}

void LogShipper::on_link_down() { linked_ = false; }

void LogShipper::on_link_up() {
  linked_ = true;
  blocked_until_ = {};
  next_ = {};
  for (auto& [attempt, entry] : attempts_) {
    for (auto& [name, stream] : entry.streams) {
      // Bytes in flight may be lost with the old connection. Bytes that were acknowledged may be
      // lost with the old launcher: the one that answers now may have been restored from a backup.
      if (stream.sent != 0) stream.state = Stream::State::resuming;
      if (stream.state == Stream::State::resuming) stream.ask_at = {};
    }
  }
}

void LogShipper::on_ack(const LogAck& ack, Instant now) {
  Stream* stream = find(ack.key);
  if (!stream) return;
  const std::uint64_t before = stream->sent - stream->acked;
  const std::uint64_t known = stream->acked;
  if (stream->state == Stream::State::resuming) {
    if (ack.durable < stream->acked)
      spdlog::error(
          "the launcher lost {} of the log of {} that it had stored; the parts that this node no "
          "longer has are sent as zeros",
          to_string(Bytes{stream->acked - ack.durable}), owner_of(ack.key));
    stream->state = Stream::State::idle;
    stream->sent = stream->acked = ack.durable;
    stream->ask_at = Instant::never();
  } else if (ack.durable > stream->acked) {
    stream->is_refused = false;
    stream->acked = ack.durable;
    stream->sent = std::max(stream->sent, ack.durable);
    const bool open = stream->sent != stream->acked;
    stream->ask_at = open ? now + limits_.resume_after : Instant::never();
  }
  // A runner writes the streams of its ranks, and not the environment's stream.
  if (stream->acked > known && ack.key.stream != LogStream::environment) {
    attempts_.at(ack.key.attempt).news.insert(ack.key.rank);
    tell_at_ = std::min(tell_at_, std::max(now, told_at_ + limits_.tell_every));
  }
  in_flight_ = in_flight_ - before + (stream->sent - stream->acked);
  enqueue(ack.key, *stream);
  next_ = {};
}

void LogShipper::on_refused(const LogKey& key, Instant now) {
  Stream* stream = find(key);
  if (!stream || stream->state == Stream::State::resuming) return;
  in_flight_ -= stream->sent - stream->acked;
  stream->sent = stream->acked;
  stream->is_refused = true;
  stream->state = Stream::State::resuming;
  stream->ask_at = now + limits_.resume_after;
  next_ = {};
}

// Runners free the bytes that were taken, and continue if they waited for space.
void LogShipper::tell_taken(Instant now) {
  tell_at_ = Instant::never();
  told_at_ = now;
  for (auto& [attempt, entry] : attempts_) {
    std::vector<LogSize> sizes;
    for (const int rank : std::exchange(entry.news, {}))
      sizes.push_back({rank, entry.streams[{rank, LogStream::out}].acked,
                       entry.streams[{rank, LogStream::err}].acked});
    if (!sizes.empty()) taken_(attempt, sizes);
  }
}

void LogShipper::tick(Instant now) {
  if (now >= tell_at_) tell_taken(now);
  if (now < next_) return;
  next_ = Instant::never();
  if (!linked_) return;
  if (!inotify_) {
    for (auto& [attempt, entry] : attempts_) scan(attempt, entry);
    next_ = Instant::never();
  }
  ask(now);
  pump(now);
  if (!inotify_ && !attempts_.empty()) next_ = std::min(next_, now + limits_.scan_every);
}

void LogShipper::pump(Instant now) {
  if (now < blocked_until_) {
    if (!ready_.empty()) next_ = std::min(next_, blocked_until_);
    return;
  }
  std::uint64_t budget = limits_.bytes_per_turn;
  while (!ready_.empty() && in_flight_ < limits_.window_bytes) {
    if (budget == 0) {
      next_ = now;
      return;
    }
    const LogKey key = ready_.front();
    ready_.pop_front();
    Stream* stream = find(key);
    if (!stream || stream->state != Stream::State::queued) continue;
    stream->state = Stream::State::idle;
    const std::uint64_t before = in_flight_;
    switch (send_chunk(key, *stream, now)) {
      case Progress::at_end: break;
      case Progress::sent:
        if (!stream->is_refused) enqueue(key, *stream);
        break;
      case Progress::refused:
        enqueue(key, *stream);
        blocked_until_ = now + limits_.retry_after;
        next_ = std::min(next_, blocked_until_);
        return;
    }
    budget -= std::min(budget, in_flight_ - before);
  }
}

LogShipper::Progress LogShipper::send_chunk(const LogKey& key, Stream& stream, Instant now) {
  const std::string path = attempts_.at(key.attempt).directory.log(key.rank, key.stream);
  const auto file = io::open_file(path, O_RDONLY);
  if (!file) return Progress::at_end;
  const std::uint64_t room = limits_.window_bytes - in_flight_;
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kMaxLogChunkBytes, room)));
  ssize_t got = 0;
  do {
    got = ::pread(file->get(), buffer_.data(), buffer_.size(), static_cast<off_t>(stream.sent));
  } while (got < 0 && errno == EINTR);
  if (got < 0) spdlog::error("{}", errno_error(errno, "read " + path).message);
  if (got <= 0) return Progress::at_end;
  const std::uint64_t end = stream.sent + static_cast<std::uint64_t>(got);
  LogAppend append{node_, key, stream.sent, buffer_.substr(0, static_cast<std::size_t>(got)), {}};
  append.times = io::LogTimes(path).between(stream.sent, end, kMaxLogTimes, false);
  if (!append.times.empty())
    follow_wall_clock(append.times, io::read_clock_set(attempts_.at(key.attempt).directory));
  if (!send_(std::move(append))) return Progress::refused;
  stream.sent += static_cast<std::uint64_t>(got);
  in_flight_ += static_cast<std::uint64_t>(got);
  if (stream.ask_at == Instant::never()) stream.ask_at = now + limits_.resume_after;
  next_ = std::min(next_, stream.ask_at);
  return Progress::sent;
}

// Asks about every stream whose acknowledgement is overdue or unknown.
void LogShipper::ask(Instant now) {
  LogResume resume{node_, {}};
  for (auto& [attempt, entry] : attempts_) {
    for (auto& [name, stream] : entry.streams) {
      if (stream.ask_at <= now && resume.keys.size() < kKeysPerResume) {
        stream.state = Stream::State::resuming;
        stream.ask_at = now + limits_.resume_after;
        resume.keys.push_back({attempt, name.first, name.second});
      }
      next_ = std::min(next_, stream.ask_at);
    }
  }
  if (!resume.keys.empty() && !send_(resume)) {
    for (const LogKey& key : resume.keys) find(key)->ask_at = now + limits_.retry_after;
    next_ = std::min(next_, now + limits_.retry_after);
  }
}

}  // namespace lockstep::agent
