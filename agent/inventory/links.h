#pragma once
// The network links of this node by rtnetlink: what /sys does not say (addresses with their prefix,
// the kind of a virtual link, default routes), and only the links of this network namespace. It
// changes nothing and needs no rights.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/fabric.h"

namespace lockstep::agent {

struct NetworkLink {
  int index = 0;
  std::string name;
  std::string kind;  // "veth", "bridge", "vlan", …; "": the kernel names none, as for hardware
  int mtu = 0;
  int below = 0;   // the index of the link below a vlan's, in this namespace; 0: none
  int master = 0;  // index of the bridge or bond whose port it is; 0: none
  bool up = false, loopback = false, default_route = false;
  std::vector<FabricAddress> addresses = {};
  friend bool operator==(const NetworkLink&, const NetworkLink&) = default;
};

Result<std::vector<NetworkLink>> read_links();

}  // namespace lockstep::agent
