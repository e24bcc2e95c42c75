#pragma once
// The table of a struct: each member's number on the wire and in journals, its name there without
// the unit, and its limits. It stands in the struct, below the members, and nothing else repeats
// it:
//
//   struct RankEnd {
//     int rank = 0;
//     int signal = 0;
//     Instant time;
//     static void table(auto& s, auto&& see) {
//       see(field<1>, "rank", s.rank, kRankRule);
//       see(field<3>, "signal", s.signal, {.low = 0, .high = 128});
//       see(field<7>, "time", s.time);
//     }
//   };
//
// The codecs (common/wire/table_codec.h) and the tests visit it. A member may lie elsewhere within
// the struct (`s.retry.backoff`). A type's own limits (of a time, a digest, a key, a job's name)
// need no rule. Beside its table a struct may have
//   static void mend(T&);           sets members that an earlier version did not write
//   static Status check(const T&);  refuses members that do not agree
//   static constexpr int kBody = 31;  of a message or a fact: its number among the bodies of its
//                                     envelope (common/wire/body_codec.h)
// Instead of a table, a struct with one member that travels without a message around it has
//   static auto& bare(auto& s);     returns that member
// An enum has numbers and words instead: word.h.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/word.h"

namespace lockstep {

// ---- where a member is --------------------------------------------------------------------------

template <int N>
struct Field {};
template <int N>
inline constexpr Field<N> field{};
// Sent to nobody.
inline constexpr Field<0> nowhere{};

// A field of earlier versions: read if it is present, never written.
template <int N>
struct OldField {};
template <int N>
inline constexpr OldField<N> old_field{};

// A variant (oneof): the number of each alternative, in their order. An alternative with number 0
// is not written, and is read if all others are absent.
template <int... N>
struct OneOf {};
template <int... N>
inline constexpr OneOf<N...> one_of{};

// A Why, or a list of them: the number of the text that earlier versions read, and of the reason's
// data. A reason that is only text is written as text (common/wire/why_codec.h). If the struct has
// the text as a member of its own, the Why is an ordinary `field`.
template <int Text, int Data>
struct ReasonFields {};
template <int Text, int Data>
inline constexpr ReasonFields<Text, Data> reason_fields{};
// The same, but every reason is written to Data: only earlier versions wrote a text.
template <int Text, int Data>
struct ReasonOrOldText : ReasonFields<Text, Data> {};
template <int Text, int Data>
inline constexpr ReasonOrOldText<Text, Data> reason_or_old_text{};

// Fields that the struct's own to_wire and from_wire write and read, after write_table and
// read_table.
template <int... N>
struct ByHand {};
template <int... N>
inline constexpr ByHand<N...> by_hand{};

// ---- limits -------------------------------------------------------------------------------------

// How a member beyond its limits is cut when it is written. A receiver refuses the whole message if
// one member is beyond them, so texts of other programs and numbers of the kernel must be cut.
enum class Cut {
  no,
  middle,  // a text keeps its beginning and its end (cut_middle); its limit is above 200 bytes
  end,     // a text ends with "…", a list loses its last items, a number becomes the nearest
  head,    // as `end`, but a text gets no mark (head)
};

inline constexpr std::int64_t kLowest = INT64_MIN, kHighest = INT64_MAX;

struct Rule {
  // Of a number, or of each number in a list. Of a Duration in nanoseconds; default: 0 to 100
  // years.
  std::int64_t low = kLowest, high = kHighest;
  // Of a text, or of each text in a list. 0: 64 KiB; in a map no limit.
  std::size_t bytes = 0;
  std::size_t count = 0;  // of a list, a set or a map; required
  std::size_t each = 0;   // of each list in a map
  Cut cut = Cut::no;
  std::int64_t none = kLowest;  // this number is not written; its field has presence
  bool unless_empty = false;    // a struct or digest equal to a new one is not written
  bool doubles = false;         // a map accepts a key twice and keeps the last
  bool not_finite = false;      // a double may be NaN or infinite
  const char* since = nullptr;  // the version that added this enum; absent: the member's default
};

// Longer than any valid name: the launcher answers a request for an invalid name with "there is no
// such …" instead of dropping the message.
inline constexpr Rule kNameRule{.bytes = 1'024};
inline constexpr Rule kUserNameRule{.bytes = 256};  // of users, projects, tokens
inline constexpr Rule kNotNegative{.low = 0};
inline constexpr Rule kCutText{.cut = Cut::middle};  // text for people

// ---- members that are another value on the wire -------------------------------------------------

template <int By, class M>
struct Shifted {
  M& member;
  int get() const { return member + By; }
  void set(int value) const { member = value - By; }
};
// On the wire the number is By higher; limits apply to that.
template <int By, class M>
constexpr Shifted<By, M> shifted(M& member) {
  return {member};
}

template <class M>
struct Negated {
  M& member;
  bool get() const { return !member; }
  void set(bool value) const { member = !value; }
};
template <class M>
constexpr Negated<M> negated(M& member) {
  return {member};
}

template <class M>
struct InMilliseconds {
  M& member;
  std::int64_t get() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(member).count();
  }
  void set(std::int64_t value) const { member = std::chrono::milliseconds(value); }
};
template <class M>
constexpr InMilliseconds<M> in_milliseconds(M& member) {
  return {member};
}

template <auto Unknown, class M>
struct WordOr {
  M& member;
  std::string get() const { return describe(member).word; }
  void set(const std::string& word) const {
    member = with_word<decltype(Unknown)>(word).value_or(Unknown);
  }
};
// An enum that is its word on the wire; Unknown: a word that this version does not know.
template <auto Unknown, class M>
constexpr WordOr<Unknown, M> word_or(M& member) {
  return {member};
}

}  // namespace lockstep
