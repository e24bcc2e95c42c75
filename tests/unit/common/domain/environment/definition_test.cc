#include "common/domain/environment/definition.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

VenvEnvironment venv() {
  return {"python3", {"--index-url https://a"}, {"numpy==1.26.4", "torch"}, {"six<2"}};
}

TEST(Environments, NamesAndVersionsAreNotInTheDigest) {
  const EnvironmentSpec one{"a", "1", venv()};
  const EnvironmentSpec other{"b", "2", venv()};
  EXPECT_EQ(digest_of(one.definition), digest_of(other.definition));
}

TEST(Environments, EverythingElseIs) {
  const Digest first = digest_of(venv());
  const auto changed = [](auto change) {
    VenvEnvironment other = venv();
    change(other);
    return digest_of(other);
  };
  EXPECT_NE(first, changed([](auto& v) { v.python = "python3.12"; }));
  EXPECT_NE(first, changed([](auto& v) { std::swap(v.requirements[0], v.requirements[1]); }));
  EXPECT_NE(first, changed([](auto& v) { v.requirements.pop_back(); }));
  EXPECT_NE(first, changed([](auto& v) { std::swap(v.options, v.constraints); }));
  EXPECT_NE(digest_of(HostEnvironment{}), digest_of(HostEnvironment{"python3"}));
  EXPECT_NE(digest_of(HostEnvironment{"python3"}), digest_of(VenvEnvironment{}));
}

TEST(Environments, NoTextCanPoseAsTwoFields) {
  VenvEnvironment two = venv(), one = venv();
  two.requirements = {"a", "b"};
  one.requirements = {"a\nrequirement 1:b"};  // refused by validate; its form differs anyway
  EXPECT_NE(canonical_form(two), canonical_form(one));
  EXPECT_FALSE(validate({"", "", one}));
}

// A node's caches and the locks of the launcher are found by it: it may not change by accident.
TEST(Environments, TheCanonicalFormIsWhatItWas) {
  EXPECT_EQ(canonical_form(venv()),
            "lockstep environment 1\nprovider 4:venv\npython 7:python3\n"
            "option 21:--index-url https://a\nrequirement 13:numpy==1.26.4\nrequirement 5:torch\n"
            "constraint 5:six<2\n");
  EXPECT_EQ(canonical_form(HostEnvironment{"/opt/py/bin/python"}),
            "lockstep environment 1\nprovider 4:host\ninterpreter 18:/opt/py/bin/python\n");
}

DockerEnvironment docker() {
  CondaEnvironment conda;
  conda.dependencies = {"numpy"};
  return {"", ImageBuild{sha256("context"), "Dockerfile"}, conda};
}

TEST(Environments, OfAnImageAllButTheNameIsInTheDigest) {
  const Digest first = digest_of(docker());
  const auto changed = [](auto change) {
    DockerEnvironment other = docker();
    change(other);
    return digest_of(other);
  };
  EXPECT_EQ(digest_of(EnvironmentSpec{"a", "1", docker()}.definition), first);
  EXPECT_NE(first, changed([](auto& d) { d.build->context = sha256("other"); }));
  EXPECT_NE(first, changed([](auto& d) { d.build->dockerfile = "gpu/Dockerfile"; }));
  EXPECT_NE(first, changed([](auto& d) { d.conda->dependencies = {"scipy"}; }));
  EXPECT_NE(first, changed([](auto& d) { d.conda.reset(); }));
  EXPECT_NE(digest_of(DockerEnvironment{"a", {}, {}}), digest_of(DockerEnvironment{"b", {}, {}}));
  EXPECT_NE(digest_of(DockerEnvironment{"a", {}, docker().conda}), digest_of(*docker().conda));
  EXPECT_EQ(canonical_form(DockerEnvironment{"debian:12", {}, {}}),
            "lockstep environment 1\nprovider 6:docker\nimage 9:debian:12\n");
  DockerEnvironment built = docker();
  built.conda.reset();
  EXPECT_EQ(canonical_form(built),
            "lockstep environment 1\nprovider 6:docker\nimage 0:\ncontext 64:" +
                sha256("context").hex() + "\ndockerfile 10:Dockerfile\n");
}

TEST(Environments, ADockerfileIsAPathOfItsContext) {
  const auto refusal = [](const std::string& path) {
    DockerEnvironment built = docker();
    built.build->dockerfile = path;
    const Status status = validate(EnvironmentSpec{"", "", built});
    return status ? std::string() : status.error().message;
  };
  const std::string key = "environment.build.dockerfile_path: ";
  EXPECT_EQ(refusal("gpu/..a/Dockerfile"), "");
  EXPECT_EQ(refusal(""), key + "'' is empty; leave it out to use Dockerfile");
  EXPECT_EQ(refusal("/etc/x"),
            key + "'/etc/x' is absolute; write a path relative to the folder that is built");
  EXPECT_EQ(refusal("a/../b"),
            key + "'a/../b' leads out of the folder that is built; put the file into that folder");
  EXPECT_EQ(refusal(".."),
            key + "'..' leads out of the folder that is built; put the file into that folder");
  EXPECT_FALSE(validate(EnvironmentSpec{"", "", DockerEnvironment{}}));
  DockerEnvironment both = docker();
  both.image = "debian";
  EXPECT_FALSE(validate(EnvironmentSpec{"", "", both}));
}

TEST(Environments, ToolsSeeWhatEnginesOfContainersNeed) {
  for (const char* name :
       {"DOCKER_HOST", "CONTAINERS_CONF", "CONTAINER_HOST", "PODMAN_USERNS", "BUILDKIT_PROGRESS",
        "XDG_RUNTIME_DIR", "LOCKSTEP_CONTAINER_ENGINE", "LOCKSTEP_PODMAN_MOUNTS"}) {
    EXPECT_TRUE(is_engine_variable(name)) << name;
    EXPECT_TRUE(is_tool_variable(name)) << name;
  }
  EXPECT_TRUE(is_tool_variable("PIP_INDEX_URL"));
  for (const char* name : {"PIP_INDEX_URL", "PATH", "XDG_SESSION_ID", "AWS_SECRET_ACCESS_KEY"})
    EXPECT_FALSE(is_engine_variable(name)) << name;
  EXPECT_FALSE(is_tool_variable("AWS_SECRET_ACCESS_KEY"));
}

TEST(Environments, WhatCannotBeIsNamed) {
  const auto refusal = [](EnvironmentSpec spec) {
    const Status status = validate(spec);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(refusal({"good-1.2", "7", venv()}), "");
  EXPECT_NE(refusal({"-bad", "", venv()}).find("environment.name: '-bad'"), std::string::npos);
  EXPECT_NE(refusal({"a", "1 2", venv()}).find("environment.version"), std::string::npos);
  EXPECT_NE(refusal({"", "", HostEnvironment{"bin/python"}}).find("is a relative path"),
            std::string::npos);
  EXPECT_EQ(refusal({"", "", HostEnvironment{"py\nthon"}}),
            "environment.interpreter: holds a line break");
  EXPECT_EQ(refusal({"", "", HostEnvironment{std::string("py\0thon", 7)}}),
            "environment.interpreter: holds a NUL character");
  CondaEnvironment conda;
  conda.dependencies = {"zlib"};
  for (const char* channel :
       {"http://h/c?token=secret", "http://h/c#secret", "http://h?a=secret"}) {
    conda.channels = {channel};
    const std::string said = refusal({"", "", conda});
    EXPECT_NE(said.find("environment.channels: an address has a "), std::string::npos) << said;
    EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  }
  VenvEnvironment bad = venv();
  bad.python = "";
  EXPECT_NE(refusal({"", "", bad}).find("leave it out for python3"), std::string::npos);
  bad = venv();
  bad.requirements.resize(kMaxEnvironmentLines + 1, "a");
  EXPECT_NE(refusal({"", "", bad}).find("has 10001 lines"), std::string::npos);
  bad = venv();
  bad.requirements = {std::string(kMaxEnvironmentDefinitionBytes, 'a')};
  EXPECT_NE(refusal({"", "", bad}).find("bytes; at most"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
