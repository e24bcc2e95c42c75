#include "launcher/cli/terminal/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/printable.h"
#include "common/io/file_system.h"

namespace lockstep::cli {

namespace {

struct Size {
  std::size_t rows = 24, columns = 80;
};

Size size_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_row == 0 ? Size{}.rows : size.ws_row, size.ws_col};
}

// Cuts the line to so many columns. Colour sequences take none, and are kept.
std::string cut_to(const std::string& line, std::size_t columns) {
  std::string out;
  for (std::size_t at = 0, shown = 0; at < line.size();) {
    std::size_t length = 1;
    const bool is_escape = line[at] == '\x1b';
    if (is_escape)
      length =
          line.find('m', at) == std::string::npos ? line.size() - at : line.find('m', at) + 1 - at;
    while (at + length < line.size() &&
           (static_cast<unsigned char>(line[at + length]) & 0xC0) == 0x80)
      ++length;
    if (!is_escape && ++shown > columns) {
      at += length;
      continue;
    }
    out += line.substr(at, length);
    at += length;
  }
  return out;
}

std::string with_returns(const std::string& text) {
  std::string out;
  for (const char c : text) out.append(c == '\n' ? "\r\n" : std::string(1, c));
  return out;
}

// Whether the reader of a pipe or socket has gone, by poll(2), which does not report a full disk.
bool is_closed(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLNVAL)) != 0;
}

}  // namespace

Terminal::Terminal()
    : out_tty_(::isatty(STDOUT_FILENO) == 1),
      err_tty_(::isatty(STDERR_FILENO) == 1),
      err_terminal_(err_tty_) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  color_ = !dumb && (no_color == nullptr || *no_color == '\0');
  if (dumb) err_tty_ = false;
}

Terminal::~Terminal() { clear_status(); }

std::optional<std::size_t> Terminal::columns() const {
  if (!out_tty_) return std::nullopt;
  return size_of(STDOUT_FILENO).columns;
}

bool Terminal::is_terminal(LogStream stream) const {
  return stream == LogStream::out ? out_tty_ : err_terminal_;
}

bool Terminal::write(LogStream stream, std::string_view bytes) {
  if (!is_terminal(stream)) return write_raw(stream, bytes);
  std::string colors;
  const std::string text = printable_log(bytes, &colors);
  return write_raw(stream, raw_ ? with_returns(text) : text);
}

bool Terminal::write_raw(LogStream stream, std::string_view bytes) {
  if (bytes.empty()) return true;
  erase();
  const bool to_out = stream == LogStream::out;
  if (to_out ? out_tty_ : err_tty_) at_line_start_ = bytes.back() == '\n';
  const Status written = io::write_all(to_out ? STDOUT_FILENO : STDERR_FILENO, bytes);
  if (!written && to_out && !lost_output_)
    lost_output_ = LostOutput{is_closed(STDOUT_FILENO), written.error().message};
  return written.has_value();
}

void Terminal::print_line(std::string_view text) {
  std::string line = "lockstep: " + printable(text) + "\n";
  if (err_tty_ ? !at_line_start_ || raw_ : raw_) line.insert(0, "\n");
  err(line);
}

void Terminal::progress(std::string_view text) {
  status_ = printable(text);
  draw();
}

bool Terminal::fits_status_line(const std::string& text) const {
  return cut_to(text, size_of(STDERR_FILENO).columns - 1) == text;
}

void Terminal::live(std::vector<std::string> lines) {
  live_ = std::move(lines);
  draw();
}

void Terminal::draw() {
  erase();
  if (!err_tty_ || !at_line_start_ || raw_) return;
  const Size size = size_of(STDERR_FILENO);
  std::vector<std::string> rows = live_;
  const std::size_t most = std::max<std::size_t>(size.rows, 4) - 2;
  if (rows.size() > most) {
    const std::size_t left = rows.size() - most + 1;
    rows.resize(most - 1);
    rows.push_back("... and " + std::to_string(left) + " more lines like these");
  }
  if (!status_.empty()) rows.push_back(status_);
  if (rows.empty()) return;
  std::string text;
  for (const std::string& row : rows) {
    std::string colors;
    text += text.empty() ? "" : "\n";
    text += printable_log(cut_to(row, size.columns - 1), &colors);
  }
  if (io::write_all(STDERR_FILENO, text)) drawn_rows_ = rows.size();
}

void Terminal::erase() {
  if (drawn_rows_ == 0) return;
  std::string sequence = "\r";
  if (drawn_rows_ > 1) sequence += "\x1b[" + std::to_string(drawn_rows_ - 1) + "A";
  sequence += drawn_rows_ > 1 ? "\x1b[J" : "\x1b[K";
  drawn_rows_ = 0;
  [[maybe_unused]] const auto erased = io::write_all(STDERR_FILENO, sequence);
}

void Terminal::set_raw(bool raw, bool at_line_start) {
  if (raw) clear_status();
  raw_ = raw;
  at_line_start_ = at_line_start;
}

void Terminal::clear_status() {
  erase();
  live_.clear();
  status_.clear();
}

}  // namespace lockstep::cli
