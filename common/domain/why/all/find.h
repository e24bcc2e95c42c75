#pragma once
// Looks for a reason within another one.

#include <type_traits>

#include "common/domain/why/all/reason.h"

namespace lockstep {

namespace detail {
template <class R>
struct ReasonFinder {
  const R*& found;
  template <class T>
  void operator()(std::string_view name, const T& member) const;
};
}  // namespace detail

// The first R within the reason, or the reason itself; null: there is none. It is valid as long as
// `why` is.
template <class R>
const R* find_reason(const Why& why) {
  if (!why) return nullptr;
  const R* found = why.as<R>();
  if (found != nullptr) return found;
  visit_reason(
      [&]<class Of>(const Of& reason) {
        if constexpr (!std::is_same_v<Of, Unknown>)
          Of::fields(reason, detail::ReasonFinder<R>{found});
      },
      *why.get());
  return found;
}

template <class R>
template <class T>
void detail::ReasonFinder<R>::operator()(std::string_view name, const T& member) const {
  if (found != nullptr) return;
  if constexpr (std::is_same_v<T, Why>) {
    found = find_reason<R>(member);
  } else if constexpr (requires { T::fields(member, *this); }) {
    T::fields(member, *this);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return;
  } else if constexpr (requires { *member.begin(); }) {  // std::vector
    for (const auto& item : member) (*this)(name, item);
  } else if constexpr (requires { member.has_value(); }) {
    if (member) (*this)(name, *member);
  }
}

}  // namespace lockstep
