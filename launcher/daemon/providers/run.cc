#include "launcher/daemon/providers/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/domain/why/nodes/providers.h"

namespace lockstep::launcher {
namespace {

constexpr int kNotUnderstood = 2;  // exit code of decision 038: the request was refused
// The reads that empty a pipe; further output comes from a process that escaped.
constexpr int kReadsAtItsEnd = 4;
constexpr std::size_t kReadBytes = 64u << 10;

// Reads what is available. End of file and "nothing now" are treated alike: the pidfd shows when
// the program has ended.
std::string_view read_now(int fd, std::array<char, kReadBytes>& buffer, bool* is_over) {
  ssize_t got = 0;
  do {
    got = ::read(fd, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  *is_over = got == 0;
  return {buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
}

}  // namespace

Result<std::unique_ptr<ProviderProcess>> ProviderProcess::start(
    io::EventLoop& loop, const std::vector<std::string>& words, Input input, Limits limits,
    Instant now, Handlers handlers) {
  io::Fd held;
  if (!input.file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
    input.file.reset(ends[0]);
    held.reset(ends[1]);
    ::fcntl(held.get(), F_SETFL, O_NONBLOCK);
  }
  TRY_ASSIGN(auto program, io::ChildProgram::start(words, input.file.get()));
  std::unique_ptr<ProviderProcess> process(
      new ProviderProcess(loop, std::move(program), limits, std::move(handlers)));
  process->input_ = std::move(held);
  process->unwritten_ = std::move(input.held);
  if (limits.time != Duration::max()) process->deadline_ = now + limits.time;
  process->watch();
  return process;
}

void ProviderProcess::watch() {
  using Interest = io::EventLoop::Interest;
  loop_.watch(program_.output(), Interest::read, [this] { read_output(); });
  loop_.watch(program_.errors(), Interest::read, [this] { read_errors(); });
  loop_.watch(program_.ended(), Interest::read, [this] { on_ended(); });
  if (input_) loop_.watch(input_.get(), Interest::write, [this] { write_input(); });
}

ProviderProcess::~ProviderProcess() {
  close_input();
  for (const int fd : {program_.output(), program_.errors(), program_.ended()})
    loop_.unwatch(fd, io::EventLoop::Interest::read);
}

// ---- its standard input -------------------------------------------------------------------------

void ProviderProcess::write_input() {
  const ssize_t done = ::write(input_.get(), unwritten_.data(), unwritten_.size());
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (done < 0) return close_input();  // the program reads no more; its end will be noticed
  unwritten_.erase(0, static_cast<std::size_t>(done));
  if (unwritten_.empty()) loop_.unwatch(input_.get(), io::EventLoop::Interest::write);
}

void ProviderProcess::close_input() {
  if (!input_) return;
  loop_.unwatch(input_.get(), io::EventLoop::Interest::write);
  input_.reset();
}

// ---- its output ---------------------------------------------------------------------------------

bool ProviderProcess::read_output() {
  std::array<char, kReadBytes> buffer;
  bool is_over = false;
  const std::string_view bytes = read_now(program_.output(), buffer, &is_over);
  if (is_over) loop_.unwatch(program_.output(), io::EventLoop::Interest::read);
  take_output(bytes);
  return !bytes.empty();
}

bool ProviderProcess::read_errors() {
  std::array<char, kReadBytes> buffer;
  bool is_over = false;
  const std::string_view bytes = read_now(program_.errors(), buffer, &is_over);
  if (is_over) loop_.unwatch(program_.errors(), io::EventLoop::Interest::read);
  errors_.bytes += bytes.size();
  if (errors_.bytes <= kMaxErrorBytes) take_errors(bytes);
  return !bytes.empty();
}

void ProviderProcess::take_output(std::string_view bytes) {
  while (!bytes.empty() && !broken_ && !is_stopping()) {
    const auto newline = bytes.find('\n');
    output_.begun += bytes.substr(0, newline);
    if (output_.begun.size() > kMaxLineBytes)
      return break_off(ProviderLineTooLong{static_cast<std::int64_t>(kMaxLineBytes)});
    if (newline == std::string_view::npos) return;
    bytes.remove_prefix(newline + 1);
    take_line(std::exchange(output_.begun, {}));
  }
}

void ProviderProcess::take_line(std::string_view line) {
  if (++output_.count > limits_.lines)
    return break_off(ProviderPrintedTooMuch{static_cast<std::int64_t>(limits_.lines)});
  handlers_.on_line(line);
}

void ProviderProcess::take_errors(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const std::size_t room = kMaxErrorLineBytes - errors_.begun.size();
    errors_.begun += bytes.substr(0, std::min(newline, room));
    if (newline == std::string_view::npos) return;
    bytes.remove_prefix(newline + 1);
    if (errors_.begun.empty()) continue;
    last_error_line_ = std::exchange(errors_.begun, {});
    handlers_.on_error_line(last_error_line_);
  }
}

// ---- its end ------------------------------------------------------------------------------------

void ProviderProcess::break_off(Why why) {
  broken_ = std::move(why);
  loop_.unwatch(program_.output(), io::EventLoop::Interest::read);
}

void ProviderProcess::stop(Instant now, MachineFault fault, Why why) {
  if (is_stopping()) return;
  stopped_ = Stopped{fault, std::move(why)};
  next_signal_ = input_ ? now + limits_.grace : now;
  close_input();
  tick(now);
}

void ProviderProcess::tick(Instant now) {
  if (now >= next_minute_) {
    next_minute_ = now + minutes(1);
    errors_.bytes = 0;
    if (limits_.lines_a_minute) output_.count = 0;
  }
  if (!is_stopping() && broken_) return stop(now, MachineFault::failed, broken_);
  if (!is_stopping() && now >= deadline_)
    return stop(now, MachineFault::timed_out, ProviderTooSlow{limits_.time});
  if (now < next_signal_) return;
  program_.signal(was_terminated_ ? SIGKILL : SIGTERM);
  was_terminated_ = true;
  next_signal_ = now + limits_.grace;
}

Instant ProviderProcess::due() const {
  if (is_stopping()) return next_signal_;
  return broken_ ? Instant{} : deadline_;
}

void ProviderProcess::on_ended() {
  const auto end = program_.reap();
  if (!end) return;
  for (int i = 0; i < kReadsAtItsEnd && read_output(); ++i) {
  }
  for (int i = 0; i < kReadsAtItsEnd && read_errors(); ++i) {
  }
  if (!output_.begun.empty()) take_output("\n");
  if (!errors_.begun.empty()) take_errors("\n");
  loop_.unwatch(program_.ended(), io::EventLoop::Interest::read);
  next_signal_ = Instant::never();
  has_succeeded_ = !is_stopping() && !broken_ && end->signal == 0 && end->exit_code == 0;
  // Copied, because the handler may destroy this object.
  const auto on_end = std::move(handlers_.on_end);
  const Stopped how =
      stopped_.value_or(Stopped{MachineFault::failed, broken_ ? broken_ : reason(*end)});
  on_end(how.fault, how.why);
}

Why ProviderProcess::reason(const io::ChildProgram::End& end) const {
  if (end.signal != 0) return ProviderKilled{end.signal, ::strsignal(end.signal)};
  if (end.exit_code == 0 || end.exit_code == 1) return ProviderSaidNothing{};
  if (end.exit_code == kNotUnderstood && !last_error_line_.empty())
    return ProviderSaid{last_error_line_};
  return ProviderExited{end.exit_code, last_error_line_};
}

}  // namespace lockstep::launcher
