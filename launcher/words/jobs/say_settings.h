#pragma once
// Why the network settings of a rank are missing.

#include <string>

#include "common/domain/why/jobs/settings.h"

namespace lockstep::words {

std::string say(const SettingsOfPipeline& reason);
std::string say(const SettingsOfNoRank& reason);
std::string say(const SettingsBeforePlacement& reason);
std::string say(const SettingsBeforeStart& reason);
std::string say(const NoSettingsOnOneNode& reason);
std::string say(const NoSettingsReported& reason);

}  // namespace lockstep::words
