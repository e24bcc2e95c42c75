// Notes of what looks like a mistake in a rank's network variables.

#include "runner/bootstrap/network_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kOfJob = "set by the job or its environment";

NetworkSetting of_job(std::string name, std::string warning) {
  return {std::move(name), "x", SettingSource::user, kOfJob, std::move(warning)};
}

TEST(NetworkNotes, OneLineForAllVariablesWithTheSameMistake) {
  const std::string down = "docker0 is down on this node and reaches no other node";
  NetworkSettings settings = {
      of_job("GLOO_SOCKET_IFNAME", down),
      {"NCCL_SOCKET_IFNAME", "=eth0", SettingSource::probe, "eth0 reaches the other node", ""},
      of_job("TP_SOCKET_IFNAME", down)};
  EXPECT_THAT(notes_of_mistakes(settings),
              ElementsAre("GLOO_SOCKET_IFNAME and TP_SOCKET_IFNAME (set by the job or its "
                          "environment): docker0 is down on this node and reaches no other node; "
                          "leave them out, and the ranks use eth0"));
  settings.erase(settings.begin() + 1);
  settings.pop_back();
  EXPECT_THAT(notes_of_mistakes(settings),
              ElementsAre("GLOO_SOCKET_IFNAME (set by the job or its environment): docker0 is down "
                          "on this node and reaches no other node; leave it out"));
}

TEST(NetworkNotes, WhatMayBeMeantIsSaidSo) {
  EXPECT_THAT(notes_of_mistakes({of_job("NCCL_IB_DISABLE", "NCCL uses no RDMA")}),
              ElementsAre("NCCL_IB_DISABLE (set by the job or its environment): NCCL uses no RDMA; "
                          "leave it out, unless that is meant"));
  EXPECT_THAT(notes_of_mistakes({of_job("NCCL_DEBUG", "")}), IsEmpty());
  EXPECT_THAT(notes_of_mistakes({{"memlock", "8 bytes", SettingSource::fixed, "the hard limit",
                                  "too little for RDMA"}}),
              ElementsAre("memlock (the hard limit): too little for RDMA"));
}

}  // namespace
}  // namespace lockstep::runner
