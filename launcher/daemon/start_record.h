#pragma once
// started.json: how this launcher was started last, and when it left. It outlives the process, so
// that the command line can say how to start a launcher again that it did not start itself.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::launcher {

struct StartRecord {
  bool by_lockstep = false;          // by the command line, which may start it again
  std::vector<std::string> command;  // argv, with the program's whole path
  std::string started, ended;        // RFC 3339; ended: "" until it left by itself
};

Status write_start_record(const std::string& path, const StartRecord& record);  // 0600, atomic
Result<StartRecord> read_start_record(const std::string& path);

}  // namespace lockstep::launcher
