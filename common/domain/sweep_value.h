#pragma once
// The values that a sweep gives to its trials: the text that stands in a trial's command, and the
// type that the text has elsewhere, as in JSON. Numbers are written as Python's str() writes them,
// because scripts written for Azure ML read them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct SweepValue {
  enum class Kind {
    text,
    integer,
    number,
    boolean,  // "True" or "False"
    object,   // JSON: {"depth": 4, "eta": 0.1}
  };
  Kind kind = Kind::text;
  std::string text;  // what ${{search_space.NAME}} becomes
  friend bool operator==(const SweepValue&, const SweepValue&) = default;
};

// What a trial is given for one name of the search space.
struct TrialParameter {
  std::string name;
  SweepValue value;
  friend bool operator==(const TrialParameter&, const TrialParameter&) = default;
};
using TrialParameters = std::vector<TrialParameter>;  // in the order of the search space

// "0.1", "1e-05", "3.0": str() of a Python float. `value` is finite.
std::string number_text(double value);

SweepValue number_value(double value);
SweepValue integer_value(std::int64_t value);

// Azure's round(value / q) * q, halves to even as NumPy does, without digits beyond the 15th: 0.3
// rather than 0.30000000000000004. `q` is more than 0.
double quantized(double value, double q);
// The same as an integer if `q` and the result are whole, so that a script may read it with int().
SweepValue quantized_value(double value, double q);

}  // namespace lockstep
