#include "common/io/attempt_dir.h"

#include <charconv>
#include <string_view>

#include "common/domain/job_spec.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

// Decimal without sign or leading zero, so that every number has one name only.
template <typename Number>
std::optional<Number> parse_canonical(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

}  // namespace

std::string AttemptDir::log(int rank, LogStream stream) const {
  return logs() + "/rank_" + std::to_string(rank) +
         (stream == LogStream::out ? ".stdout" : ".stderr");
}

std::optional<AttemptId> AttemptDir::attempt_of(const std::string& directory_name) {
  const auto dot = directory_name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(directory_name).substr(dot + 1);
  const auto dash = rest.find('-');
  const auto number = parse_canonical<std::uint32_t>(rest.substr(0, dash));
  std::optional<std::uint64_t> era = 0;
  if (dash != std::string_view::npos) {
    era = parse_canonical<std::uint64_t>(rest.substr(dash + 1));
    if (era == 0U) return std::nullopt;
  }
  const std::string job = directory_name.substr(0, dot);
  if (!number || *number == 0 || !era || !validate_job_name(job)) return std::nullopt;
  return AttemptId{JobId(job), *number, *era};
}

std::optional<std::pair<int, LogStream>> AttemptDir::parse_log_name(const std::string& file_name) {
  constexpr std::string_view kPrefix = "rank_";
  std::string_view rest = file_name;
  if (rest.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  rest.remove_prefix(kPrefix.size());
  const auto dot = rest.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto rank = parse_canonical<int>(rest.substr(0, dot));
  const std::string_view suffix = rest.substr(dot);
  if (!rank || *rank < 0) return std::nullopt;
  if (suffix == ".stdout") return std::pair(*rank, LogStream::out);
  if (suffix == ".stderr") return std::pair(*rank, LogStream::err);
  return std::nullopt;
}

std::optional<Duration> read_lease(const AttemptDir& directory) {
  const auto text = read_file(directory.lease(), Bytes{64});
  if (!text) return std::nullopt;
  std::int64_t ns = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), ns);
  if (read.ec != std::errc()) return std::nullopt;
  return Duration(ns);
}

Instant read_started(const AttemptDir& directory) {
  const auto text = read_file(directory.started(), Bytes{64});
  if (!text) return {};
  Instant started;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), started.ns);
  return read.ec == std::errc() ? started : Instant{};
}

std::string code_mount_point(std::uint32_t uid, const AttemptId& attempt) {
  return "/tmp/lockstep-" + std::to_string(uid) + "/" + AttemptDir::name_of(attempt);
}

}  // namespace lockstep::io
