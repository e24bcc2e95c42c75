// Who is admitted, and who has to go for it: connections as values, closed when the test says so.

#include "common/io/net/admission.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::io {
namespace {

// A connection of port 1 was closed.
bool is_open(const Admission::Connection& connection) { return connection.peer.port != 1; }

struct Door {
  // The descriptors that have to go.
  std::vector<int> arrive(int fd, const std::string& address, std::uint16_t port = 2) {
    const auto verdict = admission.arrived({fd, {address, port}});
    admitted = verdict.admitted;
    std::vector<int> shut;
    for (const auto& connection : verdict.shut) shut.push_back(connection.fd);
    return shut;
  }
  Admission admission{{10, 8, 6, 3}, is_open};
  bool admitted = false;
};

using Fds = std::vector<int>;

TEST(Admission, OfOneAddressTheOldestThatIsNotProvenGoes) {
  Door door;
  for (int fd = 1; fd <= 3; ++fd) EXPECT_EQ(door.arrive(fd, "10.0.0.1"), Fds{});
  door.admission.proven(1, "10.0.0.1");
  EXPECT_EQ(door.arrive(4, "10.0.0.1"), Fds{}) << "a proven one is not counted";
  EXPECT_EQ(door.arrive(5, "10.0.0.1"), Fds{2});
  EXPECT_TRUE(door.admitted);
  EXPECT_EQ(door.admission.count(), (Admission::Count{4, 3}));
}

TEST(Admission, AnotherAddressProvesNothing) {
  Door door;
  door.arrive(1, "10.0.0.1");
  door.admission.proven(1, "10.0.0.2");
  door.admission.proven(7, "10.0.0.1");
  EXPECT_EQ(door.admission.count(), (Admission::Count{1, 1}));
}

TEST(Admission, WhereNothingIsProvenGoesFirst) {
  Door door;
  door.arrive(1, "10.0.0.1");
  door.admission.proven(1, "10.0.0.1");
  for (int fd = 2; fd <= 4; ++fd) door.arrive(fd, "10.0.0.1");
  door.arrive(5, "10.0.0.2");
  door.arrive(6, "10.0.0.2");
  door.arrive(7, "10.0.0.3");
  EXPECT_EQ(door.arrive(8, "10.0.0.4"), Fds{5}) << "not of the address that a user is at";
}

TEST(Admission, ProvenOnesKeepTheirPlaceWhenAllIsTaken) {
  Door door;
  for (int fd = 1; fd <= 10; ++fd) {
    const std::string address = fd <= 5 ? "10.0.0.1" : "10.0.0.2";
    door.arrive(fd, address);
    door.admission.proven(fd, address);
  }
  EXPECT_EQ(door.arrive(11, "10.0.0.3"), Fds{});
  EXPECT_FALSE(door.admitted);
  EXPECT_EQ(door.admission.count(), (Admission::Count{10, 0}));
}

TEST(Admission, OneAddressCannotHaveThemAll) {
  Door door;
  for (int fd = 1; fd <= 8; ++fd) {
    door.arrive(fd, "10.0.0.1");
    door.admission.proven(fd, "10.0.0.1");
  }
  door.arrive(9, "10.0.0.1");
  EXPECT_FALSE(door.admitted);
  door.arrive(9, "10.0.0.2");
  EXPECT_TRUE(door.admitted);
}

TEST(Admission, TheHostsOfAnIpv6NetworkAreOneSource) {
  Door door;
  for (int fd = 1; fd <= 3; ++fd) door.arrive(fd, "2001:db8:1:2::" + std::to_string(fd));
  EXPECT_EQ(door.arrive(4, "2001:db8:1:3::4"), Fds{});
  EXPECT_EQ(door.arrive(5, "2001:db8:1:2:a:b:c:d"), Fds{1});
}

// Nobody tells of a close: it is found when room is needed, or when the descriptor is used again.
TEST(Admission, ClosedOnesMakeRoomAndAreNotShut) {
  Door door;
  for (int fd = 1; fd <= 3; ++fd) door.arrive(fd, "10.0.0.1", 1);
  EXPECT_EQ(door.arrive(4, "10.0.0.1"), Fds{});
  EXPECT_EQ(door.admission.count(), (Admission::Count{1, 1}));
  EXPECT_EQ(door.arrive(4, "10.0.0.2"), Fds{});
  EXPECT_EQ(door.admission.count(), (Admission::Count{1, 1}));
}

TEST(Admission, LimitsFollowTheDescriptorsAndLeaveSome) {
  EXPECT_EQ(Admission::limits_for(256), (Admission::Limits{192, 144, 96, 48}));
  for (const std::size_t descriptors : {8U, 64U, 1'024U, 20'000U, 524'288U, 1U << 30}) {
    const auto limits = Admission::limits_for(descriptors);
    EXPECT_LT(limits.all, descriptors);
    EXPECT_LT(limits.unproven, limits.all) << "a reserve for those who are known";
    EXPECT_LT(limits.unproven_per_source, limits.unproven);
    EXPECT_LT(limits.per_source, limits.all);
  }
}

}  // namespace
}  // namespace lockstep::io
