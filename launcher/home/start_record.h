#pragma once
// started.json: how this launcher was last started, and when it exited. The file outlives the
// process, so that `lockstep` can say how to restart a launcher that it did not start itself.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::launcher {

struct StartRecord {
  bool by_lockstep = false;          // started by `lockstep`, which may start it again
  std::vector<std::string> command;  // argv, with the program's whole path
  std::string started, ended;        // RFC 3339; ended: "" until it exited in an orderly way
};

Status write_start_record(const std::string& path, const StartRecord& record);  // 0600, atomic
Result<StartRecord> read_start_record(const std::string& path);

}  // namespace lockstep::launcher
