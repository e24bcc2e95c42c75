#pragma once
// The arguments of one call, from a JSON body or from a query. Clients write numbers as numbers or
// as texts, as protobuf's JSON has them, and send fields of later versions: those are passed over.
// Errors are invalid_argument and name the field. Only launcher/gateway/mlflow uses it.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "launcher/gateway/http/message/target.h"

namespace lockstep::mlflow {

inline constexpr std::size_t kMaxJsonDepth = 16;
// Of values in one body, so that many short ones take no more memory than the body's limit allows.
inline constexpr std::size_t kMaxJsonValues = 200'000;

// An object: an empty text is one without members.
Result<nlohmann::json> parse_object(std::string_view body);

class Fields {
 public:
  // `object` must outlive it. It is a JSON object.
  explicit Fields(const nlohmann::json& object) : object_(object) {}

  // The first of these names that is there and not null: clients of some versions have others.
  bool has(std::string_view name) const { return find({name}) != nullptr; }
  Result<std::string> text(std::initializer_list<std::string_view> names) const;
  Result<std::optional<std::string>> optional_text(
      std::initializer_list<std::string_view> names) const;
  Result<std::int64_t> number(std::string_view name, std::int64_t absent) const;
  Result<double> real(std::string_view name) const;   // NaN and infinities come as texts
  Result<Instant> time(std::string_view name) const;  // in milliseconds; absent: ns = 0
  Result<std::vector<std::string>> texts(std::string_view name, std::size_t most) const;
  // The objects of a list; absent: none.
  Result<std::vector<Fields>> objects(std::string_view name, std::size_t most) const;
  Result<std::optional<Fields>> object(std::string_view name) const;

 private:
  const nlohmann::json* find(std::initializer_list<std::string_view> names) const;
  const nlohmann::json& object_;
};

// The parameters of these names as an object of texts, and of lists of texts for `lists`.
Result<nlohmann::json> object_of(const http::Query& query,
                                 std::initializer_list<std::string_view> names,
                                 std::initializer_list<std::string_view> lists = {});

}  // namespace lockstep::mlflow
