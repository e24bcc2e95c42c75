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

TEST(NetworkNotes, OneForAllVariablesWithTheSameMistake) {
  const std::string down = "docker0 is down on this node and reaches no other node";
  NetworkSettings settings = {
      of_job("GLOO_SOCKET_IFNAME", down),
      {"NCCL_SOCKET_IFNAME", "=eth0", SettingSource::probe, "eth0 reaches the other node", ""},
      of_job("TP_SOCKET_IFNAME", down)};
  EXPECT_THAT(notes_of_mistakes(settings),
              ElementsAre(SettingIsMistaken{
                  {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"}, false, true, "eth0", kOfJob, down}));
  settings.erase(settings.begin() + 1);
  settings.pop_back();
  EXPECT_THAT(
      notes_of_mistakes(settings),
      ElementsAre(SettingIsMistaken{{"GLOO_SOCKET_IFNAME"}, false, true, "", kOfJob, down}));
}

TEST(NetworkNotes, WhatMayBeMeantIsSaidSo) {
  EXPECT_THAT(notes_of_mistakes({of_job("NCCL_IB_DISABLE", "NCCL uses no RDMA")}),
              ElementsAre(SettingIsMistaken{
                  {"NCCL_IB_DISABLE"}, false, false, "", kOfJob, "NCCL uses no RDMA"}));
  EXPECT_THAT(notes_of_mistakes({of_job("NCCL_DEBUG", "")}), IsEmpty());
  EXPECT_THAT(notes_of_mistakes({{"memlock", "8 bytes", SettingSource::fixed, "the hard limit",
                                  "too little for RDMA"}}),
              ElementsAre(SettingIsMistaken{
                  {"memlock"}, true, false, "", "the hard limit", "too little for RDMA"}));
}

}  // namespace
}  // namespace lockstep::runner
