// Counters of RDMA ports, by trees as the drivers make them.

#include "runner/fabric/rdma/port_traffic.h"

#include <gtest/gtest.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner::testing {
namespace {

using test::TempDir;

class PortTrafficTest : public ::testing::Test {
 protected:
  void file(const std::string& device, const std::string& name, const std::string& text) const {
    sys_.file("class/infiniband/" + device + "/ports/1/" + name, text + "\n");
  }
  std::vector<PortTraffic> read() const { return read_port_traffic(sys_.path()); }

  TempDir sys_;
};

TEST_F(PortTrafficTest, ThereMayBeNone) { EXPECT_TRUE(read().empty()); }

TEST_F(PortTrafficTest, EachDriverCountsInItsOwnWay) {
  file("mlx5_0", "state", "4: ACTIVE");
  file("mlx5_0", "counters/port_xmit_data", "1000");
  file("mlx5_0", "counters/port_rcv_data", "500");
  file("rdmap0s6", "state", "4: ACTIVE");
  file("rdmap0s6", "hw_counters/tx_bytes", "7000");
  file("rdmap0s6", "hw_counters/rx_bytes", "1");
  file("rxe0", "state", "1: DOWN");
  file("rxe0", "hw_counters/sent_pkts", "3");
  file("rxe0", "hw_counters/rcvd_pkts", "2");
  file("siw0", "state", "4: ACTIVE");
  EXPECT_EQ(read(), (std::vector<PortTraffic>{{"mlx5_0", 1, "ACTIVE", 6'000},
                                              {"rdmap0s6", 1, "ACTIVE", 7'001},
                                              {"rxe0", 1, "DOWN", 5 * kBytesOfPacket},
                                              {"siw0", 1, "ACTIVE", std::nullopt}}));
}

TEST_F(PortTrafficTest, OneThatIsNotThereCountsNothing) {
  file("mlx4_0", "state", "4: ACTIVE");
  file("mlx4_0", "counters/port_xmit_data", "N/A (no PMA)");
  file("mlx4_0", "counters/port_rcv_data", "N/A (no PMA)");
  EXPECT_EQ(read(), (std::vector<PortTraffic>{{"mlx4_0", 1, "ACTIVE", std::nullopt}}));
}

TEST(TrafficSinceTest, IsTheSumOfWhatBothHave) {
  const std::vector<PortTraffic> before = {
      {"a", 1, "ACTIVE", 100}, {"b", 1, "ACTIVE", 900}, {"c", 1, "ACTIVE", std::nullopt}};
  const std::vector<PortTraffic> now = {{"a", 1, "ACTIVE", 150},
                                        {"b", 1, "ACTIVE", 10},  // it was reset
                                        {"c", 1, "ACTIVE", 5},
                                        {"d", 1, "ACTIVE", 5}};
  const TrafficSince since = traffic_since(before, now);
  EXPECT_TRUE(since.counts);
  EXPECT_EQ(since.bytes, 50);
  EXPECT_FALSE(traffic_since({}, {{"a", 1, "ACTIVE", 0}}).counts);
  EXPECT_FALSE(traffic_since({}, {{"a", 1, "ACTIVE", std::nullopt}}).counts);
}

TEST(RefreshStates, TakesThoseOfNow) {
  NodeFabric fabric;
  fabric.ports.resize(2);
  fabric.ports[0].device = "mlx5_0";
  fabric.ports[1].device = "mlx5_1";
  for (FabricPort& port : fabric.ports) port.state = "ACTIVE";
  refresh_states({{"mlx5_0", 1, "DOWN", 0}}, fabric);
  EXPECT_EQ(fabric.ports[0].state, "DOWN");
  EXPECT_EQ(fabric.ports[1].state, "gone");
}

}  // namespace
}  // namespace lockstep::runner::testing
