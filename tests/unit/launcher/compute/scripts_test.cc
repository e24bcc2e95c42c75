#include "launcher/compute/ssh/scripts.h"

#include <gtest/gtest.h>

#include "common/io/run_program.h"

namespace lockstep::compute::ssh {
namespace {

const Install kInstall{"a1 vms vm1", "", "node-a1-vms", "vm1", "0123456789abcdef"};

TEST(SshScripts, AreSyntacticallyRight) {
  for (const std::string& script : {probe_script(kInstall), start_script(kInstall, "token"),
                                    remove_script(kInstall), unpack_command(kInstall)}) {
    const auto input = io::memory_file(script);
    ASSERT_TRUE(input);
    io::ProgramOptions options{seconds(60)};
    options.input = input->get();
    const auto done = io::run_program({"sh", "-n"}, options);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->exit_code, 0) << done->errors << script;
  }
}

TEST(SshScripts, TheCommandHasNoSingleQuoteAndOneLine) {
  EXPECT_EQ(unpack_command(kInstall).find_first_of("'\n"), std::string::npos);
}

TEST(SshScripts, AReportIsReadBetweenItsMarks) {
  EXPECT_EQ(parse_report(""), Report{});
  EXPECT_EQ(parse_report("system Linux\n"), Report{}) << "no marks";
  EXPECT_EQ(parse_report("lockstep-begin\nsystem Linux\n"), Report{}) << "it was cut off";
  EXPECT_EQ(parse_report("Welcome!\nlockstep-begin\nsystem Linux\nodd\nmissing tar\nmissing gzip\n"
                         "lockstep-end\nbye\n"),
            (Report{{"system", "Linux"}, {"missing", "tar, gzip"}}));
  const Report longest =
      parse_report("lockstep-begin\na " + std::string(100'000, 'x') + "\nlockstep-end\n");
  EXPECT_EQ(longest.at("a").size(), 1'000u);
}

}  // namespace
}  // namespace lockstep::compute::ssh
