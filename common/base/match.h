#pragma once
// For std::visit with one lambda for each alternative. A missing alternative is a compile error.

namespace lockstep {

template <class... Functions>
struct Match : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Match(Functions...) -> Match<Functions...>;

}  // namespace lockstep
