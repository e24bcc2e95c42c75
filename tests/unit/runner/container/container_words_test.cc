// What a container engine is told, without one: by engine, user, limits, GPUs and the job's own
// words; and what a container of an attempt is like.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/domain/environment/container_places.h"
#include "common/io/attempt/short_path.h"
#include "common/io/file_system.h"
#include "runner/container/arguments.h"
#include "runner/container/hosts.h"
#include "runner/container/plan.h"
#include "runner/container/refusal.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

using Words = std::vector<std::string>;

ContainerPlan plan_of_docker() {
  ContainerPlan plan;
  plan.container.engine = "/usr/bin/docker";
  plan.container.image = "sha256:1234";
  plan.container.shell = "/bin/sh";
  plan.container.limits_memory = true;
  plan.name = "lockstep.job.1.n0.77";
  plan.labels = {{"lockstep.job", "job"}};
  plan.hostname = "n7";
  plan.uid = 1000;
  plan.gid = 100;
  plan.groups = {27, 44};
  plan.mounts = {{"/libexec/lockstep-spawn", kSpawnInside, true}, {"/a/code", "/tmp/ls/job.1"}};
  plan.directory = "/tmp/ls/job.1";
  plan.shm_size = gibibytes(2);
  plan.cpus = 2;
  plan.pids_limit = 8'208;
  plan.socket = "spawn.sock";
  return plan;
}

// As docker 20.10 and podman 4.3 with runc say them.
TEST(Refusal, IsOfTheJobsArgumentsWhereNoNodeTakesThem) {
  for (const char* words : {
           "docker: Error response from daemon: invalid CapDrop: unknown capability: \"CAP_X\".",
           "Error: \"CAP_X\": unknown capability",
           "docker: Error response from daemon: invalid tmpfs option [\"bogus\"].",
           "Error: unknown mount option \"bogus\": invalid mount option",
           "docker: Error response from daemon: failed to create shim task: OCI runtime create "
           "failed: runc create failed: unable to start container process: error during container "
           "init: error mounting \"tmpfs\" to rootfs at \"/x\": mount tmpfs:/x (via "
           "/proc/self/fd/6), flags: 0xe, data: size=lots: invalid argument: unknown.",
           "docker: Error response from daemon: SHM size can not be less than 0.",
           "invalid argument \"a:b\" for \"--add-host\" flag: invalid IP address in add-host: "
           "\"b\"",
           "Error: strconv.ParseInt: parsing \"99999999999999\": value out of range",
           "Error: unknown flag: --isolation",
       })
    EXPECT_TRUE(blames_arguments(words)) << words;
  for (
      const char* words : {
          "docker: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
          "docker: Error response from daemon: error gathering device information while adding "
          "custom device \"/dev/x\": no such file or directory.",
          "docker: Error response from daemon: invalid mount config for type \"bind\": bind source "
          "path does not exist: /x.",
          "docker: Error response from daemon: Unknown runtime specified x.",
          "docker: Error response from daemon: unknown or invalid runtime name: x.",
          "Error: default OCI runtime \"x\" not found: invalid argument",
          "docker: Error response from daemon: failed to create shim task: OCI runtime create "
          "failed: runc create failed: error setting rlimit type 7: operation not permitted.",
          "docker: Error response from daemon: No such image: sha256:aaaa.",
          "docker: Error response from daemon: write /var/lib/docker/x: no space left on device.",
          "invalid character '<' looking for beginning of value",
          "error mounting \"/home/a/code\" to rootfs at \"/tmp/code\": invalid argument: unknown.",
          "",
      })
    EXPECT_FALSE(blames_arguments(words)) << words;
}

TEST(ContainerWords, OfDocker) {
  EXPECT_EQ(fmt::format("{}", fmt::join(run_words(plan_of_docker()), " ")),
            "/usr/bin/docker run --rm --pull never --log-driver none --name lockstep.job.1.n0.77 "
            "--network host --hostname n7 --user 1000:100 --group-add 27 --group-add 44 "
            "--security-opt no-new-privileges --security-opt label=disable "
            "--entrypoint /.lockstep/lockstep-spawn --no-healthcheck "
            "--mount type=bind,source=/libexec/lockstep-spawn,target=/.lockstep/lockstep-spawn,"
            "readonly --mount type=bind,source=/a/code,target=/tmp/ls/job.1 "
            "--workdir /tmp/ls/job.1 --shm-size 2147483648b --cpu-shares 2048 --pids-limit 8208 "
            "--label lockstep.job=job sha256:1234 --connect /.lockstep/run/spawn.sock");
  EXPECT_EQ(remove_words(plan_of_docker().container, "x"),
            (Words{"/usr/bin/docker", "rm", "--force", "x"}));
}

struct Case {
  const char* what;
  void (*change)(ContainerPlan& plan);
  Words added, gone;  // words that stand together; single words
};

const Case kCases[] = {
    {"AMemoryLimit",
     [](ContainerPlan& plan) { plan.memory = mebibytes(64); },
     {"--memory", "67108864b", "--memory-swap", "67108864b"},
     {}},
    {"AMemoryLimitThatTheEngineCannotSet",
     [](ContainerPlan& plan) {
       plan.memory = mebibytes(64);
       plan.container.limits_memory = false;
     },
     {},
     {"--memory", "--memory-swap"}},
    {"UnlimitedMemlock",
     [](ContainerPlan& plan) { plan.container.unlimited_memlock = true; },
     {"--ulimit", "memlock=-1:-1"},
     {}},
    {"GpusOfNvidia",
     [](ContainerPlan& plan) {
       plan.container.gpus = "nvidia";
       plan.gpus = {0, 3};
     },
     {"--gpus", "\"device=0,3\""},
     {}},
    {"GpusOfCdi",
     [](ContainerPlan& plan) {
       plan.container.gpus = "cdi";
       plan.gpus = {0, 3};
     },
     {"--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=3"},
     {"--gpus"}},
    {"NoGpus", [](ContainerPlan& plan) { plan.container.gpus = "nvidia"; }, {}, {"--gpus"}},
    {"ADevice",
     [](ContainerPlan& plan) { plan.devices = {"/dev/infiniband"}; },
     {"--device", "/dev/infiniband"},
     {}},
    {"ItsOwnWordsAreLast",
     [](ContainerPlan& plan) {
       plan.arguments = {"--cap-add", "X"};
     },
     {"--cap-add", "X", "--label", "lockstep.job=job", "sha256:1234"},
     {}},
    {"TheHostsMemory",
     [](ContainerPlan& plan) { plan.arguments = {"--ipc=host"}; },
     {"--ipc=host"},
     {"--shm-size"}},
    {"TheHostsMemoryInTwoWords",
     [](ContainerPlan& plan) {
       plan.arguments = {"--ipc", "host"};
     },
     {"--ipc", "host"},
     {"--shm-size"}},
    {"TheHostsName",
     [](ContainerPlan& plan) { plan.arguments = {"--uts=host"}; },
     {},
     {"--hostname"}},
    {"Privileged",
     [](ContainerPlan& plan) { plan.arguments = {"--privileged"}; },
     {"--privileged"},
     {"no-new-privileges"}},
    {"NoHostname", [](ContainerPlan& plan) { plan.hostname = ""; }, {}, {"--hostname"}},
    {"PathsWithCommas",
     [](ContainerPlan& plan) {
       plan.mounts = {{"/a,b", "/c\"d"}};
     },
     {"--mount", "type=bind,\"source=/a,b\",\"target=/c\"\"d\""},
     {}},
    {"Podman",
     [](ContainerPlan& plan) {
       plan.container.engine = "/usr/bin/podman";
       plan.container.is_podman = true;
     },
     {"--cpu-shares", "2048", "--pids-limit", "8208"},
     {"--userns"}},
    {"RootlessPodman",
     [](ContainerPlan& plan) { plan.container.is_podman = plan.container.is_rootless = true; },
     {"--user", "1000:100", "--userns", "keep-id", "--group-add", "keep-groups"},
     {"--cpu-shares", "27", "--pids-limit"}},
    {"RootlessPodmanOfOneGroup",
     [](ContainerPlan& plan) {
       plan.container.is_podman = plan.container.is_rootless = true;
       plan.groups = {};
     },
     {"--userns", "keep-id"},
     {"--group-add"}},
    {"RootlessDocker",
     [](ContainerPlan& plan) {
       plan.container.is_rootless = true;
       plan.uid = plan.gid = 0;
     },
     {"--user", "0:0"},
     {"--cpu-shares", "--group-add", "--userns"}},
};

TEST(ContainerWords, APrivilegeMustBeMeant) {
  for (const Words& words :
       {Words{"--label", "--privileged"}, Words{"--privileged=false"},
        Words{"--privileged", "--privileged=0"}, Words{"-l", "--privileged"}}) {
    ContainerPlan plan = plan_of_docker();
    plan.arguments = words;
    const Words all = run_words(plan);
    EXPECT_EQ(std::count(all.begin(), all.end(), "no-new-privileges"), 1)
        << ::testing::PrintToString(words);
  }
}

TEST(ContainerArguments, AreReadAsDockerReadsThem) {
  const Arguments arguments({"--env", "A=1", "-eB=2", "-e=C=3", "--env=A=4=5", "-e", "D=", "-e",
                             "of-the-node", "--init", "--ipc", "private", "--ipc=host",
                             "--label=x"});
  EXPECT_EQ(arguments.variables(),
            (std::map<std::string, std::string>{{"A", "4=5"}, {"B", "2"}, {"C", "3"}, {"D", ""}}));
  EXPECT_EQ(arguments.last("ipc"), "host");
  EXPECT_TRUE(arguments.is_on("init"));
  EXPECT_FALSE(arguments.is_on("privileged"));
  EXPECT_EQ(arguments.all("ipc").size(), 2U);
}

// Every account of the machine can read the engine's command line.
TEST(ContainerArguments, VariablesStandInAFileAndNotAmongTheWords) {
  const Arguments arguments({"-eTOKEN=hunter2", "--init", "--env", "LINES=a\nb", "--ulimit",
                             "core=0", "-e", "of-the-node", "--env=#C=1"});
  EXPECT_EQ(arguments.without_variables(), (Words{"--init=true", "--ulimit=core=0"}));
  EXPECT_EQ(env_file_text(arguments.variables()), "TOKEN=hunter2\n");
}

// The launcher refuses such words: a runner that is given them all the same takes none for meant.
TEST(ContainerArguments, WordsThatCannotBeReadSayNothing) {
  const Arguments arguments({"--privileged", "--env", "A=1", "--label"});
  EXPECT_FALSE(arguments.is_on("privileged"));
  EXPECT_TRUE(arguments.variables().empty());
}

class ContainerWordsTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(With, ContainerWordsTest, ::testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.what); });

TEST_P(ContainerWordsTest, AreAsTheyShouldBe) {
  ContainerPlan plan = plan_of_docker();
  GetParam().change(plan);
  const Words words = run_words(plan);
  const Words& added = GetParam().added;
  EXPECT_NE(std::search(words.begin(), words.end(), added.begin(), added.end()), words.end())
      << ::testing::PrintToString(words);
  for (const std::string& gone : GetParam().gone)
    EXPECT_EQ(std::count(words.begin(), words.end(), gone), 0) << gone;
}

class ContainerPlanTest : public ::testing::Test {
 protected:
  ContainerPlanTest() {
    assignment_.attempt = {JobId("train"), 2};
    assignment_.node_rank = 3;
    assignment_.spec.resources.instance_count = 1;
    assignment_.allotment.cpus = {0, 1};
    assignment_.allotment.memory = gibibytes(1);
    workspace_.mount_point = "/run/lockstep/jobs/train.2";
    workspace_.activation.emplace().container = plan_of_docker().container;
    user_ = {"ada", 1000, 100, "/home/ada", "/bin/zsh", {100, 27}};
  }
  Result<ContainerPlan> plan() const {
    return plan_container(
        {directory_, assignment_, workspace_, user_, "/libexec/lockstep-spawn", "n7", 77});
  }
  Container& container() { return *workspace_.activation->container; }
  static std::string target_of(const ContainerPlan& plan, const std::string& source) {
    for (const Mount& mount : plan.mounts)
      if (mount.source == source) return mount.target;
    return "";
  }

  const io::AttemptDir directory_{"/srv/lockstep/attempts/train.2"};
  Assignment assignment_;
  WorkspacePlan workspace_;
  io::User user_;
};

TEST_F(ContainerPlanTest, NamesTheAttemptAndShowsOfItOnlyWhatRanksNeed) {
  const auto made = plan();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->name, "lockstep.train.2.n3.77");
  EXPECT_EQ(made->labels, (std::map<std::string, std::string>{{"lockstep.home", "/srv/lockstep"},
                                                              {"lockstep.job", "train"},
                                                              {"lockstep.attempt", "train.2"},
                                                              {"lockstep.node_rank", "3"}}));
  const std::string attempt = directory_.path();
  const std::string short_tmp = io::AttemptDir(io::short_path_in_container(directory_)).tmp();
  EXPECT_EQ(made->mounts, (std::vector<Mount>{{"/libexec/lockstep-spawn", kSpawnInside, true},
                                              {attempt + "/container", kRunInside, true},
                                              {attempt + "/hosts", "/etc/hosts", true},
                                              {attempt + "/code", "/run/lockstep/jobs/train.2"},
                                              {attempt + "/tmp", attempt + "/tmp"},
                                              {attempt + "/tmp", short_tmp},
                                              {attempt + "/home", "/home/ada"}}));
  EXPECT_EQ(made->groups, std::vector<std::uint32_t>{27});
  EXPECT_EQ(made->shm_size, kDefaultShmSize);
  EXPECT_FALSE(made->memory) << "it asked for none";
  EXPECT_EQ(made->hostname, "n7");
}

TEST_F(ContainerPlanTest, ProcessesAreLimitedAndDockerArgsOnlyLowerThat) {
  assignment_.spec.distribution.processes_per_node = 2;
  const auto limit = [&](std::vector<std::string> args) {
    assignment_.spec.resources.docker_args = std::move(args);
    return plan()->pids_limit;
  };
  EXPECT_EQ(limit({}), 2 * 4'096 + 16);
  EXPECT_EQ(limit({"--pids-limit", "100"}), 100);
  EXPECT_EQ(plan()->arguments, std::vector<std::string>());
  EXPECT_EQ(limit({"--pids-limit=1000000"}), 2 * 4'096 + 16);
  EXPECT_EQ(plan()->arguments, std::vector<std::string>());
  limit({"--init", "--pids-limit=-1"});
  EXPECT_EQ(plan()->arguments, (std::vector<std::string>{"--init=true", "--pids-limit=-1"}))
      << "an operator has allowed it";
}

TEST_F(ContainerPlanTest, MemoryIsLimitedForThoseWhoAskWhereItCanBe) {
  assignment_.spec.resources.memory = gibibytes(1);
  EXPECT_EQ(plan()->memory, gibibytes(1));
  container().limits_memory = false;
  EXPECT_FALSE(plan()->memory);
}

TEST_F(ContainerPlanTest, GpusThatTheEngineCannotPassAreAnError) {
  assignment_.allotment.gpus = {0, 1};
  const auto made = plan();
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("the job holds 2 GPUs of this node, but /usr/bin/docker "
                                      "passes none to containers here"),
            std::string::npos)
      << made.error().message;
  container().gpus = "nvidia";
  EXPECT_EQ(plan()->gpus, (std::vector<int>{0, 1}));
}

TEST_F(ContainerPlanTest, InRootlessDockerTheUserIsRoot) {
  container().is_rootless = true;
  const auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->uid, 0U);
  EXPECT_EQ(made->gid, 0U);
  EXPECT_EQ(target_of(*made, directory_.home()), "") << "root's is the image's";
  EXPECT_EQ(seen_inside(container(), user_).home, "/root");
  container().is_podman = true;
  EXPECT_EQ(plan()->uid, 1000U);
  EXPECT_EQ(target_of(*plan(), directory_.home()), "/home/ada");
}

TEST_F(ContainerPlanTest, AHomeCoversNoFolderOfTheSystem) {
  for (const char* home : {"/usr/sbin", "/", "", "/bin", "/var/www", "relative"}) {
    user_.home = home;
    EXPECT_EQ(target_of(*plan(), directory_.home()), "/home/ada") << home;
  }
  user_.home = "/nonexistent";
  EXPECT_EQ(target_of(*plan(), directory_.home()), "/nonexistent");
}

TEST_F(ContainerPlanTest, WhatIsMountedBelowHomeHasItsFolderThere) {
  user_.home = "/srv";
  EXPECT_EQ(folders_in_home(*plan(), directory_.home()),
            (std::vector<std::string>{"lockstep", "lockstep/attempts", "lockstep/attempts/train.2",
                                      "lockstep/attempts/train.2/tmp"}));
  user_.home = "/home/ada";
  EXPECT_TRUE(folders_in_home(*plan(), directory_.home()).empty());
}

TEST_F(ContainerPlanTest, ABundleComesWithTheCredentialThatItsCommandUses) {
  const TemporaryDirectory files;
  const io::AttemptDir directory{files.path() + "/attempts/train.2"};
  PlanRequest request{directory, assignment_, workspace_, user_, "/libexec/lockstep-spawn",
                      "n1",      77};
  request.bundle = "/opt/an odd place";
  const auto has_bundle = [&] {
    const std::vector<Mount> mounts = plan_container(request)->mounts;
    const Mount wanted{"/opt/an odd place", kBundleInside, true};
    return std::find(mounts.begin(), mounts.end(), wanted) != mounts.end();
  };
  EXPECT_FALSE(has_bundle());
  ASSERT_TRUE(io::make_directories(directory.client_home()));
  EXPECT_TRUE(has_bundle());
}

TEST_F(ContainerPlanTest, ANameThatIsNoHostnameIsLeftToTheEngine) {
  const PlanRequest request{directory_,   assignment_, workspace_, user_, "/libexec/lockstep-spawn",
                            "not a name", 77};
  EXPECT_EQ(plan_container(request)->hostname, "");
}

TEST(ContainerHosts, TheGangComesFirst) {
  GangTable gang;
  for (const char* address : {"10.0.0.1", "127.0.0.1", "::1", ""}) {
    GangMember member;
    member.hostname = "n" + std::to_string(gang.members.size());
    member.address = address;
    gang.members.push_back(member);
  }
  EXPECT_EQ(hosts_text("127.0.1.1 n0\n", gang), "10.0.0.1 n0\n127.0.1.1 n0\n");
  EXPECT_EQ(hosts_text("", {}, {"a:10.0.0.7", "b=[::2]", "c:::3", "d:host-gateway", "wrong"}),
            "10.0.0.7 a\n::2 b\n::3 c\n127.0.0.1 d\n");
}

}  // namespace
}  // namespace lockstep::runner::testing
