// PMI-1 over real sockets: whatever the ranks write and do not read, the loop goes on.

#include "runner/bootstrap/pmi1_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace lockstep::runner {
namespace {

class Pmi1ServerTest : public testing::Test {
 protected:
  explicit Pmi1ServerTest(int ranks = 2) {
    Pmi1Server::Events events;
    events.connected = events.finalized = [](int) {};
    events.aborted = [](int, int, const std::string&) {};
    events.refused = [](int, const std::string&) {};
    events.barrier = [this](const std::string& keys) { server_->end_barrier(keys); };
    server_ = std::make_unique<Pmi1Server>(loop_, Pmi1Protocol::Job{"keys", 1, ranks, 0}, events);
    for (int rank = 0; rank < ranks; ++rank) ends_.push_back(*server_->connect(rank));
  }
  int end(int rank) const { return ends_[static_cast<std::size_t>(rank)].get(); }
  // As much as the socket takes.
  std::size_t write(int rank, const std::string& text) {
    const ssize_t length = ::send(end(rank), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return length < 0 ? 0 : static_cast<std::size_t>(length);
  }
  void turn(int times = 20) {
    for (int i = 0; i < times; ++i) loop_.turn(Duration::zero());
  }
  std::string read(int rank) {
    turn();
    std::string text(1 << 20, '\0');
    const ssize_t length = ::recv(end(rank), text.data(), text.size(), MSG_DONTWAIT);
    if (length == 0 || (length < 0 && errno != EAGAIN)) return "closed";
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
  }
  std::string ask(int rank, const std::string& line) {
    write(rank, line + "\n");
    return read(rank);
  }

  io::EventLoop loop_;
  std::unique_ptr<Pmi1Server> server_;
  std::vector<io::Fd> ends_;
};

const char kAppnum[] = "cmd=appnum appnum=0 rc=0\n";

TEST_F(Pmi1ServerTest, LinesMayComeInPieces) {
  write(0, "cmd=get_");
  EXPECT_EQ(read(0), "");
  EXPECT_EQ(ask(0, "appnum"), kAppnum);
}

TEST_F(Pmi1ServerTest, ALineThatIsTooLongEndsOnlyItsConnection) {
  write(0, std::string(kMaxPmi1Line + 1, 'x'));
  EXPECT_EQ(read(0), "closed");
  EXPECT_EQ(ask(1, "cmd=get_appnum"), kAppnum);
}

TEST_F(Pmi1ServerTest, ARankThatGoesAwayIsForgotten) {
  ends_[0].reset();
  turn();
  EXPECT_EQ(ask(1, "cmd=get_appnum"), kAppnum);
  server_->close_all();
  EXPECT_EQ(read(1), "closed");
}

// Its lines wait in its own socket, which is full at some time; nothing is lost.
TEST_F(Pmi1ServerTest, WhoDoesNotReadItsAnswersIsNotRead) {
  const std::string line = "cmd=get_appnum\n";
  std::string all;
  for (int i = 0; i < 4096; ++i) all += line;
  std::size_t written = 0;
  for (int idle = 0; idle < 5;) {
    const std::size_t now = write(0, all.substr(written % line.size(), all.size() / 2));
    written += now;
    idle = now == 0 ? idle + 1 : 0;
    turn();
    ASSERT_LT(written, 64u << 20) << "the server takes lines without end";
  }
  EXPECT_EQ(ask(1, "cmd=get_appnum"), kAppnum);
  std::string answers;
  for (int idle = 0; idle < 5;) {
    const std::string more = read(0);
    answers += more;
    idle = more.empty() ? idle + 1 : 0;
  }
  EXPECT_EQ(answers.size() / (sizeof kAppnum - 1), written / line.size());
  EXPECT_EQ(answers.size() % (sizeof kAppnum - 1), 0u);
}

TEST_F(Pmi1ServerTest, LinesAfterABarrierWaitForItsEnd) {
  EXPECT_EQ(ask(0, "cmd=put key=k value=v\ncmd=barrier_in\ncmd=get key=of1"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask(1, "cmd=put key=of1 value=w\ncmd=barrier_in"),
            "cmd=put_result rc=0 msg=success\ncmd=barrier_out rc=0\n");
  EXPECT_EQ(read(0), "cmd=barrier_out rc=0\ncmd=get_result rc=0 msg=success value=w\n");
}

class Pmi1ServerAlone : public Pmi1ServerTest {
 protected:
  Pmi1ServerAlone() : Pmi1ServerTest(1) {}
};

TEST_F(Pmi1ServerAlone, ManyBarriersInOneWriteAllEnd) {
  std::string lines, answers;
  for (int i = 0; i < 1000; ++i) lines += "cmd=barrier_in\n";
  ASSERT_EQ(write(0, lines), lines.size());
  for (int i = 0; i < 10; ++i) answers += read(0);
  EXPECT_EQ(answers.size(), 1000 * std::string("cmd=barrier_out rc=0\n").size());
}

}  // namespace
}  // namespace lockstep::runner
