#pragma once
// The machines of compute targets as text: what each does, why it failed, and what to do. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::cli {

// "copies the bundle" for a provider's step "copy"; the step itself if it is unknown.
std::string step_words(std::string_view step);
// The activity of the machine, or what it waits for: "connects", "waits for its agent to join".
std::string activity(const MachineView& machine);
// Whether the machine's last try failed.
bool has_failed(const MachineView& machine);
bool is_leaving(const MachineView& machine);

// `now` is only used to show how long ago something was.
std::string machine_table(const std::vector<MachineView>& machines, Instant now);
// The step and reason of the last failed try, what to do, and when the launcher tries again.
std::string machine_failure(const ComputeSpec& target, const MachineView& machine);
// The advice about a failure of this code (decision 038); "" if there is none.
std::string_view advice_for(std::string_view code, NodeSource source);
// A line for each event.
std::string history_lines(const std::vector<ComputeEvent>& history);

}  // namespace lockstep::cli
