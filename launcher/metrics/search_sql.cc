#include "launcher/metrics/search_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/cut.h"
#include "launcher/metrics/limits.h"
#include "launcher/metrics/run_rows.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMaxNamesInASearch = 10'000;  // experiments and projects together
constexpr const char* kOfMetric = "FROM latest m WHERE m.run = run.id AND m.name = ?";
constexpr const char* kOfText = "FROM text t WHERE t.run = run.id AND t.kind = ? AND t.key = ?";

// "=" and "!=" and the like; SQL's are the same.
bool is_plain(Comparison comparison) { return comparison < Comparison::like; }

TextKind kind_of(Entity entity) {
  return entity == Entity::parameter ? TextKind::param : TextKind::tag;
}

// An attribute as an expression; NULL where the run has none yet.
const char* expression_of(Attribute attribute) {
  switch (attribute) {
    case Attribute::run_id: return "run.run_id";
    case Attribute::run_name: return "run.title";
    case Attribute::status: return "run.status";
    case Attribute::user_id: return "job.owner";
    // Milliseconds, as MLflow has them.
    case Attribute::start_time: return "(nullif(run.started, 0) / 1000000)";
    case Attribute::end_time: return "(nullif(run.ended, 0) / 1000000)";
    case Attribute::artifact_uri: break;  // refused before
  }
  return "NULL";
}

Status expect_kept(const Field& field) {
  if (field.entity == Entity::dataset)
    return make_error(
        ErrorCode::unsupported,
        fmt::format("datasets.{}: Lockstep keeps no datasets of runs to search by", field.key));
  if (field.entity == Entity::attribute && field.attribute == Attribute::artifact_uri)
    return make_error(ErrorCode::unsupported,
                      "artifact_uri: runs cannot be searched by it; use run_id");
  return {};
}

class Builder {
 public:
  template <typename Value>
  Builder& add(std::string_view sql, Value value) {
    sql_.text += sql;
    sql_.values.emplace_back(std::move(value));
    return *this;
  }
  Builder& add(std::string_view sql) {
    sql_.text += sql;
    return *this;
  }
  // "(?, ?)"
  void add_list(const std::vector<std::string>& words) {
    sql_.text += "(";
    for (std::size_t i = 0; i < words.size(); ++i) add(i == 0 ? "?" : ", ?", words[i]);
    sql_.text += ")";
  }

  void visible(const MayRead& may_read) {
    if (may_read.all) return;
    add("AND (job.owner = ?", may_read.owner);
    if (!may_read.projects.empty()) {
      add(" OR (job.shared = 1 AND job.project IN ");
      add_list(may_read.projects);
      add(")");
    }
    add(") ");
  }

  void clause(const Clause& clause) {
    switch (clause.field.entity) {
      case Entity::metric: metric(clause); return;
      case Entity::parameter:
      case Entity::tag:
        add("AND EXISTS (SELECT 1 ").of_text(clause.field).add(" AND ");
        compare_text("t.value", clause);
        add(") ");
        return;
      case Entity::attribute:
        add("AND ");
        if (is_number(clause.field.attribute))
          add(expression_of(clause.field.attribute))
              .add(fmt::format(" {} ?", to_string(clause.comparison)),
                   std::get<double>(clause.value));
        else
          compare_text(expression_of(clause.field.attribute), clause);
        add(" ");
        return;
      case Entity::dataset: return;  // refused before
    }
  }

  void order(const Order& order) {
    const char* const way = order.ascending ? " ASC, " : " DESC, ";
    switch (order.field.entity) {
      case Entity::metric:
        // Numbers, then NaN, then the runs without the metric.
        add("coalesce((SELECT m.is_nan ").add(kOfMetric, order.field.key).add("), 2), ");
        add("(SELECT m.value ").add(kOfMetric, order.field.key).add(")").add(way);
        return;
      case Entity::parameter:
      case Entity::tag:
        add("(SELECT t.value ").of_text(order.field).add(") IS NULL, ");
        add("(SELECT t.value ").of_text(order.field).add(")").add(way);
        return;
      case Entity::attribute: {
        const std::string value = expression_of(order.field.attribute);
        add(value + " IS NULL, ").add(value).add(way);
        return;
      }
      case Entity::dataset: return;  // parse_order() refuses it
    }
  }

  SearchSql take() { return std::move(sql_); }

 private:
  Builder& of_text(const Field& field) {
    sql_.text += kOfText;
    sql_.values.emplace_back(static_cast<std::int64_t>(kind_of(field.entity)));
    sql_.values.emplace_back(field.key);
    return *this;
  }

  // NaN is unequal to all numbers, and compares with none.
  void metric(const Clause& clause) {
    const bool unequal = clause.comparison == Comparison::unequal;
    add("AND EXISTS (SELECT 1 ").add(kOfMetric, clause.field.key);
    add(unequal ? " AND (m.is_nan = 1 OR m.value" : " AND (m.is_nan = 0 AND m.value");
    add(fmt::format(" {} ?)) ", to_string(clause.comparison)), std::get<double>(clause.value));
  }

  void compare_text(const std::string& value, const Clause& clause) {
    if (const auto* words = std::get_if<Words>(&clause.value)) {
      add(fmt::format("{} {} ", value, to_string(clause.comparison)));
      return add_list(*words);
    }
    const auto& wanted = std::get<std::string>(clause.value);
    if (is_plain(clause.comparison))
      add(fmt::format("{} {} ?", value, to_string(clause.comparison)), wanted);
    else
      add(fmt::format("{}({}, ?)", clause.comparison == Comparison::like ? "ls_like" : "ls_ilike",
                      value),
          wanted);
  }

  SearchSql sql_;
};

Status expect_small(const SearchQuery& query) {
  const bool fits = query.filter.size() <= kMaxClauses && query.orders.size() <= kMaxOrders &&
                    query.experiments.size() + query.may_read.projects.size() <= kMaxNamesInASearch;
  if (fits) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("a search has at most {} clauses, {} keys to sort by, and {} "
                                "experiments and projects",
                                kMaxClauses, kMaxOrders, kMaxNamesInASearch));
}

}  // namespace

Result<SearchSql> search_sql(const SearchQuery& query) {
  TRY(expect_small(query));
  for (const Clause& clause : query.filter) TRY(expect_kept(clause.field));
  for (const Order& order : query.orders) TRY(expect_kept(order.field));
  Builder sql;
  sql.add(kSelectRuns).add("WHERE 1 = 1 ");
  if (!query.experiments.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : query.experiments) names.push_back(cut(name, kMaxRunWordBytes));
    sql.add("AND run.experiment IN ").add_list(names);
    sql.add(" ");
  }
  if (query.view != SearchQuery::View::all)
    sql.add("AND run.deleted = ? ", std::int64_t{query.view == SearchQuery::View::deleted});
  sql.visible(query.may_read);
  for (const Clause& clause : query.filter) sql.clause(clause);
  sql.add("ORDER BY ");
  for (const Order& order : query.orders) sql.order(order);
  sql.add("run.started DESC, run.run_id ASC ");
  const auto limit = std::min(query.limit, kMaxFoundRuns);
  sql.add("LIMIT ? ", static_cast<std::int64_t>(limit + 1));
  const auto offset = std::min<std::uint64_t>(query.offset, INT64_MAX);
  sql.add("OFFSET ?", static_cast<std::int64_t>(offset));
  return sql.take();
}

void bind_values_of(Statement& statement, const SearchSql& sql) {
  int index = 0;
  for (const auto& value : sql.values) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&value)) statement.bind(index, *number);
    if (const auto* real = std::get_if<double>(&value)) statement.bind_real(index, *real);
    if (const auto* text = std::get_if<std::string>(&value)) statement.bind_text(index, *text);
  }
}

}  // namespace lockstep::metrics
