#pragma once
// The points of each series, and by metric the newest, the least and the greatest of them. Only
// launcher/metrics uses it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runs/point.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

struct SeriesKey {
  std::int64_t run = 0;
  std::string name;
  std::uint32_t attempt = 0;
  std::uint64_t incarnation = 0;
  int rank = 0;
};

// How much a job has more, or less, than before.
struct SeriesChange {
  std::int64_t series = 0, points = 0;
};

// Puts a value where SQLite keeps no NaN, and takes it out again.
struct StoredValue {
  bool is_nan = false;
  double value = 0;
};
StoredValue stored(double value);
double value_of(const StoredValue& stored);

class SeriesTable {
 public:
  // `most`: longer series are thinned out. `db` must outlive it.
  static Result<SeriesTable> prepare(Database& db, std::uint64_t most);

  // Points that are there already are not added again.
  Result<SeriesChange> add(const SeriesKey& key, const std::vector<Point>& points);
  // Takes all series from the run; purge() removes them.
  Result<SeriesChange> remove_of(std::int64_t run);
  // Removes up to `most` points of removed series. False: there are none.
  Result<bool> purge(std::uint64_t most);

 private:
  struct Statements;
  struct Row {
    std::int64_t id = 0;
    std::uint64_t points = 0;
  };
  struct Latest;
  SeriesTable(Database& db, std::uint64_t most, std::shared_ptr<Statements> statements);
  Result<std::optional<Row>> find(const SeriesKey& key);
  Result<std::uint64_t> thin(const Row& series);
  Status note_latest(const SeriesKey& key, const std::vector<Point>& points);
  Result<std::optional<Latest>> find_latest(const SeriesKey& key);

  Database* db_;
  std::uint64_t most_;
  std::shared_ptr<Statements> statements_;
};

}  // namespace lockstep::metrics
