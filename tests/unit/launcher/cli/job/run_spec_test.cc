#include "launcher/cli/job/run_spec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

RunArguments arguments() {
  RunArguments arguments;
  arguments.command = {"python", "t.py", "--x", "a b"};
  return arguments;
}

TEST(RunSpec, TakesEveryFlag) {
  RunArguments all = arguments();
  all.nodes = 2;
  all.ranks = 4;
  all.distribution = "pytorch";
  all.env = {"A=b=c", "EMPTY=", "LOCKSTEP_RUN_SPEC_TEST"};
  all.name = "night";
  all.timeout = "5m";
  all.hang_after = "off";
  all.on_hang = "fail";
  all.core = "backtrace";
  all.cpus = 3;
  all.memory = "2g";
  all.gpus = 0;
  ASSERT_EQ(setenv("LOCKSTEP_RUN_SPEC_TEST", "ours", 1), 0);
  const auto spec = spec_of(all);
  unsetenv("LOCKSTEP_RUN_SPEC_TEST");
  ASSERT_TRUE(spec) << spec.error().message;
  JobSpec want;
  want.name = "night";
  want.experiment_name = "Default";
  want.command = Argv{{"python", "t.py", "--x", "a b"}};
  want.environment_variables = {{"A", "b=c"}, {"EMPTY", ""}, {"LOCKSTEP_RUN_SPEC_TEST", "ours"}};
  want.distribution = {Distribution::Kind::pytorch, 4};
  want.resources.instance_count = 2;
  want.resources.cpus = 3;
  want.resources.memory = gibibytes(2);
  want.resources.gpus = 0;
  want.timeout = minutes(5);
  want.hang = {Duration::zero(), OnHang::fail};
  want.core = CoreFile::backtrace;
  EXPECT_EQ(*spec, want);
}

TEST(RunSpec, ItsPlaceInTheQueue) {
  RunArguments all = arguments();
  all.priority = "high";
  all.after = {"prep", "clean:ended"};
  all.begin = "2h";
  const auto spec = spec_of(all);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->queue.priority, Priority::high);
  const std::vector<After> after = {{JobId("prep"), AfterWhen::completed},
                                    {JobId("clean"), AfterWhen::ended}};
  EXPECT_EQ(spec->queue.after, after);
  EXPECT_EQ(spec->queue.delay, minutes(120));
  all.after = {"prep:failed"};
  EXPECT_EQ(
      spec_of(all).error().message,
      "run: --after: 'prep:failed': write NAME or NAME:completed (it must have Completed), or "
      "NAME:ended (it must have ended in any way)");
  all.after.clear();
  all.begin = "noon";
  EXPECT_EQ(spec_of(all).error().message.substr(0, 51),
            "run: --begin: 'noon' is neither a time from now, su");
}

TEST(RunSpec, WhatAPartialRequestHoldsBesidesIsSaid) {
  ResourceRequest asked;
  EXPECT_EQ(held_besides(asked), "") << "whole nodes are the rule";
  asked.cpus = 1;
  EXPECT_EQ(held_besides(asked),
            "the job holds all memory and all gpus of its node, because it does not limit them; to "
            "let other jobs share the node, add --memory and --gpus");
  asked.memory = gibibytes(1);
  EXPECT_EQ(held_besides(asked), "");
  asked.cpus.reset();
  asked.gpus = 0;
  EXPECT_EQ(held_besides(asked),
            "the job holds all cpus of its node, because it does not limit them; to let other jobs "
            "share the node, add --cpus");
}

TEST(RunSpec, RefusesByName) {
  const auto refusal = [](auto change) {
    RunArguments bad = arguments();
    change(bad);
    const auto spec = spec_of(bad);
    return spec ? std::string("accepted") : spec.error().message;
  };
  EXPECT_EQ(
      refusal([](auto& a) {
        a.distribution = "ray";
        a.ranks = 2;
      }),
      "run: distribution.process_count_per_instance: is 2, but Ray has one rank on each node, "
      "which starts its own processes; leave it out");
  EXPECT_EQ(refusal([](auto& a) { a.binding = "socket"; }),
            "run: --binding 'socket' is not auto, none, numa or core");
  EXPECT_EQ(refusal([](auto& a) { a.distribution = "gang"; }),
            "run: --distribution 'gang' is not mpi, pytorch, tensorflow, ray or none");
  EXPECT_EQ(refusal([](auto& a) { a.env = {"=x"}; }),
            "run: --env '=x' is not of the form NAME=VALUE");
  EXPECT_EQ(refusal([](auto& a) { a.env = {"LOCKSTEP_NOT_SET_ANYWHERE"}; }),
            "run: --env LOCKSTEP_NOT_SET_ANYWHERE: this variable is not set here");
  EXPECT_EQ(refusal([](auto& a) { a.hang_after = "soon"; }),
            "run: --hang-after 'soon' is not a time; write seconds, or 90s, 5m, 2h; off for never");
  EXPECT_EQ(refusal([](auto& a) { a.hang_after = "1s"; }),
            "run: --hang-after: must be 10s to 168h, or off");
  EXPECT_EQ(refusal([](auto& a) { a.on_hang = "stop"; }),
            "run: --on-hang 'stop' is not report, stacks, fail or retry");
  EXPECT_EQ(refusal([](auto& a) { a.core = "yes"; }),
            "run: --core 'yes' is not off, backtrace or keep");
  EXPECT_EQ(refusal([](auto& a) { a.timeout = "soon"; }),
            "run: --timeout 'soon' is not a time; write seconds, or 90s, 5m, 2h, 1d");
  for (const char* nothing : {"0", "0s"})
    EXPECT_EQ(refusal([&](auto& a) { a.timeout = nothing; }),
              fmt::format("run: --timeout '{}' would end the job at once; leave it out to set no "
                          "limit",
                          nothing));
  EXPECT_EQ(refusal([](auto& a) { a.timeout = "-1"; }),
            "run: --timeout '-1' is not a time; write seconds, or 90s, 5m, 2h, 1d");
  EXPECT_EQ(refusal([](auto& a) { a.memory = "lots"; }),
            "run: --memory 'lots' is not a size; write 512m or 2g");
  EXPECT_EQ(refusal([](auto& a) { a.memory = "0"; }),
            "run: --memory '0' is 0 B, too small to run in; write 512m or 2g");
  EXPECT_EQ(refusal([](auto& a) { a.env = {""}; }), "run: --env '' is not of the form NAME=VALUE");
  EXPECT_EQ(refusal([](auto& a) { a.name = "a b"; }).substr(0, 16), "run: name: 'a b'");
  EXPECT_EQ(refusal([](auto& a) {
              a.keep = {"*.pt", "./x"};
            }),
            "run: --keep ./x: '.' is not a file name; write paths from the working directory on, "
            "such as /checkpoints/last.pt");
  EXPECT_EQ(refusal([](auto& a) { a.keep = {"!x"}; }),
            "run: --keep: nothing is kept: all patterns begin with '!'");
  EXPECT_EQ(refusal([](auto& a) { a.cpus = 0; }), "run: --cpus: must be at least 1");
}

// ---- environments
// --------------------------------------------------------------------------------

std::string environment_refusal(const std::function<void(RunArguments&)>& change) {
  RunArguments a = arguments();
  change(a);
  spec::Notes notes;
  const auto environment = environment_of(a, notes);
  return environment ? "accepted" : environment.error().message;
}

TEST(RunEnvironment, EachWayIsTaken) {
  test::TempDir directory;
  directory.file("r.txt", "numpy\n");
  directory.file("env.yml", "name: tools\nrequirements: r.txt\n");
  spec::Notes notes;
  const auto definition = [&](const RunArguments& a) {
    const auto choice = environment_of(a, notes);
    EXPECT_TRUE(choice && *choice);
    return std::get<spec::ReadEnvironment>(**choice).environment.spec.definition;
  };
  RunArguments a = arguments();
  EXPECT_EQ(environment_of(a, notes).value(), std::nullopt);
  a.interpreter = "/opt/py/bin/python3";
  EXPECT_EQ(definition(a), EnvironmentDefinition(HostEnvironment{a.interpreter}));
  a = arguments();
  a.requirements = directory / "r.txt";
  a.pip = {"six==1.16.0", "--pre"};
  EXPECT_EQ(definition(a), EnvironmentDefinition(VenvEnvironment{
                               "python3", {"--pre"}, {"numpy", "six==1.16.0"}, {}}));
  for (const std::string mark : {"", "file:"}) {
    a = arguments();
    a.environment = mark + (directory / "env.yml");
    EXPECT_EQ(definition(a), EnvironmentDefinition(VenvEnvironment{"python3", {}, {"numpy"}, {}}));
  }
  EXPECT_TRUE(notes.empty());
  directory.file("conda.yml", "dependencies: [python, {pip: [-r r.txt]}]\nprefix: /opt\n");
  CondaEnvironment conda;
  conda.channels = {"https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"};
  conda.dependencies = {"python"};
  conda.requirements = {"numpy"};
  a = arguments();
  a.conda_file = directory / "conda.yml";
  EXPECT_EQ(definition(a), EnvironmentDefinition(conda));
  EXPECT_EQ(notes.size(), 1U);
  a = arguments();
  a.environment = directory / "conda.yml";
  EXPECT_EQ(definition(a), EnvironmentDefinition(conda));
  EXPECT_EQ(notes.size(), 2U);
  a.environment = "azureml:tools@latest";
  EXPECT_EQ(
      std::get<spec::EnvironmentReference>(*environment_of(a, notes).value()),
      (spec::EnvironmentReference{"tools@latest", "run: --environment azureml:tools@latest"}));
}

TEST(RunEnvironment, OneWithoutPackagesIsNoted) {
  RunArguments a = arguments();
  a.pip = {" "};
  spec::Notes notes;
  ASSERT_TRUE(environment_of(a, notes));
  EXPECT_EQ(notes, spec::Notes{"--pip names no package: the environment is an empty virtual "
                               "environment"});
}

TEST(RunEnvironment, ContradictionsAreRefused) {
  EXPECT_EQ(environment_refusal([](auto& a) { a.interpreter = "3.11"; }),
            "run: --interpreter: '3.11' is a version, but the name or path of an interpreter is "
            "expected; write python3.11");
  EXPECT_EQ(
      environment_refusal([](auto& a) {
        a.interpreter = "python3";
        a.pip = {"six"};
      }),
      "run: --interpreter is used as it is, but --pip installs packages; leave one of them out");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.interpreter = "python3";
              a.requirements = "r.txt";
            }),
            "run: --interpreter is used as it is, but --requirements installs packages; leave one "
            "of them out");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.environment = "a:1";
              a.pip = {"six"};
            }),
            "run: --environment already names a whole environment; leave --pip out, or put --pip "
            "into an environment file");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.environment = "a:1";
              a.interpreter = "x";
            }),
            "run: --environment already names a whole environment; leave --interpreter out, or put "
            "--interpreter into an environment file");
  EXPECT_EQ(environment_refusal([](auto& a) { a.rebuild = true; }),
            "run: --rebuild needs an environment; name one with --environment, --requirements, "
            "--pip, --conda-file or --image");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.conda_file = "c.yml";
              a.environment = "a:1";
            }),
            "run: --environment already names a whole environment; leave --conda-file out, or put "
            "--conda-file into an environment file");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.conda_file = "c.yml";
              a.interpreter = "python3";
            }),
            "run: --interpreter is used as it is, but --conda-file installs packages; leave one of "
            "them out");
  for (const bool file : {false, true})
    EXPECT_EQ(environment_refusal([&](auto& a) {
                a.conda_file = "c.yml";
                (file ? a.requirements : a.pip.emplace_back()) = "six";
              }),
              fmt::format("run: --conda-file already names a whole environment; leave {} out, or "
                          "put its packages among the dependencies in the conda file: - pip: [six]",
                          file ? "--requirements" : "--pip"));
}

TEST(RunEnvironment, BadValuesAreRefusedByTheirOption) {
  EXPECT_EQ(environment_refusal([](auto& a) { a.pip = {"-r r.txt"}; }),
            "run: --pip '-r r.txt': a list must contain packages, not files; to read a file, write "
            "`requirements: FILE`");
  EXPECT_EQ(environment_refusal([](auto& a) { a.pip = {"a\xff"}; }),
            "run: --pip: is not UTF-8 text, or holds control characters");
  EXPECT_EQ(environment_refusal([](auto& a) { a.interpreter = "bin/python"; }),
            "run: environment.interpreter: 'bin/python' is a relative path, but every node looks "
            "for this program; write an absolute path, or a name on PATH");
  EXPECT_EQ(environment_refusal([](auto& a) { a.environment = "tools"; }),
            "run: --environment: 'tools' has no version; write tools:VERSION or tools@latest");
  EXPECT_EQ(environment_refusal([](auto& a) { a.environment = "/nowhere/env.yml"; }),
            "run: --environment: open /nowhere/env.yml: No such file or directory");
  EXPECT_EQ(environment_refusal([](auto& a) { a.requirements = "/nowhere/r.txt"; }),
            "run: --requirements: open /nowhere/r.txt: No such file or directory");
  EXPECT_EQ(environment_refusal([](auto& a) { a.conda_file = "/nowhere/c.yml"; }),
            "run: --conda-file: open /nowhere/c.yml: No such file or directory");
}

TEST(RunEnvironment, WhatIsWrongInAFileHasItsPlace) {
  test::TempDir directory;
  directory.file("r.txt", "numpy\n-e .\n");
  directory.file("env.yml", "image: X\n");
  const std::string root = directory.path();
  EXPECT_EQ(environment_refusal([&](auto& a) { a.environment = root + "/env.yml"; }),
            root +
                "/env.yml:1:8: image: 'X' has upper-case letters, which an image's name cannot "
                "have; write x");
  directory.file("built.yml", "build: {path: nowhere}\n");
  EXPECT_EQ(environment_refusal([&](auto& a) { a.environment = root + "/built.yml"; }),
            root + "/built.yml:1:15: 'build.path': " + root + "/nowhere does not exist");
  directory.file("c.yml", "dependencies: [numpy=>1]\n");
  EXPECT_EQ(environment_refusal([&](auto& a) { a.conda_file = root + "/c.yml"; }),
            root + "/c.yml:1:16: 'numpy=>1': '=>' is not an operator; write >=");
  EXPECT_EQ(environment_refusal([&](auto& a) {
              a.requirements = root + "/r.txt";
            }).substr(0, root.size() + 16),
            root + "/r.txt:2: '-e .'");
}

// ---- containers
// ----------------------------------------------------------------------------------

TEST(RunContainer, AnImageAndPackagesOnItAreTaken) {
  test::TempDir directory;
  directory.file("conda.yml", "name: tools\nchannels: [a]\ndependencies: [numpy]\n");
  directory.file("built.yml", "name: t\nbuild: {path: d}\n");
  directory.file("d/Dockerfile", "FROM debian\n");
  spec::Notes notes;
  const auto read = [&](const RunArguments& a) {
    const auto choice = environment_of(a, notes);
    EXPECT_TRUE(choice && *choice);
    return std::get<spec::ReadEnvironment>(**choice);
  };
  RunArguments a = arguments();
  a.image = "r.io/train:1";
  EXPECT_EQ(read(a).environment.spec.definition,
            EnvironmentDefinition(DockerEnvironment{"r.io/train:1", {}, {}}));
  a.conda_file = directory / "conda.yml";
  const EnvironmentSpec both = read(a).environment.spec;
  EXPECT_EQ(both.name, "tools");
  EXPECT_EQ(std::get<DockerEnvironment>(both.definition).conda->dependencies,
            std::vector<std::string>{"numpy"});
  a = arguments();
  a.environment = directory / "built.yml";
  EXPECT_EQ(read(a).build->path, directory / "d");
  EXPECT_TRUE(notes.empty());
}

TEST(RunContainer, ItsResourcesAreTaken) {
  RunArguments a = arguments();
  a.shm_size = "8g";
  a.docker_args = "--ulimit memlock=-1 -e 'A=b c'";
  const auto spec = spec_of(a);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->resources.shm_size, gibibytes(8));
  EXPECT_EQ(spec->resources.docker_args,
            (std::vector<std::string>{"--ulimit", "memlock=-1", "-e", "A=b c"}));
  const auto refusal = [](auto change) {
    RunArguments bad = arguments();
    change(bad);
    const auto read = spec_of(bad);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_EQ(refusal([](auto& b) { b.shm_size = "lots"; }),
            "run: --shm-size 'lots' is not a size; write 512m or 2g");
  EXPECT_EQ(refusal([](auto& b) { b.shm_size = "1k"; }),
            "run: --shm-size: is 1.0 KiB; must be at least 64.0 KiB");
  EXPECT_EQ(refusal([](auto& b) { b.docker_args = "-e 'A"; }),
            "run: --docker-args: the quote ' at character 4 is not closed");
  EXPECT_EQ(refusal([](auto& b) { b.docker_args = "--rm"; }),
            "run: --docker-args: a job cannot set '--rm': Lockstep names and removes "
            "containers itself; leave the option out");
}

TEST(RunContainer, ContradictionsAreRefused) {
  EXPECT_EQ(environment_refusal([](auto& a) { a.image = "Debian"; }),
            "run: environment.image: 'Debian' has upper-case letters, which an image's name cannot "
            "have; write debian");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.image = "debian";
              a.environment = "a:1";
            }),
            "run: --environment already names a whole environment; leave --image out, or put "
            "--image into an environment file");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.image = "debian";
              a.interpreter = "python3";
            }),
            "run: --interpreter is a Python of the nodes, but --image brings its own Python; leave "
            "one of them out");
  EXPECT_EQ(environment_refusal([](auto& a) {
              a.image = "debian";
              a.pip = {"six"};
            }),
            "run: --image and --pip cannot be combined; to install packages on an image, use "
            "--conda-file, with pip packages among its dependencies: - pip: [six]");
  for (const bool size : {false, true})
    EXPECT_EQ(environment_refusal([&](auto& a) { (size ? a.shm_size : a.docker_args) = "2g"; }),
              fmt::format("run: {} needs a container; name an image with --image, or an "
                          "environment with --environment",
                          size ? "--shm-size" : "--docker-args"));
}

}  // namespace
}  // namespace lockstep::cli
