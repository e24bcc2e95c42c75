#pragma once
// std::visit with one lambda for each alternative: one that is missing does not compile.

namespace lockstep {

template <class... Functions>
struct Match : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Match(Functions...) -> Match<Functions...>;

}  // namespace lockstep
