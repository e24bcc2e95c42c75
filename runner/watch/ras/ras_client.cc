#include "runner/watch/ras/ras_client.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "common/base/printable.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kRasReadBytes = 64 << 10;
constexpr std::size_t kAnswersBefore = 3;  // lines of answers before the report
constexpr std::size_t kShownOfRas = 200;

using Interest = io::EventLoop::Interest;

// Removes and returns the first line; nullopt: it is not complete.
std::optional<std::string_view> take_ras_line(std::string_view* text) {
  const std::size_t end = text->find('\n');
  if (end == text->npos) return std::nullopt;
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end + 1);
  return line;
}

}  // namespace

std::optional<std::uint16_t> ras_port_of(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == address.npos) return std::nullopt;
  const std::string_view host = address.substr(0, colon), digits = address.substr(colon + 1);
  if (host != "localhost" && host != "127.0.0.1") return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0)
    return std::nullopt;
  return port;
}

// ---- the conversation ---------------------------------------------------------------------------

std::string_view RasConversation::questions() {
  return "CLIENT PROTOCOL 2\nTIMEOUT 5\nSET FORMAT json\nVERBOSE STATUS\n";
}

bool RasConversation::take(std::string_view bytes) {
  if (said_.size() + bytes.size() > kMaxRasBytes) return false;
  said_ += bytes;
  return true;
}

Result<RasReport> RasConversation::report() const {
  std::string_view rest = said_;
  bool is_json = false;
  for (std::size_t i = 0; i < kAnswersBefore; ++i) {
    const auto line = take_ras_line(&rest);
    if (!line || (i == 0 && !line->starts_with("SERVER PROTOCOL ")))
      return make_error(ErrorCode::corrupt,
                        fmt::format("the program that answers is not NCCL's RAS: \"{}\"",
                                    in_one_line(std::string_view(said_).substr(0, kShownOfRas))));
    is_json = line->starts_with("OK");  // the last answer counts
  }
  return is_json ? parse_ras_json(rest) : parse_ras_text(rest);
}

// ---- the connection -----------------------------------------------------------------------------

void RasClient::ask(Instant now, std::uint16_t port, Told told) {
  if (is_asking()) return;
  told_ = std::move(told);
  until_ = now + kRasTimeout;
  left_ = RasConversation::questions();
  talk_ = {};
  failed_.clear();
  fd_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_begun = fd_ && (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address),
                                          sizeof address) == 0 ||
                                errno == EINPROGRESS);
  if (!is_begun) {
    failed_ = errno_error(errno, fmt::format("NCCL's RAS at 127.0.0.1:{}", port)).message;
    until_ = now;
    return;
  }
  loop_.watch(fd_.get(), Interest::write, [this] { write(); });
}

void RasClient::write() {
  while (!left_.empty()) {
    const ssize_t length = ::send(fd_.get(), left_.data(), left_.size(), MSG_NOSIGNAL);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return;
    if (length < 0) return finish(errno_error(errno, "NCCL's RAS"));
    left_.remove_prefix(static_cast<std::size_t>(length));
  }
  loop_.unwatch(fd_.get(), Interest::write);
  loop_.watch(fd_.get(), Interest::read, [this] { read(); });
}

// Reads a little per turn: a report may be large, and other handlers wait.
void RasClient::read() {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kRasReadBytes);
  const ssize_t length = ::recv(fd_.get(), buffer.get(), kRasReadBytes, 0);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length < 0) return finish(errno_error(errno, "NCCL's RAS"));
  if (length == 0) return finish(talk_.report());
  if (!talk_.take({buffer.get(), static_cast<std::size_t>(length)}))
    finish(make_error(ErrorCode::corrupt, "NCCL's RAS said more than fits a report"));
}

void RasClient::expire(Instant now) {
  if (!is_asking() || now < until_) return;
  finish(make_error(failed_.empty() ? ErrorCode::deadline_exceeded : ErrorCode::unavailable,
                    failed_.empty() ? fmt::format("NCCL's RAS did not answer within {}",
                                                  format_duration(kRasTimeout))
                                    : failed_));
}

void RasClient::finish(Result<RasReport> result) {
  const Told told = std::exchange(told_, nullptr);
  stop();
  if (told) told(std::move(result));
}

void RasClient::stop() {
  if (fd_) {
    loop_.unwatch(fd_.get(), Interest::read);
    loop_.unwatch(fd_.get(), Interest::write);
  }
  fd_.reset();
  told_ = nullptr;
  until_ = Instant::never();
  talk_ = {};
}

}  // namespace lockstep::runner
