#pragma once
// Where a page of a list ended, as a text that clients send back. Only launcher/archive uses it.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/archive/questions.h"

namespace lockstep::archive {

std::string_view to_string(Sort sort);  // "order", …

// A job's place in a list that is sorted this way; the order of submission decides between equals.
struct Place {
  std::int64_t number = 0;  // of Sort::ended
  std::string name;         // of Sort::name
  std::uint64_t order = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
Place place_of(const EndedJob& job, Sort sort);

std::string cursor_of(const Place& place, Sort sort, bool descending);
// invalid_argument: it is not a cursor, or one of a list that is sorted in another way.
Result<Place> place_from(const std::string& cursor, Sort sort, bool descending);

}  // namespace lockstep::archive
