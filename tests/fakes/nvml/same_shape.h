#pragma once
// Whether two functions of C can be called for each other: as many arguments, each of the same
// size, and pointers to what has the same size, as far as it is known.

#include <cstddef>
#include <type_traits>

namespace lockstep::test {

template <typename T>
constexpr std::size_t size_behind() {
  using Behind = std::remove_pointer_t<T>;
  if constexpr (!std::is_pointer_v<T> || std::is_void_v<Behind>)
    return 0;
  else if constexpr (requires { sizeof(Behind); })
    return sizeof(Behind);
  else
    return 0;
}

template <typename A, typename B>
constexpr bool same_value() {
  constexpr std::size_t a = size_behind<A>(), b = size_behind<B>();
  return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
         (a == 0 || b == 0 || a == b);
}

template <typename A, typename B>
inline constexpr bool kSameShape = false;
template <typename A, typename... As, typename B, typename... Bs>
requires(sizeof...(As) ==
         sizeof...(Bs)) inline constexpr bool kSameShape<A (*)(As...), B (*)(Bs...)> =
    same_value<A, B>() && (same_value<As, Bs>() && ...);

}  // namespace lockstep::test
