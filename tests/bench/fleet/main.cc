// fleet: many simulated nodes in one process, many jobs from one client, or many followers of one
// job; tests/bench/load.py and followers.py start several of them beside a real lockstepd.
//   fleet nodes --token-file FILE --count K --first I [--cpus N] [--roster DIR] [--whole-tables]
//     until SIGTERM
//   fleet submit --home DIR --endpoint FILE --jobs N [--nodes K] [--cpus N] [--no-wait]
//   fleet followers --home DIR --endpoint FILE --job NAME --count N     until standard input ends

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "common/domain/runners/gang.h"
#include "common/io/file_system.h"
#include "common/wire/join_token.h"
#include "tests/bench/fleet/followers.h"
#include "tests/bench/fleet/null_node.h"
#include "tests/bench/fleet/roster.h"
#include "tests/bench/fleet/submitter.h"

namespace lockstep::fleet {

namespace {

// A turn of the loop looks at every socket. With many nodes in the process, each turn takes what
// came in this time for each node; with few nodes nothing waits, because jobs come one after the
// other on a node, and the time would be added to each of them.
constexpr Duration kGatherForEach = std::chrono::microseconds(133);  // 20 ms for 150 nodes
constexpr int kFewNodes = 32;

struct NodeOptions {
  std::string token_file, roster;
  int count = 1;
  int first = 1;
  int cpus = 4;
  bool one_address = false;
  bool whole_tables = false;
};

Inventory inventory_of(const std::string& name, int index, int cpus) {
  Inventory inventory;
  inventory.hostname = inventory.host_id = name;
  inventory.os = "none";
  inventory.architecture = "x86_64";
  for (int cpu = 0; cpu < cpus; ++cpu) inventory.cpus.push_back(cpu);
  inventory.memory = gibibytes(64);
  inventory.disk_free = gibibytes(100);
  inventory.address = fmt::format("10.0.{}.{}", index / 250, index % 250 + 1);
  inventory.network = "fleet";
  inventory.user = "root";
  return inventory;
}

// As if the node dialled from a machine of its own.
std::string from_own_address(const std::string& endpoint, int index) {
  const std::string tcp = "tcp://";
  return fmt::format("{}127.1.{}.{}:0;{}", tcp, index / 250, index % 250 + 1,
                     endpoint.substr(tcp.size()));
}

Status run_nodes(const NodeOptions& options) {
  TRY_ASSIGN(const std::string text, io::read_file(options.token_file, kibibytes(64)));
  TRY_ASSIGN(const auto token, wire::decode_join_token(text));
  io::BootTimeClock clock;
  io::EventLoop loop;
  bool leaving = false;
  TRY(loop.watch_signals({SIGTERM, SIGINT}, [&](int) { leaving = true; }));
  io::Transport transport(loop, [](const std::string&, const PublicKey&) { return false; });
  Witness witness;
  std::vector<std::unique_ptr<NullNode>> nodes;
  for (int i = options.first; i < options.first + options.count && !leaving; ++i) {
    const std::string name = fmt::format("f{:04}", i);
    TRY_ASSIGN(Member one, member(loop, transport, token, options.roster, name));
    if (!options.one_address)
      one.identity.control_endpoint = from_own_address(one.identity.control_endpoint, i);
    nodes.push_back(std::make_unique<NullNode>(
        loop, transport, clock, witness, std::move(one.identity), std::move(one.keys),
        inventory_of(name, i, options.cpus), options.whole_tables ? 0U : kGangRowsVersion));
    TRY(nodes.back()->dial());
  }
  const Duration gather =
      options.count > kFewNodes ? options.count * kGatherForEach : Duration::zero();
  while (!leaving) {
    Instant due = Instant::never();
    const Instant now = clock.now();
    for (const auto& node : nodes) {
      if (node->next_deadline() <= now) node->tick();
      due = std::min(due, node->next_deadline());
    }
    witness.flush();
    loop.turn(std::max(due - clock.now(), Duration::zero()));
    std::this_thread::sleep_for(gather);
  }
  return {};
}

}  // namespace

}  // namespace lockstep::fleet

int main(int argc, char** argv) {
  namespace fleet = lockstep::fleet;
  ::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Simulated nodes, and clients that submit many jobs or follow one.", "fleet");
  app.require_subcommand(1);
  fleet::NodeOptions node_options;
  auto* nodes = app.add_subcommand("nodes", "simulated nodes until SIGTERM");
  nodes->add_option("--token-file", node_options.token_file)->required();
  nodes->add_option("--count", node_options.count);
  nodes->add_option("--first", node_options.first, "their names count from here");
  nodes->add_option("--cpus", node_options.cpus, "that each offers");
  nodes->add_flag("--one-address", node_options.one_address, "as behind one NAT gateway");
  nodes->add_flag("--whole-tables", node_options.whole_tables,
                  "as nodes of earlier versions, to each of which a gang's whole table is sent");
  nodes->add_option("--roster", node_options.roster, "directory of the nodes that have joined");
  fleet::SubmitOptions submit_options;
  bool no_wait = false;
  auto* submit = app.add_subcommand("submit", "submit jobs, and wait for them");
  submit->add_option("--home", submit_options.home)->required();
  submit->add_option("--endpoint", submit_options.endpoint)->required();
  submit->add_option("--prefix", submit_options.prefix, "of their names");
  submit->add_option("--jobs", submit_options.jobs);
  submit->add_option("--window", submit_options.window, "unanswered requests at once");
  submit->add_option("--nodes", submit_options.nodes, "of each job");
  submit->add_option("--cpus", submit_options.cpus, "of each job; 0: whole nodes");
  submit->add_flag("--no-wait", no_wait, "only until all are accepted");
  fleet::FollowersOptions follow_options;
  auto* followers = app.add_subcommand("followers", "follow one job until standard input ends");
  followers->add_option("--home", follow_options.home)->required();
  followers->add_option("--endpoint", follow_options.endpoint)->required();
  followers->add_option("--job", follow_options.job)->required();
  followers->add_option("--count", follow_options.count);
  CLI11_PARSE(app, argc, argv);
  submit_options.wait = !no_wait;
  const lockstep::Status status = nodes->parsed()       ? fleet::run_nodes(node_options)
                                  : followers->parsed() ? fleet::follow(follow_options)
                                                        : fleet::submit(submit_options);
  if (status) return 0;
  std::fprintf(stderr, "fleet: %s\n", status.error().message.c_str());
  return 1;
}
