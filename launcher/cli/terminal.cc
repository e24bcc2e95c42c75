#include "launcher/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "common/io/file_system.h"
#include "launcher/cli/output.h"

namespace lockstep::cli {

namespace {

std::size_t columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// A pipe or socket whose reader is gone says so; a full disk does not.
bool is_closed(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLNVAL)) != 0;
}

}  // namespace

Terminal::Terminal()
    : out_tty_(::isatty(STDOUT_FILENO) == 1), err_tty_(::isatty(STDERR_FILENO) == 1) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  color_ = !dumb && (no_color == nullptr || *no_color == '\0');
  if (dumb) err_tty_ = false;
}

Terminal::~Terminal() { clear_status(); }

bool Terminal::write(LogStream stream, std::string_view bytes) {
  if (bytes.empty()) return true;
  clear_status();
  const bool to_out = stream == LogStream::out;
  if (to_out ? out_tty_ : err_tty_) at_line_start_ = bytes.back() == '\n';
  const Status written = io::write_all(to_out ? STDOUT_FILENO : STDERR_FILENO, bytes);
  if (!written && to_out && !lost_output_)
    lost_output_ = LostOutput{is_closed(STDOUT_FILENO), written.error().message};
  return written.has_value();
}

void Terminal::note(std::string_view text) {
  std::string line = "lockstep: " + printable(text) + "\n";
  if (err_tty_ && !at_line_start_ && !status_shown_) line.insert(0, "\n");
  err(line);
}

void Terminal::progress(std::string_view text) {
  if (!err_tty_) return;
  clear_status();
  std::string line = printable(text).substr(0, columns() - 1);
  if (!at_line_start_) line.insert(0, "\n");
  at_line_start_ = true;
  status_shown_ = io::write_all(STDERR_FILENO, line).has_value();
}

void Terminal::clear_status() {
  if (!status_shown_) return;
  status_shown_ = false;
  [[maybe_unused]] const auto cleared = io::write_all(STDERR_FILENO, "\r\x1b[K");
}

}  // namespace lockstep::cli
