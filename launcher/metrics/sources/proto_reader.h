#pragma once
// The fields of a protobuf message, one after the other, without a description of the message and
// without copies (https://protobuf.dev/programming-guides/encoding). For messages of other
// projects, of which a few fields are wanted.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::metrics {

struct ProtoField {
  enum class Kind { varint, fixed64, bytes, fixed32 };
  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t value = 0;      // unless bytes
  std::string_view bytes = {};  // a text, bytes, or another message

  bool is(std::uint32_t wanted, Kind of_kind) const { return number == wanted && kind == of_kind; }
  float as_float() const;    // fixed32
  double as_double() const;  // fixed64
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}
  // nullopt: there are no more, or the rest is no message.
  std::optional<ProtoField> next();
  bool is_broken() const { return is_broken_; }
  // The next number alone: the elements of a packed field.
  std::optional<std::uint64_t> varint();

 private:
  std::optional<ProtoField> broken();
  std::optional<std::uint64_t> fixed(std::size_t bytes);
  std::string_view rest_;
  bool is_broken_ = false;
};

}  // namespace lockstep::metrics
