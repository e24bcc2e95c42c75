#pragma once
// What the audit log is told about a request and its answer. Pure. Each kind of request says here
// whether it changes something and of what it speaks, with one overload each: a new one does not
// compile until it does. Values of variables and secrets, and tokens, are in no text.

#include <string>
#include <vector>

#include "common/domain/audit.h"
#include "common/domain/client_messages.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

struct Asker;

struct Asked {
  std::string what;         // "cancel job"
  std::string object;       // "job train"
  std::string detail = {};  // where the answer has no words
  bool changes = false;
  bool reads_others = false;  // the answer shows what belongs to somebody else
  bool holds_values = false;  // and a refusal may quote them
};
Asked asked_of(const ClientRequest& request, const State& state);

// Empty for a question about things that the asker may always see. Entries have no time and number
// yet, and the key in its wire form.
std::vector<AuditEntry> entries_of(const Asker& asker, const ClientReply& reply);

// "node gpu-1", by name or id; of one that is not there, as it was asked for.
std::string audited_node(const State& state, const std::string& name_or_id);
std::string audited_node(const State& state, NodeId node);

}  // namespace lockstep::launcher
