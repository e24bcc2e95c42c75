#pragma once
// A node's fabric, and the network settings of a job's ranks, as paragraphs for people. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// The text of `node show --fabric`: the node's fabric, and the settings that follow for ranks, as
// far as they are known before a job has its nodes.
std::string fabric_text(const NodeView& node);

// The text of `job explain --env`: each variable with its value, who chose it and why.
std::string settings_text(const std::string& job, const SettingsView& settings);

}  // namespace lockstep::cli
