// Lists: which index to go by, and what else a job has to meet.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launcher/archive/name_pattern.h"
#include "launcher/archive/reader.h"

namespace lockstep::archive {

namespace {

Status validate(const JobQuery& query) {
  if (query.tags.size() > kMaxQueryTags)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("a list is filtered by at most {} tags", kMaxQueryTags));
  if (query.name.size() > kMaxNamePatternBytes)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the pattern of names has {} bytes, and {} are possible",
                                  query.name.size(), kMaxNamePatternBytes));
  return {};
}

bool is_member(const Visible& visible, const EndedJob& job) {
  return std::find(visible.projects.begin(), visible.projects.end(), job.project) !=
         visible.projects.end();
}

// Checks a job against all conditions of a query.
class Condition {
 public:
  static Result<Condition> prepare(Database& db, const JobQuery& query) {
    TRY_ASSIGN(auto any, db.prepare("SELECT 1 FROM tag WHERE jorder = ?1 AND key = ?2"));
    TRY_ASSIGN(auto with_value,
               db.prepare("SELECT 1 FROM tag WHERE jorder = ?1 AND key = ?2 AND value = ?3"));
    return Condition(query, std::move(any), std::move(with_value));
  }

  Result<bool> is_met_by(const EndedJob& job) {
    if (!is_visible(job) || !has_words(job) || !is_in_time(job)) return false;
    for (const JobFilter::Tag& tag : query_.tags) {
      TRY_ASSIGN(const bool has, has_tag(job.order, tag));
      if (!has) return false;
    }
    return true;
  }

 private:
  Condition(const JobQuery& query, Statement any, Statement with_value)
      : query_(query), any_(std::move(any)), with_value_(std::move(with_value)) {}

  // A job's tags are told to no more people by asking for them.
  bool is_visible(const EndedJob& job) const {
    const Visible& visible = query_.visible;
    if (visible.all || job.owner == visible.user) return true;
    return is_member(visible, job) && (query_.tags.empty() || job.shared);
  }
  bool has_words(const EndedJob& job) const {
    const auto is = [](const std::string& wanted, const std::string& has) {
      return wanted.empty() || wanted == has;
    };
    const bool of_state = query_.statuses.empty() ||
                          std::find(query_.statuses.begin(), query_.statuses.end(), job.status) !=
                              query_.statuses.end();
    const bool of_archive = query_.archived == ArchivedToo::yes ||
                            job.archived == (query_.archived == ArchivedToo::only);
    return of_state && of_archive && is(query_.owner, job.owner) &&
           is(query_.experiment, job.experiment) && is(query_.target, job.target) &&
           (!query_.project || *query_.project == job.project) &&
           (!query_.parent || *query_.parent == job.parent) &&
           (query_.name.empty() || name_matches(job.job.value, query_.name));
  }
  bool is_in_time(const EndedJob& job) const {
    return job.submitted >= query_.submitted_from && job.submitted < query_.submitted_to &&
           job.ended >= query_.ended_from && job.ended < query_.ended_to;
  }
  Result<bool> has_tag(std::uint64_t order, const JobFilter::Tag& tag) {
    Statement& row = tag.value ? with_value_ : any_;
    const ResetAtEnd reset(row);
    bind_values(row, order, tag.key);
    if (tag.value) row.bind_text(3, *tag.value);
    return row.step();
  }

  const JobQuery& query_;
  Statement any_, with_value_;
};

// About what it takes in an answer.
std::size_t size_of(const EndedJob& job, std::string_view why) {
  return 300 + job.job.value.size() + job.title.size() + why.size() + job.experiment.size() +
         job.target.size();
}

// Whether `a` comes before `b` in the list.
bool comes_before(const JobQuery& query, const Place& a, const Place& b) {
  return query.descending ? b < a : a < b;
}

std::size_t most_of(const JobQuery& query) {
  return std::clamp<std::size_t>(query.limit, 1, kMaxPageJobs);
}

bool is_full(const JobQuery& query, const JobPage& page, std::size_t bytes) {
  return page.jobs.size() >= most_of(query) || bytes >= kMaxPageBytes;
}

// The condition and the order of a list that goes on behind `after`, by an index of the sort.
std::string walk_of(const JobQuery& query, const Driver& driver, bool has_place) {
  const char* const way = query.descending ? "DESC" : "ASC";
  const char* const sign = query.descending ? "<" : ">";
  const auto walk = [&](const std::string& columns, const char* places, const std::string& order) {
    const std::string behind = fmt::format("AND {} {} {} ", columns, sign, places);
    return fmt::format("{}ORDER BY {}", has_place ? behind : "", order);
  };
  switch (query.sort) {
    case Sort::order: return walk(driver.order, "?", fmt::format("{} {}", driver.order, way));
    case Sort::ended:
      return walk("(job.ended, job.jorder)", "(?, ?)",
                  fmt::format("job.ended {0}, job.jorder {0}", way));
    case Sort::name: return walk("job.name", "?", fmt::format("job.name {}", way));
  }
  return "";
}

void bind_place(Statement& rows, int index, const Place& place, Sort sort) {
  const auto order = static_cast<std::int64_t>(place.order);
  switch (sort) {
    case Sort::order: rows.bind(index, order); return;
    case Sort::ended:
      rows.bind(index, place.number);
      rows.bind(index + 1, order);
      return;
    case Sort::name: rows.bind_text(index, place.name); return;
  }
}

}  // namespace

// The driver that the fewest jobs meet. Where all are met by many, one that the list can be gone
// through by, else none.
Result<Reader::Chosen> Reader::choose(const JobQuery& query) {
  Chosen chosen{all_jobs(), false};
  std::int64_t fewest = static_cast<std::int64_t>(kMaxGathered) + 1;
  bool has_walk = false;
  for (Driver& driver : drivers_of(query)) {
    const std::string sql = fmt::format("SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} LIMIT {})",
                                        driver.count, driver.where, kMaxGathered + 1);
    TRY_ASSIGN(auto row, db_.prepare(sql.c_str()));
    driver.bind(row);
    TRY(row.step());
    const std::int64_t count = row.integer(0);
    const bool is_fewer = count < fewest;
    const bool is_walk =
        !chosen.is_small && !has_walk && driver.is_ordered && query.sort == Sort::order;
    if (!is_fewer && !is_walk) continue;
    fewest = std::min(fewest, count);
    chosen = {std::move(driver), is_fewer};
    has_walk = true;
  }
  return chosen;
}

Result<JobPage> Reader::list(const JobQuery& query) {
  TRY(validate(query));
  std::optional<Place> after;
  if (!query.after.empty()) {
    TRY_ASSIGN(after, place_from(query.after, query.sort, query.descending));
  }
  TRY_ASSIGN(const Chosen chosen, choose(query));
  auto page =
      chosen.is_small ? gather(query, chosen.driver, after) : scan(query, chosen.driver, after);
  if (page) TRY(fill_tags(page->jobs));
  return page;
}

Result<JobPage> Reader::gather(const JobQuery& query, const Driver& driver,
                               const std::optional<Place>& after) {
  TRY_ASSIGN(auto condition, Condition::prepare(db_, query));
  const std::string sql =
      fmt::format("SELECT {} FROM {} WHERE {}", kJobColumns, driver.from, driver.where);
  TRY_ASSIGN(auto rows, db_.prepare(sql.c_str()));
  driver.bind(rows);
  struct Found {
    Place place;
    EndedJob job;
    std::string why;
  };
  std::vector<Found> found;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    TRY_ASSIGN(EndedJob job, job_in(rows));
    Place place = place_of(job, query.sort);
    if (after && !comes_before(query, *after, place)) continue;
    TRY_ASSIGN(const bool met, condition.is_met_by(job));
    if (met) found.push_back({std::move(place), std::move(job), std::string(why_in(rows))});
  }
  std::sort(found.begin(), found.end(),
            [&](const auto& a, const auto& b) { return comes_before(query, a.place, b.place); });
  JobPage page;
  std::size_t bytes = 0;
  for (auto& [place, job, why] : found) {
    if (is_full(query, page, bytes)) {
      page.next = cursor_of(place_of(page.jobs.back(), query.sort), query.sort, query.descending);
      break;
    }
    bytes += size_of(job, why);
    TRY(set_why(job, why));
    page.jobs.push_back(std::move(job));
  }
  return page;
}

Result<JobPage> Reader::scan(const JobQuery& query, const Driver& driver,
                             const std::optional<Place>& after) {
  TRY_ASSIGN(auto condition, Condition::prepare(db_, query));
  const std::string sql =
      fmt::format("SELECT {} FROM {} WHERE {} {} LIMIT {}", kJobColumns, driver.from, driver.where,
                  walk_of(query, driver, after.has_value()), kMaxExamined + 1);
  TRY_ASSIGN(auto rows, db_.prepare(sql.c_str()));
  const int bound = driver.bind(rows);
  if (after) bind_place(rows, bound + 1, *after, query.sort);
  JobPage page;
  Place last;  // looked at
  std::size_t bytes = 0;
  for (std::size_t examined = 0;; ++examined) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return page;
    if (examined == kMaxExamined || is_full(query, page, bytes)) {
      page.next = cursor_of(last, query.sort, query.descending);
      return page;
    }
    TRY_ASSIGN(EndedJob job, job_in(rows));
    last = place_of(job, query.sort);
    TRY_ASSIGN(const bool met, condition.is_met_by(job));
    if (!met) continue;
    bytes += size_of(job, why_in(rows));
    TRY(set_why(job, why_in(rows)));
    page.jobs.push_back(std::move(job));
  }
}

}  // namespace lockstep::archive
