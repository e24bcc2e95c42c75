#include "launcher/cli/transfer/capture_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/domain/ranks/limits.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostNamed = 4;

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The first words, and how many more there are.
std::string list_of(std::vector<std::string> words, std::size_t all) {
  if (all > words.size()) words.push_back(fmt::format("and {} more", all - words.size()));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string without_slash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

std::string one(const snapshot::FollowedLink& link) {
  const std::string arrow =
      fmt::format("{} -> {}", quoted_name(without_slash(link.path)), quoted_name(link.target));
  if (!link.path.ends_with('/')) return fmt::format("{} ({})", arrow, to_string(link.total));
  return fmt::format("{} ({} file{}, {})", arrow, with_commas(static_cast<long long>(link.files)),
                     link.files == 1 ? "" : "s", to_string(link.total));
}

std::string way_out(CapturedFor purpose) {
  return purpose == CapturedFor::job
             ? "--links keep (lockstep.links in a job file) takes links as they are"
             : "what is registered always has it; remove a link to leave it out";
}

std::string way_to_less(CapturedFor purpose) {
  return purpose == CapturedFor::job
             ? "name what the job does not need in .amlignore or .gitignore, or keep the links"
             : "remove the links whose files need not be registered";
}

void add_followed(const std::string& folder, const std::vector<snapshot::FollowedLink>& all,
                  CapturedFor purpose, std::vector<std::string>& lines) {
  std::vector<snapshot::FollowedLink> outer;
  std::copy_if(all.begin(), all.end(), std::back_inserter(outer),
               [](const auto& link) { return link.is_outermost; });
  if (outer.empty()) return;
  std::stable_sort(outer.begin(), outer.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  Bytes total;
  std::vector<std::string> words;
  for (const snapshot::FollowedLink& link : outer) {
    total.count += link.total.count;
    if (words.size() < kMostNamed) words.push_back(one(link));
  }
  lines.push_back(fmt::format("{} of {} {} out of it, so what {} to is taken along: {}; {}",
                              counted(outer.size(), "symlink"), folder,
                              outer.size() == 1 ? "leads" : "lead",
                              outer.size() == 1 ? "it leads" : "they lead",
                              list_of(std::move(words), outer.size()), way_out(purpose)));
  if (total > kMuchThroughLinks)
    lines.push_back(
        fmt::format("that adds {} to {}: {}", to_string(total), folder, way_to_less(purpose)));
}

void add_kept(const std::string& folder, const std::vector<snapshot::KeptLink>& kept,
              std::vector<std::string>& lines) {
  if (kept.empty()) return;
  std::vector<std::string> words;
  for (const snapshot::KeptLink& link : kept)
    if (words.size() < kMostNamed)
      words.push_back(
          fmt::format("{} -> {} ({})", quoted_name(link.path), quoted_name(link.target), link.why));
  lines.push_back(
      fmt::format("{} of {} {} out of it and {} a link: {}", counted(kept.size(), "symlink"),
                  folder, kept.size() == 1 ? "leads" : "lead", kept.size() == 1 ? "stays" : "stay",
                  list_of(std::move(words), kept.size())));
}

}  // namespace

std::vector<std::string> capture_lines(const std::string& folder,
                                       const snapshot::CaptureReport& report, CapturedFor purpose) {
  const std::string shown = quoted_name(folder);
  std::vector<std::string> lines = report.notes;
  add_followed(shown, report.followed, purpose, lines);
  add_kept(shown, report.kept, lines);
  return lines;
}

void PendingLines::add(std::vector<std::string> lines) {
  std::lock_guard guard(mutex_);
  std::move(lines.begin(), lines.end(), std::back_inserter(lines_));
}

void PendingLines::print(Terminal& terminal) {
  std::vector<std::string> lines;
  {
    std::lock_guard guard(mutex_);
    lines.swap(lines_);
  }
  if (lines.empty()) return;
  terminal.clear_status();
  for (const std::string& line : lines) terminal.print_line(line);
}

}  // namespace lockstep::cli
