// write_fuzz_seeds DIR: writes the seed corpora DIR/<fuzzer>/<number>, every message with every
// field set.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "common/io/attempt/log_times.h"
#include "common/io/file_system.h"
#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/stat_cache.h"
#include "common/wire/join_token.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "common/wire/runners/runner_codec.h"
#include "envs/docker/record.h"
#include "envs/order.h"
#include "launcher/store/facts/fact_codec.h"
#include "runner/pmix/protocol.h"
#include "runner/spawn/protocol.h"
#include "tests/fuzz/scratch.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/gateway/http/hostile_requests.h"
#include "tests/unit/launcher/metrics/event_bytes.h"

using namespace lockstep;

namespace {

envs::Lock make_lock() {
  const std::string hash(64, 'a');
  envs::Lock lock{"conda", "linux-64 __glibc=2.36", "py-rattler", {}, {}, {}};
  lock.packages = {{"six", "1.16", {hash}, "https://host/six", 3, true}};
  lock.conda = {{"zlib", "1.3", "0", "https://host/zlib.conda", hash, 7, R"({"depends":["a"]})"}};
  lock.image = {
      "sha256:" + hash, "debian:12", "debian@sha256:" + hash, "n1", true, "/p/python", "3.11",
      {"/p"},           {{"A", "b"}}};
  return lock;
}

using Write = std::function<void(const std::string& fuzzer, const std::string& bytes)>;

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// What is read from files, sockets and memory that no codec writes.
void write_formats(const Write& write) {
  const fuzz::Scratch scratch;
  const auto content = [&](const std::string& name) {
    return io::read_file(scratch.path() + "/" + name).value();
  };
  const std::string text(5'000, 'x');
  write("fuzz_zstd_piece", bytes_of(std::uint64_t{5'000}) + bytes_of(std::uint64_t{0}) + '\1' +
                               snapshot::compress_if_smaller(text).value());
  {
    const auto packs = snapshot::PackSet::open(scratch.path()).value();
    (void)packs->append(sha256("small"), 5, false, "small").has_value();
    (void)packs->sync().has_value();
    (void)packs->append(sha256(text), 5'000, true, snapshot::compress_if_smaller(text).value())
        .has_value();
    (void)packs->sync().has_value();
    write("fuzz_blob_pack", content("1.pack"));
  }
  (void)snapshot::StatCache::save(scratch.path() + "/cache", {{{1, 2, 3, 4, 5}, sha256("a")}},
                                  10'000'000'000)
      .has_value();
  write("fuzz_stat_cache", content("cache"));
  (void)io::LogTimes(scratch.path() + "/log")
      .append({{0, Instant{1'000}}, {50, Instant{2'000}}, {90, Instant{3'000}}})
      .has_value();
  write("fuzz_log_times", content("log.times"));
  for (const auto& hostile : http::test::hostile_requests())
    write("fuzz_http_request", std::string("\1\0", 2) + hostile.bytes + http::test::kHidden);
  for (const std::string& good : {http::test::get("Expect: 100-continue\r\n"),
                                  http::test::post("Content-Length: 5\r\n", "hello"),
                                  http::test::chunks("5\r\nhello\r\n0\r\n\r\n")})
    for (const char manner : {'\0', '\1', '\2', '\4'})
      write("fuzz_http_request", std::string("\1") + manner + good + http::test::kHidden);
  for (const char* field : {"/a/b%20c?d=e&f=%26", "bytes=0-3", "[::1]:8080", "Bearer abc",
                            "lockstep=abc", "https://localhost", "W/\"a\", \"b\"", "a\r\nb"})
    write("fuzz_http_fields", field);
  write("fuzz_framed_socket", std::string("\0\2\0\0\0ab\0\0\0\0\1\0\0\0c", 16));
  for (const pmix::Report& report : std::initializer_list<pmix::Report>{
           pmix::Hello{1, "OpenPMIx"}, pmix::Done{1, "no", {{"PMIX_A", "b"}}},
           pmix::Fetched{1, true, "x"}, pmix::Connected{1}, pmix::Finalized{1},
           pmix::Aborted{1, 2, "why"}, pmix::Fence{1, false, {1, 2}, "x"}, pmix::Modex{1, 2},
           pmix::Refused{1, "what"}, pmix::TurnedAway{1, "why"}})
    write("fuzz_pmix", encode(report));
  write("fuzz_pmix", encode(pmix::Order(pmix::Start{1, "/d", {"job.1", {"a", "b"}, 1, 2}})));
  spawn::StartBlock block;
  block.argc = block.envc = block.cgroups = 1;
  write("fuzz_start_block",
        bytes_of(block) + std::string("program\0path\0/cwd\0argument\0A=b\0/cgroup.procs\0", 45));
}

Activation make_activation() {
  return {"/p/bin/python", "3.11", {"/p/bin"}, {{"CONDA_PREFIX", "/p"}}, Container{}};
}

void write_metrics(const Write& write) {
  using test::bytes_field, test::event, test::float_field, test::number_field, test::record;
  const std::string tensor = bytes_field(8, number_field(1, 1) + float_field(5, 0.5f));
  write("fuzz_event_file", std::string(1, '\7') + test::version_record() +
                               record(event(1, 2, test::simple("loss", 0.5f))) +
                               record(event(1, 3, test::value("acc", tensor))));
  for (const char* filter :
       {"metrics.`val loss` >= -0.5e3 AND params.x != 'it''s'", "run_id NOT IN ('a', \"b\")",
        "tags.mlflow.source.type ILIKE '%a_' AND `Run name` LIKE 'x'", "metrics.x DESC"})
    write("fuzz_run_filter", filter);
  const std::string point = R"({"key": "loss", "value": "NaN", "timestamp": 1, "step": "2"})";
  for (const char endpoint : {'\4', '\6', '\11', '\13', '\14', '\17'})
    write("fuzz_mlflow", std::string(1, endpoint) + R"({"run_id": "pig.a", "metrics": [)" + point +
                             R"(], "params": [{"key": "lr", "value": "1"}], "status": "FAILED"})");
  write("fuzz_mlflow", std::string(1, '\21') + "run_id=pig&metric_key=loss&max_results=5");
}

// Job files with all that YAML has to make a large tree of a small text.
void write_job_files(const Write& write) {
  write("fuzz_spec", "command: echo ${{inputs.lr}}\ninputs: {lr: &a 1e-3, more: *a}\n");
  write("fuzz_spec", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ncommand: *c\n");
  write("fuzz_spec", "a: &a [*a]\ncommand: [[[[{? [a: {}]}]]]]\n");
  write("fuzz_spec", "%YAML 1.2\n---\ncommand: !!str 'x'\nenvironment: {requirements: r.txt}\n");
}

}  // namespace

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
  write_formats(write);
  write_job_files(write);
  write_metrics(write);
  const auto write_protocol = [&]<typename Body>(std::type_identity<Body>) {
    test::for_each_alternative<Body>([&](const Body& body) {
      write("fuzz_control", wire::encode(Envelope<Body>{kProtocolVersion, 1, 2, 3, body}));
    });
  };
  write_protocol(std::type_identity<AgentMessage>());
  write_protocol(std::type_identity<AgentReply>());
  write_protocol(std::type_identity<ClientRequest>());
  write_protocol(std::type_identity<ClientReply>());
  write_protocol(std::type_identity<JoinMessage>());
  write_protocol(std::type_identity<JoinReply>());
  test::for_each_alternative<BulkMessage>([&](const BulkMessage& body) {
    write("fuzz_bulk", wire::encode(BulkEnvelope{wire::kBulkVersion, 1, 2, body}));
  });
  test::for_each_attach_frame([&](const AttachFrame& frame) {
    write("fuzz_bulk", wire::encode(BulkEnvelope{wire::kBulkVersion, 1, 0, frame}));
    write("fuzz_runner_files", wire::encode(RunnerControl(frame)));
  });
  test::for_each_alternative<GangMessage>(
      [&](const GangMessage& message) { write("fuzz_gang", wire::encode(message)); });
  test::for_each_alternative<RunnerControl>(
      [&](const RunnerControl& message) { write("fuzz_runner_files", wire::encode(message)); });
  write("fuzz_runner_files", wire::encode(test::filled<Assignment>()));
  write("fuzz_runner_files", wire::encode(test::filled<NodeExitReport>()));
  write("fuzz_runner_files", wire::encode(test::filled<WorkspacePlan>()));
  write("fuzz_runner_files", wire::encode(test::filled<NodeFabric>()));
  write("fuzz_join_token",
        wire::encode(wire::JoinToken{test::filled<PublicKey>(), "tcp://h:3", "tcp://h:1",
                                     "tcp://h:2", "secret", Instant{1'700'000'000}}));
  test::for_each_alternative<launcher::Fact>(
      [&](const launcher::Fact& fact) { write("fuzz_fact", launcher::encode_fact(fact)); });
  envs::Event event{"download", make_lock(), make_activation(), {}, {{"a"}}, true};
  event.failed = make_error(ErrorCode::io, "it failed");
  write("fuzz_environment", to_json(event));
  write("fuzz_environment", to_json(make_lock()));
  write("fuzz_environment", envs::to_json(make_activation()));
  write("fuzz_environment", to_json(envs::ImageRecord{"/usr/bin/docker", {{"A", "b"}}, {"n"}, 7}));
  for (const EnvironmentDefinition& definition :
       {EnvironmentDefinition(test::filled<CondaEnvironment>()),
        EnvironmentDefinition(test::filled<DockerEnvironment>()),
        EnvironmentDefinition(test::filled<VenvEnvironment>())})
    write("fuzz_environment",
          to_json(envs::Order{
              envs::Order::What::build, definition, make_lock(), {"/prefix", "/cache"}}));
  return 0;
}
