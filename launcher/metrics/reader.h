#pragma once
// Answers questions about the store of metrics, over a connection of its own: it reads what is
// committed, while the writer goes on. Who may ask what is not decided here; only search() leaves
// out the runs that its caller may not read, because pages could not be cut afterwards. One thread
// at a time.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runs/change.h"
#include "common/domain/runs/run.h"
#include "launcher/metrics/questions.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

class Reader {
 public:
  // The store is there: Writer::open() made it.
  static Result<Reader> open(const std::string& path);

  // not_found, all of these: there is no such run, or it was removed.
  Result<RunInfo> run(const RunId& run);
  Result<RunData> data(const RunId& run);
  // Of these metrics, in this order; those that it has not logged are left out. Empty: there is no
  // such run, too.
  Result<std::vector<MetricSummary>> latest(const RunId& run,
                                            const std::vector<std::string>& metrics);
  Result<std::vector<RunInfo>> runs_of(const JobId& job);  // its own first
  // What was read of a source; nullopt: nothing.
  Result<std::optional<SourceMark>> mark(const RunId& run, const std::string& source);

  // By series, with the same buckets for all. resource_exhausted: it is about too many points.
  Result<std::vector<Curve>> curves(const CurveQuery& query);
  // `after`: HistoryPage::next of the page before, or "". invalid_argument: it is neither.
  Result<HistoryPage> history(const RunId& run, const std::string& name, const std::string& after,
                              std::size_t limit);

  // unsupported: by datasets or artifact_uri, which are not kept here. resource_exhausted: it would
  // have to look at too much.
  Result<SearchPage> search(const SearchQuery& query);

  // What is wrong with the store, for `lockstepd fsck`: at most kMostProblems lines, none when it
  // is well.
  Result<std::vector<std::string>> problems();
  static constexpr std::size_t kMostProblems = 20;

 private:
  explicit Reader(Database db) : db_(std::move(db)) {}
  Result<std::int64_t> id_of(const RunId& run);
  Result<RunData> data_of(std::int64_t run);
  Result<SearchPage> found_by(const SearchQuery& query);
  struct SeriesRow {
    std::int64_t id = 0;
    SeriesId series;
    std::uint64_t points = 0, thinned = 0;
  };
  // Those that were logged first come first.
  Result<std::vector<SeriesRow>> series_of(const RunId& run, const std::string& name);
  Result<std::vector<Curve>> curves_of(const std::vector<SeriesRow>& all, const CurveQuery& query);

  Database db_;
};

}  // namespace lockstep::metrics
