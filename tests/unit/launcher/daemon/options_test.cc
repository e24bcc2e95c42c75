#include "launcher/daemon/options.h"

#include <gmock/gmock.h>

#include <vector>

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

std::variant<Options, Leave> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "lockstepd");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, AGoodLine) {
  const auto parsed = parse({"--home", "/h/", "--listen", "tcp://10.0.0.1:7070", "--fixed-nodes",
                             "2", "--node-lost-timeout", "3s"});
  const auto* options = std::get_if<Options>(&parsed);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->home, "/h");
  EXPECT_EQ(options->listen->host, "10.0.0.1");
  EXPECT_EQ(options->listen->port, 7070);
  EXPECT_EQ(options->core.fixed_nodes, 2);
  EXPECT_EQ(options->core.node_lost_timeout, seconds(3));
  EXPECT_TRUE(options->allow_root);
}

TEST(Options, RootIsNotAllowedUnlessItIsSaid) {
  const auto parsed = parse({"--home", "/h"});
  EXPECT_FALSE(std::get<Options>(parsed).allow_root);
  EXPECT_FALSE(std::get<Options>(parsed).listen);
}

TEST(Options, TheNodeBundleIsAnAbsolutePath) {
  EXPECT_EQ(std::get<Options>(parse({"--home", "/h"})).node_bundle, "");
  EXPECT_EQ(std::get<Options>(parse({"--home", "/h", "--node-bundle", "/b.tar.gz"})).node_bundle,
            "/b.tar.gz");
  const auto wrong = parse({"--home", "/h", "--node-bundle", "b.tar.gz"});
  ASSERT_TRUE(std::holds_alternative<Leave>(wrong));
  EXPECT_THAT(std::get<Leave>(wrong).text, HasSubstr("--node-bundle: 'b.tar.gz'"));
}

TEST(Options, WhatIsKept) {
  const Retention usual = std::get<Options>(parse({"--home", "/h"})).core.keeps;
  EXPECT_EQ(usual, Retention{});
  EXPECT_EQ(usual.jobs_for, minutes(365 * 24 * 60));
  const auto options = std::get<Options>(
      parse({"--home", "/h", "--keep-jobs-for", "90d", "--keep-jobs", "500", "--keep-logs", "10g",
             "--keep-outputs", "1g", "--blob-lease", "5m"}));
  EXPECT_EQ(options.core.keeps,
            (Retention{minutes(90 * 24 * 60), 500, gibibytes(10), gibibytes(1)}));
  EXPECT_EQ(options.blob_lease, minutes(5));
  const auto all = std::get<Options>(parse(
      {"--home", "/h", "--keep-jobs-for", "unlimited", "--keep-jobs", "0", "--keep-logs", "0"}));
  EXPECT_EQ(all.core.keeps, (Retention{Duration(0), 0, {}, {}}));
  const auto bytes =
      std::get<Options>(parse({"--home", "/h", "--keep-logs", "1048576", "--keep-outputs", "10k"}));
  EXPECT_EQ(bytes.core.keeps.logs, mebibytes(1));
  EXPECT_EQ(bytes.core.keeps.outputs, kibibytes(10));
}

TEST(Options, WhatJobsMayGiveToDockerIsAListOfOptions) {
  EXPECT_TRUE(std::get<Options>(parse({"--home", "/h"})).core.allowed_docker_args.empty());
  const auto options =
      std::get<Options>(parse({"--home", "/h", "--allow-docker-args", "--privileged,--device",
                               "--allow-docker-args=--ulimit", "--allow-docker-args", "--volume"}));
  EXPECT_EQ(options.core.allowed_docker_args,
            (std::vector<std::string>{"--privileged", "--device", "--ulimit", "--volume"}));
}

TEST(Options, HelpNamesTheExitCodes) {
  const auto parsed = parse({"--help"});
  const auto& leave = std::get<Leave>(parsed);
  EXPECT_EQ(leave.code, ExitCode::ok);
  EXPECT_THAT(leave.text, HasSubstr("3 another lockstepd uses this"));
  EXPECT_THAT(leave.text, HasSubstr("5 it cannot listen"));
}

struct Case {
  std::vector<const char*> words;
  const char* says;
};
class BadLine : public testing::TestWithParam<Case> {};

TEST_P(BadLine, IsRefusedWithCodeTwoAndSaysWhy) {
  const auto parsed = parse(GetParam().words);
  const auto* leave = std::get_if<Leave>(&parsed);
  ASSERT_NE(leave, nullptr);
  EXPECT_EQ(leave->code, ExitCode::usage);
  EXPECT_THAT(leave->text, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Options, BadLine,
    testing::Values(
        Case{{}, "--home"}, Case{{"--home", "relative"}, "absolute"},
        Case{{"--home", "/h", "--nonsense"}, "--nonsense"},
        Case{{"--home", "/h", "--listen", "udp://x:1"}, "tcp://HOST:PORT"},
        Case{{"--home", "/h", "--listen", "tcp://x"}, "tcp://HOST:PORT"},
        Case{{"--home", "/h", "--listen", "tcp://x:65534"}, "65533"},
        Case{{"--home", "/h", "--listen", "tcp://x:12ab"}, "12ab"},
        Case{{"--home", "/h", "--fixed-nodes", "0"}, "--fixed-nodes"},
        Case{{"--home", "/h", "--fixed-nodes", "x"}, "--fixed-nodes"},
        Case{{"--home", "/h", "--log-level", "loud"}, "--log-level"},
        Case{{"--home", "/h", "--stop-grace", "soon"}, "--stop-grace"},
        Case{{"--home", "/h", "--advertise", "tcp://x"}, "--advertise"},
        Case{{"--home", "/h", "--advertise", "x:1"}, "--advertise"},
        Case{{"--home", "/h", "--keep-logs", "much"}, "--keep-logs"},
        Case{{"--home", "/h", "--keep-logs", "10"},
             "--keep-logs: '10' without a unit means 10 B; did you mean 10g? Write 500m"},
        Case{{"--home", "/h", "--keep-outputs", "1048575"}, "without a unit"},
        Case{{"--home", "/h", "--low-space", "5"}, "--low-space: '5' without a unit"},
        Case{{"--home", "/h", "--reserve", "64"}, "--reserve: '64' without a unit"},
        Case{{"--home", "/h", "--reserve", "0"}, "--reserve: '0' is not a size"},
        Case{{"--home", "/h", "--keep-jobs-for", "long"}, "--keep-jobs-for"},
        Case{{"--home", "/h", "--keep-jobs", "-1"}, "--keep-jobs"},
        Case{{"--home", "/h", "--allow-docker-args", "--priviledged"},
             "--allow-docker-args: '--priviledged' is not an option of `docker run`; "
             "did you mean '--privileged'?"},
        Case{{"--home", "/h", "--allow-docker-args", "--device,"}, "'' is not an option"},
        Case{{"--home", "/h", "--allow-docker-args", "--network"},
             "a job cannot set '--network': the container has the host's"},
        Case{{"--home", "/h", "extra"}, "extra"}));

TEST(Options, UnknownOptionsAreNamedBeforeMissingOnes) {
  const auto parsed = parse({"--bogus"});
  const auto* leave = std::get_if<Leave>(&parsed);
  ASSERT_NE(leave, nullptr);
  EXPECT_EQ(leave->code, ExitCode::usage);
  EXPECT_THAT(leave->text, HasSubstr("not expected: --bogus"));
  EXPECT_THAT(std::get<Leave>(parse({})).text, HasSubstr("--home is required"));
}

TEST(Options, ListenTakesAnyPort) {
  EXPECT_EQ(parse_listen("tcp://127.0.0.1:*")->port, 0);
  EXPECT_EQ(parse_listen("tcp://[::1]:70")->host, "[::1]");
  EXPECT_EQ(parse_listen("tcp://*:70")->host, "*");
}

// Each node would save it, and end when it cannot dial it.
TEST(Options, AHostThatCannotBeDialledIsRefused) {
  for (const std::string host : {" ", "me@head", "_head", "he ad", "h\xc3\xa9", "[head]", "*x"}) {
    EXPECT_FALSE(parse_moving_to("tcp://" + host + ":7070")) << host;
    EXPECT_FALSE(parse_listen("tcp://" + host + ":7070")) << host;
    EXPECT_TRUE(
        std::holds_alternative<Leave>(parse({"--home", "/x", "--advertise", host.c_str()})));
  }
  EXPECT_FALSE(parse_moving_to("tcp://*:7070"));
  EXPECT_TRUE(std::holds_alternative<Leave>(parse({"--home", "/x", "--moving-to", ""})));
  EXPECT_EQ(parse_moving_to("tcp://head-2.lab:7070")->host, "head-2.lab");
  EXPECT_EQ(parse_moving_to("tcp://[fe80::1]:7070")->host, "[fe80::1]");
}

}  // namespace
}  // namespace lockstep::launcher
