#pragma once
// A field of a message by its number. proto/write_accessors.cc writes the specializations into
// proto/<file>.access.h when the messages are generated:
//   Access<pb::RankExit, 8>::get(m), ::set(m, v) of a number, ::change(m) of all else,
//   ::has(m) of a field with presence, ::kName.

#include <google/protobuf/repeated_field.h>

#include <array>
#include <cstdint>
#include <string>

namespace lockstep::pb {

template <class M, int N>
struct Access;
// The message's name in errors: "rank_exit".
template <class M>
inline constexpr const char* kMessageName = "";
// The numbers of its fields. Of every message, so that a test can ask whether a table has them all.
template <int Count>
using Numbers = std::array<int, Count>;
template <class M>
inline constexpr Numbers<0> kNumbers = {};

}  // namespace lockstep::pb
