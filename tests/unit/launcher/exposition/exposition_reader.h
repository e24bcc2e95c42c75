#pragma once
// A strict reader of both formats for tests: it refuses what Prometheus or OpenMetrics' grammar
// refuses, and what would make series ambiguous.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/exposition/exposition_format.h"

namespace lockstep::launcher::test {

struct ReadSample {
  std::string name;
  std::map<std::string, std::string> labels;  // unescaped
  double value = 0;
  std::string text;  // of the value
};
struct ReadFamily {
  std::string name, type, unit, help;
  std::vector<ReadSample> samples;
};
struct ReadExposition {
  std::vector<ReadFamily> families;
  std::string wrong;  // the first thing that is wrong; "": nothing

  const ReadFamily* family(std::string_view name) const;
  // The sample with these labels; null: there is none, or there are two.
  const ReadSample* sample(std::string_view name,
                           const std::map<std::string, std::string>& labels = {}) const;
  std::size_t series() const;
};

ReadExposition read_exposition(const std::string& text, ExpositionFormat format);

}  // namespace lockstep::launcher::test
