#include "runner/attach/main_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace lockstep::runner {

MainStreams::MainStreams(io::EventLoop& loop, Stdio stdio, LogCapture::Writers logs)
    : loop_(loop), stdio_(std::move(stdio)) {
  for (io::Fd& theirs : stdio_.theirs) theirs.reset();
  sides_[0] = {AttachStream::output, &stdio_.output, std::move(logs.out)};
  sides_[1] = {AttachStream::error, &stdio_.error, std::move(logs.err)};
  for (Side& side : sides_) {
    fcntl(side.log.get(), F_SETFL, O_NONBLOCK);
    watch(side);
  }
}

MainStreams::~MainStreams() {
  detach();
  for (Side& side : sides_) close(side);
  if (stdio_.input) loop_.unwatch(stdio_.input.get(), io::EventLoop::Interest::write);
}

void MainStreams::close(Side& side) {
  if (side.log) loop_.unwatch(side.log.get(), io::EventLoop::Interest::write);
  side.log.reset();
  if (*side.from) {
    loop_.unwatch(side.from->get(), io::EventLoop::Interest::read);
    loop_.unwatch(side.from->get(), io::EventLoop::Interest::write);
  }
  side.from->reset();
  if (talk_ != nullptr) talk_->close(side.stream);
}

void MainStreams::attach(Conversation& talk, std::function<void()> moved) {
  talk_ = &talk;
  moved_ = std::move(moved);
  waits_ = true;
  for (Side& side : sides_) {
    if (!was_attached_) talk.add(side.stream, std::exchange(side.recent, {}));
    if (!*side.from) talk.close(side.stream);
  }
  was_attached_ = true;
  go_on();
}

void MainStreams::detach() {
  if (talk_ == nullptr) return;
  talk_ = nullptr;
  moved_ = nullptr;
  if (const int fd = input_fd(); fd >= 0) loop_.unwatch(fd, io::EventLoop::Interest::write);
  for (Side& side : sides_) watch(side);
}

void MainStreams::wait_for_client(bool wait) {
  if (std::exchange(waits_, wait) == wait) return;
  for (Side& side : sides_) watch(side);
}

void MainStreams::go_on() {
  write_input();
  for (Side& side : sides_) watch(side);
}

void MainStreams::resize(TerminalSize size) {
  if (stdio_.is_terminal && stdio_.output) set_size(stdio_.output.get(), size);
}

// ---- input --------------------------------------------------------------------------------------

void MainStreams::write_input() {
  const int fd = input_fd();
  while (talk_ != nullptr && !talk_->input().empty()) {
    const std::string_view input = talk_->input();
    const ssize_t length = fd < 0 ? -1 : write(fd, input.data(), input.size());
    if (length > 0) {
      last_input_ = input[static_cast<std::size_t>(length) - 1];
      talk_->wrote(static_cast<std::size_t>(length));
    } else if (fd < 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
      talk_->wrote(input.size());
    } else {
      return loop_.watch(fd, io::EventLoop::Interest::write, [this] {
        write_input();
        if (moved_) moved_();
      });
    }
  }
  if (fd < 0) return;
  loop_.unwatch(fd, io::EventLoop::Interest::write);
  if (talk_ == nullptr || !talk_->input_is_over() || std::exchange(is_input_ended_, true)) return;
  if (!stdio_.is_terminal) return stdio_.input.reset();
  const std::string end = end_of_input(fd, last_input_ != '\n');
  [[maybe_unused]] const ssize_t written = write(fd, end.data(), end.size());
}

// ---- output -------------------------------------------------------------------------------------

// Writes to the log. False: the log's pipe is full.
bool MainStreams::write_log(Side& side) {
  while (!side.unlogged.empty() && side.log) {
    const ssize_t length = write(side.log.get(), side.unlogged.data(), side.unlogged.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return false;
    if (length < 0) break;
    side.unlogged.erase(0, static_cast<std::size_t>(length));
  }
  side.unlogged.clear();
  return true;
}

std::size_t MainStreams::room(Side& side) {
  if (talk_ == nullptr) return kMaxAttachData;
  if (talk_->room(side.stream) == 0 && !waits_) talk_->lose(side.stream, kMaxAttachData);
  return std::min(talk_->room(side.stream), kMaxAttachData);
}

void MainStreams::watch(Side& side) {
  if (!*side.from) return;
  const int from = side.from->get();
  const int log = side.log.get();
  const auto pump = [this, &side] {
    if (write_log(side)) read_some(side);
    watch(side);
    if (moved_) moved_();
  };
  if (!side.unlogged.empty()) {
    loop_.unwatch(from, io::EventLoop::Interest::read);
    return loop_.watch(log, io::EventLoop::Interest::write, pump);
  }
  loop_.unwatch(log, io::EventLoop::Interest::write);
  if (room(side) == 0) return loop_.unwatch(from, io::EventLoop::Interest::read);
  loop_.watch(from, io::EventLoop::Interest::read, pump);
}

// Reads a stream. False: nothing was read.
bool MainStreams::read_some(Side& side) {
  const std::size_t most = room(side);
  if (!*side.from || most == 0) return false;
  const auto buffer = std::make_unique_for_overwrite<char[]>(most);
  const ssize_t length = read(side.from->get(), buffer.get(), most);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (length <= 0) {  // a terminal returns EIO at its end
    close(side);
    return false;
  }
  const std::string_view bytes(buffer.get(), static_cast<std::size_t>(length));
  side.unlogged.append(bytes);
  write_log(side);
  if (talk_ != nullptr) {
    talk_->add(side.stream, bytes);
  } else if (!was_attached_) {
    side.recent.append(bytes);
    if (side.recent.size() > kAttachWindow)
      side.recent.erase(0, side.recent.size() - kAttachWindow);
  }
  return true;
}

// Reads at most as much as such streams can hold: a process that we cannot end may go on writing.
bool MainStreams::drain(const std::function<bool()>& take_logs) {
  constexpr int kMostReads = 64;
  waits_ = false;
  for (Side& side : sides_) {
    for (int reads = 0; *side.from && reads < kMostReads; ++reads) {
      while (!write_log(side))
        if (!take_logs()) return false;
      if (!read_some(side)) break;
    }
    while (!write_log(side))
      if (!take_logs()) return false;
    close(side);
  }
  if (moved_) moved_();
  return true;
}

}  // namespace lockstep::runner
