// A runner and its PMIx server, which here is played by the test, or is the real program: whatever
// it says, the runner goes on.

#include "runner/pmix/client.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace lockstep::pmix {
namespace {

class PmixClientTest : public testing::Test {
 protected:
  PmixClientTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    server_.reset(ends[1]);
    client_ = std::make_unique<Client>(loop_, io::Fd(ends[0]), Process());
  }
  // Two nodes with two ranks each; ours are 2 and 3.
  void start() {
    Client::Events events;
    events.connected = [this](int rank) { said_ += "connected " + std::to_string(rank) + ";"; };
    events.finalized = [this](int rank) { said_ += "finalized " + std::to_string(rank) + ";"; };
    events.aborted = [this](int rank, int, const std::string& message) {
      said_ += "aborted " + std::to_string(rank) + " " + message + ";";
    };
    events.fence = [this](const std::set<int>&, bool, const std::string& data,
                          Client::Reply reply) {
      said_ += "fence " + data + ";";
      reply_ = std::move(reply);
    };
    events.modex = [this](int rank, Client::Reply reply) {
      said_ += "modex " + std::to_string(rank) + ";";
      reply_ = std::move(reply);
    };
    events.refused = [this](int rank, const std::string& what) {
      said_ += "refused " + std::to_string(rank) + " " + what + ";";
    };
    events.lost = [this](const std::string& why) { lost_ = why; };
    client_->start({"job.1", {"a", "b"}, 1, 2}, "/d", std::move(events),
                   [this](Status status) { started_ = std::move(status); });
  }
  void turn() {
    for (int i = 0; i < 10; ++i) loop_.turn(Duration::zero());
  }
  void write(std::string_view body) {
    std::string frame;
    for (int i = 0; i < 4; ++i) frame.push_back(static_cast<char>(body.size() >> (8 * i)));
    frame += body;
    EXPECT_EQ(::send(server_.get(), frame.data(), frame.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(frame.size()));
    turn();
  }
  void say(const Report& report) { write(encode(report)); }
  void say_hello() { say(Hello{kProtocol, "OpenPMIx 4"}); }
  std::optional<Order> next_order() {
    turn();
    std::uint32_t size = 0;  // on a machine of little endian
    if (::recv(server_.get(), &size, sizeof size, MSG_DONTWAIT) != sizeof size) return std::nullopt;
    std::string body(size, '\0');
    EXPECT_EQ(::recv(server_.get(), body.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
    const auto order = decode_order(body);
    return order ? std::optional(*order) : std::nullopt;
  }
  bool is_lost_because(const std::string& part) { return lost_.find(part) != lost_.npos; }

  io::EventLoop loop_;
  io::Fd server_;
  std::unique_ptr<Client> client_;
  std::optional<Status> started_;
  std::string said_, lost_;
  Client::Reply reply_;
};

TEST_F(PmixClientTest, OrdersAreAnswered) {
  start();
  say_hello();
  EXPECT_EQ(client_->library(), "OpenPMIx 4");
  const auto order = next_order();
  ASSERT_TRUE(order && std::holds_alternative<Start>(*order));
  EXPECT_FALSE(started_);
  say(Done{std::get<Start>(*order).id, "", {}});
  EXPECT_TRUE(started_ && *started_);

  std::optional<Result<Variables>> registered;
  client_->register_rank(2, 7, 8, [&](Result<Variables> done) { registered = std::move(done); });
  const auto rank = std::get<RegisterRank>(next_order().value());
  EXPECT_EQ(rank, (RegisterRank{rank.id, 2, 7, 8}));
  say(Done{rank.id, "", {{"PMIX_RANK", "2"}}});
  ASSERT_TRUE(registered && *registered);
  EXPECT_EQ((*registered)->at("PMIX_RANK"), "2");

  std::string data;
  client_->fetch(3, [&](bool found, const std::string& bytes) { data = found ? bytes : "none"; });
  say(Fetched{std::get<Fetch>(next_order().value()).id, true, "put"});
  EXPECT_EQ(data, "put");
}

TEST_F(PmixClientTest, CallsOfRanksAreAnsweredOnce) {
  start();
  say_hello();
  (void)next_order();
  say(Fence{1, true, {}, "mine"});
  EXPECT_EQ(said_, "fence mine;");
  reply_(true, "all");
  reply_(true, "again");
  EXPECT_EQ(next_order(), Order(Answer{1, true, "all"}));
  EXPECT_FALSE(next_order());
  say(Modex{2, 0});
  reply_(false, "");
  EXPECT_EQ(next_order(), Order(Answer{2, false, ""}));
}

TEST_F(PmixClientTest, RanksOfOthersAreNotBelieved) {
  start();
  say_hello();
  (void)next_order();
  for (const int rank : {-2, 0, 1, 4, 2'000'000'000}) {
    say(Connected{rank});
    say(Finalized{rank});
    say(Aborted{rank, 1, "false"});
    say(Refused{rank, "what"});
  }
  say(Fence{1, false, {0, 1}, "of the other node alone"});
  EXPECT_EQ(next_order(), Order(Answer{1, false, ""}));
  say(Fence{2, false, {2, 4}, "of nobody"});
  EXPECT_EQ(next_order(), Order(Answer{2, false, ""}));
  say(Modex{3, 4});
  EXPECT_EQ(next_order(), Order(Answer{3, false, ""}));
  EXPECT_EQ(said_, "");
  say(Aborted{3, 1, "true"});
  EXPECT_EQ(said_, "aborted 3 true;");
  EXPECT_EQ(lost_, "");
}

TEST_F(PmixClientTest, AServerThatEndsFailsWhatItWasAsked) {
  start();
  say_hello();
  bool found = true;
  client_->fetch(2, [&](bool is_found, const std::string&) { found = is_found; });
  server_.reset();
  turn();
  ASSERT_TRUE(started_);
  EXPECT_FALSE(*started_);
  EXPECT_FALSE(found);
  EXPECT_TRUE(is_lost_because("lockstep-pmix")) << lost_;
  std::optional<Result<Variables>> late;
  client_->register_rank(2, 7, 8, [&](Result<Variables> done) { late = std::move(done); });
  EXPECT_TRUE(late && !*late);
}

TEST_F(PmixClientTest, WhatIsNoReportEndsTheServer) {
  start();
  say_hello();
  write("\xff nonsense");
  EXPECT_TRUE(is_lost_because("is not one")) << lost_;
  EXPECT_TRUE(started_ && !*started_);
}

TEST_F(PmixClientTest, NothingComesBeforeHelloAndItComesOnce) {
  start();
  say(Connected{2});
  EXPECT_TRUE(is_lost_because("out of order")) << lost_;
  EXPECT_EQ(said_, "");
}

TEST_F(PmixClientTest, AnotherVersionIsNamed) {
  start();
  say(Hello{kProtocol + 1, "OpenPMIx 9"});
  EXPECT_TRUE(is_lost_because("restart the agent")) << lost_;
}

TEST_F(PmixClientTest, AnswersToNothingEndTheServer) {
  start();
  say_hello();
  say(Done{77, "", {}});
  EXPECT_TRUE(is_lost_because("not asked")) << lost_;
}

class PmixVariablesTest : public PmixClientTest,
                          public testing::WithParamInterface<std::pair<std::string, std::string>> {
};

TEST_P(PmixVariablesTest, RanksGetNoOthers) {
  start();
  say_hello();
  std::optional<Result<Variables>> registered;
  client_->register_rank(2, 7, 8, [&](Result<Variables> done) { registered = std::move(done); });
  say(Done{2, "", {{"PMIX_RANK", "2"}, GetParam()}});
  ASSERT_TRUE(registered);
  EXPECT_FALSE(*registered);
  EXPECT_TRUE(is_lost_because("not PMIx's")) << lost_;
}

INSTANTIATE_TEST_SUITE_P(Hostile, PmixVariablesTest,
                         testing::Values(std::pair("LD_PRELOAD", "/tmp/x.so"),
                                         std::pair("PMIX_A=b", ""),
                                         std::pair("PMIX_A", std::string("a\0b", 3))));

TEST_F(PmixClientTest, CallsWithoutEndEndTheServer) {
  start();
  say_hello();
  std::string frames;
  for (std::uint64_t id = 1; id <= kMaxOpenCalls + 1; ++id) {
    const std::string body = encode(Report(Modex{id, 0}));
    frames += std::string{static_cast<char>(body.size()), 0, 0, 0} + body;
  }
  for (std::size_t at = 0; at < frames.size() && lost_.empty();) {
    const ssize_t sent =
        ::send(server_.get(), frames.data() + at, frames.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) at += static_cast<std::size_t>(sent);
    loop_.turn(Duration::zero());
  }
  turn();
  EXPECT_TRUE(is_lost_because("not answered")) << lost_;
}

// ---- the real program

class PmixProcessTest : public testing::Test {
 protected:
  PmixProcessTest() {
    char name[] = "/tmp/lockstep-pmix-XXXXXX";
    EXPECT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  ~PmixProcessTest() override { std::filesystem::remove_all(directory_); }
  void launch() {
    auto client =
        Client::launch(loop_, LOCKSTEP_BIN_DIR "/lockstep-pmix", ::geteuid(), ::getegid());
    ASSERT_TRUE(client) << client.error().message;
    client_ = *std::move(client);
  }
  void start() {
    launch();
    Client::Events events;
    events.lost = [this](const std::string& why) { lost_ = why; };
    std::optional<Status> started;
    client_->start({"job.1", {"here"}, 0, 2}, directory_, std::move(events),
                   [&](Status status) { started = std::move(status); });
    while (!started) loop_.turn(seconds(1));
    ASSERT_TRUE(*started) << started->error().message;
  }
  Result<Variables> registered(int rank) {
    std::optional<Result<Variables>> done;
    client_->register_rank(rank, ::geteuid(), ::getegid(),
                           [&](Result<Variables> variables) { done = std::move(variables); });
    while (!done) loop_.turn(seconds(1));
    return *std::move(done);
  }

  io::EventLoop loop_;
  std::string directory_, lost_;
  std::unique_ptr<Client> client_;
};

TEST_F(PmixProcessTest, ServesRanksAndEndsWithItsClient) {
  start();
  const auto variables = registered(1);
  ASSERT_TRUE(variables) << variables.error().message;
  EXPECT_EQ(variables->at("PMIX_RANK"), "1");
  const int pid = client_->pid();
  client_.reset();
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(PmixProcessTest, ItsDeathIsSeen) {
  start();
  ::kill(client_->pid(), SIGABRT);  // a sanitizer handles SIGSEGV, and exits
  while (lost_.empty()) loop_.turn(seconds(1));
  EXPECT_NE(lost_.find("was killed by signal 6"), lost_.npos) << lost_;
  EXPECT_FALSE(registered(0));
}

TEST_F(PmixProcessTest, SeesNothingOfItsRunner) {
  const io::Fd ours(::memfd_create("secret", 0));  // without MFD_CLOEXEC
  ::setenv("LOCKSTEP_SECRET", "secret", 1);
  start();
  ::unsetenv("LOCKSTEP_SECRET");
  const std::string process = "/proc/" + std::to_string(client_->pid());
  const auto environment = io::read_file(process + "/environ");
  if (::geteuid() != 0) {
    EXPECT_FALSE(environment) << "other processes of its user see nothing of it either";
    EXPECT_NE(::access((process + "/fd/0").c_str(), F_OK), 0);
    return;
  }
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->find("SECRET"), environment->npos) << *environment;
  for (const auto& fd : std::filesystem::directory_iterator(process + "/fd")) {
    const std::string target = std::filesystem::read_symlink(fd).string();
    EXPECT_EQ(target.find("secret"), target.npos) << target;
  }
}

TEST(PmixProcess, AProgramThatIsNotThereIsAnError) {
  io::EventLoop loop;
  EXPECT_FALSE(Client::launch(loop, "/nonexistent/lockstep-pmix", 0, 0));
}

}  // namespace
}  // namespace lockstep::pmix
