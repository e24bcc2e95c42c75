#pragma once
// One example of each reason, all of its fields filled, for tests of codecs and of sentences.

#include <optional>
#include <type_traits>
#include <vector>

#include "common/domain/why/all/reason.h"

namespace lockstep::testing {

// Each value differs from the one before, and nothing is empty.
class ReasonFiller {
 public:
  template <class T>
  void operator()(std::string_view name, T& member) {
    ++number_;
    if constexpr (std::is_same_v<T, std::string>) {
      member = std::string(name) + "-" + std::to_string(number_);
    } else if constexpr (std::is_same_v<T, bool>) {
      member = true;
    } else if constexpr (std::is_enum_v<T>) {
      member = static_cast<T>(1);
    } else if constexpr (std::is_arithmetic_v<T>) {
      member = static_cast<T>(number_ + 1);
    } else if constexpr (std::is_same_v<T, Bytes>) {
      member = gibibytes(static_cast<std::uint64_t>(number_));
    } else if constexpr (std::is_same_v<T, Duration>) {
      member = minutes(number_);
    } else if constexpr (std::is_same_v<T, Instant>) {
      member = Instant{1'700'000'000'000'000'000} + minutes(number_);
    } else if constexpr (std::is_same_v<T, Why>) {
      member = told("why-" + std::to_string(number_));
    } else if constexpr (requires { member.emplace_back(); }) {
      fill_list(name, member);
    } else if constexpr (requires { member.emplace(); }) {
      (*this)(name, member.emplace());
    } else if constexpr (requires { member.value; }) {  // an id
      (*this)(name, member.value);
    } else {
      T::fields(member, *this);
    }
  }

 private:
  template <class T>
  void fill_list(std::string_view name, std::vector<T>& list) {
    for (int i = 0; i < 2; ++i) {
      T item{};
      (*this)(name, item);
      list.push_back(std::move(item));
    }
  }

  int number_ = 0;
};

inline std::vector<Why> every_reason() {
  std::vector<Why> all;
  const auto add = [&]<class R>(const R*) {
    if constexpr (!std::is_same_v<R, Unknown>) {
      R reason;
      R::fields(reason, ReasonFiller());
      all.emplace_back(std::move(reason));
    }
  };
  each_group([&]<class... R>(List<R...>) { (add(static_cast<const R*>(nullptr)), ...); });
  return all;
}

}  // namespace lockstep::testing
