#pragma once

namespace lockstep {

// The reasons of one group.
template <class... R>
struct List {};

}  // namespace lockstep
