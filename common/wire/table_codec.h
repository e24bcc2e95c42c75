#pragma once
// Writes and reads the message of any struct with a table (common/base/table.h), field by field
// through Access. Readers check what the table says and nothing else; a value beyond its limits is
// an Error that names message and field. A member may be a struct with a table, or one with a
// to_wire and a from_wire of its own.
//
// Files that include this instantiate the codec of each struct that they write or read, unless a
// header declares it with LOCKSTEP_CODEC (fields.h); then one file has LOCKSTEP_TABLE_CODEC.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/table.h"
#include "common/base/table_kinds.h"
#include "common/wire/access.h"
#include "common/wire/fields.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

// Fields that are by_hand are left as they are.
template <HasTable T, class W>
void write_table(const T& from, W* to);
template <class W, HasTable T>
Status read_table(const W& from, T* to);

// The codec of every struct that has only its table.
template <HasTable T, class W>
void to_wire(const T& from, W* to) {
  write_table(from, to);
}
template <class W, HasTable T>
Status from_wire(const W& from, T* to) {
  return read_table(from, to);
}

// Of a struct whose only member travels alone.
template <Bare T, class W>
void to_wire(const T& from, W* to) {
  to_wire(T::bare(from), to);
}
template <class W, Bare T>
Status from_wire(const W& from, T* to) {
  return from_wire(from, &T::bare(*to));
}

// What LOCKSTEP_CODEC(Domain, Wire) declares, by the struct's table.
#define LOCKSTEP_TABLE_CODEC(Domain, Wire)                                        \
  void to_wire(const Domain& from, Wire* to) { write_table(from, to); }           \
  Status from_wire(const Wire& from, Domain* to) { return read_table(from, to); } \
  static_assert(true)

namespace by_table {

// ---- faults -------------------------------------------------------------------------------------

// Why a message is refused. The functions return false once it is set.
struct Fault {
  std::optional<Error> error;
  bool set(Status status) {
    if (status) [[likely]]
      return true;
    error = std::move(status).error();
    return false;
  }
};
struct Place {
  const char* message;
  const char* field;
};
bool refuse(Place at, const std::string& why, Fault* fault);
bool refuse_number(const std::string& is, std::int64_t low, std::int64_t high, Place at,
                   Fault* fault);
bool refuse_text(std::size_t size, std::size_t most, Place at, Fault* fault);
bool refuse_count(std::size_t size, std::size_t most, Place at, Fault* fault);
bool refuse_word(const std::string& is, Place at, Fault* fault);

// ---- values that are one number or one text -----------------------------------------------------

template <class T>
requires std::is_arithmetic_v<T> T number(T v) { return v; }
inline std::int64_t number(Instant v) { return v.ns; }
inline std::int64_t number(Duration v) { return v.count(); }
inline std::uint64_t number(lockstep::Bytes v) { return v.count; }
template <class Tag>
std::uint64_t number(const Id<Tag, std::uint64_t>& v) {
  return v.value;
}
template <Enum E>
int number(E v) {
  return describe(v).number;
}
template <Bare T>
auto number(const T& v) {
  return number(T::bare(v));
}

template <class T>
auto cut_number(T v, const Rule& rule) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (v < rule.low) return static_cast<T>(rule.low);
    if (v > rule.high) return static_cast<T>(rule.high);
  }
  return v;
}

void write_cut_text(const std::string& from, const Rule& rule, std::string* to);
inline void write_text(const std::string& from, const Rule& rule, std::string* to) {
  if (rule.cut == Cut::no) [[likely]]
    *to = from;
  else
    write_cut_text(from, rule, to);
}
inline void write_text(const Digest& from, const Rule&, std::string* to) { *to = from.view(); }
template <class Tag>
void write_text(const Id<Tag, std::string>& from, const Rule&, std::string* to) {
  *to = from.value;
}
template <Enum E>
void write_text(E from, const Rule&, std::string* to) {
  *to = describe(from).word;
}
template <Bare T>
void write_text(const T& from, const Rule& rule, std::string* to) {
  write_text(T::bare(from), rule, to);
}

inline bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault,
                       std::string* to) {
  const std::size_t most = rule.bytes == 0 ? kMaxTextBytes : rule.bytes;
  if (from.size() > most) [[unlikely]]
    return refuse_text(from.size(), most, at, fault);
  *to = from;
  return true;
}
bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault, Digest* to);
// With `bytes` in the rule: any text, else only the name of a job.
bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault, JobId* to);
bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault, PublicKey* to);
template <class Tag>
bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault,
                Id<Tag, std::string>* to) {
  return read_value(from, rule, at, fault, &to->value);
}
template <Enum E>
bool read_value(const std::string& from, const Rule&, Place at, Fault* fault, E* to) {
  const std::optional<E> read = with_word<E>(from);
  if (!read) return refuse_word(from, at, fault);
  *to = *read;
  return true;
}

bool refuse_time(std::int64_t from, Place at, Fault* fault);
bool refuse_duration(std::int64_t from, const Rule& rule, Place at, Fault* fault);
inline bool read_value(std::int64_t from, const Rule&, Place at, Fault* fault, Instant* to) {
  if (!is_time(from)) [[unlikely]]
    return refuse_time(from, at, fault);
  to->ns = from;
  return true;
}
inline bool read_value(std::int64_t from, const Rule& rule, Place at, Fault* fault, Duration* to) {
  const bool is_within = rule.low == kLowest && rule.high == kHighest
                             ? from >= 0 && from <= kMostDurationNs
                             : from >= rule.low && from <= rule.high;
  if (!is_within) [[unlikely]]
    return refuse_duration(from, rule, at, fault);
  *to = Duration(from);
  return true;
}
inline bool read_value(std::uint64_t from, const Rule&, Place, Fault*, lockstep::Bytes* to) {
  to->count = from;
  return true;
}
template <class Tag>
bool read_value(std::uint64_t from, const Rule&, Place, Fault*, Id<Tag, std::uint64_t>* to) {
  to->value = from;
  return true;
}
inline bool read_value(bool from, const Rule&, Place, Fault*, bool* to) {
  *to = from;
  return true;
}
inline bool read_value(double from, const Rule& rule, Place at, Fault* fault, double* to) {
  if (!rule.not_finite && !std::isfinite(from)) return refuse(at, "is not a number", fault);
  *to = from;
  return true;
}
// Whole numbers. Without limits a number of the same size is taken as it is, whatever its sign.
template <class W, class T>
requires(std::is_integral_v<W>&& std::is_integral_v<T> &&
         !std::is_same_v<T, bool>) bool read_value(W from, const Rule& rule, Place at, Fault* fault,
                                                   T* to) {
  std::int64_t low = rule.low, high = rule.high;
  if constexpr (sizeof(T) < sizeof(W) || sizeof(T) < sizeof(int)) {
    low = std::max<std::int64_t>(low, std::numeric_limits<T>::min());
    high = std::min<std::int64_t>(high, std::numeric_limits<T>::max());
  }
  const bool is_low = low != kLowest && std::cmp_less(from, low);
  const bool is_high = high != kHighest && std::cmp_greater(from, high);
  if (is_low || is_high) [[unlikely]]
    return refuse_number(std::to_string(from), low, high, at, fault);
  *to = static_cast<T>(from);
  return true;
}
template <Enum E>
bool read_value(int from, const Rule& rule, Place at, Fault* fault, E* to) {
  if (from == 0 && rule.since != nullptr) return true;
  const std::optional<E> read = with_number<E>(from);
  if (!read) [[unlikely]]
    return refuse_word(std::to_string(from), at, fault);
  *to = *read;
  return true;
}
template <class W, Bare T>
bool read_value(const W& from, const Rule& rule, Place at, Fault* fault, T* to) {
  return read_value(from, rule, at, fault, &T::bare(*to));
}

// ---- what a field is ----------------------------------------------------------------------------

template <class A, class M>
concept HasPresence = requires(const M& m) {
  A::has(m);
};
template <class A, class M>
using Wire = std::remove_cvref_t<decltype(A::get(std::declval<const M&>()))>;
template <class W>
inline constexpr bool kIsNumber = std::is_arithmetic_v<W> || std::is_enum_v<W>;
template <class W>
inline constexpr bool kIsRepeated = false;
template <class W>
inline constexpr bool kIsRepeated<google::protobuf::RepeatedField<W>> = true;
template <class W>
inline constexpr bool kIsRepeated<google::protobuf::RepeatedPtrField<W>> = true;
template <class A, class M>
bool is_absent(const M& from) {
  if constexpr (HasPresence<A, M>)
    return !A::has(from);
  else if constexpr (kIsNumber<Wire<A, M>>)
    return A::get(from) == Wire<A, M>{};
  else
    return A::get(from).empty();
}

// ---- writing ------------------------------------------------------------------------------------

template <class A, class M, class T>
void write_field(const T& from, const Rule& rule, M& to);

// An entry of a map is a message with its key as 1 and its value as 2.
template <class Item, class W>
void write_entry(const Item& from, const Rule& rule, W* to) {
  write_field<Access<W, 1>>(from.first, rule, *to);
  Rule inner = rule;
  inner.count = rule.each;
  write_field<Access<W, 2>>(from.second, inner, *to);
}
template <class Item, class W>
void write_item(const Item& from, const Rule&, google::protobuf::RepeatedField<W>* to) {
  to->Add(static_cast<W>(number(from)));
}
template <class Item, class W>
void write_item(const Item& from, const Rule& rule, google::protobuf::RepeatedPtrField<W>* to) {
  if constexpr (std::is_same_v<W, std::string>)
    write_text(from, rule, to->Add());
  else if constexpr (kIsPair<Item>)
    write_entry(from, rule, to->Add());
  else
    to_wire(from, to->Add());
}
template <class T, class Repeated>
void write_items(const T& from, const Rule& rule, Repeated* to) {
  std::size_t left = from.size();
  if (rule.cut != Cut::no && left > rule.count) left = rule.count;
  to->Reserve(static_cast<int>(left));
  for (const auto& item : from) {
    if (left-- == 0) break;
    write_item(item, rule, to);
  }
}

template <class A, class M, class T>
void write_field(const T& from, const Rule& rule, M& to) {
  if constexpr (Adapted<T>) {
    write_field<A>(from.get(), rule, to);
  } else if constexpr (kIsOptional<T>) {
    if (from) write_field<A>(*from, rule, to);
  } else if constexpr (kIsNumber<Wire<A, M>>) {
    auto is = number(from);
    if constexpr (HasPresence<A, M> && std::is_integral_v<decltype(is)> &&
                  !std::is_same_v<decltype(is), bool>)
      if (rule.none != kLowest && std::cmp_equal(is, rule.none)) return;
    if (rule.cut != Cut::no) is = cut_number(is, rule);
    A::set(to, static_cast<Wire<A, M>>(is));
  } else if constexpr (std::is_same_v<Wire<A, M>, std::string>) {
    if constexpr (std::is_same_v<T, Digest>)
      if (rule.unless_empty && from == Digest()) return;
    if constexpr (kIsVector<T>)
      *A::change(to) = join_digests(from);
    else
      write_text(from, rule, A::change(to));
  } else if constexpr (kIsRepeated<Wire<A, M>>) {
    write_items(from, rule, A::change(to));
  } else if constexpr (kIsCounted<T>) {  // within a message of its own, so that it can be absent
    write_field<Access<Wire<A, M>, 1>>(from, rule, *A::change(to));
  } else if constexpr (std::is_same_v<T, lockstep::Why>) {
    if (from) to_wire(from, A::change(to));
  } else {
    if (rule.unless_empty && from == T{}) return;
    to_wire(from, A::change(to));
  }
}

template <class W>
struct Writer {
  W& to;
  template <int N, class T>
  void operator()(Field<N>, const char*, const T& member, const Rule& rule = {}) const {
    if constexpr (N != 0) write_field<Access<W, N>>(member, rule, to);
  }
  template <int N, class T>
  void operator()(OldField<N>, const char*, const T&, const Rule& = {}) const {}
  template <int... N>
  void operator()(ByHand<N...>, auto&&...) const {}
  template <int... N, class... T>
  void operator()(OneOf<N...>, const char*, const std::variant<T...>& member,
                  const Rule& rule = {}) const {
    static_assert(sizeof...(N) == sizeof...(T));
    std::visit([&]<class Is>(const Is& is) { ((write_one<N, T>(is, rule)), ...); }, member);
  }
  template <int Text, int Data>
  void operator()(ReasonFields<Text, Data>, const char*, const lockstep::Why& member,
                  const Rule& = {}) const {
    write_why(member, Access<W, Text>::change(to), [&] { return Access<W, Data>::change(to); });
  }
  template <int Text, int Data>
  void operator()(ReasonFields<Text, Data>, const char*, const std::vector<lockstep::Why>& member,
                  const Rule& = {}) const {
    write_whys(member, Access<W, Text>::change(to), Access<W, Data>::change(to));
  }
  template <int Text, int Data, class T>
  void operator()(ReasonOrOldText<Text, Data>, const char*, const T& member,
                  const Rule& rule = {}) const {
    write_field<Access<W, Data>>(member, rule, to);
  }

 private:
  template <int N, class T, class Is>
  void write_one([[maybe_unused]] const Is& is, [[maybe_unused]] const Rule& rule) const {
    if constexpr (N != 0 && std::is_same_v<T, Is>) write_field<Access<W, N>>(is, rule, to);
  }
};

// ---- reading ------------------------------------------------------------------------------------

template <class A, class M, class T>
bool read_field(const M& from, const Rule& rule, Place at, Fault* fault, T& to);

template <class T>
bool is_twice(const T& key, Place at, Fault* fault) {
  if constexpr (std::is_same_v<T, std::string>)
    return refuse(at, "names '" + key + "' twice", fault);
  else
    return refuse(at, "has a key twice", fault);
}
template <class Item, class W>
bool read_entry(const W& from, const Rule& rule, Place at, Fault* fault, Item& to) {
  Rule inner = rule;
  if (inner.bytes == 0) inner.bytes = SIZE_MAX;
  if (!read_field<Access<W, 1>>(from, inner, at, fault, to.first)) return false;
  inner.count = rule.each;
  return read_field<Access<W, 2>>(from, inner, at, fault, to.second);
}
template <class Item, class W>
bool read_item(const W& from, const Rule& rule, Place at, Fault* fault, Item& to) {
  if constexpr (kIsNumber<W> || std::is_same_v<W, std::string>)
    return read_value(from, rule, at, fault, &to);
  else if constexpr (kIsPair<Item>)
    return read_entry(from, rule, at, fault, to);
  else
    return fault->set(from_wire(from, &to));
}
template <class T, class Repeated>
bool read_items(const Repeated& from, const Rule& rule, Place at, Fault* fault, T& to) {
  const auto size = static_cast<std::size_t>(from.size());
  if (size > rule.count) [[unlikely]]
    return refuse_count(size, rule.count, at, fault);
  to.clear();
  if constexpr (kIsVector<T>) to.reserve(size);
  for (const auto& item : from) {
    if constexpr (kIsVector<T>) {
      if (!read_item(item, rule, at, fault, to.emplace_back())) return false;
    } else if constexpr (kIsSet<T>) {
      typename T::value_type one{};
      if (!read_item(item, rule, at, fault, one)) return false;
      to.insert(std::move(one));
    } else {
      std::pair<typename T::key_type, typename T::mapped_type> one{};
      if (!read_item(item, rule, at, fault, one)) return false;
      if (rule.doubles)
        to.insert_or_assign(std::move(one.first), std::move(one.second));
      else if (!to.try_emplace(one.first, std::move(one.second)).second)
        return is_twice(one.first, at, fault);
    }
  }
  return true;
}

template <class A, class M, class T>
bool read_field(const M& from, const Rule& rule, Place at, Fault* fault, T& to) {
  using Is = std::remove_const_t<T>;
  if constexpr (Adapted<Is>) {
    auto is = to.get();
    if (!read_field<A>(from, rule, at, fault, is)) return false;
    to.set(is);
    return true;
  } else if constexpr (kIsOptional<Is>) {
    if (is_absent<A>(from)) return true;
    return read_field<A>(from, rule, at, fault, to.emplace());
  } else if constexpr (kIsNumber<Wire<A, M>>) {
    if constexpr (HasPresence<A, M>)
      if (!A::has(from)) return true;
    return read_value(A::get(from), rule, at, fault, &to);
  } else if constexpr (std::is_same_v<Wire<A, M>, std::string>) {
    if constexpr (HasPresence<A, M>)
      if (!A::has(from)) return true;
    if (rule.unless_empty && A::get(from).empty()) return true;
    if constexpr (kIsVector<Is>)
      return fault->set(split_digests(A::get(from), rule.count, at.field, &to));
    else
      return read_value(A::get(from), rule, at, fault, &to);
  } else if constexpr (kIsRepeated<Wire<A, M>>) {
    return read_items(A::get(from), rule, at, fault, to);
  } else if constexpr (kIsCounted<Is>) {
    return read_field<Access<Wire<A, M>, 1>>(A::get(from), rule, at, fault, to);
  } else {
    if (std::is_same_v<Is, lockstep::Why> || rule.unless_empty)
      if (!A::has(from)) return true;
    return fault->set(from_wire(A::get(from), &to));
  }
}

template <class W>
struct Reader {
  const W& from;
  Fault* fault;
  template <int N, class T>
  void operator()(Field<N>, const char* name, T&& member, const Rule& rule = {}) const {
    if constexpr (N != 0)
      if (!fault->error) read_field<Access<W, N>>(from, rule, place(name), fault, member);
  }
  template <int N, class T>
  void operator()(OldField<N>, const char* name, T&& member, const Rule& rule = {}) const {
    if (fault->error || is_absent<Access<W, N>>(from)) return;
    read_field<Access<W, N>>(from, rule, place(name), fault, member);
  }
  template <int... N>
  void operator()(ByHand<N...>, auto&&...) const {}
  template <int... N, class... T>
  void operator()(OneOf<N...>, const char* name, std::variant<T...>& member,
                  const Rule& rule = {}) const {
    static_assert(sizeof...(N) == sizeof...(T));
    if (fault->error || (read_one<N, T>(place(name), member, rule) || ...)) return;
    if (!(take_absent<N, T>(member) || ...))
      refuse(place(name), "is missing or of a kind that this version does not know", fault);
  }
  template <int Text, int Data>
  void operator()(ReasonFields<Text, Data>, const char* name, lockstep::Why& member,
                  const Rule& = {}) const {
    if (fault->error) return;
    const std::string& text = Access<W, Text>::get(from);
    if (text.size() > kMaxTextBytes && !Access<W, Data>::has(from))
      refuse_text(text.size(), kMaxTextBytes, place(name), fault);
    else
      fault->set(
          read_why(text, Access<W, Data>::has(from), Access<W, Data>::get(from), name, &member));
  }
  template <int Text, int Data>
  void operator()(ReasonFields<Text, Data>, const char* name, std::vector<lockstep::Why>& member,
                  const Rule& rule = {}) const {
    if (fault->error) return;
    fault->set(read_whys(Access<W, Text>::get(from), Access<W, Data>::get(from), rule.count, name,
                         &member));
  }

 private:
  static Place place(const char* name) { return {kMessageName<W>, name}; }
  // Whether this alternative is there, be it valid or not.
  template <int N, class T, class... All>
  bool read_one(Place at, std::variant<All...>& member, const Rule& rule) const {
    if constexpr (N != 0) {
      if (!Access<W, N>::has(from)) return false;
      read_field<Access<W, N>>(from, rule, at, fault, member.template emplace<T>());
      return true;
    }
    return false;
  }
  template <int N, class T, class... All>
  static bool take_absent(std::variant<All...>& member) {
    if constexpr (N == 0) member.template emplace<T>();
    return N == 0;
  }
};

}  // namespace by_table

template <HasTable T, class W>
void write_table(const T& from, W* to) {
  T::table(from, by_table::Writer<W>{*to});
}
template <class W, HasTable T>
Status read_table(const W& from, T* to) {
  by_table::Fault fault;
  T::table(*to, by_table::Reader<W>{from, &fault});
  if (fault.error) return *std::move(fault.error);
  if constexpr (requires { T::mend(*to); }) T::mend(*to);
  if constexpr (requires { T::check(*to); }) return T::check(*to);
  return {};
}

}  // namespace lockstep::pb
