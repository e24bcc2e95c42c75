#include "launcher/cli/terminal/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "common/base/printable.h"
#include "common/io/file_system.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

}  // namespace

bool Screen::is_possible() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

// Opens the screen. Ctrl-Z would leave the terminal in this mode, so it does nothing.
Screen::Screen() {
  termios now{};
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    now.c_cc[VSUSP] = _POSIX_VDISABLE;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  [[maybe_unused]] const auto written = io::write_all(STDOUT_FILENO, kEnter);
}

Screen::~Screen() {
  [[maybe_unused]] const auto written = io::write_all(STDOUT_FILENO, kLeave);
  if (before_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &*before_);
}

Screen::Size Screen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

bool Screen::draw(const std::string& words) {
  const std::string text = printable(words);
  const Size size = this->size();
  std::string out(kHome);
  std::size_t row = 0;
  for (std::size_t at = 0; at < text.size() && row < size.rows; ++row) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t length = 0, shown = 0;  // keeps whole characters
    while (at + length < end) {
      const bool begins = (static_cast<unsigned char>(text[at + length]) & 0xC0) != 0x80;
      if (begins && ++shown > size.columns) break;
      ++length;
    }
    if (row > 0) out += "\r\n";
    out.append(text, at, length).append(kClearLine);
    at = end + 1;
  }
  out += kClearBelow;
  return io::write_all(STDOUT_FILENO, out).has_value();
}

std::string Screen::typed() {
  if (!before_) return "";
  char keys[64];
  const ssize_t count = ::read(STDIN_FILENO, keys, sizeof keys);
  return count <= 0 ? "" : std::string(keys, static_cast<std::size_t>(count));
}

}  // namespace lockstep::cli
