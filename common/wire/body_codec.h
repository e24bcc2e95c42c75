#pragma once
// Writes and reads the body of an envelope: a oneof on the wire, a variant here. Each kind says its
// number itself, as `static constexpr int kBody`.

#include <variant>

#include "common/wire/access.h"
#include "common/wire/fields.h"

namespace lockstep::pb {

// The number of a kind in one of several envelopes that have it by different numbers.
template <class W, class T>
inline constexpr int kBodyOf = T::kBody;

template <class W>
struct EnvelopeWriter {
  W* to;
  template <class T>
  void operator()(const T& from) const {
    to_wire(from, Access<W, kBodyOf<W, T>>::change(*to));
  }
};
template <class W, class... T>
void write_body(const std::variant<T...>& from, W* to) {
  std::visit(EnvelopeWriter<W>{to}, from);
}

template <class W, class T>
bool read_body_of(W& from, T* to, Status* status) {
  *status = from_wire(*Access<W, kBodyOf<W, T>>::change(from), to);
  return true;
}
// Whether the body is one of the variant's kinds; then `status` says whether it is valid, too. A
// codec may move large data out of `from`.
template <class W, class... T>
bool read_known_body(W& from, std::variant<T...>* to, Status* status) {
  const int number = static_cast<int>(from.body_case());
  return ((number == kBodyOf<W, T> && read_body_of(from, &to->template emplace<T>(), status)) ||
          ...);
}
template <class W, class... T>
Status read_body(W& from, std::variant<T...>* to) {
  Status status;
  if (read_known_body(from, to, &status)) return status;
  return bad_field("body", "is missing or of a kind that this version does not know");
}

}  // namespace lockstep::pb
