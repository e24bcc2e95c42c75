#include "common/domain/environment/docker_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "common/base/bytes.h"
#include "common/domain/environment/variables.h"

namespace lockstep {

namespace {

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

constexpr std::array<std::string_view, 13> kLimits{
    "core",   "cpu",   "data", "fsize",  "locks",      "memlock", "msgqueue",
    "nofile", "nproc", "rss",  "rttime", "sigpending", "stack"};
// Limits that would give ranks more than their share of the machine.
constexpr std::array<std::string_view, 2> kOperatorsLimits{"nice", "rtprio"};

constexpr std::string_view kNoNewPrivileges = "no-new-privileges";

Status check_ulimit(std::string_view value) {
  const auto equals = value.find('=');
  const std::string_view name = value.substr(0, equals);
  const bool known = std::find(kLimits.begin(), kLimits.end(), name) != kLimits.end();
  if (equals == std::string_view::npos || !known)
    return wrong("must be NAME=SOFT[:HARD], as in nofile=65536 or memlock=-1");
  const std::string_view numbers = value.substr(equals + 1);
  const auto colon = numbers.find(':');
  const auto soft = number_in(numbers.substr(0, colon));
  const auto hard = colon == std::string_view::npos ? soft : number_in(numbers.substr(colon + 1));
  if (!soft || !hard || *soft < -1 || *hard < -1)
    return wrong("must have numbers for its limits, or -1 for none, as in nofile=65536:65536");
  if (*hard != -1 && (*soft == -1 || *soft > *hard))
    return wrong("has a soft limit above the hard one");
  return {};
}

Status check_env(std::string_view value) {
  const auto equals = value.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return wrong("must be NAME=VALUE; variables of the node's agent are not passed to containers");
  if (is_rank_variable(value.substr(0, equals)))
    return wrong("is a variable that Lockstep sets for each rank; leave it out");
  return {};
}

// Checks a tmpfs. Lockstep's own paths in a container begin with a dot.
Status check_tmpfs(std::string_view value) {
  const std::string_view place = value.substr(0, value.find(':'));
  if (!place.starts_with('/') || place == "/")
    return wrong("must be PATH[:OPTIONS] with an absolute path, as in /scratch:size=1g");
  if (place.find("//") != std::string_view::npos || place.find("/.") != std::string_view::npos)
    return wrong("must be a path without '//' and without parts that begin with a dot");
  return {};
}

Status check_host(std::string_view value) {
  const auto separator = value.find_first_of(":=");
  const bool whole = separator != std::string_view::npos && separator > 0 &&
                     separator + 1 < value.size() &&
                     value.find_first_of(" \t\n") == std::string_view::npos;
  return whole ? Status() : wrong("must be NAME:ADDRESS, as in store:10.0.0.7");
}

Status check_capability(std::string_view value) {
  const bool good = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  return good ? Status() : wrong("must be the name of a capability, as in NET_RAW, or ALL");
}

Status check_label(std::string_view value) {
  const std::string_view key = value.substr(0, value.find('='));
  if (key.empty()) return wrong("must be KEY=VALUE");
  if (key == "lockstep" || key.starts_with("lockstep."))
    return wrong(
        "has a key that is reserved for Lockstep; choose one that does not begin with lockstep.");
  return {};
}

Status check_shm_size(const std::string& value) {
  const auto size = parse_bytes(value);
  if (!size || *size < kMinShmSize)
    return wrong(fmt::format("must be a size of at least {}, as in 2g", to_string(kMinShmSize)));
  return {};
}

}  // namespace

Status check_docker_value(std::string_view option, const std::string& value) {
  if (option == "add-host") return check_host(value);
  if (option == "cap-drop") return check_capability(value);
  if (option == "env") return check_env(value);
  if (option == "ipc" && !is_one_of(value, {"private", "shareable", "host"}))
    return wrong("must be private, shareable or host");
  if (option == "label") return check_label(value);
  if (option == "pids-limit" && number_in(value).value_or(-2) < -1)
    return wrong("must be a number, or -1 for none");
  if (option == "security-opt" &&
      !is_one_of(value, {kNoNewPrivileges, "no-new-privileges:true", "no-new-privileges=true"}))
    return wrong("must be no-new-privileges: programs in a container cannot gain privileges");
  if (option == "shm-size") return check_shm_size(value);
  if (option == "tmpfs") return check_tmpfs(value);
  if (option == "ulimit") return check_ulimit(value);
  return {};
}

bool is_operators_value(std::string_view option, std::string_view value) {
  if (option == "ipc") return value.starts_with("container:");
  if (option == "pids-limit") return number_in(std::string(value)).value_or(1) <= 0;
  if (option == "security-opt") return !value.starts_with(kNoNewPrivileges);
  const std::string_view name = value.substr(0, value.find('='));
  return option == "ulimit" && std::find(kOperatorsLimits.begin(), kOperatorsLimits.end(), name) !=
                                   kOperatorsLimits.end();
}

}  // namespace lockstep
