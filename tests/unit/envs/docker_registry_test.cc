// Images of a registry, which is a real one of the test's own.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "tests/unit/envs/docker_fixture.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kRegistry[] = "/usr/bin/docker-registry";

// The Docker daemon speaks to it without TLS, as to all of 127.0.0.0/8.
class Registry {
 public:
  explicit Registry(const std::string& folder) : port_(free_port()) {
    const std::string config = folder + "/registry.yml";
    CHECK(io::write_file_atomically(config,
                                    "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: " +
                                        folder + "/registry\nhttp:\n  addr: " + host() + "\n",
                                    0644, false)
              .has_value(),
          "the registry's configuration");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int log = ::open((folder + "/registry.log").c_str(), O_WRONLY | O_CREAT, 0644);
      ::dup2(log, 1);
      ::dup2(log, 2);
      ::execl(kRegistry, kRegistry, "serve", config.c_str(), nullptr);
      ::_exit(127);
    }
    for (int round = 0; round < 1200 && !answers(); ++round) ::usleep(50'000);
    EXPECT_TRUE(answers()) << io::read_file(folder + "/registry.log").value_or("");
  }
  ~Registry() { stop(); }
  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  static sockaddr_in address(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }
  static int free_port() {
    const io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at = address(0);
    socklen_t size = sizeof at;
    CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size) == 0 &&
              ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0,
          "a port");
    return ntohs(at.sin_port);
  }
  bool answers() const {
    const io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in at = address(port_);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  const int port_;
  pid_t pid_ = -1;
};

class DockerRegistryTest : public DockerTest {
 protected:
  void SetUp() override {
    if (::access(kRegistry, X_OK) != 0) GTEST_SKIP() << "needs docker-registry";
    DockerTest::SetUp();
    if (IsSkipped()) return;
    registry.emplace(dir.path());
    name = registry->host() + "/team/base:1";
    id = docker().import_busybox(name);
    docker().words({"push", name});
    docker().words({"image", "rm", "--force", name});
  }
  std::optional<Registry> registry;
  std::string name, id;
};

TEST_F(DockerRegistryTest, an_image_is_pulled_once_by_name_and_then_by_digest) {
  const Told told = solve({name, {}, {}}, sharing("solve"));
  const Lock lock = lock_of(told);
  EXPECT_THAT(told.log, HasSubstr("pulling " + name));
  EXPECT_EQ(lock.image->id, id);
  EXPECT_THAT(lock.image->digest, HasSubstr(registry->host() + "/team/base@sha256:"));
  EXPECT_FALSE(lock.image->in_tree);
  // The name is another image by now.
  const std::string newer = docker().import_busybox(name);
  docker().words({"push", name});
  const test::DockerDaemon other;
  more["DOCKER_HOST"] = other.host();
  const Told built = build(lock, site("build"));
  EXPECT_EQ(container_of(built).image, id);
  EXPECT_THAT(built.log, HasSubstr("pulling " + lock.image->digest));
  const auto record = image_record_from_json(dir.read("build/image.json"));
  ASSERT_TRUE(record);
  EXPECT_THAT(record->names, testing::Contains(lock.image->digest));
  // Solved anew, it is the newest.
  Site again = site("again");
  again.is_rebuild = true;
  more["DOCKER_HOST"] = docker().host();
  EXPECT_EQ(lock_of(solve({name, {}, {}}, again)).image->id, newer);
}

TEST_F(DockerRegistryTest, what_a_registry_does_not_have_is_said_in_its_words) {
  expect_failure(solve({registry->host() + "/team/base:none", {}, {}}, site("solve")),
                 ErrorCode::invalid_argument, "manifest");
}

TEST_F(DockerRegistryTest, a_registry_that_is_away_may_come_back) {
  registry->stop();
  expect_failure(solve({name, {}, {}}, site("solve")), ErrorCode::unavailable, "refused");
}

TEST_F(DockerRegistryTest, what_a_registry_does_not_give_any_more_is_shared) {
  docker().words({"pull", name});
  registry->stop();
  const Lock lock = lock_of(solve({name, {}, {}}, sharing("solve")));
  EXPECT_EQ(lock.image->digest, "");
  EXPECT_TRUE(lock.image->in_tree);
}

}  // namespace
}  // namespace lockstep::envs
