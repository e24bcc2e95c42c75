// write_fuzz_seeds DIR: writes the seed corpora DIR/<fuzzer>/<number>, every message with every
// field set.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "common/wire/bulk.h"
#include "common/wire/control.h"
#include "common/wire/join_token.h"
#include "common/wire/runner.h"
#include "launcher/store/fact_codec.h"
#include "tests/unit/wire/fill.h"

using namespace lockstep;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_fuzz_seeds DIR\n");
    return 2;
  }
  std::map<std::string, int> written;
  const auto write = [&](const std::string& fuzzer, const std::string& bytes) {
    const auto directory = std::filesystem::path(argv[1]) / fuzzer;
    std::filesystem::create_directories(directory);
    std::ofstream(directory / std::to_string(++written[fuzzer]), std::ios::binary) << bytes;
  };
  test::for_each_alternative<Message>([&](const Message& body) {
    write("fuzz_control", wire::encode(Envelope{kProtocolVersion, 1, 2, 3, body}));
  });
  test::for_each_alternative<BulkMessage>([&](const BulkMessage& body) {
    write("fuzz_bulk", wire::encode(BulkEnvelope{wire::kBulkVersion, 1, 2, body}));
  });
  test::for_each_alternative<GangMessage>(
      [&](const GangMessage& message) { write("fuzz_gang", wire::encode(message)); });
  test::for_each_alternative<RunnerControl>(
      [&](const RunnerControl& message) { write("fuzz_runner_files", wire::encode(message)); });
  write("fuzz_runner_files", wire::encode(test::filled<Assignment>()));
  write("fuzz_runner_files", wire::encode(test::filled<NodeExitReport>()));
  write("fuzz_runner_files", wire::encode(test::filled<WorkspacePlan>()));
  write("fuzz_join_token",
        wire::encode(wire::JoinToken{test::filled<PublicKey>(), "tcp://h:3", "tcp://h:1",
                                     "tcp://h:2", "secret", Instant{1'700'000'000}}));
  test::for_each_alternative<launcher::Fact>(
      [&](const launcher::Fact& fact) { write("fuzz_fact", launcher::encode_fact(fact)); });
  return 0;
}
