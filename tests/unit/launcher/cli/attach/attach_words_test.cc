// What people type of attachments: escapes of a terminal, signals, command lines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "launcher/cli/attach/signal_words.h"
#include "launcher/cli/command_line.h"
#include "launcher/cli/terminal/escape_filter.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

TEST(EscapeFilter, LeavesAtTheStartOfALineOnly) {
  EXPECT_TRUE(EscapeFilter().take("~.").leaves);
  EXPECT_FALSE(EscapeFilter().take("x~.").leaves);
  EXPECT_EQ(EscapeFilter().take("x~.").bytes, "x~.");
  EXPECT_TRUE(EscapeFilter().take("ls\r~.").leaves);
  EXPECT_EQ(EscapeFilter().take("ls\r~.rm").bytes, "ls\r");
  EXPECT_EQ(EscapeFilter().take("cd ~/x\r").bytes, "cd ~/x\r");
}

TEST(EscapeFilter, ATildeWaitsForTheNextKey) {
  EscapeFilter filter;
  EXPECT_EQ(filter.take("~").bytes, "");
  EXPECT_TRUE(filter.take(".").leaves);
  EscapeFilter other;
  EXPECT_EQ(other.take("~").bytes, "");
  EXPECT_EQ(other.take("/").bytes, "~/");
  EXPECT_EQ(other.take("\r").bytes, "\r");
  EXPECT_EQ(other.take("~~").bytes, "~");
  EXPECT_EQ(other.take(".").bytes, ".") << "behind the first key, the line has begun";
  EXPECT_EQ(other.take("\r~?").bytes, "\r");
  EXPECT_TRUE(other.take("~.").leaves) << "what was asked for is no key of the line";
  EXPECT_TRUE(EscapeFilter().take("~?").asks);
}

TEST(SignalWords, AreNamesAndNumbers) {
  for (const char* word : {"USR1", "SIGUSR1", "usr1", "SigUsr1", "10"})
    EXPECT_EQ(signal_from(word).value_or(0), SIGUSR1) << word;
  EXPECT_EQ(signal_from("KILL").value_or(0), 9);
  EXPECT_EQ(signal_from("IOT").value_or(0), SIGABRT);
  EXPECT_EQ(signal_from("RTMIN").value_or(0), 34);
  EXPECT_EQ(signal_from("SIGRTMIN+3").value_or(0), 37);
  EXPECT_EQ(signal_from("RTMAX-1").value_or(0), 63);
  EXPECT_EQ(signal_from("64").value_or(0), 64);
  for (int number = 1; number <= 64; ++number) {
    if (number == 32 || number == 33) continue;
    EXPECT_EQ(signal_from(signal_text(number)).value_or(0), number) << signal_text(number);
  }
}

TEST(SignalWords, SayWhatIsMeantByOthers) {
  EXPECT_THAT(signal_from("USR").error().message, HasSubstr("did you mean USR"));
  EXPECT_THAT(signal_from("SIGTREM").error().message, HasSubstr("did you mean TERM?"));
  for (const char* word : {"0", "65", "-9", "99999999999999999999", "1.5", "", "RTMIN-1",
                           "RTMIN+31", "RTMAX+1", "RTMIN+", "nonsense-of-a-word", "9 "})
    EXPECT_EQ(signal_from(word).has_value(), false) << word;
}

TEST(ShellVerb, TakesItsCommandBehindDashes) {
  EXPECT_TRUE(parse_command_line({"job", "shell", "j"}).action);
  EXPECT_TRUE(parse_command_line({"job", "shell", "j", "--rank", "3", "--", "ls", "-l"}).action);
  EXPECT_TRUE(parse_command_line({"job", "shell", "--name", "j", "-t", "--", "top"}).action);
  EXPECT_TRUE(parse_command_line({"job", "shell", "j", "--node", "n2", "-T"}).action);
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"job", "shell"}, "NAME is required"},
      {{"job", "shell", ""}, "must not be empty"},
      {{"job", "shell", "j", "ls"},
       "write the command after --, as in: lockstep job shell NAME --"},
      {{"job", "shell", "j", "-it"}, "for another program it is `-t`"},
      {{"job", "shell", "j", "-t", "-T"}, "excludes"},
      {{"job", "shell", "j", "--rank", "-1"}, "is not a whole number"},
      {{"job", "shell", "j", "--rank", "0", "--node", "n"}, "excludes"},
      {{"job", "shell", "j", "--main", "--", "ls"}, "takes no COMMAND"},
      {{"job", "shell", "j", "--main", "--rank", "1"}, "no other rank"},
      {{"job", "exec", "j"}, "`lockstep job shell NAME`"},
      {{"job", "signal", "j"}, "SIGNAL is required"},
      {{"job", "signal"}, "NAME is required"},
      {{"job", "signal", "j", ""}, "must not be empty"},
      {{"job", "stacks", "j", "--", "x"}, "take a command"},
      {{"run", "--pty", "--stdin", "--", "ls"}, "excludes"},
  };
  for (const auto& [words, why] : wrong) {
    const CommandLine line = parse_command_line(words);
    EXPECT_FALSE(line.action) << words.back();
    EXPECT_EQ(line.exit_code, kExitUsage);
    EXPECT_THAT(line.err, HasSubstr(why));
  }
}

TEST(SignalVerb, TakesANameAndASignal) {
  EXPECT_TRUE(parse_command_line({"job", "signal", "j", "USR1"}).action);
  EXPECT_TRUE(parse_command_line({"job", "signal", "j", "--rank", "3", "10"}).action);
  EXPECT_TRUE(parse_command_line({"job", "signal", "-n", "j", "10", "-o", "json"}).action);
}

}  // namespace
}  // namespace lockstep::cli
