#include "launcher/archive/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "common/grammar/job_name.h"

namespace lockstep::archive {

namespace {

template <typename Number>
bool take_number(std::string_view& text, Number* number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (failed != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return true;
}

}  // namespace

std::string_view to_string(Sort sort) {
  switch (sort) {
    case Sort::order: return "order";
    case Sort::ended: return "ended";
    case Sort::name: return "name";
  }
  return "";
}

Place place_of(const EndedJob& job, Sort sort) {
  Place place;
  place.order = job.order;
  if (sort == Sort::ended) place.number = job.ended.ns;
  if (sort == Sort::name) place.name = job.job.value;
  return place;
}

// Names of jobs have no dots.
std::string cursor_of(const Place& place, Sort sort, bool descending) {
  return fmt::format("{}.{}.{}.{}.{}", to_string(sort), descending ? "down" : "up", place.order,
                     place.number, place.name);
}

Result<Place> place_from(const std::string& cursor, Sort sort, bool descending) {
  const std::string head = fmt::format("{}.{}.", to_string(sort), descending ? "down" : "up");
  std::string_view rest = cursor;
  Place place;
  if (rest.starts_with(head) && rest.size() <= head.size() + 64 + kMaxJobNameBytes) {
    rest.remove_prefix(head.size());
    const bool has_numbers = take_number(rest, &place.order) && take_number(rest, &place.number);
    place.name = rest;
    const bool fits =
        (sort == Sort::ended || place.number == 0) && (sort == Sort::name || place.name.empty());
    if (has_numbers && fits && cursor_of(place, sort, descending) == cursor) return place;
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the place to go on from is not one that a list by {} ended with; "
                                "ask for the first page again",
                                to_string(sort)));
}

}  // namespace lockstep::archive
