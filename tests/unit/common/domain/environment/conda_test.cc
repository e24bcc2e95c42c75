// Conda definitions: what is in their digest, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/version.h"
#include "common/domain/environment/definition.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CondaEnvironment conda() {
  CondaEnvironment made;
  made.channels = {"conda-forge", "https://host/channel"};
  made.dependencies = {"python=3.11", "conda-forge::zlib"};
  made.options = {"--no-index"};
  made.requirements = {"six"};
  made.constraints = {"six<2"};
  made.variables = {{"A", "1"}, {"B", ""}};
  return made;
}

CondaEnvironment locked() {
  CondaEnvironment made;
  made.locked = {{"", {"https://host/noarch/a-1-0.conda#sha256:00"}},
                 {"linux-64", {"https://host/linux-64/b-1-0.conda#md5:00"}}};
  return made;
}

TEST(CondaEnvironments, EverythingIsInTheDigestAndInTheOrderOfTheFile) {
  const Digest first = digest_of(conda());
  const auto changed = [](auto change) {
    CondaEnvironment other = conda();
    change(other);
    return digest_of(other);
  };
  EXPECT_EQ(first, changed([](auto&) {}));
  EXPECT_NE(first, changed([](auto& c) { std::swap(c.channels[0], c.channels[1]); }));
  EXPECT_NE(first, changed([](auto& c) { c.strict_priority = false; }));
  EXPECT_NE(first, changed([](auto& c) { std::swap(c.dependencies[0], c.dependencies[1]); }));
  EXPECT_NE(first, changed([](auto& c) { c.options.clear(); }));
  EXPECT_NE(first, changed([](auto& c) { std::swap(c.requirements, c.constraints); }));
  EXPECT_NE(first, changed([](auto& c) { c.variables["B"] = "2"; }));
  EXPECT_NE(first, changed([](auto& c) { c.variables.erase("B"); }));
  EXPECT_NE(digest_of(locked()), first);
  CondaEnvironment elsewhere = locked();
  elsewhere.locked["linux-aarch64"] = elsewhere.locked.extract("linux-64").mapped();
  EXPECT_NE(digest_of(locked()), digest_of(elsewhere));
  EXPECT_TRUE(needs_lock(conda()));
  EXPECT_TRUE(needs_lock(locked())) << "what a lock file says of a package is not all of it";
}

TEST(CondaEnvironments, TheCanonicalFormIsWhatItWas) {
  EXPECT_EQ(canonical_form(conda()),
            "lockstep environment 1\nprovider 5:conda\nchannel 11:conda-forge\n"
            "channel 20:https://host/channel\npriority 6:strict\ndependency 11:python=3.11\n"
            "dependency 17:conda-forge::zlib\noption 10:--no-index\nrequirement 3:six\n"
            "constraint 5:six<2\nvariable 1:A\nvalue 1:1\nvariable 1:B\nvalue 0:\n");
  EXPECT_EQ(canonical_form(locked()),
            "lockstep environment 1\nprovider 5:conda\npriority 6:strict\nlocked 0:\n"
            "package 41:https://host/noarch/a-1-0.conda#sha256:00\nlocked 8:linux-64\n"
            "package 40:https://host/linux-64/b-1-0.conda#md5:00\n");
}

std::string refusal_of(const CondaEnvironment& definition) {
  const Status status = validate(EnvironmentSpec{"", "", definition});
  return status ? std::string() : status.error().message;
}

TEST(CondaEnvironments, ChannelsAreNamesOrAddressesWithoutASecret) {
  EXPECT_EQ(refusal_of(conda()), "");
  EXPECT_EQ(refusal_of(locked()), "");
  const auto refused = [](const std::string& channel) {
    CondaEnvironment bad = conda();
    bad.channels = {channel};
    return refusal_of(bad);
  };
  for (const char* good : {"conda-forge/label/dev", "file:///srv/channel", "https://user@host/c",
                           "https://host:8080/team/c", "https://[::1]:80/c"})
    EXPECT_EQ(refused(good), "") << good;
  EXPECT_THAT(refused("a b"), HasSubstr("'a b' holds a blank"));
  EXPECT_THAT(refused(""), HasSubstr("environment.channels: '' is not one line"));
  EXPECT_THAT(refused("./channel"), HasSubstr("'./channel' is a path on one machine"));
  EXPECT_THAT(refused("/srv/channel"), HasSubstr("file:///"));
  for (const auto& [bad, why] : std::map<std::string, std::string>{
           {"ftp://h/x",
            "'ftp://h/x' has the scheme 'ftp'; nodes fetch only from http, https and file"},
           {"s3://bucket/x", "has the scheme 's3'"},
           {"HTTPS://h/x", "has the scheme 'HTTPS'"},
           {"http://", "'http://' names no host"},
           {"https://:80/c", "names no host"},
           {"https://user@/c", "names no host"},
           {"https://a,b/c", "names no host: 'a,b'"},
           {"https://[::1/c", "names no host: '[::1'"},
           {"https://h:99999/c", "needs a port from 1 to 65535 instead of ':99999'"},
           {"https://h:0/c", "needs a port"},
           {"https://h:/c", "needs a port"},
           {"https://h:8o/c", "needs a port"},
           {"https://[::1]80/c", "needs a port from 1 to 65535 instead of '80'"},
           {"file://tmp/c", "names no absolute path; write three slashes: file:///PATH"},
           {"file:///", "names no absolute path"},
           {"file://", "names no absolute path"},
           {"https://h/\xc3\xbc", "percent-encoded in an address; write https://h/%C3%BC"},
           {"file:/srv/c", "is not the name or address of a channel"},
           {"name:8080", "is not the name or address of a channel"},
           {"-c", "is not the name or address of a channel"}})
    EXPECT_THAT(refused(bad), HasSubstr(why)) << bad;
  for (const char* secret :
       {"https://user:secret@host/c", "https://host/t/secret/c", "https://host:80/t/secret/c",
        "https://user%3Asecret@host/c", "https://ghp_secretsecretsecretsecret@host/c"}) {
    EXPECT_THAT(refused(secret), HasSubstr("contains a password or a token")) << secret;
    EXPECT_THAT(refused(secret), Not(HasSubstr("secret")));
  }
}

TEST(CondaEnvironments, WhatCannotBeIsNamed) {
  CondaEnvironment bad;
  EXPECT_THAT(refusal_of(bad), HasSubstr("environment.dependencies: is empty"));
  bad.requirements = {"six"};
  EXPECT_EQ(refusal_of(bad), "") << "as conda, which brings pip";
  bad = locked();
  bad.dependencies = {"zlib"};
  EXPECT_THAT(refusal_of(bad), HasSubstr("together with locked packages"));
  bad = conda();
  bad.dependencies = {"https://user:secret@host/c::zlib"};
  EXPECT_THAT(refusal_of(bad),
              HasSubstr("environment.dependencies: an address contains a password"));
  bad.dependencies = {"zlib\nnumpy"};
  EXPECT_THAT(refusal_of(bad), HasSubstr("is not one line"));
  bad.dependencies.assign(kMaxEnvironmentLines + 1, "a");
  EXPECT_THAT(refusal_of(bad), HasSubstr("environment.dependencies: has 10001 lines"));
  bad = locked();
  bad.locked["linux-64"] = {"https://user:secret@host/a-1-0.conda#md5:00"};
  EXPECT_THAT(refusal_of(bad), HasSubstr("environment.locked: an address contains a password"));
}

TEST(CondaEnvironments, VariablesAreThoseOfAJobButNotARanks) {
  const auto refused = [](const std::string& name, const std::string& value = "1") {
    CondaEnvironment bad = conda();
    bad.variables = {{name, value}};
    return refusal_of(bad);
  };
  for (const char* good : {"OMP_NUM_THREADS", "NCCL_DEBUG", "PYTHONPATH", "ranks"})
    EXPECT_EQ(refused(good), "") << good;
  EXPECT_EQ(refused("TEXT", "two\nlines"), "");
  EXPECT_THAT(refused("A=B"), HasSubstr("environment.variables: 'A=B' is not a variable name"));
  EXPECT_THAT(refused("A", std::string(1 << 17, 'a')), HasSubstr("environment.variables.A: has"));
  for (const char* owned : {"RANK", "MASTER_ADDR", "PATH", "CONDA_PREFIX", "LOCKSTEP_JOB",
                            "AZUREML_RUN_ID", "PMIX_RANK", "CUDA_VISIBLE_DEVICES"})
    EXPECT_THAT(refused(owned), HasSubstr("which Lockstep sets for each rank")) << owned;
}

TEST(Versions, AreComparedNumberByNumber) {
  EXPECT_LT(version_numbers("2.9"), version_numbers("2.36"));
  EXPECT_LT(version_numbers("2.36"), version_numbers("2.36.1"));
  EXPECT_LT(version_numbers("2.36"), version_numbers("12"));
  for (const char* none : {"", ".", "2.", ".2", "2..3", "2.36-9", " 2", "2 ", "-2", "99999999999"})
    EXPECT_FALSE(version_numbers(none)) << none;
}

}  // namespace
}  // namespace lockstep
