#include "envs/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::envs {
namespace {

constexpr int kSignals = 128;  // exit codes above are of signals

// Signs that the index was not reached; pip ends with "no matching distribution" then, as it does
// for a name that is wrong.
constexpr std::array<std::string_view, 8> kNotReached{
    "Retrying (",          "connection broken",
    "Connection refused",  "Temporary failure in name",
    "Name or service not", "error sending request",
    "dns error",           "timed out"};
// Of a page, which pip says to nobody but uv, and of a file.
constexpr std::array<std::string_view, 6> kRefused{"(401 Unauthorized)",   "403 Forbidden",
                                                   "401 Client Error",     "403 Client Error",
                                                   "HTTP error 401 while", "HTTP error 403 while"};
constexpr std::array<std::string_view, 2> kDamaged{"DO NOT MATCH THE HASHES", "Hash mismatch"};
constexpr std::array<std::string_view, 3> kNoSpace{"No space left on device", "Disk quota exceeded",
                                                   "os error 28"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& signs) {
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

}  // namespace

Error tool_failure(std::string_view what, const Toolbox::Answer& answer) {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string_view why = "";
  if (answer.exit_code > kSignals) {  // somebody's, or the kernel's for lack of memory
    code = ErrorCode::unavailable;
    why = " (it was killed)";
  } else if (has_any(answer.tail, kNotReached)) {
    code = ErrorCode::unavailable;
    why = " (the index was not reached)";
  } else if (has_any(answer.tail, kRefused)) {
    code = ErrorCode::permission_denied;
    why = " (the index may not be read: its credentials)";
  } else if (has_any(answer.tail, kDamaged)) {
    code = ErrorCode::corrupt;
    why = " (a package is not the one that was locked)";
  } else if (has_any(answer.tail, kNoSpace)) {
    code = ErrorCode::resource_exhausted;
    why = " (the disk is full)";
  }
  return make_error(
      code, fmt::format("{}{}; it exited with {}:\n{}", what, why, answer.exit_code, answer.tail));
}

Status run_tool(Toolbox& tools, const Words& words, std::string_view what) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words));
  if (answer.exit_code != 0) return tool_failure(what, answer);
  return {};
}

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run({tools.find(python), "-m", "venv", prefix}));
  if (answer.exit_code == 0) return {};
  Error error = tool_failure(fmt::format("{} made no virtual environment", python), answer);
  if (answer.tail.find("ensurepip") != std::string::npos)
    error.message += "install the package python3-venv on this node, or put uv on PATH";
  return error;
}

}  // namespace lockstep::envs
