#include "common/domain/job/array.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lockstep {
namespace {

Error wrong(std::string_view text, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    "'" + std::string(text.substr(0, 100)) + "' " + std::string(why) +
                        "; write it as 0-19, 1,3,7, 0-100:5 or 0-19%4");
}

std::optional<int> number_from(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number <= kMaxArrayIndex ? std::optional<int>(number)
                                                          : std::nullopt;
}

// Forms of the text: "7", "0-19", "0-100:5".
Status add_range(std::string_view text, std::set<int>& indices) {
  const auto colon = text.find(':');
  const auto dash = text.find('-');
  const auto first = number_from(text.substr(0, std::min(dash, colon)));
  const auto last =
      dash == text.npos
          ? first
          : number_from(text.substr(dash + 1, colon == text.npos ? text.npos : colon - dash - 1));
  const auto step =
      colon == text.npos ? std::optional<int>(1) : number_from(text.substr(colon + 1));
  if (!first || !last || !step || *step == 0 || (colon != text.npos && dash == text.npos))
    return wrong(text, "is not an index or a range of indices from 0 to 999999999");
  if (*last < *first) return wrong(text, "ends before it begins");
  for (long long index = *first; index <= *last; index += *step) {
    indices.insert(static_cast<int>(index));
    if (indices.size() > kMaxPipelineSteps)
      return wrong(
          text, "has too many indices: an array has at most " + std::to_string(kMaxPipelineSteps));
  }
  return {};
}

}  // namespace

Result<ArraySpec> array_from(const std::string& text) {
  if (text.size() > kMaxArrayTextBytes) return wrong(text, "is too long");
  ArraySpec array;
  array.text = text;
  std::string_view rest = text;
  if (const auto percent = rest.find('%'); percent != rest.npos) {
    const auto limit = number_from(rest.substr(percent + 1));
    if (!limit || *limit == 0) return wrong(text, "has no positive number after '%'");
    array.at_most = *limit;
    rest = rest.substr(0, percent);
  }
  std::set<int> indices;
  while (true) {
    const auto comma = rest.find(',');
    TRY(add_range(rest.substr(0, comma), indices));
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  array.indices.assign(indices.begin(), indices.end());
  return array;
}

}  // namespace lockstep
