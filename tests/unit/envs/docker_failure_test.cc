// What the words of engines are taken for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envs/docker/failure.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

Toolbox::Answer said(const std::string& tail, int exit_code = 1) { return {exit_code, "", tail}; }

// As docker 20.10 and podman 4.3 say it of a registry that answers.
TEST(DockerFailure, AnImageThatIsNowhereIsNotTheNetworks) {
  for (const char* tail : {
           "Error response from daemon: pull access denied for x, repository does not exist or may "
           "require 'docker login': denied: requested access to the resource is denied\n",
           "Error response from daemon: manifest for localhost:5000/x:1 not found: manifest "
           "unknown: "
           "manifest unknown\n",
           "Trying to pull localhost:5000/x:1...\nError: initializing source "
           "docker://localhost:5000/x:1: reading manifest 1 in localhost:5000/x: manifest "
           "unknown\n",
       }) {
    const Error error = pull_failure("x:1", "docker 20", said(tail));
    EXPECT_EQ(error.code, ErrorCode::not_found) << tail;
    EXPECT_THAT(error.message,
                HasSubstr("the image x:1 is neither in docker 20 of this node nor in"));
    EXPECT_THAT(error.message, Not(HasSubstr("(network error)")));
  }
}

TEST(DockerFailure, ARegistryThatWasNotReachedIs) {
  for (const char* tail : {
           "Error response from daemon: Get \"http://localhost:9/v2/\": dial tcp 127.0.0.1:9: "
           "connect: "
           "connection refused\n",
           "Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup "
           "registry-1.docker.io: no such host\n",
           "Error response from daemon: toomanyrequests: You have reached your pull rate limit.\n",
       }) {
    const Error error = pull_failure("x:1", "docker 20", said(tail));
    EXPECT_EQ(error.code, ErrorCode::unavailable) << tail;
    EXPECT_THAT(
        error.message,
        HasSubstr("is not in docker 20 of this node, and could not be pulled (network error): "));
  }
}

TEST(DockerFailure, HasWhatWasSaidLast) {
  EXPECT_EQ(build_failure("the image could not be built",
                          said("Step 2/2 : RUN exit 7\n ---> Running in 0000f1625d47\n"
                               "\033[91mone\n\033[0mRemoving intermediate container 0000f1625d47\n"
                               "The command '/bin/sh -c exit 7' returned a non-zero code: 7\n",
                               7))
                .message,
            "the image could not be built (exit code 7):\nStep 2/2 : RUN exit 7\none\n"
            "The command '/bin/sh -c exit 7' returned a non-zero code: 7");
  EXPECT_EQ(engine_failure("docker 20 could not save the image x",
                           said("Error response from daemon: No such image: x\r\n"
                                "tar: This does not look like a tar archive\n"
                                "tar: Exiting with failure status due to previous errors\n\n"))
                .message,
            "docker 20 could not save the image x: Error response from daemon: No such image: x "
            "(exit code 1)");
  EXPECT_EQ(engine_failure("it failed", said("", 137)).message,
            "it failed (it was killed) (exit code 137)");
  EXPECT_EQ(last_words("docker: it is so.\nSee 'docker run --help'.\n"), "docker: it is so.");
  EXPECT_EQ(last_words("docker: it is so\n\nRun 'docker run --help' for more information\n"),
            "docker: it is so");
}

}  // namespace
}  // namespace lockstep::envs
