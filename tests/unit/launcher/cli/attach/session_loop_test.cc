// An attachment over real sockets: our standard streams, a launcher that breaks down in the middle,
// and one that knows no attachments.

#include "launcher/cli/attach/session_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <sstream>
#include <thread>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/file_system.h"
#include "common/wire/messages/bulk.h"
#include "launcher/cli/base/verb_context.h"
#include "tests/unit/launcher/cli/fake_runner.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

// Passes frames on to a runner. After `break_after` bytes of input its sockets are closed, and open
// again on the same ports a moment later, without any memory of its client.
class FakeRelay {
 public:
  struct Script {
    std::size_t break_after = SIZE_MAX;
    bool knows_frames = true;
  };
  explicit FakeRelay(Script script) : script_(script) {
    thread_ = std::thread([this] {
      while (!stop_) live_once();
    });
    endpoint = made_.get_future().get();
  }
  ~FakeRelay() {
    stop_ = true;
    thread_.join();
  }

  Endpoint endpoint;
  const io::KeyPair keys = io::generate_key_pair();
  int lives() const { return lives_; }

 private:
  void live_once() {
    io::EventLoop loop;
    io::Transport transport(loop, [](const std::string&, const PublicKey&) { return true; });
    auto control = io::ServerSocket::bind(transport, control_at_, "users", server_);
    auto bulk = io::ServerSocket::bind(transport, bulk_at_, "users", server_);
    if (!control || !bulk) return;  // the previous life's ports are not free yet
    control_at_ = control->endpoint();
    bulk_at_ = bulk->endpoint();
    std::string peer;
    to_client_ = [&](BulkMessage body, std::uint64_t reply_to) {
      (void)bulk->send(peer, wire::encode(BulkEnvelope{wire::kBulkVersion, ++sequence_, reply_to,
                                                       std::move(body)}));
    };
    loop.watch_socket(bulk->handle(), [&] {
      while (const auto incoming = bulk->receive()) {
        peer = incoming->peer;
        if (const auto envelope = wire::decode_bulk(incoming->bytes)) take(*envelope);
      }
    });
    if (++lives_ == 1) made_.set_value({{1, 1}, control_at_, bulk_at_, "", server_.public_key});
    while (!stop_ && (lives_ > 1 || runner_.input.size() < script_.break_after))
      loop.turn(milliseconds(2));
    loop.unwatch_socket(bulk->handle());
  }

  void take(const BulkEnvelope& envelope) {
    const auto* frame = std::get_if<AttachFrame>(&envelope.body);
    if (frame == nullptr) return;
    if (!script_.knows_frames)
      return to_client_(BulkRefused{"a launcher does not accept this"}, envelope.sequence);
    id_ = frame->attachment;
    runner_.on(frame->body);
  }

  const Script script_;
  const io::KeyPair server_ = io::generate_key_pair();
  std::string control_at_ = "tcp://127.0.0.1:*", bulk_at_ = control_at_;
  std::promise<Endpoint> made_;
  std::atomic<bool> stop_{false};
  std::atomic<int> lives_{0};
  std::uint64_t sequence_ = 0;
  AttachId id_;
  std::function<void(BulkMessage, std::uint64_t)> to_client_;
  FakeRunner runner_{[this](AttachBody body) { to_client_(AttachFrame{id_, std::move(body)}, 0); }};
  std::thread thread_;
};

constexpr int kRefused = 90;

// Runs in a process of its own, as `lockstep` does, that is forked before any socket is open.
class Attaching : public testing::Test {
 protected:
  void fork_client() {
    char name[] = "/tmp/lockstep-attach-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    base_ = name;
    ASSERT_EQ(::pipe(words_), 0);
    ASSERT_EQ(::pipe(input_), 0);
    pid_ = ::fork();
    if (pid_ == 0) ::_exit(client());
    ::close(words_[0]);
    ::close(input_[0]);
  }
  void TearDown() override { EXPECT_TRUE(base_.empty() || io::remove_tree(base_).has_value()); }
  int exit_code() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void tell(const FakeRelay& relay) {
    const std::string text = relay.endpoint.control + "\n" + relay.endpoint.bulk + "\n" +
                             relay.endpoint.public_key.value + "\n" + relay.keys.public_key.value +
                             "\n" + relay.keys.secret_key + "\n";
    EXPECT_TRUE(io::write_all(words_[1], text));
    ::close(words_[1]);
  }
  std::string file(const char* name) { return io::read_file(base_ + "/" + name).value_or(""); }

  int input_[2] = {-1, -1};

 private:
  int client() const {
    ::close(words_[1]);
    ::close(input_[1]);
    if (::dup2(input_[0], STDIN_FILENO) < 0 ||
        !std::freopen((base_ + "/out").c_str(), "w", stdout) ||
        !std::freopen((base_ + "/err").c_str(), "w", stderr))
      return 99;
    std::string text;
    char buffer[512];
    for (ssize_t got; (got = ::read(words_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    std::istringstream words(text);
    Endpoint endpoint;
    io::KeyPair keys;
    words >> endpoint.control >> endpoint.bulk >> endpoint.public_key.value >>
        keys.public_key.value >> keys.secret_key;
    hold_interrupts(true);
    Terminal terminal;
    const auto connection = Connection::open(endpoint, keys);
    if (!connection) return 98;
    AttachOptions options;
    options.open.job = JobId("j");
    AttachProgram cat;
    cat.argv = {"cat"};
    cat.takes_input = true;
    options.open.order = cat;
    const auto outcome = attach(
        **connection, terminal, [&] { return std::optional(endpoint); }, options);
    if (!outcome) return 97;
    if (outcome->how != AttachOutcome::How::refused) return outcome->end.code;
    terminal.print_line(outcome->error->message);
    return kRefused;
  }

  std::string base_;
  int words_[2] = {-1, -1};
  pid_t pid_ = 0;
};

std::string many_bytes() {
  std::string bytes;
  for (std::uint32_t i = 0; bytes.size() < 3'000'000; ++i)
    bytes.append(reinterpret_cast<const char*>(&i), sizeof i);
  return bytes;
}

TEST_F(Attaching, EveryByteComesOnceThroughALauncherThatIsRestarted) {
  ::signal(SIGPIPE, SIG_IGN);
  fork_client();
  FakeRelay relay({1'000'000, true});
  tell(relay);
  const std::string bytes = many_bytes();
  EXPECT_TRUE(io::write_all(input_[1], bytes));
  ::close(input_[1]);
  EXPECT_EQ(exit_code(), 3) << file("err");
  EXPECT_TRUE(file("out") == bytes);
  EXPECT_GE(relay.lives(), 2);
}

TEST_F(Attaching, ALauncherThatKnowsNoAttachmentsRefuses) {
  fork_client();
  FakeRelay relay({SIZE_MAX, false});
  tell(relay);
  EXPECT_EQ(exit_code(), kRefused);
  EXPECT_THAT(file("err"), HasSubstr("a launcher does not accept this"));
  ::close(input_[1]);
}

}  // namespace
}  // namespace lockstep::cli
