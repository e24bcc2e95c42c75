#pragma once
// The file in the agent's home with which `lockstep-agent notice` tells the agent that its machine
// will be taken away. Only root and the agent's account may write there. It counts for one boot,
// and until its time is over.

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::agent {

struct Notice {
  BootId boot;
  Duration until{0};  // in time since the boot
  std::string reason;
  friend bool operator==(const Notice&, const Notice&) = default;
};

Status write_notice(const std::string& path, const Notice& notice);
// Reads a notice. nullopt: no notice is valid in this boot and at this time. A damaged file counts
// as a notice that the machine is taken away in a minute, because some notice was intended.
std::optional<Notice> read_notice(const std::string& path, const BootId& boot, Duration since_boot);

}  // namespace lockstep::agent
