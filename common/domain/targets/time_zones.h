#pragma once
// The interface by which a core reads time zones: rules that do not change while a program runs.
// common/io implements it with the zones of the machine.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/targets/schedule.h"

namespace lockstep {

// The zones. `zone` is always a name for which has() is true.
class TimeZones {
 public:
  virtual ~TimeZones() = default;
  // Whether a zone exists; a name of IANA, or of Windows as Azure writes them.
  virtual bool has(const std::string& zone) const = 0;
  // The time that clocks of a zone show; the fraction of a second is cut off.
  virtual LocalTime local(const std::string& zone, Instant time) const = 0;
  // The first time at which clocks show this. If they skip it: the moment at which they skip.
  virtual Instant instant(const std::string& zone, LocalTime time) const = 0;
  // The names of all zones, for suggestions.
  virtual std::vector<std::string> names() const = 0;
};

// Knows nothing but UTC.
class OnlyUtc final : public TimeZones {
 public:
  bool has(const std::string& zone) const override { return zone == kUtc; }
  LocalTime local(const std::string&, Instant time) const override {
    return {std::chrono::floor<seconds>(Duration(time.ns)).count()};
  }
  Instant instant(const std::string&, LocalTime time) const override {
    return Instant{} + seconds(time.seconds);
  }
  std::vector<std::string> names() const override { return {std::string(kUtc)}; }
};

}  // namespace lockstep
