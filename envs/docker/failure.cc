#include "envs/docker/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <optional>

namespace lockstep::envs {
namespace {

constexpr int kSignals = 128;  // exit codes above this are of signals

// Messages that mean the engine cannot be reached. In lower case.
constexpr std::array<std::string_view, 4> kAway{
    "cannot connect to the docker daemon", "is the docker daemon running",
    "permission denied while trying to connect", "error during connect"};
constexpr std::array<std::string_view, 3> kNoSpace{"no space left on device", "disk quota exceeded",
                                                   "not enough space"};
constexpr std::array<std::string_view, 16> kNetwork{"dial tcp",
                                                    "no such host",
                                                    "i/o timeout",
                                                    "timed out",
                                                    "tls handshake",
                                                    "connection refused",
                                                    "connection reset",
                                                    "toomanyrequests",
                                                    "network is unreachable",
                                                    "temporary failure",
                                                    "could not resolve",
                                                    "unexpected eof",
                                                    "service unavailable",
                                                    "bad gateway",
                                                    "context deadline",
                                                    "request canceled"};
constexpr std::array<std::string_view, 10> kNotThere{"not found",         "manifest unknown",
                                                     "name unknown",      "does not exist",
                                                     "access denied",     "denied:",
                                                     "unauthorized",      "authentication required",
                                                     "invalid reference", "no matching manifest"};
constexpr std::array<std::string_view, 3> kNoImage{"no such image", "image not known",
                                                   "no such object"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& signs) {
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

// Lines that engines, and the tools in a pipe with them, print beside the reason.
bool is_idle(std::string_view line) {
  constexpr std::string_view kIdle[] = {
      "See '", "Run '", "tar: ", "Removing intermediate", "Sending build context", "---", " ---"};
  return line.find_first_not_of(" \t\r") == line.npos ||
         std::any_of(std::begin(kIdle), std::end(kIdle),
                     [&](std::string_view lead) { return line.starts_with(lead); });
}

// Removes escape sequences: docker's builder colours output that a step writes to stderr.
std::string without_escapes(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line.substr(at).starts_with("\033["))
      at = std::min(line.find_first_of("@ABCDEFGHJKSTfhlmnsu", at + 2), line.size() - 1);
    else if (static_cast<unsigned char>(line[at]) >= ' ' || line[at] == '\t')
      text += line[at];
  }
  return text;
}

// The last lines, without those that give no reason.
std::string last_lines(std::string_view text) {
  constexpr std::size_t kLines = 6;
  std::deque<std::string> kept;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    std::string line = without_escapes(whole);
    if (is_idle(line)) continue;
    kept.push_back(std::move(line));
    if (kept.size() > kLines) kept.pop_front();
  }
  return fmt::format("{}", fmt::join(kept, "\n"));
}

Error failure(ErrorCode code, std::string_view what, std::string_view why,
              const Toolbox::Answer& answer) {
  const std::string words = last_words(answer.tail);
  return make_error(code, fmt::format("{}{}{}{} (exit code {})", what, why,
                                      words.empty() ? "" : ": ", words, answer.exit_code));
}

// An error of the node, which does not depend on the request; nullopt: the error is about the
// request.
std::optional<Error> passing(std::string_view what, const Toolbox::Answer& answer) {
  const std::string text = lower(answer.tail);
  if (answer.exit_code > kSignals)
    return failure(ErrorCode::unavailable, what, " (it was killed)", answer);
  if (has_any(text, kAway))
    return failure(ErrorCode::unavailable, what, " (the engine does not answer)", answer);
  if (has_any(text, kNoSpace))
    return failure(ErrorCode::resource_exhausted, what, " (the disk is full)", answer);
  if (has_any(text, kNetwork))
    return failure(ErrorCode::unavailable, what, " (network error)", answer);
  return std::nullopt;
}

}  // namespace

Error pull_failure(std::string_view image, std::string_view engine, const Toolbox::Answer& answer) {
  const std::string away =
      fmt::format("the image {} is not in {} of this node, and could not be pulled", image, engine);
  if (auto error = passing(away, answer)) return *std::move(error);
  if (!has_any(lower(answer.tail), kNotThere))
    return failure(ErrorCode::unavailable, away, "", answer);
  return failure(ErrorCode::not_found,
                 fmt::format("the image {} is neither in {} of this node nor in its registry, or "
                             "the registry refuses access to it",
                             image, engine),
                 "", answer);
}

Error build_failure(std::string_view what, const Toolbox::Answer& answer) {
  if (auto error = passing(what, answer)) return *std::move(error);
  // The last line names the step that failed; the lines before it say why.
  Error error = make_error(
      ErrorCode::invalid_argument,
      fmt::format("{} (exit code {}):\n{}", what, answer.exit_code, last_lines(answer.tail)));
  if (answer.tail.find("short-name") != std::string::npos)
    error.message += "; write full names for podman: FROM docker.io/library/debian:12";
  return error;
}

Error engine_failure(std::string_view what, const Toolbox::Answer& answer) {
  if (auto error = passing(what, answer)) return *std::move(error);
  return failure(ErrorCode::unavailable, what, "", answer);
}

bool says_no_such_image(std::string_view text) { return has_any(lower(text), kNoImage); }

std::string last_words(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!is_idle(line)) last = line;
  }
  return std::string(last.substr(0, last.find_last_not_of(" \t\r") + 1));
}

}  // namespace lockstep::envs
