#pragma once
// Which addresses of a node its ranks could use to reach other nodes, and a fingerprint of all that
// decides whether they do. It only computes; interfaces.h reads the machine.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/probe_protocol.h"

namespace lockstep::runner {

struct LocalAddress {
  std::string interface, address;  // IPv4, as the gang's own connections
  int prefix = 0;                  // bits
  int mtu = 0;
  bool running = false;  // the interface is up and has a carrier
  bool loopback = false;
  bool is_virtual = false;  // a bridge, a tunnel, a veth: tried after real devices
};

// What is on loopback, down, or link-local is no candidate; link-local addresses are where there is
// nothing else. One of each interface, because libraries are told names of interfaces. `known`: the
// address by which the gang's table has this node; it comes first, without an interface if it is
// none of ours (another machine passes on what comes there). If the operator chose an interface
// that the node has, there is no other candidate. At most kMaxProbeCandidates.
std::vector<ProbeCandidate> candidates_of(const std::vector<LocalAddress>& addresses,
                                          const std::string& known,
                                          const std::optional<OperatorInterface>& chosen);

// Of the node's boot and network namespace (io::current_host_id), its addresses and its routes. A
// node with the same one reaches what it reached before, unless something changed between nodes.
std::string fingerprint_of(const std::string& host_id, const std::vector<LocalAddress>& addresses,
                           const std::string& routes);

bool is_ipv4(const std::string& text);  // "10.0.0.4"; false: a name, or IPv6

}  // namespace lockstep::runner
