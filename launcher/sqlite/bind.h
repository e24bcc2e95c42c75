#pragma once
// All parameters of a statement at once, in their order, by their types; and its end.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "launcher/sqlite/database.h"

namespace lockstep::launcher {

template <std::integral Number>
void bind_one(Statement& statement, int index, Number value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <typename Enum>
requires std::is_enum_v<Enum>
void bind_one(Statement& statement, int index, Enum value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
inline void bind_one(Statement& statement, int index, double value) {
  statement.bind_real(index, value);
}
inline void bind_one(Statement& statement, int index, const std::optional<double>& value) {
  value ? statement.bind_real(index, *value) : statement.bind_null(index);
}
inline void bind_one(Statement& statement, int index, std::string_view value) {
  statement.bind_text(index, value);
}
inline void bind_one(Statement& statement, int index, const std::string& value) {
  statement.bind_text(index, value);
}
// It would be gone when the statement is executed.
void bind_one(Statement& statement, int index, std::string&& value) = delete;

// Texts must outlive the execution of the statement.
template <typename... Values>
void bind_values(Statement& statement, Values&&... values) {
  int index = 0;
  (bind_one(statement, ++index, std::forward<Values>(values)), ...);
}

// Resets the statement at the end of a scope, so that it holds no lock on what it read.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.reset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  Statement& statement_;
};

}  // namespace lockstep::launcher
