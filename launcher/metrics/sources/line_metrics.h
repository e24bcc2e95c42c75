#pragma once
// Numbers in what ranks print, by the patterns of `lockstep.metrics` in a job file:
//
//   metrics: {loss: 'loss=(?P<value>\S+)', acc: 'step (?P<step>\d+): acc (?P<value>\S+)'}
//
// The patterns are RE2's, which takes time linear in the line for every pattern. No I/O, no clock.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/runs/point.h"

namespace re2 {
class RE2;
}

namespace lockstep::metrics {

inline constexpr std::size_t kMaxLinePatterns = 100;
inline constexpr std::size_t kMaxLinePatternBytes = 1'000;
// The rest of a longer line is not looked at.
inline constexpr std::size_t kMaxMatchedLineBytes = 16u << 10;

class LinePatterns {
 public:
  // Name of the metric -> pattern. A pattern captures the value in the group `value`, or in its
  // only group if that has no name; and it may capture the step in the group `step`.
  // invalid_argument: the error names the metric, and says what is wrong with its pattern.
  static Result<LinePatterns> compile(const std::map<std::string, std::string>& patterns);

  struct Pattern {
    std::string name;
    std::shared_ptr<const re2::RE2> expression;
    int value_group = 1;
    int step_group = 0;  // 0: the step is how often the pattern has matched before
  };
  const std::vector<Pattern>& all() const { return patterns_; }

 private:
  std::vector<Pattern> patterns_;
};

// A number as programs print it: "0.52", "+1e-3", "nan", "-inf", "93.5%", "0.52,". nullopt: it is
// none.
std::optional<double> printed_number(std::string_view text);

// What one rank writes to one of its streams.
class LineMetrics {
 public:
  // `state`: what an earlier reader of the same bytes returned, or "". One that does not fit these
  // patterns counts as "".
  explicit LineMetrics(LinePatterns patterns, std::string_view state = "");

  // Appends to `points` what the next bytes complete; they were written at `at`. A line ends at a
  // newline or a carriage return, as progress bars have it.
  void take(std::string_view bytes, Instant at, std::vector<NamedPoint>* points);
  // The stream has ended: its last line needs no newline.
  void end(Instant at, std::vector<NamedPoint>* points);

  // How many bytes came before the line that is not complete yet. With state() a later reader goes
  // on from there.
  std::uint64_t offset() const { return offset_; }
  std::string state() const;
  // Matches whose value is no number.
  std::uint64_t unread() const { return unread_; }

 private:
  void match(std::string_view line, Instant at, std::vector<NamedPoint>* points);

  const LinePatterns patterns_;
  std::vector<std::int64_t> matched_;  // by pattern
  std::string line_;                   // the beginning of an incomplete one
  std::uint64_t line_bytes_ = 0;       // of all of it
  std::uint64_t offset_ = 0;
  std::uint64_t unread_ = 0;
};

}  // namespace lockstep::metrics
