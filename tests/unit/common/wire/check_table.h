#pragma once
// What must hold of every struct with a table: a filled value comes back as it was sent; each field
// of the message has a line; each line has the name of its field; each list has a count; each word
// of an enum is the name that the wire has for its number.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/table.h"
#include "common/base/table_kinds.h"
#include "common/wire/body_codec.h"
#include "common/wire/table_codec.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep::test {

// "shutdown_after_ns" has the name "shutdown_after" and the unit "_ns".
inline bool is_name_of(const std::string& name, const std::string& field) {
  for (const char* unit : {"", "_ns", "_bytes", "_ms", "_s"})
    if (name + unit == field) return true;
  return false;
}

// "ERROR_CODE_NOT_FOUND", "CancelRequested": without what is between its words.
inline std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (const auto letter = static_cast<unsigned char>(c); std::isalnum(letter))
      letters += static_cast<char>(std::toupper(letter));
  return letters;
}

template <class Wire>
class TableCheck {
 public:
  template <int N, class T>
  void operator()(Field<N>, const char* name, T&& member, const Rule& rule = {}) {
    if constexpr (N != 0) look<N>(name, member, rule);
  }
  template <int N, class T>
  void operator()(OldField<N>, const char* name, T&& member, const Rule& rule = {}) {
    look<N>(name, member, rule);
  }
  template <int... N>
  void operator()(ByHand<N...>, auto&&...) {
    (numbers_.push_back(N), ...);
  }
  template <int... N>
  void operator()(OneOf<N...>, auto&&...) {
    ((N == 0 ? void() : numbers_.push_back(N)), ...);
  }
  template <int Text, int Data, class T>
  void operator()(ReasonFields<Text, Data>, const char* name, T&& member, const Rule& rule = {}) {
    const std::string text = pb::Access<Wire, Text>::kName, data = pb::Access<Wire, Data>::kName;
    EXPECT_TRUE(name == text || name == data) << name << " is neither " << text << " nor " << data;
    check_count(name, member, rule);
    numbers_.push_back(Text);
    numbers_.push_back(Data);
  }

  void finish() {
    for (const int number : pb::kNumbers<Wire>)
      EXPECT_EQ(std::count(numbers_.begin(), numbers_.end(), number), 1)
          << "field " << number << " has no line, or more than one";
    EXPECT_EQ(numbers_.size(), pb::kNumbers<Wire>.size());
  }

 private:
  template <int N, class T>
  void look(const std::string& name, const T& member, const Rule& rule) {
    using A = pb::Access<Wire, N>;
    EXPECT_TRUE(is_name_of(name, A::kName)) << name << " is field " << N << ", " << A::kName;
    numbers_.push_back(N);
    check_count(name, member, rule);
    check_words<pb::by_table::Wire<A, Wire>>(member);
  }
  template <class T>
  void check_count(const std::string& name, const T&, const Rule& rule) {
    if constexpr (kIsOptional<T>) {
      check_count(name, typename T::value_type(), rule);
    } else if constexpr (kIsCounted<T>) {
      EXPECT_GT(rule.count, 0u) << name << " has no count";
    }
  }
  template <class W, class T>
  void check_words(const T&) {
    if constexpr (kIsOptional<T>) {
      check_words<W>(typename T::value_type());
    } else if constexpr (std::is_enum_v<T> && std::is_enum_v<W>) {
      for (int i = 0; i < kMostWords; ++i) {
        const Word word = describe(static_cast<T>(i));
        if (word.word == nullptr) continue;
        const std::string full = name_of(static_cast<W>(word.number));
        EXPECT_TRUE(letters_of(full).ends_with(letters_of(word.word)))
            << word.word << " is " << full;
      }
    }
  }
  std::vector<int> numbers_;
};

template <class Wire, class T>
void check_table() {
  SCOPED_TRACE(pb::kMessageName<Wire>);
  T sent;
  Filler{}.fill(sent);
  Wire wire;
  to_wire(sent, &wire);
  T received;
  const Status read = from_wire(wire, &received);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(received, sent);
  TableCheck<Wire> check;
  T::table(sent, check);
  check.finish();
}

// The numbers of a variant's kinds, each of which has its own.
template <class Wire, class... T>
std::set<int> bodies_of(const std::variant<T...>*) {
  std::set<int> bodies{pb::kBodyOf<Wire, T>...};
  EXPECT_EQ(bodies.size(), sizeof...(T)) << "two kinds have one number";
  return bodies;
}
// Each field of the envelope is one of `head`, or the body of some kind.
template <class Wire, class... Variants>
void check_bodies(std::set<int> head = {}) {
  (head.merge(bodies_of<Wire>(static_cast<const Variants*>(nullptr))), ...);
  EXPECT_EQ(head, std::set<int>(pb::kNumbers<Wire>.begin(), pb::kNumbers<Wire>.end()));
}

}  // namespace lockstep::test
