#include "runner/pmix/protocol.h"

#include <concepts>
#include <type_traits>
#include <utility>

namespace lockstep::pmix {
namespace {

template <typename T, typename M>
concept Is = std::same_as<std::remove_const_t<T>, M>;

// Describes a message's fields once, for writing and for reading.
template <typename F>
void fields(F& f, Is<Job> auto& m) {
  f.text(m.name), f.list(m.nodes), f.number(m.node_rank), f.number(m.ranks_per_node);
}
template <typename F>
void fields(F& f, Is<Start> auto& m) {
  f.number(m.id), f.text(m.directory), fields(f, m.job);
}
template <typename F>
void fields(F& f, Is<RegisterRank> auto& m) {
  f.number(m.id), f.number(m.rank), f.number(m.uid), f.number(m.gid);
}
template <typename F>
void fields(F& f, Is<Fetch> auto& m) {
  f.number(m.id), f.number(m.rank);
}
template <typename F>
void fields(F& f, Is<Answer> auto& m) {
  f.number(m.id), f.flag(m.found), f.bytes(m.data);
}
template <typename F>
void fields(F& f, Is<Hello> auto& m) {
  f.number(m.protocol), f.text(m.library);
}
template <typename F>
void fields(F& f, Is<Done> auto& m) {
  f.number(m.id), f.text(m.error), f.variables(m.variables);
}
template <typename F>
void fields(F& f, Is<Fetched> auto& m) {
  f.number(m.id), f.flag(m.found), f.bytes(m.data);
}
template <typename F>
void fields(F& f, Is<Connected> auto& m) {
  f.number(m.rank);
}
template <typename F>
void fields(F& f, Is<Finalized> auto& m) {
  f.number(m.rank);
}
template <typename F>
void fields(F& f, Is<Aborted> auto& m) {
  f.number(m.rank), f.number(m.code), f.text(m.message);
}
template <typename F>
void fields(F& f, Is<Fence> auto& m) {
  f.number(m.id), f.flag(m.whole_job), f.ranks(m.ranks), f.bytes(m.data);
}
template <typename F>
void fields(F& f, Is<Modex> auto& m) {
  f.number(m.id), f.number(m.rank);
}
template <typename F>
void fields(F& f, Is<Refused> auto& m) {
  f.number(m.rank), f.text(m.what);
}
template <typename F>
void fields(F& f, Is<TurnedAway> auto& m) {
  f.number(m.count), f.text(m.why);
}

class Writer {
 public:
  template <typename T>
  void number(T value) {
    auto rest = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof value;
         ++i, rest = static_cast<decltype(rest)>(rest >> 4 >> 4))
      out_.push_back(static_cast<char>(rest & 0xff));
  }
  void flag(bool value) { out_.push_back(value ? 1 : 0); }
  void bytes(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    out_ += value;
  }
  void text(const std::string& value) { bytes(value.substr(0, kMaxText)); }
  void list(const std::vector<std::string>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::string& value : values) text(value);
  }
  void variables(const Variables& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const auto& [name, value] : values) text(name), text(value);
  }
  void ranks(const std::set<int>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const int value : values) number(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After the first field that is missing or exceeds its limit, all further fields are zero or empty.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  template <typename T>
  void number(T& value) {
    if (!has(sizeof value)) return;
    std::make_unsigned_t<T> all = 0;
    for (std::size_t i = sizeof value; i-- > 0;)
      all = static_cast<decltype(all)>(all << 4 << 4 | static_cast<std::uint8_t>(in_[i]));
    in_.remove_prefix(sizeof value);
    value = static_cast<T>(all);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    number(byte);
    is_good_ = is_good_ && byte <= 1;
    value = byte == 1;
  }
  void bytes(std::string& value) { take(value, in_.size()); }
  void text(std::string& value) { take(value, kMaxText); }
  void list(std::vector<std::string>& values) {
    for (std::uint32_t left = count(sizeof(std::uint32_t)); left > 0 && is_good_; --left)
      text(values.emplace_back());
  }
  void variables(Variables& values) {
    std::uint32_t left = count(2 * sizeof(std::uint32_t));
    is_good_ = is_good_ && left <= kMaxVariables;
    for (; left > 0 && is_good_; --left) {
      std::string name, value;
      text(name), text(value);
      const bool is_next = values.empty() || values.rbegin()->first < name;
      is_good_ = is_good_ && is_next;
      values.emplace_hint(values.end(), std::move(name), std::move(value));
    }
  }
  void ranks(std::set<int>& values) {
    std::uint32_t left = count(sizeof(int));
    is_good_ = is_good_ && left <= kMaxRanks;
    for (; left > 0 && is_good_; --left) {
      int value = 0;
      number(value);
      is_good_ = is_good_ && (values.empty() || *values.rbegin() < value);
      values.insert(values.end(), value);
    }
  }
  bool is_whole() const { return is_good_ && in_.empty(); }

 private:
  bool has(std::size_t size) { return is_good_ = is_good_ && in_.size() >= size; }
  // The number of elements that follow, each of at least `each` bytes.
  std::uint32_t count(std::size_t each) {
    std::uint32_t value = 0;
    number(value);
    return has(value * each) ? value : 0;
  }
  void take(std::string& value, std::size_t most) {
    std::uint32_t size = 0;
    number(size);
    is_good_ = is_good_ && size <= most;
    if (!has(size)) return;
    value = in_.substr(0, size);
    in_.remove_prefix(size);
  }

  std::string_view in_;
  bool is_good_ = true;
};

// A message's kind is its index in the variant.
template <typename V>
std::string encode_any(const V& message) {
  Writer out;
  out.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&out](const auto& each) { fields(out, each); }, message);
  return out.take();
}

template <typename V, std::size_t I = 0>
bool read_kind(std::size_t kind, Reader& in, V& message) {
  if constexpr (I < std::variant_size_v<V>) {
    if (kind != I) return read_kind<V, I + 1>(kind, in, message);
    fields(in, message.template emplace<I>());
    return in.is_whole();
  } else {
    return false;
  }
}

template <typename V>
Result<V> decode_any(std::string_view frame, const char* what) {
  Reader in(frame);
  std::uint8_t kind = 0;
  in.number(kind);
  V message;
  if (!read_kind(kind, in, message))
    return make_error(ErrorCode::corrupt, std::string(what) + " is not one: kind " +
                                              std::to_string(kind) + ", " +
                                              std::to_string(frame.size()) + " bytes");
  return message;
}

}  // namespace

std::string encode(const Order& order) { return encode_any(order); }
std::string encode(const Report& report) { return encode_any(report); }

Result<Order> decode_order(std::string_view frame) {
  return decode_any<Order>(frame, "an order to the PMIx server");
}
Result<Report> decode_report(std::string_view frame) {
  return decode_any<Report>(frame, "a report of the PMIx server");
}

}  // namespace lockstep::pmix
