#include "launcher/home/start_record.h"

#include <nlohmann/json.hpp>

#include "common/io/file_system.h"

namespace lockstep::launcher {

Status write_start_record(const std::string& path, const StartRecord& record) {
  const nlohmann::json json = {{"by_lockstep", record.by_lockstep},
                               {"command", record.command},
                               {"started", record.started},
                               {"ended", record.ended}};
  const auto replace = nlohmann::json::error_handler_t::replace;  // a path may not be UTF-8
  return io::write_file_atomically(path, json.dump(2, ' ', false, replace) + "\n", 0600, false);
}

Result<StartRecord> read_start_record(const std::string& path) {
  TRY_ASSIGN(const std::string text, io::read_file(path, mebibytes(1)));
  try {
    const auto json = nlohmann::json::parse(text);
    return StartRecord{json.at("by_lockstep"), json.at("command"), json.at("started"),
                       json.at("ended")};
  } catch (const nlohmann::json::exception& error) {
    return make_error(ErrorCode::corrupt, path + ": " + error.what());
  }
}

}  // namespace lockstep::launcher
