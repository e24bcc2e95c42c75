#include "launcher/home/endpoint_file.h"

#include <nlohmann/json.hpp>

#include "common/io/file_system.h"

namespace lockstep::launcher {

Status write_endpoint_file(const std::string& path, const EndpointFile& endpoint) {
  const nlohmann::json json = {{"pid", endpoint.pid},
                               {"start_ticks", endpoint.start_ticks},
                               {"control", endpoint.control},
                               {"bulk", endpoint.bulk},
                               {"join", endpoint.join},
                               {"public_key", endpoint.public_key.value},
                               {"version", LOCKSTEP_VERSION},
                               {"boot", endpoint.boot},
                               {"local",
                                {{"control", endpoint.local_control},
                                 {"bulk", endpoint.local_bulk},
                                 {"join", endpoint.local_join}}}};
  return io::write_file_atomically(path, json.dump(2) + "\n", 0600, false);
}

Result<EndpointFile> read_endpoint_file(const std::string& path) {
  TRY_ASSIGN(const auto text, io::read_file(path, kibibytes(64)));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto word = [&json](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  if (!json.is_object()) return make_error(ErrorCode::corrupt, path + ": is not an endpoint file");
  EndpointFile endpoint;
  if (const auto it = json.find("pid"); it != json.end() && it->is_number_integer())
    endpoint.pid = it->get<int>();
  if (const auto it = json.find("start_ticks"); it != json.end() && it->is_number_integer())
    endpoint.start_ticks = it->get<std::uint64_t>();
  endpoint.control = word("control");
  endpoint.bulk = word("bulk");
  endpoint.join = word("join");
  endpoint.public_key = PublicKey(word("public_key"));
  endpoint.boot = word("boot");
  const auto local = json.find("local");
  const auto local_word = [&](const char* key, const std::string& otherwise) {
    if (local == json.end() || !local->is_object()) return otherwise;
    const auto it = local->find(key);
    return it != local->end() && it->is_string() ? it->get<std::string>() : otherwise;
  };
  endpoint.local_control = local_word("control", endpoint.control);
  endpoint.local_bulk = local_word("bulk", endpoint.bulk);
  endpoint.local_join = local_word("join", endpoint.join);
  return endpoint;
}

}  // namespace lockstep::launcher
