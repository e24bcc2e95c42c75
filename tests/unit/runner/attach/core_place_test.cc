// Where cores are, and the command that reads them, with a shell and made-up tools.

#include "runner/attach/core_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

using ::testing::ElementsAre;

TEST(CorePlace, FollowsTheKernelsPattern) {
  EXPECT_THAT(core_place("core\n", "0\n", false).globs, ElementsAre("core"));
  EXPECT_THAT(core_place("core\n", "1\n", false).globs, ElementsAre("core.*"));
  EXPECT_THAT(core_place("core.%p", "1", false).globs, ElementsAre("core.*"));
  EXPECT_THAT(core_place("/var/crash/%e-%P%%x[1]", "0", false).globs,
              ElementsAre("/var/crash/*-*%x\\[1\\]"));
  EXPECT_EQ(core_place("|/lib/systemd/systemd-coredump %P %u", "0", false).kind,
            CorePlace::Kind::systemd);
  EXPECT_EQ(core_place("|/usr/share/apport/apport -p%p", "0", false).kind, CorePlace::Kind::files);
}

TEST(CorePlace, WhoHasThemIsNamed) {
  const CorePlace abrt = core_place("|/usr/libexec/abrt-hook-ccpp %s", "0", false);
  EXPECT_EQ(abrt.kind, CorePlace::Kind::nowhere);
  EXPECT_EQ(abrt.taken,
            (CoresGoElsewhere{CoreTaker::program, "/usr/libexec/abrt-hook-ccpp", false}));
  EXPECT_EQ(core_place("|/lib/systemd/systemd-coredump", "0", true).taken,
            (CoresGoElsewhere{CoreTaker::program, "/lib/systemd/systemd-coredump", true}));
  EXPECT_EQ(core_place("", "0", false).kind, CorePlace::Kind::nowhere);
  EXPECT_EQ(core_place("", "0", false).taken, (CoresGoElsewhere{CoreTaker::nobody, "", false}));
  EXPECT_EQ(core_place("@/run/cores", "0", false).kind, CorePlace::Kind::nowhere);
  EXPECT_EQ(core_place("@/run/cores", "0", false).taken,
            (CoresGoElsewhere{CoreTaker::socket, "", false}));
}

// A working directory with a core file, and a folder of tools.
struct CoreCommand : ::testing::Test {
  std::string run(CoreOrder order, const std::string& glob = "core*") {
    CorePlace place;
    place.globs = {glob};
    std::string line = "cd '" + folder.path() + "' && PATH='" + tools + ":/usr/bin:/bin' && exec";
    for (const std::string& word : core_command(place, order)) {
      line += " '";
      for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
      line += "'";
    }
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::string output;
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, got);
    EXPECT_EQ(::pclose(pipe), 0);
    return output;
  }
  void tool(const std::string& name, const std::string& script) {
    ASSERT_TRUE(io::make_directories(tools, 0755));
    ASSERT_TRUE(io::write_file_atomically(tools + "/" + name, "#!/bin/sh\n" + script, 0755));
  }
  void core(const std::string& name = "core.17") {
    ASSERT_TRUE(io::write_file_atomically(folder.path() + "/" + name, "a core"));
  }
  static CoreOrder order() {
    CoreOrder order;
    order.rank = 3;
    order.most = mebibytes(1);
    return order;
  }

  test::TempDir folder;
  std::string tools = folder.path() + "/tools";
};

TEST_F(CoreCommand, ShowsTheStackAndRemovesTheFile) {
  core();
  tool("eu-stack",
       "echo \"PID 17 - core\"; echo 'TID 17:'; echo '#0  0x01 crash'; echo \"$2\" >&2\n");
  const CoreSaid said = parse_core_said(run(order()));
  EXPECT_TRUE(said.found);
  EXPECT_EQ(said.size, Bytes{6});
  EXPECT_EQ(said.tool, "eu-stack");
  EXPECT_EQ(said.text, "PID 17 - core\nTID 17:\n#0  0x01 crash\n");
  EXPECT_FALSE(said.is_kept);
  EXPECT_FALSE(io::exists(folder.path() + "/core.17"));
  EXPECT_FALSE(io::exists(folder.path() + "/core.17.lockstep-3"));
}

TEST_F(CoreCommand, KeepsItAmongTheLogs) {
  core();
  tool("eu-stack", "exit 1\n");
  CoreOrder keeps = order();
  keeps.keeps = true;
  EXPECT_TRUE(parse_core_said(run(keeps)).is_kept);
  EXPECT_EQ(kept_core(3), "logs/core.rank3");
  EXPECT_EQ(io::read_file(folder.path() + "/logs/core.rank3").value_or(""), "a core");
  core();
  keeps.most = Bytes{5};
  keeps.reads = false;
  const CoreSaid large = parse_core_said(run(keeps));
  EXPECT_TRUE(large.too_large);
  EXPECT_EQ(large.tool, "");
  EXPECT_FALSE(io::exists(folder.path() + "/core.17"));
}

TEST_F(CoreCommand, TakesNoOldFileNoLinkAndNoOtherRanks) {
  core("core.lockstep-1");
  ASSERT_EQ(::symlink("/etc/passwd", (folder.path() + "/core.5").c_str()), 0);
  EXPECT_FALSE(parse_core_said(run(order())).found);
  core();
  CoreOrder later = order();
  later.since = 32'503'680'000;  // the year 3000
  EXPECT_FALSE(parse_core_said(run(later)).found);
  EXPECT_TRUE(io::exists(folder.path() + "/core.17"));
  EXPECT_TRUE(io::exists("/etc/passwd"));
}

TEST(CoreSaid, OtherBytesAreNoTrouble) {
  for (const char* text : {"", "\n\n", "lockstep-core: ", "lockstep-core: size x\n\xff",
                           "lockstep-core: tool\n", "lockstep-core: none"})
    EXPECT_EQ(parse_core_said(text).text, "") << text;
}

}  // namespace
}  // namespace lockstep::runner
