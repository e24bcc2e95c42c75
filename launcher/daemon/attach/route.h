#pragma once
// The node to which the opening of an attachment goes, or why there is none. Pure. The permission
// to open it was checked before (authority.h).

#include <string>
#include <variant>

#include "common/domain/runners/attach_frames.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

struct AttachTarget {
  AttemptId attempt;
  NodeId node;
  int node_rank = 0;
  int first_rank = 0, ranks = 0;  // the ranks on the node
  friend bool operator==(const AttachTarget&, const AttachTarget&) = default;
};
struct NoAttachTarget {
  std::string why;       // the reason, and what to do
  bool for_now = false;  // the same opening may succeed later
};
// Finds the node for an opening; the job must exist. An opening that says `again` goes to the node
// of its attempt also when the ranks have ended there: the node may still have its last output and
// its end.
std::variant<AttachTarget, NoAttachTarget> find_target(const Core& core, const AttachOpen& open);

// Why its node can send no more frames for it; "": it can.
std::string why_no_more(const State& state, const AttachTarget& target);

// Texts for the audit log: the verb, "shell job"; and a description of the order of at most about
// 300 bytes: "a shell", "python -m pdb x", "signal 15". It never contains what is typed.
std::string_view verb_of(const AttachOrder& order);
std::string words_of(const AttachOrder& order);

}  // namespace lockstep::launcher
