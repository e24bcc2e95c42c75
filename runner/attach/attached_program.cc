#include "runner/attach/attached_program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr AttachStream kOutputs[] = {AttachStream::output, AttachStream::error};

}  // namespace

AttachedProgram::AttachedProgram(io::EventLoop& loop, Conversation& talk, Stdio stdio,
                                 std::function<void()> moved)
    : loop_(loop), talk_(talk), stdio_(std::move(stdio)), moved_(std::move(moved)) {
  for (io::Fd& theirs : stdio_.theirs) theirs.reset();
  go_on();
}

AttachedProgram::~AttachedProgram() { hang_up(); }

io::Fd& AttachedProgram::fd_of(AttachStream stream) {
  return stream == AttachStream::error ? stdio_.error : stdio_.output;
}

void AttachedProgram::hang_up() {
  for (io::Fd* fd : {&stdio_.input, &stdio_.output, &stdio_.error}) {
    if (!*fd) continue;
    loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
    loop_.unwatch(fd->get(), io::EventLoop::Interest::write);
    fd->reset();
  }
}

void AttachedProgram::go_on() {
  write_input();
  for (const AttachStream stream : kOutputs) watch(stream);
}

void AttachedProgram::watch(AttachStream stream) {
  const int fd = fd_of(stream).get();
  if (fd < 0) return;
  if (talk_.room(stream) == 0) return loop_.unwatch(fd, io::EventLoop::Interest::read);
  loop_.watch(fd, io::EventLoop::Interest::read, [this, stream] {
    read_some(stream);
    watch(stream);
    moved_();
  });
}

// Reads a stream. Reading a terminal fails with EIO after its last process has closed it.
bool AttachedProgram::read_some(AttachStream stream) {
  io::Fd& fd = fd_of(stream);
  const std::size_t most = std::min(talk_.room(stream), kMaxAttachData);
  if (!fd || most == 0) return false;
  const auto buffer = std::make_unique_for_overwrite<char[]>(most);
  const ssize_t length = read(fd.get(), buffer.get(), most);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (length > 0) {
    talk_.add(stream, {buffer.get(), static_cast<std::size_t>(length)});
    return true;
  }
  talk_.close(stream);
  if (stream == AttachStream::output && stdio_.is_terminal) {
    hang_up();
    return false;
  }
  loop_.unwatch(fd.get(), io::EventLoop::Interest::read);
  fd.reset();
  return false;
}

// Writes input. Input that a program does not read any more is dropped, as for a pipe whose reader
// has closed it.
void AttachedProgram::write_input() {
  const int fd = input_fd();
  while (!talk_.input().empty()) {
    const std::string_view input = talk_.input();
    const ssize_t length = fd < 0 ? -1 : write(fd, input.data(), input.size());
    if (length > 0) {
      last_input_ = input[static_cast<std::size_t>(length) - 1];
      talk_.wrote(static_cast<std::size_t>(length));
      continue;
    }
    if (fd >= 0 && length < 0 && errno == EINTR) continue;
    if (fd < 0 || (length < 0 && errno != EAGAIN)) {
      talk_.wrote(input.size());
      continue;
    }
    return loop_.watch(fd, io::EventLoop::Interest::write, [this] {
      write_input();
      moved_();
    });
  }
  if (talk_.input_is_over()) return end_input();
  if (fd >= 0) loop_.unwatch(fd, io::EventLoop::Interest::write);
}

void AttachedProgram::end_input() {
  const int fd = input_fd();
  if (fd < 0) return;
  if (!stdio_.is_terminal) {
    loop_.unwatch(fd, io::EventLoop::Interest::write);
    return stdio_.input.reset();
  }
  if (!std::exchange(is_input_ended_, true)) end_bytes_ = end_of_input(fd, last_input_ != '\n');
  const ssize_t length = end_bytes_.empty() ? 0 : write(fd, end_bytes_.data(), end_bytes_.size());
  if (length > 0) end_bytes_.erase(0, static_cast<std::size_t>(length));
  if (end_bytes_.empty() || (length < 0 && errno != EAGAIN))
    return loop_.unwatch(fd, io::EventLoop::Interest::write);
  loop_.watch(fd, io::EventLoop::Interest::write, [this] { end_input(); });
}

void AttachedProgram::resize(TerminalSize size) {
  if (stdio_.is_terminal && stdio_.output) set_size(stdio_.output.get(), size);
}

// Finishes the streams. If the conversation has no room, the client has not read earlier bytes yet;
// it may take its time.
bool AttachedProgram::finish(bool force) {
  bool is_over = true;
  for (const AttachStream stream : kOutputs) {
    while (read_some(stream)) {
    }
    if (!fd_of(stream)) continue;
    is_over = false;
    if (!force || talk_.room(stream) == 0) continue;
    talk_.close(stream);
    loop_.unwatch(fd_of(stream).get(), io::EventLoop::Interest::read);
    fd_of(stream).reset();
  }
  if (!is_over) go_on();
  return is_over;
}

}  // namespace lockstep::runner
