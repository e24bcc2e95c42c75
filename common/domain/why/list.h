#pragma once
// Each group of reasons names its structs once, in a List; Reason is the variant of all of them.

#include <variant>

namespace lockstep {

template <class... R>
struct List {};

namespace detail {
template <class... Lists>
struct Joined;
template <class... R>
struct Joined<List<R...>> {
  using Variant = std::variant<R...>;
};
template <class... A, class... B, class... Rest>
struct Joined<List<A...>, List<B...>, Rest...> : Joined<List<A..., B...>, Rest...> {};
}  // namespace detail

template <class... Lists>
using VariantOf = typename detail::Joined<Lists...>::Variant;

}  // namespace lockstep
