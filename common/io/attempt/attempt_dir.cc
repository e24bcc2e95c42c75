#include "common/io/attempt/attempt_dir.h"

#include <charconv>
#include <string_view>

#include "common/base/digest.h"
#include "common/grammar/job_name.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"

namespace lockstep::io {
namespace {

// Reads a decimal without a sign or leading zero, so that each number has only one name.
template <typename Number>
std::optional<Number> parse_canonical(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

struct LogName {
  std::string_view before, after;  // texts before and after the number
};

const LogName& name_of_log(LogStream stream) {
  static constexpr LogName kOut{"rank_", ".stdout"};
  static constexpr LogName kErr{"rank_", ".stderr"};
  static constexpr LogName kEnvironment{"node_", ".environment"};
  switch (stream) {
    case LogStream::out: return kOut;
    case LogStream::err: return kErr;
    case LogStream::environment: break;
  }
  return kEnvironment;
}

}  // namespace

std::string AttemptDir::log(int rank, LogStream stream) const {
  return logs() + "/" + log_name(rank, stream);
}

std::string AttemptDir::log_name(int rank, LogStream stream) {
  const LogName& name = name_of_log(stream);
  return std::string(name.before) + std::to_string(rank) + std::string(name.after);
}

std::optional<AttemptId> AttemptDir::attempt_of(const std::string& directory_name) {
  const auto dot = directory_name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(directory_name).substr(dot + 1);
  const auto dash = rest.find('-');
  const auto number = parse_canonical<std::uint32_t>(rest.substr(0, dash));
  std::optional<std::uint64_t> incarnation = 0;
  if (dash != std::string_view::npos) {
    incarnation = parse_canonical<std::uint64_t>(rest.substr(dash + 1));
    if (incarnation == 0U) return std::nullopt;
  }
  const std::string job = directory_name.substr(0, dot);
  if (!number || *number == 0 || !incarnation || !validate_job_name(job)) return std::nullopt;
  return AttemptId{JobId(job), *number, *incarnation};
}

std::optional<std::pair<int, LogStream>> AttemptDir::parse_log_name(const std::string& file_name) {
  const std::string_view text = file_name;
  for (const LogStream stream : {LogStream::out, LogStream::err, LogStream::environment}) {
    const auto& [before, after] = name_of_log(stream);
    if (text.size() <= before.size() + after.size() || text.substr(0, before.size()) != before ||
        text.substr(text.size() - after.size()) != after)
      continue;
    const auto digits = text.substr(before.size(), text.size() - before.size() - after.size());
    const auto rank = parse_canonical<int>(digits);
    if (rank && *rank >= 0) return std::pair(*rank, stream);
  }
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

Duration read_clock_set(const AttemptDir& directory) {
  const auto text = read_file(directory.clock_set(), Bytes{64});
  if (!text) return {};
  std::int64_t ns = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), ns);
  return read.ec == std::errc() ? Duration(ns) : Duration{0};
}

std::string read_environment(const AttemptDir& directory) {
  const auto text = read_file(directory.environment(), Bytes{256});
  return text ? text->substr(0, text->find('\n')) : "";
}

std::string job_folder_name(const JobId& job) {
  constexpr std::size_t kDigest = 12, kBeginning = kMostFolderName - kDigest - 1;
  // A job whose name looks like the shortened folder of another job gets a different folder.
  const bool looks_cut =
      job.value.size() == kMostFolderName && job.value[kBeginning] == '-' &&
      job.value.find_first_not_of("0123456789abcdef", kBeginning + 1) == std::string::npos;
  if (job.value.size() <= kMostFolderName && !looks_cut) return job.value;
  return job.value.substr(0, kBeginning) + "-" + sha256(job.value).hex().substr(0, kDigest);
}

std::string code_mount_point(const JobId& job) {
  const std::string parent = jobs_folder();
  return parent.empty() ? "" : parent + "/" + job_folder_name(job);
}

std::string former_mount_point(const AttemptId& attempt) {
  const std::string parent = jobs_folder();
  return parent.empty() ? "" : parent + "/" + AttemptDir::name_of(attempt);
}

}  // namespace lockstep::io
