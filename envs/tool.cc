#include "envs/tool.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>

namespace lockstep::envs {
namespace {

constexpr long kLockPauseNs = 100'000'000;
constexpr int kSignals = 128;  // exit codes above this are of signals

// Lines that show that the index was not reached. pip then ends with "no matching distribution",
// the same as for a wrong name.
constexpr std::array<std::string_view, 13> kNotReached{"Retrying (",
                                                       "connection broken",
                                                       "Connection refused",
                                                       "Temporary failure in name",
                                                       "Name or service not",
                                                       "error sending request",
                                                       "dns error",
                                                       "timed out",
                                                       "too many 5",
                                                       " Server Error: ",
                                                       "HTTP status server error",
                                                       "IncompleteRead(",
                                                       "error reading a body from connection"};
constexpr std::array<std::string_view, 6> kRefused{"(401 Unauthorized)",   "403 Forbidden",
                                                   "401 Client Error",     "403 Client Error",
                                                   "HTTP error 401 while", "HTTP error 403 while"};
// Lines about a missing file that an index names. A missing page, by contrast, means a wrong name.
constexpr std::array<std::string_view, 4> kGone{"HTTP error 404 while", "HTTP error 410 while",
                                                "HTTP status client error (404",
                                                "HTTP status client error (410"};
constexpr std::array<std::string_view, 6> kDamaged{"DO NOT MATCH THE HASHES",
                                                   "Hash mismatch",
                                                   "' located at ",
                                                   "an invalid package format",
                                                   "Failed to extract archive",
                                                   "Failed to read from zip"};
constexpr std::array<std::string_view, 3> kNoSpace{"No space left on device", "Disk quota exceeded",
                                                   "os error 28"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& signs) {
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

std::string_view next_line(std::string_view* text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

// "http://host:port" of the first address in the line, without user and password; "": none.
std::string site_in(std::string_view line) {
  const auto scheme = std::min(line.find("http://"), line.find("https://"));
  if (scheme == line.npos) return "";
  line.remove_prefix(scheme);
  line = line.substr(0, line.find_first_of(" '\")>,"));
  const auto host = line.find("//") + 2;
  std::string_view authority = line.substr(host, line.find('/', host) - host);
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  return fmt::format("{}{}", line.substr(0, host), authority);
}

// Leaves out a traceback: if pip itself fails, the error is enough.
std::string without_traceback(std::string_view tail) {
  if (tail.find("/pip/_internal/") == tail.npos) return std::string(tail);
  std::string kept;
  while (!tail.empty()) {
    const std::string_view line = next_line(&tail);
    const bool is_of_it = line.empty() || line.starts_with("  ") ||
                          line.starts_with("Traceback (") || line.starts_with("During handling of");
    if (!is_of_it) kept += fmt::format("{}\n", line);
  }
  return kept;
}

// ": http://host:port, Connection refused", as far as the tool printed it.
std::string in_words(const Unreached& index) {
  if (index.site.empty() && index.why.empty()) return "";
  const bool has_both = !index.site.empty() && !index.why.empty();
  return fmt::format(": {}{}{}", index.site, has_both ? ", " : "", index.why);
}

}  // namespace

Unreached unreached_index(std::string_view tail) {
  constexpr std::array<std::string_view, 5> kWhy{
      "Connection refused", "Temporary failure in name resolution", "Name or service not known",
      "Network is unreachable", "timed out"};
  Unreached index;
  std::string named;
  for (const std::string_view sign : kWhy)
    if (index.why.empty() && tail.find(sign) != tail.npos) index.why = sign;
  while (!tail.empty() && index.site.empty()) {
    const std::string_view line = next_line(&tail);
    if (named.empty()) named = site_in(line);
    if (has_any(line, kNotReached)) index.site = site_in(line);
  }
  if (index.site.empty()) index.site = named;
  return index;
}

Error tool_failure(std::string_view what, const Toolbox::Answer& answer) {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string why;
  if (answer.exit_code > kSignals) {  // a signal of a person, or of the kernel when memory ran out
    code = ErrorCode::unavailable;
    why = " (it was killed)";
  } else if (has_any(answer.tail, kNotReached)) {
    code = ErrorCode::unavailable;
    why = fmt::format(" (the index was not reached{})", in_words(unreached_index(answer.tail)));
  } else if (has_any(answer.tail, kRefused)) {
    code = ErrorCode::permission_denied;
    why = " (the index refused access: check its credentials)";
  } else if (has_any(answer.tail, kDamaged)) {
    code = ErrorCode::corrupt;
    why = " (a package is damaged, or not the one that was locked)";
  } else if (has_any(answer.tail, kGone)) {
    code = ErrorCode::not_found;
    why = " (a package does not exist)";
  } else if (has_any(answer.tail, kNoSpace)) {
    code = ErrorCode::resource_exhausted;
    why = " (the disk is full)";
  }
  return make_error(code, fmt::format("{}{}; it exited with {}:\n{}", what, why, answer.exit_code,
                                      without_traceback(answer.tail)));
}

Status run_tool(Toolbox& tools, const Words& words, std::string_view what) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words));
  if (answer.exit_code != 0) return tool_failure(what, answer);
  return {};
}

Result<io::FileLock> lock_of(Toolbox& tools, const std::string& path, std::string_view waiting) {
  for (bool first = true;; first = false) {
    TRY_ASSIGN(auto lock, io::FileLock::try_acquire(path));
    if (lock) return std::move(*lock);
    TRY(tools.go_on());
    if (first) tools.say(waiting);
    const timespec pause{0, kLockPauseNs};
    ::nanosleep(&pause, nullptr);
  }
}

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run({tools.find(python), "-m", "venv", prefix}));
  if (answer.exit_code == 0) return {};
  Error error =
      tool_failure(fmt::format("{} could not make a virtual environment", python), answer);
  if (answer.tail.find("ensurepip") != std::string::npos)
    error.message += "install the package python3-venv on this node, or put uv on PATH";
  return error;
}

}  // namespace lockstep::envs
