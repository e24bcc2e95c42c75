#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>
#include <utility>

#include "launcher/metrics/curves/downsample.h"
#include "launcher/metrics/reader.h"
#include "launcher/metrics/series_table.h"

namespace lockstep::metrics {

namespace {

// A set of places on an axis, as its ends.
struct Ends {
  std::int64_t first = 0, last = 0;
};

Result<Ends> ends_of(Database& db, std::int64_t series, Axis axis) {
  // Of steps each half is one look into the index; times are read one by one.
  const char* const sql = axis == Axis::step
                              ? "SELECT (SELECT min(step) FROM point WHERE series = ?1), "
                                "(SELECT max(step) FROM point WHERE series = ?1)"
                              : "SELECT min(time), max(time) FROM point WHERE series = ?1";
  TRY_ASSIGN(auto row, db.prepare(sql));
  bind_values(row, series);
  TRY(row.step());
  return Ends{row.integer(0), row.integer(1)};
}

Status add_points_of(Database& db, std::int64_t series, Downsampler& to) {
  TRY_ASSIGN(auto rows,
             db.prepare("SELECT step, time, is_nan, value FROM point WHERE series = ?1"));
  bind_values(rows, series);
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    to.add({rows.integer(0), Instant{rows.integer(1)},
            value_of({rows.integer(2) != 0, rows.real(3)})});
  }
}

// Where a page of a history ended: the last row's series, and its point.
struct Place {
  std::int64_t series = 0;
  Point point;
};

std::string text_of(const Place& place) {
  const StoredValue value = stored(place.point.value);
  return fmt::format("{}:{}:{}:{}:{}", place.series, place.point.step, place.point.time.ns,
                     value.is_nan ? 1 : 0, std::bit_cast<std::uint64_t>(value.value));
}

template <typename Number>
bool take_number(std::string_view& text, Number* number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (failed != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(':')) text.remove_prefix(1);
  return true;
}

Result<Place> place_from(std::string_view text) {
  Place place;
  int is_nan = 0;
  std::uint64_t bits = 0;
  std::string_view rest = text;
  const bool good = take_number(rest, &place.series) && take_number(rest, &place.point.step) &&
                    take_number(rest, &place.point.time.ns) && take_number(rest, &is_nan) &&
                    take_number(rest, &bits) && rest.empty();
  place.point.value = value_of({is_nan != 0, std::bit_cast<double>(bits)});
  if (good && text_of(place) == text) return place;
  return make_error(ErrorCode::invalid_argument,
                    "the place to go on from is not one that a page of a history ended with");
}

}  // namespace

Result<std::vector<Reader::SeriesRow>> Reader::series_of(const RunId& run,
                                                         const std::string& name) {
  TRY_ASSIGN(const std::int64_t id, id_of(run));
  TRY_ASSIGN(auto rows,
             db_.prepare("SELECT id, attempt, incarnation, rank, points, thinned FROM series "
                         "WHERE run = ?1 AND name = ?2 ORDER BY incarnation, attempt, rank"));
  bind_values(rows, id, name);
  std::vector<SeriesRow> all;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return all;
    all.push_back({rows.integer(0),
                   {static_cast<std::uint32_t>(rows.integer(1)),
                    static_cast<std::uint64_t>(rows.integer(2)), static_cast<int>(rows.integer(3))},
                   static_cast<std::uint64_t>(rows.integer(4)),
                   static_cast<std::uint64_t>(rows.integer(5))});
  }
}

Result<std::vector<Curve>> Reader::curves(const CurveQuery& query) {
  if (query.buckets < 1 || query.buckets > kMaxBuckets)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("a curve has 1 to {} buckets, not {}", kMaxBuckets, query.buckets));
  TRY_ASSIGN(auto all, series_of(query.run, query.name));
  std::erase_if(all, [&](const SeriesRow& row) {
    return (query.attempt && *query.attempt != row.series.attempt) ||
           (query.rank && *query.rank != row.series.rank);
  });
  if (all.size() > kMaxCurves)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMaxCurves));
  db_.limit_work(kCurveWork);
  auto curves = curves_of(all, query);
  db_.limit_work(0);
  if (curves || curves.error().code != ErrorCode::resource_exhausted) return curves;
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("the curves of '{}' have too many points together; ask for one "
                                "rank, or one attempt",
                                query.name));
}

Result<std::vector<Curve>> Reader::curves_of(const std::vector<SeriesRow>& all,
                                             const CurveQuery& query) {
  std::optional<Ends> ends;
  for (const SeriesRow& row : all) {
    TRY_ASSIGN(const Ends its, ends_of(db_, row.id, query.axis));
    if (!ends) ends = its;
    ends = Ends{std::min(ends->first, its.first), std::max(ends->last, its.last)};
  }
  std::vector<Curve> curves;
  if (!ends) return curves;
  const std::int64_t from = query.from.value_or(ends->first), to = query.to.value_or(ends->last);
  for (const SeriesRow& row : all) {
    Curve curve{row.series, row.points, row.thinned, {}};
    if (from <= to) {
      Downsampler buckets(query.axis, from, to, query.buckets);
      TRY(add_points_of(db_, row.id, buckets));
      curve.buckets = buckets.buckets();
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

Result<HistoryPage> Reader::history(const RunId& run, const std::string& name,
                                    const std::string& after, std::size_t limit) {
  Place place;
  if (!after.empty()) {
    TRY_ASSIGN(place, place_from(after));
  }
  TRY_ASSIGN(const auto all, series_of(run, name));
  TRY_ASSIGN(auto rows, db_.prepare("SELECT step, time, is_nan, value FROM point WHERE "
                                    "series = ?1 AND (?2 = 0 OR (step, time, is_nan, value) > "
                                    "(?3, ?4, ?5, ?6)) AND step >= ?3 "
                                    "ORDER BY step, time, is_nan, value"));
  const std::size_t most = std::clamp<std::size_t>(limit, 1, kMaxHistoryRows);
  HistoryPage page;
  std::int64_t last = 0;            // the series of the last row
  bool is_reached = after.empty();  // the series in which the page before ended
  for (const SeriesRow& series : all) {
    const bool is_its = !is_reached && series.id == place.series;
    if (!is_reached && !is_its) continue;
    is_reached = true;
    const ResetAtEnd reset(rows);
    const StoredValue value = stored(place.point.value);
    const std::int64_t from = is_its ? place.point.step : INT64_MIN;
    bind_values(rows, series.id, is_its, from, place.point.time.ns, value.is_nan, value.value);
    for (;;) {
      TRY_ASSIGN(const bool row, rows.step());
      if (!row) break;
      if (page.rows.size() == most) {
        page.next = text_of({last, page.rows.back().point});
        return page;
      }
      page.rows.push_back({series.series,
                           {rows.integer(0), Instant{rows.integer(1)},
                            value_of({rows.integer(2) != 0, rows.real(3)})}});
      last = series.id;
    }
  }
  return page;
}

}  // namespace lockstep::metrics
