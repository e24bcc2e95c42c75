#pragma once
// A node's fabric, and the network settings of a job's ranks, as paragraphs for people. Pure.

#include <string>

#include "common/domain/views.h"

namespace lockstep::cli {

// `node show --fabric`.
std::string fabric_text(const NodeView& node);

// `job explain --env`: each variable with its value, who chose it and why.
std::string settings_text(const std::string& job, const SettingsView& settings);

}  // namespace lockstep::cli
