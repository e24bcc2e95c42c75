#include "launcher/cli/link/endpoint.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"

namespace lockstep::cli {

namespace {

Status check(const Endpoint& endpoint) {
  if (endpoint.control.empty() || endpoint.bulk.empty() || endpoint.public_key.value.size() != 40)
    return make_error(ErrorCode::corrupt,
                      "is not a launcher's endpoint file: control, bulk or public_key is missing");
  if (endpoint.control == endpoint.bulk || endpoint.control == endpoint.join)
    return make_error(ErrorCode::corrupt,
                      "control is " + quoted_name(endpoint.control) + ", as " +
                          (endpoint.control == endpoint.bulk ? "bulk" : "join") +
                          " is; control is PORT of `lockstepd --listen`, bulk is PORT + 1, join is "
                          "PORT + 2");
  for (const std::string& address : {endpoint.control, endpoint.bulk, endpoint.join})
    if (!address.empty() && !address.starts_with("tcp://") && !address.starts_with("ipc://"))
      return make_error(ErrorCode::corrupt, "the address " + quoted_name(address) +
                                                " begins with neither tcp:// nor ipc://");
  return {};
}

}  // namespace

Result<Endpoint> endpoint_from(const std::string& json_text) {
  const auto json = nlohmann::json::parse(json_text, nullptr, false);
  const auto text = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  if (!json.is_object()) return make_error(ErrorCode::corrupt, "is not a launcher's endpoint file");
  Endpoint endpoint;
  if (const auto it = json.find("pid"); it != json.end() && it->is_number_integer())
    endpoint.process.pid = it->get<int>();
  if (const auto it = json.find("start_ticks"); it != json.end() && it->is_number_integer())
    endpoint.process.start_ticks = it->get<std::uint64_t>();
  endpoint.control = text("control");
  endpoint.bulk = text("bulk");
  endpoint.join = text("join");
  // On the launcher's own machine, the addresses for other machines may not be reachable (a
  // gateway's, for example).
  const auto local = json.find("local");
  const bool here = local != json.end() && local->is_object() &&
                    text("boot") == io::current_boot().value && io::is_alive(endpoint.process);
  if (here) {
    for (const auto& [key, into] : {std::pair("control", &endpoint.control),
                                    {"bulk", &endpoint.bulk},
                                    {"join", &endpoint.join}})
      if (const auto it = local->find(key); it != local->end() && it->is_string())
        *into = it->get<std::string>();
  }
  endpoint.public_key = PublicKey(text("public_key"));
  TRY(check(endpoint));
  return endpoint;
}

Result<Endpoint> read_endpoint(const std::string& path) {
  TRY_ASSIGN(const std::string text, io::read_file(path, kibibytes(64)));
  auto endpoint = endpoint_from(text);
  if (!endpoint) return endpoint.error().within(path);
  return endpoint;
}

std::optional<Endpoint> live_endpoint(const std::string& path) {
  auto endpoint = read_endpoint(path);
  if (!endpoint || io::is_ending(endpoint->process)) return std::nullopt;
  return *endpoint;
}

}  // namespace lockstep::cli
