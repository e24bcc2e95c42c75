#include "runner/attach/standing_line.h"

#include <nlohmann/json.hpp>

namespace lockstep::runner {
namespace {

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

nlohmann::json counts_json(const std::vector<CollectiveCount>& counts) {
  nlohmann::json list = nlohmann::json::array();
  for (const CollectiveCount& one : counts)
    list.push_back({{"communicator", one.communicator}, {"name", one.name}, {"count", one.count}});
  return list;
}

}  // namespace

std::string standing_line(const RankStanding& standing) {
  nlohmann::json json = {{"pid", standing.pid},
                         {"doing", std::string(to_string(standing.doing))},
                         {"call", standing.call},
                         {"on", standing.on},
                         {"at", standing.at},
                         {"within", standing.within},
                         {"still", in_seconds(standing.still())},
                         {"doing_for", in_seconds(standing.doing_for())},
                         {"cpus", static_cast<double>(standing.cpu_milli) / 1000.0},
                         {"processes", standing.processes},
                         {"threads", standing.threads},
                         {"threads_running", standing.threads_running},
                         {"threads_in_device", standing.threads_in_device},
                         {"connected", standing.connected},
                         {"finalized", standing.finalized},
                         {"fences", standing.fences},
                         {"in_fence", standing.in_fence},
                         {"claims", standing.claims},
                         {"exit_code", standing.exit_code},
                         {"peer_sockets", standing.peer_sockets},
                         {"acked", standing.acked},
                         {"received", standing.received},
                         {"unacked", standing.unacked},
                         {"retransmits", standing.retransmits},
                         {"logged", standing.log_bytes},
                         {"collectives", counts_json(standing.collectives)},
                         {"mpi", standing.versions.mpi},
                         {"nccl", standing.versions.nccl},
                         {"torch", standing.versions.torch}};
  const nlohmann::json line = {{"rank", standing.rank}, {"standing", std::move(json)}};
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::runner
