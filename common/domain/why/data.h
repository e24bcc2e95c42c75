#pragma once
// A reason as a tree of named values: how it travels and is stored (common/wire, launcher/store),
// and what stands beside its text in JSON. One description of each reason, LOCKSTEP_FIELDS, gives
// all of them; a reason of a later version keeps its code and its values.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct WhyValue;
struct WhyField;
using WhyList = std::vector<WhyValue>;

// A reason as data. `code` is empty for a plain record, and for no reason at all: then without
// fields.
struct WhyData {
  std::string code;
  std::vector<WhyField> fields;
  friend bool operator==(const WhyData& a, const WhyData& b);
};

// Enumerators are their words. Sizes, durations (ns) and times (ns since the epoch) keep their
// kind, so that who prints them knows the unit.
struct WhyValue {
  std::variant<bool, std::int64_t, double, std::string, Bytes, Duration, Instant, WhyList, WhyData>
      value;
  friend bool operator==(const WhyValue& a, const WhyValue& b) { return a.value == b.value; }
};

struct WhyField {
  std::string name;
  WhyValue value;
  friend bool operator==(const WhyField&, const WhyField&) = default;
};

inline bool operator==(const WhyData& a, const WhyData& b) {
  return a.code == b.code && a.fields == b.fields;
}

// A reason of a later version, or one with a word of a later version.
struct Unknown {
  static constexpr std::string_view kCode = "";
  WhyData data;
  friend bool operator==(const Unknown&, const Unknown&) = default;
};

// A reason of a peer that exceeds these bounds is refused. One that is written is shortened.
inline constexpr int kMostWhyDepth = 16;
inline constexpr std::size_t kMostWhyValues = 4096;
inline constexpr std::size_t kMostWhyBytes = 256 << 10;

}  // namespace lockstep
