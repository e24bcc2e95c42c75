#include "common/domain/why/jobs/ends.h"

#include "common/domain/why/jobs/orders.h"

namespace lockstep {

std::string_view to_string(Uncharged why) {
  switch (why) {
    case Uncharged::node_revoked: return "node_revoked";
    case Uncharged::port_taken: return "port_taken";
    case Uncharged::other_node: return "other_node";
    case Uncharged::machine_ended: return "machine_ended";
    case Uncharged::low_priority: return "low_priority";
  }
  return "node_revoked";
}

std::string_view to_string(KeptWhat what) {
  switch (what) {
    case KeptWhat::jobs: return "jobs";
    case KeptWhat::logs: return "logs";
    case KeptWhat::outputs: return "outputs";
  }
  return "jobs";
}

}  // namespace lockstep
