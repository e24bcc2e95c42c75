#include "tests/bench/fleet/followers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "launcher/cli/link/endpoint.h"
#include "launcher/cli/local/home.h"
#include "launcher/cli/local/processes.h"

namespace lockstep::fleet {

namespace {

constexpr Duration kConnectTimeout = seconds(30);
constexpr Duration kAskAgainAfter = milliseconds(200);  // the launcher limits a key's requests
constexpr std::uint32_t kCredit = 64;

struct Follower {
  io::ClientSocket control, bulk;
  bool is_watching = false;
};

class Followers {
 public:
  Followers(const FollowersOptions& options, cli::Endpoint endpoint, io::KeyPair keys)
      : options_(options), endpoint_(std::move(endpoint)), keys_(std::move(keys)) {}
  ~Followers() {
    for (const auto& one : followers_) {
      loop_.unwatch_socket(one->control.handle());
      loop_.unwatch_socket(one->bulk.handle());
    }
  }

  Status run() {
    for (int i = 0; i < options_.count; ++i) TRY(add());
    say("following");
    bool leaving = false;
    loop_.watch(STDIN_FILENO, io::EventLoop::Interest::read, [&] {
      char line[64];
      leaving = ::read(STDIN_FILENO, line, sizeof line) <= 0;
      if (!leaving) say(fmt::format("{}", heard_));
    });
    while (!leaving) loop_.turn(seconds(1));
    return {};
  }

 private:
  static void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  Status add() {
    TRY_ASSIGN(auto control, io::ClientSocket::connect(transport_, endpoint_.control,
                                                       endpoint_.public_key, keys_));
    TRY_ASSIGN(auto bulk,
               io::ClientSocket::connect(transport_, endpoint_.bulk, endpoint_.public_key, keys_));
    followers_.push_back(std::make_unique<Follower>(Follower{std::move(control), std::move(bulk)}));
    Follower& one = *followers_.back();
    loop_.watch_socket(one.control.handle(), [this, &one] { hear(one); });
    loop_.watch_socket(one.bulk.handle(), [&one] {
      while (one.bulk.receive()) continue;
    });
    LogFollow follow;
    follow.job = JobId(options_.job);
    follow.follow = true;
    follow.credit = kCredit;
    BulkEnvelope envelope;
    envelope.body = std::move(follow);
    TRY(one.bulk.send_within(wire::encode(envelope), kConnectTimeout));
    while (!one.is_watching) {
      Envelope<ClientRequest> watch;
      watch.sequence = ++sequence_;
      watch.body = WatchJob{JobId(options_.job)};
      TRY(one.control.send_within(wire::encode(watch), kConnectTimeout));
      loop_.turn(kAskAgainAfter);
    }
    return {};
  }

  void hear(Follower& one) {
    while (const auto bytes = one.control.receive()) {
      const auto envelope = wire::decode_envelope<ClientReply>(*bytes);
      if (envelope && std::holds_alternative<JobReply>(envelope->body)) one.is_watching = true;
      ++heard_;
    }
  }

  const FollowersOptions& options_;
  const cli::Endpoint endpoint_;
  const io::KeyPair keys_;
  io::EventLoop loop_;
  io::Transport transport_{loop_, [](const std::string&, const PublicKey&) { return false; }};
  std::vector<std::unique_ptr<Follower>> followers_;
  std::uint64_t sequence_ = 0, heard_ = 0;
};

}  // namespace

Status follow(const FollowersOptions& options) {
  TRY_ASSIGN(auto endpoint, cli::read_endpoint(options.endpoint));
  TRY_ASSIGN(auto keys, cli::user_keys(cli::LocalHome(options.home)));
  return Followers(options, std::move(endpoint), std::move(keys)).run();
}

}  // namespace lockstep::fleet
