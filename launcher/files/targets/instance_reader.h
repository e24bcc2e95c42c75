#pragma once
// Reads the keys that only a compute file of type computeinstance has: schedules, and the idle time
// after which the instance stops. Adds its faults with their places.

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/targets/compute.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

void read_instance(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults);

// Sets one key from `update --set KEY=VALUE` or from the flag of that key. nullopt: an instance
// does not have the key. Otherwise why the value is wrong; "": it was set.
std::optional<std::string> assign_to_instance(std::string_view key, const std::string& text,
                                              ComputeSpec& spec);

// Puts the place of a key in the file before the launcher's error, which begins with the key's
// path: only the launcher knows the time zones.
Error with_place_in(const std::string& file, Error error);

// "PT1H30M".
std::string to_iso(Duration time);
// Reads a duration of ISO 8601, and of parse_duration(). Negative: the text is neither.
Duration parse_iso_duration(const std::string& text);

}  // namespace lockstep::spec
