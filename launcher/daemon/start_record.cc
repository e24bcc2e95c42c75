#include "launcher/daemon/start_record.h"

#include <nlohmann/json.hpp>

#include "common/io/file_system.h"

namespace lockstep::launcher {

Status write_start_record(const std::string& path, const StartRecord& record) {
  const nlohmann::json json = {{"by_lockstep", record.by_lockstep},
                               {"command", record.command},
                               {"started", record.started},
                               {"ended", record.ended}};
  const auto replace = nlohmann::json::error_handler_t::replace;  // a path need not be UTF-8
  return io::write_file_atomically(path, json.dump(2, ' ', false, replace) + "\n", 0600, false);
}

}  // namespace lockstep::launcher
