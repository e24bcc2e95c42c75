#pragma once
// The kinds of members, by which visitors of tables (table.h) treat them.

#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep {

struct NoVisitor {
  void operator()(auto&&...) const {}
};
template <class T>
concept HasTable = requires(T& t) {
  T::table(t, NoVisitor());
};
template <class T>
concept Bare = requires(T& t) {
  T::bare(t);
};
// Whether a member is another value on the wire: Shifted, Negated, …
template <class T>
concept Adapted = requires(const T& t) {
  t.get();
  t.set(t.get());
};
template <class T>
concept Enum = std::is_enum_v<T>;

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsSet = false;
template <class T>
inline constexpr bool kIsSet<std::set<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
// Needs a count.
template <class T>
inline constexpr bool kIsCounted = kIsVector<T> || kIsSet<T> || kIsMap<T>;

}  // namespace lockstep
