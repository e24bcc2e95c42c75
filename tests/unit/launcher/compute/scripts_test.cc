#include "launcher/compute/ssh/scripts.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "common/io/programs/run_program.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::compute::ssh {
namespace {

const Install kInstall{
    "a1 vms vm1", "", "node-a1-vms", "vm1", "0123456789abcdef", "lockstep-a1-vms-0.service"};
const Endpoints kLauncher{{"head", 7070}, {"head", 7071}, {"fe80::1", 7072}};

io::ProgramOutput run_script(const std::vector<std::string>& words, const std::string& script) {
  const auto input = io::memory_file(script);
  io::ProgramOptions options{seconds(60)};
  options.input = input->get();
  const auto done = io::run_program(words, options);
  return done ? *done : io::ProgramOutput{-1, "", done.error().message};
}

TEST(SshScripts, AreSyntacticallyRight) {
  for (const std::string& script :
       {probe_script(kInstall, {}), probe_script(kInstall, kLauncher),
        start_script(kInstall, {"token", "tcp://127.0.0.1:20000", true, true}),
        start_script(kInstall, {"token", "tcp://h:7070", false, false}), remove_script(kInstall),
        unpack_command(kInstall), tunnel_script(kInstall, true), tunnel_ports_script(20'000)}) {
    const auto done = run_script({"sh", "-n"}, script);
    EXPECT_EQ(done.exit_code, 0) << done.errors << script;
  }
}

TEST(SshScripts, TheUnitSaysOfJobsWhatThePackagesUnitSays) {
  const auto file = io::read_file(LOCKSTEP_SOURCE "/cmake/package/lockstep-agent.service.in");
  ASSERT_TRUE(file);
  const std::string script = start_script(kInstall, {"token", "tcp://h:7070", false, false});
  std::istringstream lines(*file);
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    bool of_jobs = false;
    for (const char* key :
         {"KillMode", "Delegate", "OOMPolicy", "Limit", "TasksMax", "ExecStartPre", "Capability",
          "Protect", "Inaccessible", "RestartPrevent"})
      of_jobs = of_jobs || line.starts_with(key);
    if (!of_jobs) continue;
    ++seen;
    EXPECT_NE(script.find("\n" + line + "\n"), std::string::npos) << line;
  }
  EXPECT_GE(seen, 14);
}

TEST(SshScripts, APortThatIsListenedOnIsSeen) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const auto ports = [&](std::uint32_t host) {
    const io::Fd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address.sin_addr.s_addr = htonl(host);
    address.sin_port = 0;
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(one.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(one.get(), 1), 0);
    ::getsockname(one.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return parse_report(
        run_script({"sh", "-s"}, tunnel_ports_script(ntohs(address.sin_port))).text);
  };
  const Report here = ports(INADDR_LOOPBACK), everywhere = ports(INADDR_ANY);
  EXPECT_EQ(here.count("bound"), 1u);
  EXPECT_EQ(here.count("open"), 0u);
  EXPECT_EQ(everywhere.count("bound"), 1u);
  EXPECT_EQ(everywhere.count("open"), 1u);
}

TEST(SshScripts, TheCommandHasNoSingleQuoteAndOneLine) {
  EXPECT_EQ(unpack_command(kInstall).find_first_of("'\n"), std::string::npos);
}

// The folder that another account can change, by the script that looks at a host.
std::string changeable(const std::string& directory) {
  Install install = kInstall;
  install.directory = directory;
  const auto done = run_script({"sh"}, probe_script(install, {}));
  return text_of(parse_report(done.text), "changeable");
}

TEST(SshScripts, NothingIsInstalledWhereOthersCouldPutTheirOwn) {
  const test::TempDir dir;  // in /tmp, which is sticky
  const std::string above = dir.path() + "/above", own = above + "/lockstep";
  const auto mode = [](const std::string& path, mode_t wanted) {
    ASSERT_EQ(::chmod(path.c_str(), wanted), 0);
  };
  ASSERT_EQ(::mkdir(above.c_str(), 0755), 0);
  EXPECT_EQ(changeable(own), "") << "it is not there yet";
  ASSERT_EQ(::mkdir(own.c_str(), 0700), 0);
  EXPECT_EQ(changeable(own), "");
  mode(above, 0777);
  EXPECT_EQ(changeable(own), above);
  mode(above, 01777);
  EXPECT_EQ(changeable(own), "");
  mode(own, 01777);
  EXPECT_EQ(changeable(own), own);
  mode(own, 0702);
  EXPECT_EQ(changeable(own), own);
  ASSERT_EQ(::symlink(own.c_str(), (above + "/link").c_str()), 0);
  EXPECT_EQ(changeable(above + "/link"), above + "/link");
  if (::geteuid() != 0) return;
  mode(own, 0755);
  ASSERT_EQ(::chown(own.c_str(), 61001, 61001), 0);
  EXPECT_EQ(changeable(own), own);
  EXPECT_EQ(changeable(own + "/below"), own);
  const auto copied = [&] {
    Install install = kInstall;
    install.directory = own;
    return run_script({"sh", "-c", unpack_command(install)}, "");
  }();
  EXPECT_NE(copied.exit_code, 0);
  EXPECT_NE(copied.errors.find("other accounts can change " + own), std::string::npos)
      << copied.errors;
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
