#pragma once
// Finds the addresses of a node that its ranks could use to reach other nodes, and a fingerprint of
// all that decides whether they can. It only computes; interfaces.h reads the machine.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/probe_protocol.h"

namespace lockstep::runner {

struct LocalAddress {
  std::string interface, address;  // IPv4, as the gang's own connections
  int prefix = 0;                  // bits
  int mtu = 0;
  bool running = false;  // the interface is up and has a carrier
  bool loopback = false;
  bool is_virtual = false;  // a bridge, a tunnel, a veth: tried after real devices
};

// The addresses of this node that a probe tries, at most kMaxProbeCandidates. Addresses that are
// loopback or down are left out, and link-local ones if there are others. Each interface has one
// address, because libraries get names of interfaces. `known`: the address of this node in the
// gang's table. It comes first; if none of our interfaces has it (another machine forwards it), it
// comes without an interface. If the operator chose an interface that the node has, only its
// address is tried.
std::vector<ProbeCandidate> candidates_of(const std::vector<LocalAddress>& addresses,
                                          const std::string& known,
                                          const std::optional<OperatorInterface>& chosen);

// A digest of the node's boot and network namespace (io::current_host_id), addresses and routes. A
// node with the same fingerprint reaches the same nodes as before, unless the network between nodes
// changed.
std::string fingerprint_of(const std::string& host_id, const std::vector<LocalAddress>& addresses,
                           const std::string& routes);

bool is_ipv4(const std::string& text);  // true for "10.0.0.4"; false: a name, or IPv6

}  // namespace lockstep::runner
