#include "envs/venv/pip_remedy.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "envs/tool.h"

namespace lockstep::envs {
namespace {

constexpr std::string_view kNotMet = "Could not find a version that satisfies the requirement ";
constexpr std::string_view kNoMatch = "No matching distribution found for ";
constexpr std::string_view kFrom = " (from ";
constexpr std::string_view kVersions = " (from versions: ";
constexpr std::size_t kShownNameBytes = 200;
constexpr std::size_t kShownVersions = 8;  // the newest ones are shown

// The rest of the line after `sign`; "" if the text does not have it.
std::string_view behind(std::string_view text, std::string_view sign) {
  const auto at = text.find(sign);
  if (at == text.npos) return "";
  text.remove_prefix(at + sign.size());
  return text.substr(0, text.find('\n'));
}

std::string shown_name(std::string_view text) { return cut(in_one_line(text), kShownNameBytes); }

// The newest of "1.0, 1.1". pip lists versions from the oldest to the newest, so long lists lose
// their beginning.
std::string newest(std::string_view versions) {
  auto begin = versions.size();
  for (std::size_t i = 0; i < kShownVersions && begin != versions.npos; ++i)
    begin = begin == 0 ? versions.npos : versions.rfind(", ", begin - 1);
  if (begin == versions.npos) return shown_name(versions);
  return "…, " + shown_name(versions.substr(begin + 2));
}

// "1.0, 1.1" of "six==9 (from versions: 1.0, 1.1)"; "" if pip lists no versions.
std::string_view versions_in(std::string_view line) {
  const auto at = line.rfind(kVersions);
  if (at == line.npos) return "";
  const std::string_view versions = line.substr(at + kVersions.size());
  const auto end = versions.rfind(')');
  if (end == versions.npos) return "";
  return versions.substr(0, end) == "none" ? "" : versions.substr(0, end);
}

std::string not_found_remedy(std::string_view tail) {
  const std::string_view not_met = behind(tail, kNotMet);
  const std::string_view line = not_met.empty() ? behind(tail, kNoMatch) : not_met;
  if (line.empty()) return "";
  const std::string name = shown_name(line.substr(0, line.find(kFrom)));
  if (const std::string_view others = versions_in(line); !others.empty())
    return fmt::format(
        "the index has no '{}' for the node's Python, but other versions: {}; "
        "choose one of them in the requirements",
        name, newest(others));
  return fmt::format(
      "the node found no '{}' for its Python, neither in its package index nor by "
      "--find-links; correct the name or version in the requirements, or name the "
      "index that has it (--extra-index-url)",
      name);
}

}  // namespace

std::string pip_remedy(ErrorCode code, std::string_view tail) {
  if (code == ErrorCode::invalid_argument) return not_found_remedy(tail);
  if (code != ErrorCode::unavailable) return "";
  const Unreached index = unreached_index(tail);
  if (index.why.empty()) return "";
  return fmt::format(
      "the node cannot reach the package index{}: {}; correct the index "
      "(--index-url in the requirements, or the agent's PIP_INDEX_URL), or let the "
      "node connect to it",
      index.site.empty() ? "" : " at " + shown_name(index.site), index.why);
}

}  // namespace lockstep::envs
