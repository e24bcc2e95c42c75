// What is looked at while ranks run: logs that they may have made anything of, what they hold, and
// how often.

#include "runner/fabric/rdma/transport_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner::testing {
namespace {

using test::TempDir;

constexpr Instant kStart{1'000'000'000'000};
constexpr char kOverSockets[] =
    "n1:7:8 [0] NCCL INFO NET/IB : No device found.\nn1:7:8 [0] NCCL INFO Using network Socket\n";

class TransportWatchTest : public ::testing::Test {
 protected:
  TransportWatchTest() { EXPECT_TRUE(io::make_directories(root_ / "tmp")); }

  TransportWatch watch() const {
    return TransportWatch({root_ / "tmp", root_ / "sys", root_ / "proc"}, {}, kStart);
  }
  void log(const std::string& name, const std::string& text) const {
    root_.file("tmp/" + name, text);
  }
  void sent(std::int64_t packets) const {
    const std::string port = "sys/class/infiniband/rxe0/ports/1/";
    root_.file(port + "state", "4: ACTIVE\n");
    root_.file(port + "hw_counters/sent_pkts", fmt::format("{}\n", packets));
    root_.file(port + "hw_counters/rcvd_pkts", "1\n");
  }
  void process(int pid, int parent) const {
    const std::string folder = fmt::format("proc/{}", pid);
    root_.file(folder + "/stat",
               fmt::format("{} (rank) S {} 1 1 0 -1 4194304 9 0 0 0 1 1 2 3 20 0 1 0 100 5000 9 9",
                           pid, parent));
    EXPECT_TRUE(io::make_directories(root_ / (folder + "/fd")));
  }
  void holds(int pid, int fd, const std::string& path) const {
    const std::string link = root_ / fmt::format("proc/{}/fd/{}", pid, fd);
    EXPECT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  }

  TempDir root_;
};

TEST_F(TransportWatchTest, ReadsTheLogsOfNccl) {
  log("lockstep-nccl.n1.7", kOverSockets);
  log("other.n1.7", "NCCL INFO Using network IB\n");
  TransportWatch watch = this->watch();
  const TransportFinding finding = watch.look(kStart + seconds(5), {});
  EXPECT_EQ(finding.transport, Transport::sockets);
  EXPECT_EQ(finding.cause, SocketsCause::no_device);
}

TEST_F(TransportWatchTest, AHalfLineIsNotRead) {
  log("lockstep-nccl.n1.7", "n1:7:8 [0] NCCL INFO Using network Sock");
  TransportWatch watch = this->watch();
  EXPECT_EQ(watch.look(kStart, {}).transport, Transport::unknown);
}

// Ranks own the folder: a pipe would block, a link would lead elsewhere.
TEST_F(TransportWatchTest, WhatIsNoFileIsNotRead) {
  ASSERT_EQ(::mkfifo((root_ / "tmp/lockstep-nccl.n1.1").c_str(), 0600), 0);
  root_.file("secret", kOverSockets);
  ASSERT_EQ(::symlink((root_ / "secret").c_str(), (root_ / "tmp/lockstep-nccl.n1.2").c_str()), 0);
  ASSERT_EQ(::mkdir((root_ / "tmp/lockstep-nccl.n1.3").c_str(), 0700), 0);
  log("lockstep-nccl.n1.4", "");
  TransportWatch watch = this->watch();
  EXPECT_EQ(watch.look(kStart, {}).transport, Transport::unknown);
}

TEST_F(TransportWatchTest, OfALongLogTheBeginningAndTheEndAreRead) {
  const std::string much(3u << 20, 'x');
  log("lockstep-nccl.n1.7", kOverSockets + much + "\n");
  TransportWatch watch = this->watch();
  EXPECT_EQ(watch.look(kStart, {}).transport, Transport::sockets);
  log("lockstep-nccl.n1.7",
      "n1:7:8 [0] NCCL INFO Using network IB\n" + much +
          "\nn1:7:8 [0] NCCL WARN Call to ibv_reg_mr failed with error Cannot "
          "allocate memory\n");
  const TransportFinding finding = watch.look(kStart, {});
  EXPECT_TRUE(finding.has_failed);
  EXPECT_EQ(finding.cause, SocketsCause::locked_memory);
}

TEST_F(TransportWatchTest, ARankThatHoldsTheDeviceAndMovesItsPortUsesRdma) {
  sent(100);
  process(50, 1);
  process(51, 50);
  holds(51, 3, "/dev/infiniband/uverbs0");
  TransportWatch watch = this->watch();
  EXPECT_EQ(watch.look(kStart + seconds(5), {50, 0, true}).transport, Transport::unknown);
  sent(100 + 100'000);
  EXPECT_EQ(watch.look(kStart + seconds(15), {50, 0, true}).transport, Transport::rdma);
  EXPECT_EQ(watch.next_look(), Instant::never()) << "it is known";
}

TEST_F(TransportWatchTest, AnothersTrafficIsNotTheRanks) {
  sent(100);
  process(50, 1);
  process(51, 50);
  process(60, 1);
  holds(51, 3, "/tmp/x");
  holds(60, 3, "/dev/infiniband/uverbs0");
  TransportWatch watch = this->watch();
  sent(100 + 100'000);
  const TransportFinding finding = watch.look(kStart + seconds(5), {50, 1 << 30, true});
  EXPECT_EQ(finding.transport, Transport::sockets);
  EXPECT_EQ(finding.cause, SocketsCause::not_opened);
  EXPECT_TRUE(finding.is_certain);
}

// Its device may be among the others: a job is not ended for what nobody saw.
TEST_F(TransportWatchTest, OfRanksWithTooManyFilesNothingIsKnown) {
  sent(100);
  process(50, 1);
  process(51, 50);
  process(52, 50);
  for (int fd = 0; fd < 40; ++fd) holds(51 + fd % 2, fd, "/data/part");
  TransportWatch watch({root_ / "tmp", root_ / "sys", root_ / "proc", 30}, {}, kStart);
  EXPECT_EQ(watch.look(kStart + seconds(5), {50, 1 << 30, true}).transport, Transport::unknown);
}

TEST_F(TransportWatchTest, LooksBecomeRarer) {
  TransportWatch watch = this->watch();
  Instant now = watch.next_look();
  EXPECT_EQ(now, kStart + seconds(5));
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 6; ++i) {
    watch.look(now, {});
    pauses.push_back(std::chrono::duration_cast<seconds>(watch.next_look() - now).count());
    now = watch.next_look();
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{10, 15, 30, 60, 60, 60}));
}

TEST_F(TransportWatchTest, WithoutAnythingToReadItKnowsNothing) {
  TransportWatch watch({"", root_ / "none", root_ / "none"}, {}, kStart);
  EXPECT_EQ(watch.look(kStart, {77, 1 << 30, true}).transport, Transport::unknown);
}

}  // namespace
}  // namespace lockstep::runner::testing
