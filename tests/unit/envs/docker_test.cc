// Images with a Docker daemon: found, built, shared, and ready on a node.

#include <signal.h>

#include "tests/unit/envs/docker_fixture.h"

namespace lockstep::envs {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(DockerTest, AnImageThatIsHereIsReady) {
  const std::string id =
      docker().import_busybox("here:1", true,
                              {"--change", "ENV TOKEN=a=b", "--change", "USER 7", "--change",
                               "ENTRYPOINT [\"/bin/false\"]", "--change", "ENV RANK=3"});
  const Lock lock = lock_of(solve({"here:1", {}, {}}, site("solve")));
  ASSERT_TRUE(lock.image);
  EXPECT_EQ(lock.provider, "docker");
  EXPECT_EQ(lock.platform, "linux-x86_64");
  EXPECT_THAT(lock.solver, HasSubstr("docker 2"));
  EXPECT_EQ(lock.image->id, id);
  EXPECT_EQ(lock.image->digest, "");
  EXPECT_FALSE(lock.image->in_tree);

  const Told told = build(lock, site("build"));
  const Container container = container_of(told);
  EXPECT_EQ(container.engine, "/usr/bin/docker");
  EXPECT_FALSE(container.is_podman);
  EXPECT_FALSE(container.is_rootless);
  EXPECT_EQ(container.image, id);
  EXPECT_EQ(container.shell, "/bin/sh");
  EXPECT_EQ(container.variables.at("DOCKER_HOST"), docker().host());
  EXPECT_EQ(container.variables.at("PATH"), "/usr/bin:/bin");
  const Activation& activation = *told.last().activation;
  EXPECT_EQ(activation.variables.at("TOKEN"), "a=b");
  EXPECT_THAT(activation.variables.at("PATH"), HasSubstr("/usr/bin"));
  EXPECT_EQ(activation.variables.count("RANK"), 0U);
  EXPECT_EQ(activation.interpreter, "");
  EXPECT_THAT(told.log, HasSubstr("the image's USER 7 is not used"));
  EXPECT_THAT(told.log, HasSubstr("the image's ENTRYPOINT is not used"));
  EXPECT_EQ(docker().words({"image", "inspect", "--format", "{{.Id}}", "lockstep/env:build"}), id);
  const auto record = image_record_from_json(dir.read("build/image.json"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->engine, "/usr/bin/docker");
  EXPECT_THAT(record->names, Contains("lockstep/env:build"));
  EXPECT_GT(record->bytes, 1'000'000U);
}

// The engine would take such a name for the beginning of an id.
TEST_F(DockerTest, ANameWithoutATagIsNoBeginningOfAnId) {
  const std::string id = docker().import_busybox("other:1");
  const std::string beginning = id.substr(std::string("sha256:").size(), 3);
  const Told told = solve({beginning, {}, {}}, site("solve"));
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_THAT(told.last().failed->message, HasSubstr("the image " + beginning));
  const auto record = image_record_from_json(dir.read("solve/image.json"));
  ASSERT_TRUE(record);
  EXPECT_THAT(record->names, Contains(beginning + ":latest"));
  EXPECT_THAT(record->names, Not(Contains(beginning)));
  // The image that is called so is found.
  const std::string named = docker().import_busybox(beginning + ":latest", false);
  EXPECT_EQ(lock_of(solve({beginning, {}, {}}, site("again"))).image->id, named);
}

// Where this is refused the test is as root on a real machine would be.
TEST_F(DockerTest, LockedMemoryIsAsTheEngineAllows) {
  docker().import_busybox("memlock:1");
  const bool allowed = docker()
                           .run({"run", "--rm", "--network", "host", "--ulimit", "memlock=-1:-1",
                                 "memlock:1", "/bin/true"})
                           .exit_code == 0;
  const Told told = build(lock_of(solve({"memlock:1", {}, {}}, site("solve"))), site("build"));
  EXPECT_EQ(container_of(told).unlimited_memlock, allowed);
  EXPECT_GE(container_of(told).memlock_is_unlimited, allowed) << "it may have had none before";
  EXPECT_EQ(told.log.find("locked memory is limited") == std::string::npos,
            container_of(told).memlock_is_unlimited)
      << told.log;
}

TEST_F(DockerTest, AnImageWithoutAShellIsSaidToHaveNone) {
  docker().import_busybox("bare:1", false);
  dir.file("spawn",
           "#!/bin/busybox sh\necho bash no; echo sh no; echo glibc -; echo memlock 65536\n", 0755);
  const Told told = build(lock_of(solve({"bare:1", {}, {}}, site("solve"))), site("build"));
  EXPECT_EQ(container_of(told).shell, "");
  EXPECT_THAT(told.log, HasSubstr("the image has no shell and no glibc"));
}

TEST_F(DockerTest, ADockerfileIsBuiltFromItsContext) {
  docker().import_busybox("base:1");
  dir.file("context/data.txt", "of the context");
  const auto definition =
      dockerfile("FROM base:1\nCOPY data.txt /data\nENV MODE=fast\nRUN cp /data /copy\n");
  const Told told = solve(definition, site("solve"));
  const Lock lock = lock_of(told);
  EXPECT_THAT(told.log, HasSubstr("RUN cp /data /copy"));
  EXPECT_EQ(docker().words({"run", "--rm", "--network", "host", lock.image->id, "cat", "/copy"}),
            "of the context");
  const Told built = build(lock, site("build"));
  EXPECT_EQ(container_of(built).image, lock.image->id);
  EXPECT_EQ(built.last().activation->variables.at("MODE"), "fast");
}

TEST_F(DockerTest, AStepThatFailsIsToldWithItsWords) {
  docker().import_busybox("base:1");
  const Told told =
      solve(dockerfile("FROM base:1\nRUN echo the reason >&2; exit 9\n"), site("solve"));
  expect_failure(told, ErrorCode::invalid_argument, "returned a non-zero code: 9");
  EXPECT_THAT(told.last().failed->message, HasSubstr("\nthe reason\nThe command '"));
  EXPECT_THAT(told.log, HasSubstr("RUN echo the reason"));
  EXPECT_THAT(told.log, HasSubstr("the reason\n"));
}

TEST_F(DockerTest, ADockerfileOutsideItsContextIsRefused) {
  DockerEnvironment definition = dockerfile("FROM base:1\n");
  definition.build->dockerfile = "../secret";
  expect_failure(solve(definition, site("solve")), ErrorCode::invalid_argument,
                 "is not in the build's context");
  definition.build->dockerfile = "other/Dockerfile";
  expect_failure(solve(definition, site("solve")), ErrorCode::invalid_argument,
                 "there is no 'other/Dockerfile'");
}

// The engine's client would open them as the agent's user.
TEST_F(DockerTest, LinksOutOfTheContextAreRefused) {
  const DockerEnvironment definition = dockerfile("FROM base:1\n");
  dir.file("secret", "alice's");
  for (const std::string name : {".dockerignore", ".containerignore", "Dockerfile.dockerignore",
                                 "Dockerfile.containerignore"}) {
    const std::string link = dir / ("context/" + name);
    for (const std::string& target : {dir / "secret", std::string("../secret"), dir / "absent"}) {
      ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
      expect_failure(solve(definition, site("solve")), ErrorCode::invalid_argument,
                     "'" + name + "' leads out of the build's context");
      ASSERT_EQ(::unlink(link.c_str()), 0);
    }
  }
}

// A .git of the user's names programs, which git would run as the agent's user.
TEST_F(DockerTest, BuildxDoesNotRunGitInTheContext) {
  dir.file("engine",
           "#!/bin/sh\n"
           "case $1 in\n"
           "info) echo '{\"ServerVersion\": \"28\", \"MemoryLimit\": true,"
           " \"ClientInfo\": {\"Plugins\": [{\"Name\": \"buildx\"}]}}' ;;\n"
           "build) echo \"git: $GIT_DIR $BUILDX_GIT_INFO $BUILDX_GIT_LABELS\"; exit 1 ;;\n"
           "esac\n",
           0755);
  more = {{"LOCKSTEP_CONTAINER_ENGINE", dir / "engine"}};
  const Told told = solve(dockerfile("FROM base:1\n"), site("solve"));
  EXPECT_THAT(told.log, HasSubstr("git: /dev/null false false"));
}

TEST_F(DockerTest, EachAccountHasBuildCachesOfItsOwn) {
  dir.file("engine",
           "#!/bin/sh\n"
           "case $1 in\n"
           "info) echo '{\"ServerVersion\": \"28\", \"MemoryLimit\": true,"
           " \"ClientInfo\": {\"Plugins\": [{\"Name\": \"buildx\"}]}}' ;;\n"
           "build) for word; do case $word in *CACHE*) echo \"<$word>\" ;; esac; done; exit 1 ;;\n"
           "esac\n",
           0755);
  more = {{"LOCKSTEP_CONTAINER_ENGINE", dir / "engine"}};
  const auto definition = dockerfile("FROM base:1\nRUN --mount=type=cache,target=/c true\n");
  const auto space = [&](const std::string& user, const std::string& name) {
    Site where = site(name);
    where.image.user = user;
    const std::string log = solve(definition, where).log;
    const std::string begin = "<BUILDKIT_CACHE_MOUNT_NS=lockstep-";
    EXPECT_THAT(log, HasSubstr(begin));
    return log.substr(log.find(begin), begin.size() + 64);
  };
  const std::string nobodys = space("nobody", "one");
  EXPECT_NE(nobodys, space("daemon", "two"));
  EXPECT_NE(nobodys, space("", "three")) << "the agent's own";
  EXPECT_EQ(nobodys, space("nobody", "four"));
}

TEST_F(DockerTest, AnImageThatNoRegistryHasComesWithTheLock) {
  docker().import_busybox("base:1");
  const Site where = sharing("solve");
  const Lock lock = lock_of(solve(dockerfile("FROM base:1\nENV A=1\nRUN true\n"), where));
  ASSERT_TRUE(lock.image->in_tree);
  EXPECT_TRUE(io::exists(where.image.tree + "/manifest.json"));
  // Another node: its engine never had it.
  const test::DockerDaemon other;
  more["DOCKER_HOST"] = other.host();
  const Told asked = build(lock, site("build"));
  ASSERT_TRUE(asked.last().wants_tree) << asked.log;
  Site with_tree = site("build");
  with_tree.image.tree = dir / "solve";
  EXPECT_EQ(container_of(build(lock, with_tree)).image, lock.image->id);
  EXPECT_EQ(other.words({"image", "inspect", "--format", "{{.Id}}", "lockstep/env:build"}),
            lock.image->id);
  // Once more: it is here.
  EXPECT_EQ(container_of(build(lock, site("again"))).image, lock.image->id);
}

// The tree is that of a node whose root is somebody else's.
TEST_F(DockerTest, ALocksTreeRunsNothingAndNamesNoImage) {
  docker().import_busybox("base:1");
  const Site where = sharing("solve");
  const Lock lock = lock_of(solve(dockerfile("FROM base:1\nENV A=1\nRUN true\n"), where));
  const std::string command = "--checkpoint-action=exec=touch \"$TMPDIR\"$(printf '\\057')pwned";
  dir.file("solve/image/--checkpoint=1", "");
  dir.file("solve/image/" + command, "");
  std::string manifest = dir.read("solve/image/manifest.json");
  const auto at = manifest.find("\"RepoTags\":[]");
  ASSERT_NE(at, std::string::npos) << manifest;
  dir.file("solve/image/manifest.json", manifest.replace(at, 13, "\"RepoTags\":[\"base:1\"]"));
  const test::DockerDaemon other;
  other.import_busybox("base:1");
  const std::string base = other.words({"image", "inspect", "--format", "{{.Id}}", "base:1"});
  more["DOCKER_HOST"] = other.host();
  Site with_tree = site("build");
  with_tree.image.tree = dir / "solve";
  const Told told = build(lock, with_tree);
  EXPECT_EQ(container_of(told).image, lock.image->id);
  EXPECT_FALSE(io::exists(dir / "tmp/pwned")) << told.log;
  EXPECT_EQ(other.words({"image", "inspect", "--format", "{{.Id}}", "base:1"}), base);
}

TEST_F(DockerTest, AnImageThatWasNotSharedIsMissedInWords) {
  docker().import_busybox("base:1");
  const Lock lock = lock_of(solve({"base:1", {}, {}}, site("solve")));
  const test::DockerDaemon other;
  more["DOCKER_HOST"] = other.host();
  expect_failure(build(lock, site("build")), ErrorCode::invalid_argument, "--rebuild");
}

TEST_F(DockerTest, AnImageForAnotherMachineIsRefusedBeforeItStarts) {
  docker().import_busybox("own:1");
  dir.folder("files");
  const std::string change =
      "cd " + (dir / "files") + " && tar -xf ../own.tar && sed -i " +
      "'s/\"architecture\":\"[a-z0-9]*\"/\"architecture\":\"s390x\"/; s/own:1/strange:1/' *.json" +
      " && rm -f repositories && tar -cf ../strange.tar *";
  docker().words({"save", "--output", dir / "own.tar", "own:1"});
  ASSERT_EQ(std::system(change.c_str()), 0);
  docker().words({"load", "--input", dir / "strange.tar"});
  expect_failure(solve({"strange:1", {}, {}}, site("solve")), ErrorCode::invalid_argument,
                 "is for s390x");
}

TEST_F(DockerTest, ADaemonThatIsAwayMayComeBack) {
  more["DOCKER_HOST"] = "unix://" + (dir / "nobody.sock");
  more["LOCKSTEP_CONTAINER_ENGINE"] = "/usr/bin/docker";
  expect_failure(solve({"here:1", {}, {}}, site("solve")), ErrorCode::unavailable,
                 "systemctl start docker");
}

TEST_F(DockerTest, ANodeWithoutAnEngineSaysWhatToInstall) {
  more["PATH"] = "/nowhere";
  expect_failure(solve({"here:1", {}, {}}, site("solve")), ErrorCode::unavailable,
                 "apt-get install podman");
  more["LOCKSTEP_CONTAINER_ENGINE"] = "singularity";
  expect_failure(solve({"here:1", {}, {}}, site("solve")), ErrorCode::unavailable,
                 "'singularity', which is neither on its PATH");
}

// The daemon's side of what was begun goes with it.
class DockerStopTest : public DockerTest {
 protected:
  void stop_in_the_middle(const Order& order, const std::string& running) {
    std::map<std::string, std::string> variables = more;
    variables.emplace("TMPDIR", dir / "tmp");
    Program program(order, variables);
    const auto runs = [&] {
      return docker().words({"ps", "--no-trunc"}).find(running) != running.npos;
    };
    ASSERT_TRUE(soon(runs));
    ::kill(program.pid(), SIGTERM);
    expect_failure(program.wait(), ErrorCode::conflict, "stopped");
    EXPECT_TRUE(soon([&] {
      return docker().words({"ps", "--all", "--quiet"}).empty();
    })) << docker().words({"ps", "--all"});
  }
  static bool soon(const std::function<bool()>& condition) {
    for (int round = 0; round < 1200; ++round) {  // 50 ms apart
      if (condition()) return true;
      ::usleep(50'000);
    }
    return false;
  }
};

TEST_F(DockerStopTest, ABuildEndsInTheDaemonToo) {
  docker().import_busybox("base:1");
  const auto definition = dockerfile("FROM base:1\nRUN sleep 600\n");
  stop_in_the_middle({Order::What::solve, definition, {}, site("solve")}, "sleep 600");
}

TEST_F(DockerStopTest, AProbeLeavesNoContainer) {
  docker().import_busybox("base:1");
  const Lock lock = lock_of(solve(dockerfile("FROM base:1\nRUN touch /etc/slow\n"), site("solve")));
  stop_in_the_middle({Order::What::build, DockerEnvironment{"x", {}, {}}, lock, site("build")},
                     "lockstep-probe-");
}

}  // namespace
}  // namespace lockstep::envs
