#pragma once
// "label:      value" lines, as `show` verbs print them. Pure.

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

// Leaves out empty values, and indents the further lines of a value.
class Lines {
 public:
  static constexpr std::size_t kLabelWidth = 14;

  void add(std::string_view label, std::string_view value) {
    if (value.empty()) return;
    text_ += fmt::format("{:<{}}{}\n", std::string(label) + ":", kLabelWidth,
                         in_lines(value, kLabelWidth));
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace lockstep::cli
