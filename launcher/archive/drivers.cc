#include "launcher/archive/drivers.h"

#include <utility>

#include "launcher/archive/name_pattern.h"

namespace lockstep::archive {

namespace {

using Values = std::vector<std::variant<std::int64_t, std::string>>;

Driver of_job(std::string where, Values values, bool is_ordered) {
  return {"job", "job", std::move(where), std::move(values), "job.jorder", is_ordered};
}

Driver equal(const char* column, std::string value) {
  return of_job(std::string("job.") + column + " = ?", {std::move(value)}, true);
}

Driver tagged(const JobFilter::Tag& tag) {
  return {"tag JOIN job ON job.jorder = tag.jorder",
          "tag",
          "tag.key = ? AND tag.value = ?",
          {tag.key, *tag.value},
          "tag.jorder",
          true};
}

// The least text that is greater than all that begin with this one; "": there is none.
std::string behind_all(std::string beginning) {
  while (!beginning.empty() && beginning.back() == '\xff') beginning.pop_back();
  if (!beginning.empty()) ++beginning.back();
  return beginning;
}

void add_ranges(const JobQuery& query, std::vector<Driver>& all) {
  const std::string beginning(literal_beginning(query.name));
  if (beginning.size() < query.name.size()) {
    const std::string end = behind_all(beginning);
    if (!end.empty())
      all.push_back(of_job("job.name >= ? AND job.name < ?", {beginning, end}, false));
  }
  const auto in = [&](const char* column, Instant from, Instant to) {
    const std::string name = std::string("job.") + column;
    if (from == Instant{} && to == Instant::never()) return;
    all.push_back(of_job(name + " >= ? AND " + name + " < ?", {from.ns, to.ns}, false));
  };
  in("submitted", query.submitted_from, query.submitted_to);
  in("ended", query.ended_from, query.ended_to);
}

}  // namespace

int Driver::bind(Statement& statement) const {
  int index = 0;
  for (const auto& value : values) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&value))
      statement.bind(index, *number);
    else
      statement.bind_text(index, std::get<std::string>(value));
  }
  return index;
}

std::vector<Driver> drivers_of(const JobQuery& query) {
  std::vector<Driver> all;
  const bool is_whole_name = literal_beginning(query.name).size() == query.name.size();
  if (!query.name.empty() && is_whole_name) all.push_back(equal("name", query.name));
  for (const JobFilter::Tag& tag : query.tags)
    if (tag.value) all.push_back(tagged(tag));
  if (!query.owner.empty()) all.push_back(equal("owner", query.owner));
  if (!query.experiment.empty()) all.push_back(equal("experiment", query.experiment));
  if (query.statuses.size() == 1)
    all.push_back(equal("status", std::string(lockstep::to_string(query.statuses[0]))));
  if (query.parent) all.push_back(equal("parent", query.parent->value));
  if (!query.target.empty()) all.push_back(equal("target", query.target));
  if (query.project) all.push_back(equal("project", *query.project));
  add_ranges(query, all);
  return all;
}

Driver all_jobs() { return of_job("1 = 1", {}, true); }

}  // namespace lockstep::archive
