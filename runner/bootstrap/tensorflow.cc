// TensorFlow's ranks find each other by TF_CONFIG, which has the address of each
// (tensorflow.org/guide/distributed_training, "Setting up the TF_CONFIG environment variable").
// Each runner leases a port for each of its ranks, and one fence of the gang shares the ports.

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/exchange.h"
#include "runner/bootstrap/network.h"
#include "runner/bootstrap/rank_variables.h"

namespace lockstep::runner {
namespace {

// One process of the job. `worker` 0 is the chief.
struct Task {
  std::string type;
  int index = 0;
};

// Workers first, then parameter servers, round the nodes, so that both kinds are spread evenly.
Task task_of(const JobSpec& spec, int node_rank, int local_rank) {
  const int turn = local_rank * spec.resources.instance_count + node_rank;
  const int workers = spec.distribution.workers;
  return turn < workers ? Task{"worker", turn} : Task{"ps", turn - workers};
}

std::string joined(const std::vector<std::uint16_t>& ports) {
  std::string text;
  for (const std::uint16_t port : ports) text += fmt::format("{}{}", text.empty() ? "" : " ", port);
  return text;
}

class TensorflowBootstrap final : public Bootstrap {
 public:
  TensorflowBootstrap(const GangContext& gang, BootstrapEvents events)
      : gang_(gang),
        ports_(gang, "ports", std::move(events.send),
               [this](const std::map<int, std::string>& ports) {
                 known_ = read(ports);
                 answer();
               }) {}

  void begin(Begun begun) override {
    CHECK(static_cast<int>(gang_.rank_ports.size()) == gang_.assignment.ranks_here(),
          "each rank of a tensorflow gang has a leased port");
    begun({});
    ports_.say(joined(gang_.rank_ports));
  }

  void environment(int rank, int local_rank, Prepared prepared) override {
    waiting_[rank] = {local_rank, std::move(prepared)};
    answer();
  }

  void receive(const GangMessage& message) override { ports_.receive(message); }

  void end() override { waiting_.clear(); }

 private:
  struct Waiting {
    int local_rank = 0;
    Prepared prepared;
  };

  // The cluster as JSON, from the ports that all runners sent.
  Result<std::string> read(const std::map<int, std::string>& blobs) const {
    const JobSpec& spec = gang_.assignment.spec;
    std::vector<std::string> workers(static_cast<std::size_t>(spec.distribution.workers));
    std::vector<std::string> servers(static_cast<std::size_t>(spec.distribution.parameter_servers));
    for (int node = 0; node < gang_.assignment.nodes(); ++node) {
      const auto blob = blobs.find(node);
      std::istringstream ports(blob == blobs.end() ? "" : blob->second);
      for (int local = 0; local < spec.ranks_on(node); ++local) {
        int port = 0;
        if (!(ports >> port) || port < 1 || port > 65'535)
          return make_error(ErrorCode::internal,
                            fmt::format("node rank {} did not say the ports of its ranks", node));
        const Task task = task_of(spec, node, local);
        (task.type == "ps" ? servers : workers).at(static_cast<std::size_t>(task.index)) =
            host_and_port(gang_.gang().members[static_cast<std::size_t>(node)].address, port);
      }
    }
    nlohmann::json cluster = {{"worker", workers}};
    if (!servers.empty()) cluster["ps"] = servers;  // TensorFlow 2.13 fails if the list is empty
    return cluster.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void answer() {
    if (!known_) return;
    for (auto& [rank, waiting] : std::exchange(waiting_, {})) {
      if (!*known_)
        waiting.prepared(known_->error());
      else
        waiting.prepared(variables(waiting.local_rank, **known_));
    }
  }

  RankVariables variables(int local_rank, const std::string& cluster) const {
    const Task task = task_of(gang_.assignment.spec, gang_.assignment.node_rank, local_rank);
    Variables out(gang_);
    out.set(
        "TF_CONFIG",
        fmt::format(R"({{"cluster":{},"task":{{"type":"{}","index":{}}},"environment":"cloud"}})",
                    cluster, task.type, task.index));
    return out.take();
  }

  const GangContext& gang_;
  GangExchange ports_;
  std::optional<Result<std::string>> known_;  // the cluster, once the ports of all nodes are known
  std::map<int, Waiting> waiting_;            // ranks that wait for the cluster
};

}  // namespace

std::unique_ptr<Bootstrap> make_tensorflow_bootstrap(const GangContext& gang,
                                                     BootstrapEvents events) {
  return std::make_unique<TensorflowBootstrap>(gang, std::move(events));
}

}  // namespace lockstep::runner
