#include "launcher/audit/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/digest.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

constexpr std::string_view kPrefix = "audit-";
constexpr std::string_view kSuffix = ".jsonl";

std::optional<std::uint64_t> number_from(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (digits.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::string audit_folder(const std::string& launcher_home) { return launcher_home + "/audit"; }

std::string audit_segment_path(const std::string& folder, std::uint64_t number) {
  return fmt::format("{}/{}{:08}{}", folder, kPrefix, number, kSuffix);
}

Result<std::vector<AuditSegment>> audit_segments(const std::string& folder) {
  std::vector<AuditSegment> segments;
  if (!io::exists(folder)) return segments;
  TRY_ASSIGN(const auto names, io::list_directory(folder));
  for (const std::string_view name : names) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const auto number =
        number_from(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
    if (number) segments.push_back({*number, folder + "/" + std::string(name)});
  }
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return segments;
}

std::string audit_head_path(const std::string& folder) { return folder + "/head"; }

Status write_audit_head(const std::string& folder, const AuditMark& head) {
  return io::write_file_atomically(audit_head_path(folder),
                                   fmt::format("{} {}\n", head.number, head.digest), 0600, false);
}

std::optional<AuditMark> read_audit_head(const std::string& folder) {
  auto text = io::read_regular_file(audit_head_path(folder), Bytes{4'096});
  if (!text) return std::nullopt;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return audit_mark_from(*text);
}

std::optional<AuditMark> audit_mark_from(const std::string& text) {
  const auto between = text.find_first_of(": ");
  if (between == std::string::npos) return std::nullopt;
  const auto number = number_from(std::string_view(text).substr(0, between));
  const auto digest = Digest::from_hex(std::string_view(text).substr(between + 1));
  if (!number || *number == 0 || !digest) return std::nullopt;
  return AuditMark{*number, digest->hex()};
}

}  // namespace lockstep::launcher
