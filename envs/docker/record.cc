#include "envs/docker/record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lockstep::envs {

using nlohmann::json;

std::string to_json(const ImageRecord& record) {
  const json out{{"engine", record.engine},
                 {"variables", record.variables},
                 {"names", record.names},
                 {"bytes", record.bytes}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ImageRecord> image_record_from_json(std::string_view text) {
  try {
    const json from = json::parse(text);
    return ImageRecord{from.at("engine"), from.at("variables"), from.at("names"), from.at("bytes")};
  } catch (const json::exception& failure) {
    return make_error(ErrorCode::corrupt,
                      fmt::format("not a record of images: {}", failure.what()));
  }
}

}  // namespace lockstep::envs
