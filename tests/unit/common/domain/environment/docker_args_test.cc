#include "common/domain/environment/docker_args.h"

#include <gtest/gtest.h>

#include <set>

#include "common/domain/environment/docker_options.h"
#include "common/domain/environment/docker_values.h"
#include "common/domain/job/spec.h"

namespace lockstep {
namespace {

using Words = std::vector<std::string>;

TEST(DockerOptions, NamesAndLettersStandOnceAndRefusalsSayWhatToDo) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const DockerOption& option : docker_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(option.letter == '\0' || letters.insert(option.letter).second) << option.letter;
    EXPECT_EQ(option.grant == DockerGrant::nobody, !option.instead.empty()) << option.name;
  }
}

// ---- splitting
// -----------------------------------------------------------------------------------

TEST(SplitDockerArgs, SplitsAsAShellDoes) {
  const auto words = [](std::string_view text) { return split_docker_args(text).value(); };
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(" \t\n"), Words{});
  EXPECT_EQ(words("--init  --ulimit nofile=1:2\n"), (Words{"--init", "--ulimit", "nofile=1:2"}));
  EXPECT_EQ(words("-e 'A=b c' -e \"D=e 'f'\""), (Words{"-e", "A=b c", "-e", "D=e 'f'"}));
  EXPECT_EQ(words("-e A='b'\"c\"d"), (Words{"-e", "A=bcd"}));
  EXPECT_EQ(words("a\\ b \"\\\"\\\\\\n\" '\\'"), (Words{"a b", "\"\\\\n", "\\"}));
  EXPECT_EQ(words("-e A='' ''"), (Words{"-e", "A=", ""}));
  EXPECT_EQ(words("-e A=$HOME"), (Words{"-e", "A=$HOME"}));  // nothing is expanded
}

TEST(SplitDockerArgs, SaysWhereAQuoteIsOpen) {
  const auto refusal = [](std::string_view text) {
    return split_docker_args(text).error().message;
  };
  EXPECT_EQ(refusal("-e 'A=b"), "resources.docker_args: the quote ' at character 4 is not closed");
  EXPECT_EQ(refusal("\"it's"), "resources.docker_args: the quote \" at character 1 is not closed");
  EXPECT_EQ(refusal("-e A=b\\"),
            "resources.docker_args: ends with a backslash that no character follows");
}

// ---- what everybody may
// --------------------------------------------------------------------------

TEST(DockerArgs, WhatGivesNoRightsIsForEverybody) {
  for (const Words& words : {
           Words{},
           Words{"--shm-size", "8g"},
           Words{"--shm-size=65536"},
           Words{"--ulimit", "memlock=-1", "--ulimit=nofile=1024:65536", "--ulimit", "stack=5:-1"},
           Words{"--ipc=private", "--ipc", "host", "--ipc=shareable"},
           Words{"--env", "A=b c", "-e", "A=", "-eA=b", "-e=A=b"},
           Words{"--label", "team=vision", "-lx"},
           Words{"--tmpfs", "/scratch", "--tmpfs=/s/t:rw,size=1g"},
           Words{"--read-only", "--read-only=false", "--init", "--init=T"},
           Words{"--add-host", "store:10.0.0.7", "--add-host=a=::1", "--add-host=b:host-gateway"},
           Words{"--cap-drop", "ALL", "--cap-drop=NET_RAW"},
           Words{"--pids-limit=512", "--pids-limit", "4096"},
           Words{"--security-opt", "no-new-privileges", "--security-opt=no-new-privileges:true"},
           // Its value, whatever it looks like.
           Words{"--env", "--privileged=1"},
       }) {
    const Status status = check_docker_args(words, {});
    EXPECT_TRUE(status) << status.error().message;
  }
}

// ---- what nobody may
// -----------------------------------------------------------------------------

struct Refused {
  const char* name;
  Words words;
  const char* message;  // behind "resources.docker_args: "
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedDockerArgs : public testing::TestWithParam<Refused> {};

TEST_P(RefusedDockerArgs, AreRefusedWhateverTheOperatorAllows) {
  Words all;
  for (const DockerOption& option : docker_options())
    all.push_back("--" + std::string(option.name));
  for (const Status& status :
       {check_docker_args(GetParam().words), check_docker_args(GetParam().words, all)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, std::string("resources.docker_args: ") + GetParam().message);
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  }
}

const Refused kRefused[] = {
    {"name",
     {"--name=x"},
     "a job cannot set '--name': Lockstep names and removes containers itself; leave the option "
     "out"},
    {"network",
     {"--network", "bridge"},
     "a job cannot set '--network': the container has the host's network; leave the option out"},
    {"net",
     {"--net=host"},
     "a job cannot set '--net': the container has the host's network; leave the option out"},
    {"publish",
     {"-p", "80:80"},
     "a job cannot set '--publish': the container has the host's network; leave the option out"},
    {"user",
     {"-u0"},
     "a job cannot set '--user': ranks run as the submitting user, with that user's groups; leave "
     "the option out"},
    {"userns",
     {"--userns=host"},
     "a job cannot set '--userns': ranks run as the submitting user, with that user's groups; "
     "leave the option out"},
    {"rm",
     {"--rm"},
     "a job cannot set '--rm': Lockstep names and removes containers itself; leave the option out"},
    {"detach",
     {"-d"},
     "a job cannot set '--detach': Lockstep waits for the container; `lockstep run --detach` "
     "returns at once"},
    {"terminal",
     {"-it"},
     "a job cannot set '--interactive': ranks have no terminal, and their output is in the job's "
     "logs; leave the option out"},
    {"entrypoint",
     {"--entrypoint", "sh"},
     "a job cannot set '--entrypoint': the container runs the job's `command`; an image's "
     "entrypoint is not used"},
    {"workdir",
     {"-w/x"},
     "a job cannot set '--workdir': ranks start in the job's own directory; write cd into "
     "`command`"},
    {"memory",
     {"--memory=1g"},
     "a job cannot set '--memory': write lockstep.resources.memory instead"},
    {"cpus",
     {"--cpuset-cpus=0"},
     "a job cannot set '--cpuset-cpus': write lockstep.resources.cpus instead"},
    {"gpus", {"--gpus", "all"}, "a job cannot set '--gpus': write lockstep.resources.gpus instead"},
    {"restart", {"--restart"}, "a job cannot set '--restart': write lockstep.retry instead"},
    {"env_file",
     {"--env-file=f"},
     "a job cannot set '--env-file': it names a file on the node; write environment_variables "
     "instead"},
    {"log_driver",
     {"--log-driver=none"},
     "a job cannot set '--log-driver': the ranks' output is in the job's logs; leave the option "
     "out"},
    {"hostname",
     {"-h", "x"},
     "a job cannot set '--hostname': the container has its node's host name; leave the option out"},
    {"an_image",
     {"--init", "ubuntu"},
     "'ubuntu' is not an option; name the image in environment.image and the program in the job's "
     "`command`"},
    {"end_of_options",
     {"--", "x"},
     "'--' is not an option; name the image in environment.image and the program in the job's "
     "`command`"},
    {"flag_with_a_word",
     {"--read-only", "false"},
     "'false' is not an option; write --read-only=false"},
    {"flag_with_a_value", {"--init=yes"}, "--init 'yes': takes no value; write --init"},
    {"empty_word", {""}, "has an empty word"},
    {"unknown", {"--shmsize=2g"}, "unknown option '--shmsize'; did you mean '--shm-size'?"},
    {"unknown_and_far", {"--frobnicate"}, "unknown option '--frobnicate'"},
    {"unknown_letter", {"-Zx"}, "unknown option '-Zx'"},
    {"unknown_letter_behind_a_flag", {"-Z=x"}, "unknown option '-Z'"},
    {"one_dash", {"-privileged"}, "unknown option '-privileged'; did you mean '--privileged'?"},
    {"two_words_in_one",
     {"--ulimit nofile=1"},
     "'--ulimit nofile' holds a blank; write one word in each item of the list"},
    {"no_value", {"--ulimit"}, "'--ulimit' needs a value, and nothing follows it"},
    {"operators_without_value", {"-v"}, "'--volume' needs a value, and nothing follows it"},
    {"variable_of_the_agent",
     {"-e", "HOME"},
     "--env 'HOME': must be NAME=VALUE; variables of the node's agent are not passed to "
     "containers"},
    {"variable_of_ranks",
     {"--env=LOCKSTEP_RANK=1"},
     "--env 'LOCKSTEP_RANK=1': is a variable that Lockstep sets for each rank; leave it out"},
    {"label_of_ours",
     {"-l", "lockstep.job=x"},
     "--label 'lockstep.job=x': has a key that is reserved for Lockstep; choose one that does not "
     "begin with lockstep."},
    {"ipc", {"--ipc=none"}, "--ipc 'none': must be private, shareable or host"},
    {"shm_size",
     {"--shm-size=1k"},
     "--shm-size '1k': must be a size of at least 64.0 KiB, as in 2g"},
    {"ulimit",
     {"--ulimit=files=1"},
     "--ulimit 'files=1': must be NAME=SOFT[:HARD], as in nofile=65536 or memlock=-1"},
    {"ulimit_words",
     {"--ulimit=memlock=unlimited"},
     "--ulimit 'memlock=unlimited': must have numbers for its limits, or -1 for none, as in "
     "nofile=65536:65536"},
    {"ulimit_order",
     {"--ulimit=nofile=9:3"},
     "--ulimit 'nofile=9:3': has a soft limit above the hard one"},
    {"tmpfs_relative",
     {"--tmpfs=tmp"},
     "--tmpfs 'tmp': must be PATH[:OPTIONS] with an absolute path, as in /scratch:size=1g"},
    {"tmpfs_over_ours",
     {"--tmpfs=/.lockstep"},
     "--tmpfs '/.lockstep': must be a path without '//' and without parts that begin with a dot"},
    {"add_host",
     {"--add-host=store"},
     "--add-host 'store': must be NAME:ADDRESS, as in store:10.0.0.7"},
    {"cap_drop",
     {"--cap-drop="},
     "--cap-drop '': must be the name of a capability, as in NET_RAW, or ALL"},
    {"pids_limit", {"--pids-limit=many"}, "--pids-limit 'many': must be a number, or -1 for none"},
    {"new_privileges",
     {"--security-opt=no-new-privileges:false"},
     "--security-opt 'no-new-privileges:false': must be no-new-privileges: programs in a container "
     "cannot gain privileges"},
    {"nul", {std::string("-eA=\0", 5)}, "holds a NUL byte"},
    {"too_many", Words(kMaxDockerArgs + 1, "--init"), "has 1001 words; at most 1000 are possible"},
    {"too_long",
     {"-eA=" + std::string(kMaxDockerArgsBytes, 'x')},
     "has 131077 bytes; at most 131072 are possible"},
};
INSTANTIATE_TEST_SUITE_P(Each, RefusedDockerArgs, testing::ValuesIn(kRefused),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- what operators allow
// ------------------------------------------------------------------------

TEST(DockerArgs, WhatGivesRightsIsForOperatorsToAllow) {
  const auto code = [](const Status& status) { return status.error().code; };
  int operators = 0;
  for (const DockerOption& option : docker_options()) {
    if (option.grant != DockerGrant::operators) continue;
    ++operators;
    const std::string name = "--" + std::string(option.name);
    const Words words{option.takes_value ? name + "=x" : name};
    const Status refused = check_docker_args(words, {"--none"});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(code(refused), ErrorCode::permission_denied);
    EXPECT_EQ(refused.error().message,
              "resources.docker_args: '" + name +
                  "' is refused unless the operator allows it: lockstepd --allow-docker-args " +
                  name);
    EXPECT_TRUE(check_docker_args(words)) << name;
    EXPECT_TRUE(check_docker_args(words, {"--none", name})) << name;
    EXPECT_TRUE(check_allowable_docker_arg(name)) << name;
  }
  EXPECT_GT(operators, 30);
  for (const char* name :
       {"privileged", "device", "volume", "mount", "cap-add", "sysctl", "pid", "uts", "runtime",
        "volumes-from", "device-cgroup-rule", "oom-kill-disable", "use-api-socket"})
    EXPECT_EQ(find_docker_option(name)->grant, DockerGrant::operators) << name;
}

TEST(DockerArgs, LettersAndValuesOfOperatorsOptionsAreSeen) {
  const auto refusal = [](const Words& words) {
    const Status status = check_docker_args(words, {});
    return status ? std::string() : status.error().message.substr(23);
  };
  const std::string allow =
      " is refused unless the operator allows it: lockstepd --allow-docker-args ";
  EXPECT_EQ(refusal({"-v", "/etc:/etc"}), "'--volume'" + allow + "--volume");
  EXPECT_EQ(refusal({"-v/etc:/etc"}), "'--volume'" + allow + "--volume");
  EXPECT_EQ(refusal({"--privileged=false"}), "'--privileged'" + allow + "--privileged");
  EXPECT_EQ(refusal({"--init", "--ipc=container:x"}), "'--ipc container:x'" + allow + "--ipc");
  EXPECT_EQ(refusal({"--security-opt", "seccomp=unconfined"}),
            "'--security-opt seccomp=unconfined'" + allow + "--security-opt");
  EXPECT_EQ(refusal({"--ulimit=rtprio=99"}), "'--ulimit rtprio=99'" + allow + "--ulimit");
  EXPECT_TRUE(check_docker_args({"--ulimit=rtprio=99"}, {"--ulimit"}));
  EXPECT_EQ(refusal({"--pids-limit", "-1"}), "'--pids-limit -1'" + allow + "--pids-limit");
  EXPECT_EQ(refusal({"--pids-limit=0"}), "'--pids-limit 0'" + allow + "--pids-limit");
  EXPECT_TRUE(check_docker_args({"--pids-limit=-1"}, {"--pids-limit"}));
  // The value of one is no option.
  EXPECT_EQ(refusal({"--volume", "--init"}), "'--volume'" + allow + "--volume");
}

TEST(DockerArgs, AnOperatorMayNotAllowWhatThereIsNot) {
  const auto refusal = [](const std::string& name) {
    const Status status = check_allowable_docker_arg(name);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(refusal("--security-opt"), "");
  EXPECT_EQ(refusal("--priviledged"),
            "'--priviledged' is not an option of `docker run`; did you mean '--privileged'?");
  EXPECT_EQ(refusal("privileged"),
            "'privileged' is not an option of `docker run`; did you mean '--privileged'?");
  EXPECT_EQ(refusal("-v"),
            "'-v' is not an option of `docker run`; write its long name, as in --privileged");
  EXPECT_EQ(refusal(""),
            "'' is not an option of `docker run`; write its long name, as in --privileged");
  EXPECT_EQ(
      refusal("--network"),
      "a job cannot set '--network': the container has the host's network; leave the option out");
}

// ---- in a job
// ------------------------------------------------------------------------------------

TEST(DockerArgs, AJobIsCheckedButForWhatItsOperatorAllows) {
  JobSpec spec;
  spec.command = ShellCommand{"true"};
  spec.resources.docker_args = {"--privileged", "--shm-size=1g"};
  EXPECT_TRUE(validate(spec));
  spec.resources.docker_args = {"--gpus=all"};
  EXPECT_FALSE(validate(spec));
  spec.resources.docker_args = {};
  spec.resources.shm_size = kMinShmSize;
  EXPECT_TRUE(validate(spec));
  spec.resources.shm_size = Bytes{2};
  EXPECT_EQ(validate(spec).error().message,
            "resources.shm_size: is 2 B; must be at least 64.0 KiB");
}

}  // namespace
}  // namespace lockstep
