// What of a node and of a job's variables stands in the way of RDMA, before ranks start.

#include "runner/fabric/rdma_obstacle.h"

#include <gtest/gtest.h>

namespace lockstep::runner::testing {
namespace {

using Kind = RdmaLack;

FabricPort infiniband_port() {
  FabricPort port;
  port.device = "mlx5_0";
  port.state = "ACTIVE";
  port.link_layer = "InfiniBand";
  port.pkeys = {0x7fff, 0x8001};
  port.gids = {{0, "fe80:0000:0000:0000:0015:5dff:fe33:ff0e", "IB/RoCE v1", ""}};
  return port;
}

FabricPort roce_port() {
  FabricPort port;
  port.device = "rxe0";
  port.state = "ACTIVE";
  port.link_layer = "Ethernet";
  port.netdev = "eth1";
  port.pkeys = {0xffff};
  port.gids = {{0, "fe80:0000:0000:0000:5054:00ff:fe00:0001", "RoCE v2", "eth1"},
               {1, "0000:0000:0000:0000:0000:ffff:0a09:0001", "RoCE v2", "eth1"}};
  return port;
}

class RdmaObstacleTest : public ::testing::Test {
 protected:
  RdmaObstacleTest() {
    fabric_.ports = {infiniband_port()};
    fabric_.has_infiniband_devices = true;
  }
  std::optional<RdmaIsLacking> look() const { return rdma_obstacle(fabric_, request_); }
  std::optional<Kind> kind() const {
    const auto found = look();
    return found ? std::optional(found->lack) : std::nullopt;
  }

  NodeFabric fabric_;
  RdmaRequest request_;
};

TEST_F(RdmaObstacleTest, ThereIsNoneOnAGoodNode) {
  EXPECT_EQ(look(), std::nullopt);
  fabric_.ports = {roce_port()};
  EXPECT_EQ(look(), std::nullopt);
}

TEST_F(RdmaObstacleTest, PortsAreMissingOrDown) {
  fabric_.ports[0].state = "DOWN";
  ASSERT_EQ(kind(), Kind::no_active_port);
  EXPECT_EQ(*look(), (RdmaIsLacking{Kind::no_active_port, "mlx5_0:1 is DOWN", {}}));
  fabric_.ports.clear();
  EXPECT_EQ(kind(), Kind::no_port);
  request_.alone = true;
  EXPECT_EQ(kind(), Kind::no_port);
}

// Of the others it would be a guess that ranks use TCP: a library may lock less, or not read the
// variable.
TEST_F(RdmaObstacleTest, OnlyWithoutADeviceIsTcpCertain) {
  fabric_.memlock_bytes = 8 << 20;
  EXPECT_FALSE(leaves_tcp_alone(*look()));
  fabric_.memlock_bytes = -1;
  request_.variables = {{"UCX_IB_PKEY", "0x8002"}};
  EXPECT_FALSE(leaves_tcp_alone(*look()));
  fabric_.has_infiniband_devices = false;
  EXPECT_TRUE(leaves_tcp_alone(*look()));
  fabric_.ports[0].state = "DOWN";
  EXPECT_TRUE(leaves_tcp_alone(*look()));
  fabric_.ports.clear();
  EXPECT_TRUE(leaves_tcp_alone(*look()));
}

TEST_F(RdmaObstacleTest, ASingleNodeNeedsNothingButAnActivePort) {
  request_.alone = true;
  fabric_.has_infiniband_devices = false;
  fabric_.ports[0].pkeys = {0x7fff};
  EXPECT_EQ(look(), std::nullopt);
}

TEST_F(RdmaObstacleTest, ALimitedMemberReachesNobody) {
  fabric_.ports[0].pkeys = {0x7fff};
  ASSERT_EQ(kind(), Kind::no_partition);
  EXPECT_EQ(*look(), (RdmaIsLacking{Kind::no_partition, "mlx5_0:1", {}}));
  fabric_.ports[0].pkeys.clear();
  EXPECT_EQ(look(), std::nullopt) << "unknown";
}

TEST_F(RdmaObstacleTest, RoceNeedsAGid) {
  fabric_.ports = {roce_port()};
  fabric_.ports[0].gids.pop_back();
  ASSERT_EQ(kind(), Kind::no_gid) << "that of its link leads to no other network";
  EXPECT_EQ(*look(), (RdmaIsLacking{Kind::no_gid, "rxe0:1 of eth1", {}}));
  fabric_.ports.push_back(infiniband_port());
  EXPECT_EQ(look(), std::nullopt) << "the other port will do";
}

TEST_F(RdmaObstacleTest, DeviceFilesAndLockedMemoryAreNeeded) {
  fabric_.has_infiniband_devices = false;
  EXPECT_EQ(kind(), Kind::no_device_files);
  fabric_.has_infiniband_devices = true;
  fabric_.memlock_bytes = 8 << 20;
  ASSERT_EQ(kind(), Kind::locked_memory);
  EXPECT_EQ(*look(), (RdmaIsLacking{Kind::locked_memory, "", mebibytes(8)}));
  request_.may_lock_all = true;
  EXPECT_EQ(look(), std::nullopt) << "root's ranks";
  request_.may_lock_all = false;
  fabric_.memlock_bytes = kLeastLockedMemory;
  EXPECT_EQ(look(), std::nullopt);
}

TEST_F(RdmaObstacleTest, AGidIndexOfTheJobMustBeThere) {
  fabric_.ports = {roce_port()};
  request_.variables = {{"NCCL_IB_GID_INDEX", "3"}};
  ASSERT_EQ(kind(), Kind::wrong_gid);
  EXPECT_TRUE(is_of_job(*look()));
  EXPECT_EQ(*look(), (RdmaIsLacking{Kind::wrong_gid, "NCCL_IB_GID_INDEX=3", {}}));
  for (const char* good : {"0", "1", "-1", "", "auto"}) {
    request_.variables = {{"NCCL_IB_GID_INDEX", good}};
    EXPECT_EQ(look(), std::nullopt) << good;
  }
  request_.variables = {{"UCX_IB_GID_INDEX", "12"}};
  EXPECT_EQ(kind(), Kind::wrong_gid);
}

TEST_F(RdmaObstacleTest, APartitionOfTheJobMustBeThere) {
  request_.variables = {{"UCX_IB_PKEY", "0x8001"}};
  EXPECT_EQ(look(), std::nullopt);
  request_.variables = {{"UCX_IB_PKEY", "0x1"}};
  EXPECT_EQ(look(), std::nullopt) << "without the bit of full members it is the same partition";
  request_.variables = {{"UCX_IB_PKEY", "0x8002"}};
  ASSERT_EQ(kind(), Kind::wrong_pkey);
  EXPECT_TRUE(is_of_job(*look()));
  for (const char* place : {"2", "128", "-1"}) {
    request_.variables = {{"NCCL_IB_PKEY", place}};
    EXPECT_EQ(kind(), Kind::wrong_pkey) << place;
  }
  request_.variables = {{"NCCL_IB_PKEY", "1"}};
  EXPECT_EQ(look(), std::nullopt);
  fabric_.ports[0].pkeys = {0x7fff, 0, 0x8001};
  EXPECT_EQ(kind(), Kind::wrong_pkey) << "nothing is at that place of the table";
}

}  // namespace
}  // namespace lockstep::runner::testing
