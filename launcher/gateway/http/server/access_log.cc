#include "launcher/gateway/http/server/access_log.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "common/base/printable.h"

namespace lockstep::http {
namespace {

constexpr std::size_t kMaxWordBytes = 300;

// A client's text as one word of a line that is split at blanks.
std::string word(const std::string& text) {
  if (text.empty()) return "-";
  std::string shown = in_one_line(cut(text, kMaxWordBytes));
  for (char& c : shown)
    if (c == ' ') c = '_';
  return shown;
}

}  // namespace

std::string access_line(const AccessRecord& record) {
  std::string line =
      fmt::format("{} {} c{}/{} {} {} {} {} in={} out={} {}ms", to_string(record.began),
                  record.address.empty() ? "unix" : word(record.address), record.connection,
                  record.request, word(record.user), word(record.method), word(record.path),
                  record.status, record.bytes_in, record.bytes_out, record.took / milliseconds(1));
  if (!record.dropped.empty())
    line += " dropped: " + in_one_line(cut(record.dropped, kMaxWordBytes));
  return line;
}

}  // namespace lockstep::http
