#pragma once
// Reads a trigger of cron or of a recurrence, as Azure's files of schedules and of compute
// instances have it. Adds its faults with their places.

#include <string>
#include <string_view>

#include "common/domain/schedule.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `node` is the value of the key `trigger`, whose path in the file is `path` ("trigger",
// "schedules.compute_start_stop[0].trigger"). False: it has faults.
bool read_trigger(const Source& source, const YamlNode& node, const std::string& path,
                  Faults& faults, Trigger& into);

// Where an error of common/domain or of the launcher, which begins with the path of a key
// ("trigger.schedule.hours: …"), is in the mapping that has that key; its own place if it has none.
Place place_of_key(const YamlNode& mapping, std::string_view message);

}  // namespace lockstep::spec
