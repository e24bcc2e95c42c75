#pragma once
// Makes audit entries from a request and its answer. Pure. One overload for each kind of request
// says whether it changes something and which object it concerns; a new kind does not compile
// without one. No text contains a token or the value of a variable or secret.

#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/people/audit.h"
#include "launcher/api/asker.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

Asked asked_of(const ClientRequest& request, const State& state);

// The entries to log; none for a question about data that the asker may see anyway. Time and number
// are not set yet, and the key is the one on the wire.
std::vector<AuditEntry> entries_of(const Asker& asker, const ClientReply& reply);

// "node gpu-1", for a node's name or id; with the text as given if the node does not exist.
std::string audited_node(const State& state, const std::string& name_or_id);
std::string audited_node(const State& state, NodeId node);

}  // namespace lockstep::launcher
