#include "launcher/cli/attach/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "launcher/cli/attach/new_id.h"
#include "launcher/cli/attach/streams.h"
#include "launcher/cli/terminal/escape_filter.h"
#include "launcher/cli/terminal/raw_terminal.h"

namespace lockstep::cli {

namespace {

// The most that a pipe takes without blocking after poll(2) (PIPE_BUF).
constexpr std::size_t kPieceBytes = 4096;
constexpr std::size_t kReadBytes = 64u << 10;
constexpr std::size_t kMostOpenings = 64;  // openings whose refusals are recognised
constexpr const char* kEscapes =
    "~. at the start of a line leaves this session and ends what runs in it, ~~ types a ~";

// Opens the file anew, so that only this descriptor does not block: our shell shares the first one.
// Regular files keep the shared one, which has their position. Not open: the shared one is used.
io::Fd own_description(int fd) {
  if (::isatty(fd) != 1) return {};
  return io::Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                       O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

// Writes to our standard output or standard error.
class Sink {
 public:
  Sink(io::EventLoop& loop, int fd) : loop_(loop), fd_(fd), own_(own_description(fd)) {}
  ~Sink() { wait_for_room(false, {}); }

  // Writes bytes and returns their number; nullopt: writing fails for good.
  std::optional<std::size_t> write(std::string_view bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      pollfd entry{fd(), POLLOUT, 0};
      if (::poll(&entry, 1, 0) != 1) return done;
      const std::string_view piece = bytes.substr(done, kPieceBytes);
      const ssize_t count = ::write(fd(), piece.data(), piece.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return done;
      if (count < 0) return std::nullopt;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }
  void wait_for_room(bool waits, std::function<void()> then) {
    if (waits == waits_) return;
    waits_ = waits;
    if (waits)
      loop_.watch(fd(), io::EventLoop::Interest::write, std::move(then));
    else
      loop_.unwatch(fd(), io::EventLoop::Interest::write);
  }

 private:
  int fd() const { return own_ ? own_.get() : fd_; }

  io::EventLoop& loop_;
  const int fd_;
  const io::Fd own_;
  bool waits_ = false;
};

}  // namespace

struct AttachClient::Impl {
  Impl(Connection& c, Terminal& t, AttachOptions o)
      : connection(c),
        terminal(t),
        options(std::move(o)),
        streams(options.open, clock.now(), options.open_within),
        out(c.loop(), STDOUT_FILENO),
        err(c.loop(), STDERR_FILENO) {}
  ~Impl() { read_input(false); }

  void send();
  void progress(Instant now);
  void begin();
  void finish(AttachOutcome outcome);
  void read_input(bool reads);
  void on_input();
  void on_typed(std::string_view bytes, Instant now);
  void write(AttachStream stream, Instant now);
  std::optional<std::size_t> write_now(AttachStream stream, std::string_view bytes);

  Connection& connection;
  Terminal& terminal;
  const AttachOptions options;
  const AttachId id = new_attach_id();
  io::SystemClock clock;
  AttachStreams streams;
  Sink out, err;
  EscapeFilter escapes;
  std::optional<RawTerminal> raw;
  std::set<std::uint64_t> openings;  // numbers of the newest openings
  std::optional<AttachOutcome> outcome;
  bool has_begun = false;
  bool reads = false;
  bool input_ended = false;
  bool error_closed = false;
  bool at_line_start = true;  // whether the terminal is at the start of a line
};

// ---- frames ------------------------------------------------------------------------------------

void AttachClient::Impl::send() {
  for (AttachBody& body : streams.take_frames()) {
    const bool is_opening = std::holds_alternative<AttachOpen>(body);
    BulkEnvelope envelope;
    envelope.body = AttachFrame{id, std::move(body)};
    const std::uint64_t number = connection.send_bulk(std::move(envelope));
    if (!is_opening) continue;
    openings.insert(number);
    if (openings.size() > kMostOpenings) openings.erase(openings.begin());
  }
}

// Called after each event: does what follows from it.
void AttachClient::Impl::progress(Instant now) {
  if (outcome) return;
  if (streams.opened() && !has_begun) begin();
  write(AttachStream::output, now);
  write(AttachStream::error, now);
  if (outcome) return;
  if (const AttachEnd* end = streams.ended()) {
    finish({AttachOutcome::How::ended, *end, {}, 0});
  } else if (streams.refused()) {
    finish({AttachOutcome::How::refused, {}, streams.refused(), 0});
  } else {
    read_input(streams.room() > 0 && !input_ended);
    send();
  }
}

void AttachClient::Impl::begin() {
  has_begun = true;
  if (options.greeting && terminal.is_terminal(LogStream::err))
    terminal.print_line(options.greeting(*streams.opened()));
  terminal.clear_status();
  if (!options.is_terminal) return;
  terminal.set_raw(true);
  raw.emplace(STDIN_FILENO);
}

void AttachClient::Impl::finish(AttachOutcome end) {
  outcome = std::move(end);
  streams.close();
  send();
  read_input(false);
  out.wait_for_room(false, {});
  err.wait_for_room(false, {});
  if (!raw) return;
  raw.reset();
  terminal.set_raw(false, at_line_start);
}

// ---- our standard streams ----------------------------------------------------------------------

void AttachClient::Impl::read_input(bool now_reads) {
  if (reads == now_reads) return;
  reads = now_reads;
  if (reads)
    connection.loop().watch(STDIN_FILENO, io::EventLoop::Interest::read, [this] { on_input(); });
  else
    connection.loop().unwatch(STDIN_FILENO, io::EventLoop::Interest::read);
}

void AttachClient::Impl::on_input() {
  const Instant now = clock.now();
  std::array<char, kReadBytes> buffer;
  // A "~" that was held back is sent in addition.
  const std::size_t most = std::min(buffer.size(), streams.room());
  const ssize_t count = ::read(STDIN_FILENO, buffer.data(), most > 1 ? most - 1 : most);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) {
    on_typed({buffer.data(), static_cast<std::size_t>(count)}, now);
  } else {
    input_ended = true;
    streams.end_input(now);
  }
  progress(now);
}

void AttachClient::Impl::on_typed(std::string_view bytes, Instant now) {
  if (!options.is_terminal || !options.escapes) return streams.feed(bytes, now);
  const EscapeFilter::Typed typed = escapes.take(bytes);
  if (!typed.bytes.empty()) streams.feed(typed.bytes, now);
  if (typed.asks) terminal.print_line(kEscapes);
  if (typed.leaves) finish({AttachOutcome::How::left, {}, {}, 0});
}

void AttachClient::Impl::write(AttachStream stream, Instant now) {
  const std::string_view bytes = streams.waiting(stream);
  if (outcome || bytes.empty()) return;
  const auto done = write_now(stream, bytes);
  if (!done) return finish({AttachOutcome::How::output_closed, {}, {}, 0});
  at_line_start = *done == 0 ? at_line_start : bytes[*done - 1] == '\n';
  streams.written(stream, *done, now);
  Sink& sink = stream == AttachStream::error ? err : out;
  sink.wait_for_room(!streams.waiting(stream).empty(), [this] { progress(clock.now()); });
}

// Writes output. nullopt: standard output is closed. If only standard error is closed, the program
// continues.
std::optional<std::size_t> AttachClient::Impl::write_now(AttachStream stream,
                                                         std::string_view bytes) {
  const bool is_error = stream == AttachStream::error;
  if (!options.shows_output || (is_error && error_closed)) return bytes.size();
  // Our own status line is removed first.
  if (const LogStream ours = is_error ? LogStream::err : LogStream::out;
      terminal.has_status_line() && terminal.is_terminal(ours) && !raw) {
    if (terminal.write_raw(ours, bytes) || is_error) return bytes.size();
    return std::nullopt;
  }
  const auto done = (is_error ? err : out).write(bytes);
  if (done || !is_error) return done;
  error_closed = true;
  return bytes.size();
}

// ---- the client --------------------------------------------------------------------------------

AttachClient::AttachClient(Connection& connection, Terminal& terminal, AttachOptions options)
    : impl_(std::make_unique<Impl>(connection, terminal, std::move(options))) {
  impl_->send();
}

AttachClient::~AttachClient() {
  if (!impl_->outcome) impl_->finish({AttachOutcome::How::left, {}, {}, 0});
}

bool AttachClient::on_bulk(const BulkEnvelope& envelope) {
  Impl& me = *impl_;
  const Instant now = me.clock.now();
  const auto* frame = std::get_if<AttachFrame>(&envelope.body);
  const auto* refused = std::get_if<BulkRefused>(&envelope.body);
  if (frame != nullptr && frame->attachment == me.id)
    me.streams.on_frame(frame->body, now);
  else if (refused != nullptr && me.openings.contains(envelope.reply_to))
    me.streams.on_frame(AttachRefused{refused->message, refused->for_now}, now);
  else
    return false;
  me.progress(now);
  return true;
}

void AttachClient::on_bulk_up() {
  const Instant now = impl_->clock.now();
  impl_->streams.on_link_up(now);
  impl_->progress(now);
}

void AttachClient::tick(Instant now) {
  impl_->streams.tick(now);
  impl_->progress(now);
}

Instant AttachClient::next_deadline() const {
  return impl_->outcome ? Instant::never() : impl_->streams.next_deadline();
}

void AttachClient::resize() {
  impl_->streams.resize(terminal_size(STDIN_FILENO));
  impl_->progress(impl_->clock.now());
}

void AttachClient::continued() {
  if (impl_->raw) impl_->raw->enter();
  if (impl_->options.is_terminal) resize();
}

void AttachClient::notify(int signal) {
  impl_->streams.notify(signal);
  impl_->progress(impl_->clock.now());
}

void AttachClient::leave(int signal) {
  if (!impl_->outcome) impl_->finish({AttachOutcome::How::left, {}, {}, signal});
}

bool AttachClient::is_opened() const { return impl_->streams.opened().has_value(); }
Duration AttachClient::silent_for(Instant now) const { return impl_->streams.silent_for(now); }
const std::string& AttachClient::waits_for() const { return impl_->streams.waits_for(); }
const std::optional<AttachOutcome>& AttachClient::outcome() const { return impl_->outcome; }

}  // namespace lockstep::cli
