// A user and a node whose keys are valid and who say whatever they like: every message of both
// protocols, about other people's things, damaged or not, as fast as they can. Nothing of anybody
// else is read or changed, the launcher answers others, and its memory stays bounded.
//
// LOCKSTEP_HOSTILE_SECONDS: how long each goes on (default 3); more than 290 need
// LOCKSTEP_TEST_LIMIT, too.

#include <gmock/gmock.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;

constexpr const char* kCanary = "canary-61c0d5";
constexpr Bytes kMayGrow = mebibytes(160);

Duration how_long() {
  const char* text = std::getenv("LOCKSTEP_HOSTILE_SECONDS");
  return seconds(text != nullptr ? std::atoi(text) : 3);
}

// What is alice's, or a name that somebody of the test has.
struct Targets {
  JobId job;
  Digest snapshot;
  std::vector<std::string> names;
};

// A source of messages from one seed, which a failure prints.
class Hostility {
 public:
  Hostility(Targets targets, unsigned seed) : targets_(std::move(targets)), random_(seed) {
    test::for_each_alternative<ClientRequest>(
        [&](ClientRequest m) { requests_.push_back(std::move(m)); });
    test::for_each_alternative<AgentMessage>(
        [&](AgentMessage m) { reports_.push_back(std::move(m)); });
    test::for_each_alternative<BulkMessage>([&](BulkMessage m) { bulk_.push_back(std::move(m)); });
  }

  std::string control() {
    if (below(4) == 0) return damaged(encoded(aimed(any_of(reports_))));
    return damaged(encoded(aimed(any_of(requests_))));
  }
  std::string bulk() {
    return damaged(
        wire::encode(BulkEnvelope{wire::kBulkVersion, ++sequence_, 0, aimed(any_of(bulk_))}));
  }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

 private:
  template <typename T>
  T any_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  template <typename Body>
  std::string encoded(Body body) {
    return wire::encode(Envelope<Body>{kProtocolVersion, ++sequence_, 0, 0, std::move(body)});
  }
  // About what is there, most of the time.
  template <typename Variant>
  Variant aimed(Variant message) {
    if (below(4) != 0) std::visit([this](auto& body) { this->aim(body); }, message);
    return message;
  }
  template <typename T>
  void aim(T& m) {
    if constexpr (requires { m.job.value; }) m.job = targets_.job;
    if constexpr (requires { m.jobs.clear(); }) m.jobs = {targets_.job};
    if constexpr (requires { m.all_final; }) m.all_final = below(2) == 0;
    if constexpr (requires { m.name_or_id.clear(); }) m.name_or_id = any_of(targets_.names);
    if constexpr (requires { m.reference.clear(); }) m.reference = any_of(targets_.names);
    if constexpr (requires { m.key.attempt.number; })
      m.key.attempt = {targets_.job, 1, m.key.attempt.incarnation};
    if constexpr (requires { m.root.view(); }) m.root = targets_.snapshot;
    if constexpr (requires { m.digests.clear(); }) m.digests = {targets_.snapshot};
    if constexpr (requires { m.change.index(); })
      std::visit([this](auto& change) { this->aim_change(change); }, m.change);
    if constexpr (requires { m.spec.snapshot; }) {
      m.spec = test::small_job(below(2) == 0 ? targets_.job.value : "");
      if (below(2) == 0) m.spec.snapshot = targets_.snapshot;
      m.spec.run_as = any_of(targets_.names);
      m.spec.submitter = any_of(targets_.names);
      m.submission = std::to_string(below(50));
    }
  }
  template <typename T>
  void aim_change(T& m) {
    if constexpr (requires { m.name.clear(); }) m.name = any_of(targets_.names);
    if constexpr (requires { m.user.clear(); }) m.user = any_of(targets_.names);
    if constexpr (requires { m.grant.role; }) m.grant = {Role::admin, ""};
  }
  std::string damaged(std::string bytes) {
    if (below(3) != 0) return bytes;
    for (std::size_t i = 1 + below(6); i > 0 && !bytes.empty(); --i) {
      const std::size_t at = below(bytes.size());
      switch (below(4)) {
        case 0: bytes[at] = static_cast<char>(below(256)); break;
        case 1: bytes.resize(at); break;
        case 2: bytes.insert(at, bytes.substr(below(at + 1), below(64))); break;
        default: bytes.erase(at, below(16)); break;
      }
    }
    return bytes;
  }

  const Targets targets_;
  std::mt19937 random_;
  std::uint64_t sequence_ = 0;
  std::vector<ClientRequest> requests_;
  std::vector<AgentMessage> reports_;
  std::vector<BulkMessage> bulk_;
};

class HostileClient : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.start({"--allow-root", "--user-messages", "1000000"})) << daemon_.log();
    JobSpec spec = test::small_job("alices");
    spec.command = ShellCommand{std::string("echo ") + kCanary};
    spec.environment_variables["TOKEN"] = kCanary;
    spec.tags["note"] = kCanary;
    ASSERT_TRUE(alice_peer().ask_for<SubmitReply>(Submit{"s", spec})) << daemon_.log();
    ASSERT_TRUE(alice_peer().ask_for<Done>(SetSecret{"TOKEN", kCanary}));
    before_ = picture();
  }

  Peer alice_peer() const { return Peer(daemon_.endpoint(), alice_); }
  Peer ann_peer() const { return Peer(daemon_.endpoint(), ann_); }
  // What alice sees of her job, and the admin of users, projects and nodes.
  std::string picture() const {
    Peer alice = alice_peer(), ann = ann_peer();
    const auto job = alice.ask_for<JobReply>(ShowJob{JobId("alices")});
    const auto users = ann.ask_for<UsersReply>(ListUsers{});
    const auto projects = ann.ask_for<ProjectsReply>(ListProjects{});
    const auto secrets = alice.ask_for<SecretsReply>(ListSecrets{});
    if (!job || !users || !projects || !secrets) return "no answer";
    std::ostringstream text;
    text << to_string(job->job.status) << ' ' << job->job.spec.environment_variables.at("TOKEN")
         << '\n';
    for (const UserView& user : users->users) {
      if (user.name == "mallory") continue;  // may give away and revoke keys of his own
      text << user.name << ' ' << user.account << ' ' << user.keys.size();
      for (const Grant& grant : user.grants) text << ' ' << to_string(grant);
      text << '\n';
    }
    for (const ProjectView& project : projects->projects) text << project.name << '\n';
    for (const SecretView& secret : secrets->secrets) text << secret.name << '\n';
    return text.str();
  }
  Bytes memory() const {
    const std::string text =
        io::read_file("/proc/" + std::to_string(daemon_.pid()) + "/statm").value();
    std::istringstream words(text);
    std::uint64_t size = 0, resident = 0;
    words >> size >> resident;
    return Bytes{resident * 4096};
  }

  // What it heard that was not for it: "".
  std::string rage(const io::KeyPair& keys) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Hostility hostility({JobId("alices"),
                         sha256("her tree"),
                         {"alice", "ann", "root", "default", "alices", "1", "n1"}},
                        seed);
    io::EventLoop loop;
    io::Transport transport(loop, [](const std::string&, const PublicKey&) { return false; });
    const auto dial = [&](const std::string& endpoint) {
      return io::ClientSocket::connect(transport, endpoint, daemon_.endpoint().public_key, keys)
          .value();
    };
    io::ClientSocket control = dial(daemon_.endpoint().control);
    io::ClientSocket bulk = dial(daemon_.endpoint().bulk);
    io::SystemClock clock;
    const Instant end = clock.now() + how_long();
    std::string leaked;
    std::uint64_t sent = 0, heard = 0;
    const auto listen = [&](io::ClientSocket& socket) {
      while (auto bytes = socket.receive()) {
        ++heard;
        if (bytes->find(kCanary) != std::string::npos) leaked = *bytes;
      }
    };
    while (clock.now() < end && leaked.empty()) {
      const bool on_bulk = hostility.below(3) == 0;
      auto& socket = on_bulk ? bulk : control;
      if (socket.send_within(on_bulk ? hostility.bulk() : hostility.control(), seconds(2))) ++sent;
      listen(control);
      listen(bulk);
      if (hostility.below(64) == 0) loop.turn(Duration::zero());
    }
    EXPECT_GT(sent, 100u) << "it was heard";
    EXPECT_GT(heard, 10u) << "and answered";
    return leaked;
  }

  void expect_nothing_happened() {
    EXPECT_EQ(picture(), before_) << daemon_.log().substr(0, 4000);
#ifndef LOCKSTEP_SANITIZED  // which keep what was freed
    EXPECT_LT(memory().count, at_rest_.count + kMayGrow.count);
#endif
    const auto later = alice_peer().ask_for<Done>(CancelJob{JobId("alices")});
    EXPECT_TRUE(later) << "others are served";
  }

  DaemonProcess daemon_;
  const io::KeyPair ann_ = test::authorized_user(daemon_, "ann");
  const io::KeyPair alice_ = test::authorized_user(daemon_, "alice");
  const io::KeyPair mallory_ = test::authorized_user(daemon_, "mallory");
  std::string before_;
  Bytes at_rest_;
};

TEST_F(HostileClient, AUserReadsAndChangesNothingOfOthers) {
  at_rest_ = memory();
  EXPECT_EQ(rage(mallory_), "");
  expect_nothing_happened();
}

TEST_F(HostileClient, ANodeReadsAndChangesNothingThatIsNotAssignedToIt) {
  const auto token = ann_peer().ask_for<TokenReply>(CreateToken{minutes(5), 1});
  ASSERT_TRUE(token);
  const io::KeyPair keys = io::generate_key_pair();
  Peer node(daemon_.endpoint(), keys);
  const auto joined = node.join({wire::decode_join_token(token->token)->secret, "n1", "test"});
  ASSERT_TRUE(joined && std::holds_alternative<JoinAccepted>(*joined));
  ASSERT_TRUE(ann_peer().ask_for<Done>(DrainNode{"n1", true, "it is not to be trusted"}));
  at_rest_ = memory();
  EXPECT_EQ(rage(keys), "");
  expect_nothing_happened();
}

}  // namespace
}  // namespace lockstep
