#pragma once
// What a gang found out about its ranks and its network, as JSON, each with its words
// (launcher/words).

#include <nlohmann/json_fwd.hpp>

#include "common/domain/messages/views.h"
#include "launcher/words/said.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json found_json(const Found& found, const words::About& about);
Json found_list_json(const FoundList& found, const words::About& about);
// What the probe of a gang chose and where it failed.
Json probe_json(const ProbeResult& probe, const words::About& about);
Json settings_json(const NetworkSettings& settings);

// The attempt's names for the words; `attempt` must outlive what is returned.
words::About names_in(const std::string& job, const AttemptView& attempt);

}  // namespace lockstep::api
