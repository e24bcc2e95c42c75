#include "common/io/programs/kernel_log.h"

#include <gtest/gtest.h>

namespace lockstep::io {
namespace {

constexpr char kOutOfMemory[] =
    "3,812,95000000,-;Out of memory: Killed process 4711 (python3) total-vm:9012kB, UID:1000\n"
    " SUBSYSTEM=x\n";

TEST(KernelLog, SaysThatItKilledAProcess) {
  EXPECT_EQ(killed_in_record(kOutOfMemory, 4'711, seconds(60)),
            "Out of memory: Killed process 4711 (python3) total-vm:9012kB, UID:1000");
  EXPECT_EQ(killed_in_record(kOutOfMemory, 471, seconds(60)), "") << "another process";
  EXPECT_EQ(killed_in_record(kOutOfMemory, 4'711, seconds(96)), "") << "of an earlier one";
}

TEST(KernelLog, IsReadWhateverItHolds) {
  for (const char* record : {"", ";", "3,812;Killed process 7 (a)", "a,b,c,-;Killed process 7 (a)",
                             "3,812,95000000,-", "3,812,95000000,-;usb 1-1: new device",
                             "3,812,95000000,-;Killed process 7", ",,,;Killed process 7 (a)"})
    EXPECT_EQ(killed_in_record(record, 7, Duration::zero()), "") << record;
  const std::string name(4'000, 'x');
  const std::string text =
      killed_in_record("3,812,95000000,-;Killed process 7 (" + name + ")", 7, Duration::zero());
  EXPECT_LE(text.size(), kMaxKernelLine + 3);
  EXPECT_EQ(
      killed_in_record("3,1,5,-;Killed process 7 (\x1b[2Ja)", 7, Duration::zero()).find('\x1b'),
      std::string::npos);
  EXPECT_EQ(kernel_on_killed(1), "");
}

}  // namespace
}  // namespace lockstep::io
