#pragma once
// The file <home>/moving_to, which lockstepd --moving-to writes: where the launcher of this home
// will be. The launcher tells its nodes, which keep the address beside the present one. It stays
// until the launcher listens there. docs/decisions/068.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "launcher/daemon/options.h"

namespace lockstep::launcher {

Status write_moving_to(const std::string& path, const Listen& there);

class MovingTo {
 public:
  // `here`: the launcher's present address. A file that has the same is removed.
  MovingTo(std::string path, LauncherAddress here);
  // Reads the file; true: the addresses have changed.
  bool look();
  // The addresses, the present one first.
  const std::vector<LauncherAddress>& addresses() const { return addresses_; }

 private:
  const std::string path_;
  std::string seen_;
  std::vector<LauncherAddress> addresses_;
};

}  // namespace lockstep::launcher
