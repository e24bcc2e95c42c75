#pragma once
// What the clauses and orders of search_runs are about.

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::metrics {

enum class Entity { metric, parameter, tag, attribute, dataset };
std::string_view to_string(Entity entity);  // "metrics", "params", …

enum class Attribute { run_id, run_name, status, user_id, artifact_uri, start_time, end_time };
std::string_view to_string(Attribute attribute);  // "run_id", …
bool is_number(Attribute attribute);

// What a clause is about. Of an attribute, `key` is its name as MLflow's tables have it.
struct Field {
  Entity entity = Entity::metric;
  std::string key;
  Attribute attribute = Attribute::run_id;  // of an attribute
  friend bool operator==(const Field&, const Field&) = default;
};
bool is_number(const Field& field);

inline constexpr std::size_t kMaxFilterBytes = 64u << 10;  // of a filter, or of an order

}  // namespace lockstep::metrics
