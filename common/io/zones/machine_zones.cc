#include "common/io/zones/machine_zones.h"

#include <date/tz.h>

#include <exception>

#include "common/base/check.h"
#include "common/io/zones/windows_zones.h"

namespace lockstep::io {
namespace {

// Returns null if no zone has this name.
const date::time_zone* find(const std::string& name) {
  const std::string_view iana = iana_zone(name);
  try {
    return date::locate_zone(iana.empty() ? std::string_view(name) : iana);
  } catch (const std::exception&) {  // the library throws for an unknown zone
    return nullptr;
  }
}

const date::time_zone& zone_called(const std::string& name) {
  const date::time_zone* zone = find(name);
  CHECK(zone != nullptr, "only names that has() knows are asked for");
  return *zone;
}

class SystemTimeZones final : public TimeZones {
 public:
  bool has(const std::string& zone) const override { return find(zone) != nullptr; }

  LocalTime local(const std::string& zone, Instant time) const override {
    const date::sys_seconds second(
        std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(time.ns)));
    return {zone_called(zone).to_local(second).time_since_epoch().count()};
  }

  Instant instant(const std::string& zone, LocalTime time) const override {
    const date::local_seconds second{std::chrono::seconds(time.seconds)};
    const date::local_info info = zone_called(zone).get_info(second);
    // The time does not exist: the result is the end of the rule before the gap.
    if (info.result == date::local_info::nonexistent)
      return Instant{} + info.first.end.time_since_epoch();
    return Instant{} + (second.time_since_epoch() - info.first.offset);
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names = windows_zones();
    for (const date::time_zone& zone : date::get_tzdb().zones) names.push_back(zone.name());
    return names;
  }
};

}  // namespace

std::shared_ptr<const TimeZones> system_time_zones() {
  try {
    date::get_tzdb();
  } catch (const std::exception&) {
    return std::make_shared<OnlyUtc>();
  }
  return std::make_shared<SystemTimeZones>();
}

}  // namespace lockstep::io
