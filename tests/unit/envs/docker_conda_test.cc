// Packages of conda in an image: the real py-rattler, and channels that a test writes.

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/support/docker_daemon.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

class CondaImageTest : public CondaTest {
 protected:
  static void SetUpTestSuite() {
    if (!test::DockerDaemon::why_not().empty()) return;
    CondaTest::SetUpTestSuite();
    daemon_ = std::make_unique<test::DockerDaemon>();
  }
  static void TearDownTestSuite() { daemon_.reset(); }
  void SetUp() override {
    if (!daemon_) GTEST_SKIP() << test::DockerDaemon::why_not();
    CondaTest::SetUp();
    for (const char* folder : {"tmp", "scratch", "solve", "build"}) dir.folder(folder);
    more = {{"DOCKER_HOST", daemon_->host()}, {"TMPDIR", dir / "tmp"}};
    dir.file("spawn",
             "#!/bin/sh\necho bash no; echo sh yes; echo glibc $(cat /etc/glibc || echo -)\n"
             "echo memlock 65536\n",
             0755);
    ::chmod(dir.path().c_str(), 0755);
  }
  // An image that says it has this C library.
  void image_with_glibc(const std::string& name, const std::string& version) {
    daemon_->import_busybox("base:1");
    dir.folder("context");
    dir.file("context/Dockerfile",
             "FROM base:1\nENV FROM_IMAGE=1\nRUN echo " + version + " >/etc/glibc\n");
    const auto built =
        io::run_program({"/usr/bin/env", "DOCKER_BUILDKIT=0", "DOCKER_HOST=" + daemon_->host(),
                         test::DockerDaemon::client(), "build", "--tag", name, dir / "context"},
                        minutes(1));
    ASSERT_TRUE(built && built->exit_code == 0) << (built ? built->errors : "");
  }
  Site image_site(const std::string& name) {
    Site where{dir / (name + "/env"), dir / "cache", false,
               "linux-x86_64 __cuda=12.4 __glibc=2.99"};
    where.image = {dir / "home",
                   dir / "spawn",
                   "lockstep/env:" + name,
                   dir / (name + "/image.json"),
                   "",
                   "",
                   LOCKSTEP_ENV,
                   "",
                   dir / "scratch"};
    return where;
  }
  DockerEnvironment with(const std::string& image, std::vector<std::string> dependencies) {
    return {image, {}, asks_for(std::move(dependencies))};
  }
  Told run(const Order& order) { return Program(order, more).wait(); }
  const test::DockerDaemon& docker() const { return *daemon_; }

 private:
  static inline std::unique_ptr<test::DockerDaemon> daemon_;
};

TEST_F(CondaImageTest, PackagesAreForTheCLibraryOfTheImageAndInIt) {
  image_with_glibc("old:1", "2.20");
  channel("channel",
          R"([{"name": "tool", "version": "1.0", "files": {"bin/tool": "#!/bin/sh\necho one\n"},
               "depends": ["__glibc >=2.17", "__cuda >=12"]},
              {"name": "tool", "version": "2.0", "files": {"bin/tool": "#!/bin/sh\necho two\n"},
               "depends": ["__glibc >=2.28"]}])");
  const auto definition = with("old:1", {"tool"});
  const Told told = run({Order::What::solve, definition, {}, image_site("solve")});
  ASSERT_TRUE(told.last().lock) << told.log << told.last().failed->message;
  const Lock& lock = *told.last().lock;
  EXPECT_EQ(lock.platform, "linux-x86_64 __cuda=12.4 __glibc=2.99");
  EXPECT_EQ(versions(told), "tool 1.0");
  EXPECT_THAT(lock.solver, HasSubstr("rattler"));
  const Told built = run({Order::What::build, definition, lock, image_site("build")});
  ASSERT_TRUE(built.last().activation) << built.log << built.last().failed->message;
  const Activation& activation = *built.last().activation;
  const std::string prefix = dir / "solve/env";
  EXPECT_EQ(activation.variables.at("CONDA_PREFIX"), prefix);
  EXPECT_EQ(activation.variables.at("FROM_IMAGE"), "1");
  EXPECT_THAT(activation.path, testing::Contains(prefix + "/bin"));
  EXPECT_EQ(activation.container->image, lock.image->id);
  // Any user reads them, and nothing of the host is needed.
  ASSERT_TRUE(io::remove_tree(prefix));
  EXPECT_EQ(docker().words({"run", "--rm", "--network", "host", "--user", "12345:12345",
                            lock.image->id, "sh", prefix + "/bin/tool"}),
            "one");
}

TEST_F(CondaImageTest, AnImageWithoutGlibcIsRefused) {
  image_with_glibc("musl:1", "-");
  channel("channel", R"([{"name": "tool", "version": "1.0"}])");
  expect_failure(run({Order::What::solve, with("musl:1", {"tool"}), {}, image_site("solve")}),
                 ErrorCode::invalid_argument, "has no glibc");
}

}  // namespace
}  // namespace lockstep::envs
