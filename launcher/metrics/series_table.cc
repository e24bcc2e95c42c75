#include "launcher/metrics/series_table.h"

#include <cmath>
#include <tuple>

#include "launcher/metrics/curves/thin.h"

namespace lockstep::metrics {

struct SeriesTable::Statements {
  Statement find, add, count, add_point, remove_point, points_of;
  Statement find_latest, save_latest;
  Statement sum_of_run, leave_run, remove_latest;
  Statement find_removed, remove_points, remove_series;
};

// A row of `latest`. Extremes are of values that are no NaN.
struct SeriesTable::Latest {
  std::uint32_t attempt = 0;
  std::uint64_t incarnation = 0;
  Point newest;
  std::optional<double> least = {}, greatest = {};
  std::int64_t least_step = 0, greatest_step = 0;

  bool is_older_than(const SeriesKey& key, const Point& point) const {
    const auto mine = std::tie(incarnation, attempt);
    const auto its = std::tie(key.incarnation, key.attempt);
    return mine != its ? mine < its : is_before(newest, point);
  }
  void note(const SeriesKey& key, const Point& point) {
    if (is_older_than(key, point)) {
      attempt = key.attempt;
      incarnation = key.incarnation;
      newest = point;
    }
    if (std::isnan(point.value)) return;
    if (!least || point.value < *least) {
      least = point.value;
      least_step = point.step;
    }
    if (!greatest || point.value > *greatest) {
      greatest = point.value;
      greatest_step = point.step;
    }
  }
};

StoredValue stored(double value) {
  return std::isnan(value) ? StoredValue{true, 0} : StoredValue{false, value};
}

double value_of(const StoredValue& stored) { return stored.is_nan ? std::nan("") : stored.value; }

SeriesTable::SeriesTable(Database& db, std::uint64_t most, std::shared_ptr<Statements> statements)
    : db_(&db), most_(most), statements_(std::move(statements)) {}

Result<SeriesTable> SeriesTable::prepare(Database& db, std::uint64_t most) {
  auto all = std::make_shared<Statements>();
  TRY_ASSIGN(all->find, db.prepare("SELECT id, points FROM series WHERE run = ?1 AND name = ?2 AND "
                                   "attempt = ?3 AND incarnation = ?4 AND rank = ?5"));
  TRY_ASSIGN(all->add, db.prepare("INSERT INTO series (run, name, attempt, incarnation, rank) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRY_ASSIGN(all->count, db.prepare("UPDATE series SET points = ?2, thinned = thinned + ?3 "
                                    "WHERE id = ?1"));
  TRY_ASSIGN(all->add_point, db.prepare("INSERT OR IGNORE INTO point VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRY_ASSIGN(all->remove_point, db.prepare("DELETE FROM point WHERE series = ?1 AND step = ?2 AND "
                                           "time = ?3 AND is_nan = ?4 AND value = ?5"));
  TRY_ASSIGN(all->points_of, db.prepare("SELECT step, time, is_nan, value FROM point "
                                        "WHERE series = ?1 ORDER BY step, time, is_nan, value"));
  TRY_ASSIGN(all->find_latest,
             db.prepare("SELECT attempt, incarnation, step, time, is_nan, value, least, "
                        "least_step, greatest, greatest_step FROM latest "
                        "WHERE run = ?1 AND name = ?2"));
  TRY_ASSIGN(all->save_latest,
             db.prepare("INSERT OR REPLACE INTO latest VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                        "?10, ?11, ?12)"));
  TRY_ASSIGN(all->sum_of_run, db.prepare("SELECT count(*), coalesce(sum(points), 0) FROM series "
                                         "WHERE run = ?1"));
  // Ids are 1 or more, so the opposite is no run's.
  TRY_ASSIGN(all->leave_run, db.prepare("UPDATE series SET run = -run WHERE run = ?1"));
  TRY_ASSIGN(all->remove_latest, db.prepare("DELETE FROM latest WHERE run = ?1"));
  TRY_ASSIGN(all->find_removed, db.prepare("SELECT id FROM series WHERE run < 0 LIMIT 1"));
  TRY_ASSIGN(all->remove_points,
             db.prepare("DELETE FROM point WHERE series = ?1 AND (step, time, is_nan, value) IN "
                        "(SELECT step, time, is_nan, value FROM point WHERE series = ?1 "
                        "LIMIT ?2)"));
  TRY_ASSIGN(all->remove_series, db.prepare("DELETE FROM series WHERE id = ?1"));
  return SeriesTable(db, most, std::move(all));
}

Result<std::optional<SeriesTable::Row>> SeriesTable::find(const SeriesKey& key) {
  Statement& row = statements_->find;
  const ResetAtEnd reset(row);
  bind_values(row, key.run, key.name, key.attempt, key.incarnation, key.rank);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<Row>();
  return std::optional(Row{row.integer(0), static_cast<std::uint64_t>(row.integer(1))});
}

Result<SeriesChange> SeriesTable::add(const SeriesKey& key, const std::vector<Point>& points) {
  SeriesChange change;
  TRY_ASSIGN(auto series, find(key));
  if (!series) {
    bind_values(statements_->add, key.run, key.name, key.attempt, key.incarnation, key.rank);
    TRY(statements_->add.run());
    series = Row{db_->last_row(), 0};
    change.series = 1;
  }
  for (const Point& point : points) {
    const StoredValue value = stored(point.value);
    bind_values(statements_->add_point, series->id, point.step, point.time.ns, value.is_nan,
                value.value);
    TRY(statements_->add_point.run());
    change.points += db_->changes();
  }
  if (change.points > 0) TRY(note_latest(key, points));
  series->points += static_cast<std::uint64_t>(change.points);
  std::uint64_t thinned = 0;
  if (series->points > most_) {
    TRY_ASSIGN(thinned, thin(*series));
    series->points -= thinned;
    change.points -= static_cast<std::int64_t>(thinned);
  }
  bind_values(statements_->count, series->id, series->points, thinned);
  TRY(statements_->count.run());
  return change;
}

// How many of its points went.
Result<std::uint64_t> SeriesTable::thin(const Row& series) {
  std::vector<Point> points;
  {
    Statement& rows = statements_->points_of;
    const ResetAtEnd reset(rows);
    bind_values(rows, series.id);
    for (;;) {
      TRY_ASSIGN(const bool row, rows.step());
      if (!row) break;
      points.push_back({rows.integer(0), Instant{rows.integer(1)},
                        value_of({rows.integer(2) != 0, rows.real(3)})});
    }
  }
  const auto gone = thinned_out(points);
  for (const std::size_t i : gone) {
    const StoredValue value = stored(points[i].value);
    bind_values(statements_->remove_point, series.id, points[i].step, points[i].time.ns,
                value.is_nan, value.value);
    TRY(statements_->remove_point.run());
  }
  return gone.size();
}

Result<std::optional<SeriesTable::Latest>> SeriesTable::find_latest(const SeriesKey& key) {
  Statement& row = statements_->find_latest;
  const ResetAtEnd reset(row);
  bind_values(row, key.run, key.name);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<Latest>();
  Latest latest;
  latest.attempt = static_cast<std::uint32_t>(row.integer(0));
  latest.incarnation = static_cast<std::uint64_t>(row.integer(1));
  latest.newest = {row.integer(2), Instant{row.integer(3)},
                   value_of({row.integer(4) != 0, row.real(5)})};
  if (!row.is_null(6)) latest.least = row.real(6);
  latest.least_step = row.integer(7);
  if (!row.is_null(8)) latest.greatest = row.real(8);
  latest.greatest_step = row.integer(9);
  return std::optional(latest);
}

Status SeriesTable::note_latest(const SeriesKey& key, const std::vector<Point>& points) {
  TRY_ASSIGN(const auto known, find_latest(key));
  Latest latest = known.value_or(Latest{key.attempt, key.incarnation, points.front()});
  for (const Point& point : points) latest.note(key, point);
  const StoredValue value = stored(latest.newest.value);
  bind_values(statements_->save_latest, key.run, key.name, latest.attempt, latest.incarnation,
              latest.newest.step, latest.newest.time.ns, value.is_nan, value.value, latest.least,
              latest.least_step, latest.greatest, latest.greatest_step);
  return statements_->save_latest.run();
}

Result<SeriesChange> SeriesTable::remove_of(std::int64_t run) {
  SeriesChange change;
  {
    Statement& sum = statements_->sum_of_run;
    const ResetAtEnd reset(sum);
    bind_values(sum, run);
    TRY(sum.step());
    change = {-sum.integer(0), -sum.integer(1)};
  }
  bind_values(statements_->leave_run, run);
  TRY(statements_->leave_run.run());
  bind_values(statements_->remove_latest, run);
  TRY(statements_->remove_latest.run());
  return change;
}

Result<bool> SeriesTable::purge(std::uint64_t most) {
  std::int64_t series = 0;
  {
    Statement& row = statements_->find_removed;
    const ResetAtEnd reset(row);
    TRY_ASSIGN(const bool found, row.step());
    if (!found) return false;
    series = row.integer(0);
  }
  bind_values(statements_->remove_points, series, most);
  TRY(statements_->remove_points.run());
  if (static_cast<std::uint64_t>(db_->changes()) == most) return true;
  bind_values(statements_->remove_series, series);
  TRY(statements_->remove_series.run());
  return true;
}

}  // namespace lockstep::metrics
