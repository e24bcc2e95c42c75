#include "launcher/cli/text/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace lockstep::cli {

std::string archived_text(const JobView& job) {
  if (!job.archived) return "";
  if (!job.spec.step.empty()) return "with pipeline " + job.spec.parent.value;
  return "left out of lists; lockstep job restore " + job.spec.name;
}

namespace {

std::string ranges_of(std::vector<int> ids, std::string_view comma, std::string_view dash) {
  std::sort(ids.begin(), ids.end());
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i;
    while (end + 1 < ids.size() && ids[end + 1] == ids[end] + 1) ++end;
    if (!text.empty()) text += comma;
    text += end == i ? std::to_string(ids[i]) : fmt::format("{}{}{}", ids[i], dash, ids[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace

std::string ranges_of(std::vector<int> ids) { return ranges_of(std::move(ids), ",", "-"); }

std::string ranges_in_words(std::vector<int> ids) { return ranges_of(std::move(ids), ", ", "–"); }

std::string ago(Instant time, Instant now) {
  if (time.ns == 0) return "-";
  return format_duration(std::max(now - time, Duration::zero())) + " ago";
}

}  // namespace lockstep::cli
