// Dockerfiles that would reach what others have in a node's engine.

#include "envs/docker/dockerfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

constexpr BuildEngine kDocker{};
constexpr BuildEngine kPodman{true, false};

std::string refusal(const std::string& text, const BuildEngine& engine = kDocker) {
  const Status checked = check_dockerfile(text, engine);
  return checked ? "" : checked.error().message;
}

TEST(Dockerfile, WhatPeopleWriteIsTaken) {
  for (const std::string text : {
           "FROM python:3.12\nRUN pip install six\n",
           "# syntax=docker/dockerfile:1.7\nFROM scratch\nCOPY . /\n",
           "#syntax = docker.io/docker/dockerfile:1\nFROM registry:5000/team/train@sha256:ab\n",
           "ARG VERSION=3\nFROM python:${VERSION} AS b\nFROM debian\nCOPY --from=b /x /\n",
           "FROM a:1 AS Build\nFROM Build\nCOPY --from=0 /x /\nCOPY --from=build /y /\n",
           "ARG BASE=python\nARG TAG\nFROM --platform=$BUILDPLATFORM ${BASE}:${TAG:-3.12} AS x\n",
           "FROM debian\nRUN --mount=type=cache,target=/root/.cache pip install six\n",
           "FROM debian\nRUN python3 -c \"\\\nfrom a import b; \\\nfrom PIL import Image\"\n",
           "FROM debian\nRUN <<E python3\nfrom abc import x as y\nE\n",
           "FROM debian AS base\nRUN --mount=type=bind,from=base,target=/x true\n",
       }) {
    EXPECT_EQ(refusal(text), "") << text;
    EXPECT_EQ(refusal(text, kPodman), "") << text;
  }
}

TEST(Dockerfile, IdsAreNoNames) {
  for (const std::string text : {
           "FROM 3a\n",
           "from 3A AS x\n",
           "FROM \\\n3a\n",
           "FROM \\\n# a comment\n\n  3a\n",
           "# escape=`\nFROM `\n3a\n",
           "FROM \"3a\"\n",
           "FROM sha256:0123456789abcdef\n",
           "FROM debian\nCOPY --from=3a / /\n",
           "FROM debian\nCOPY --from=1 / /\n",
           "FROM debian\nADD --chown=1 --from=3a / /\n",
           "FROM debian\nONBUILD COPY --from=3a / /\n",
           "FROM debian\nRUN --mount=type=bind,from=3a,target=/x cp -r /x /y\n",
           "FROM debian\nRUN --mount=target=/x,\"from=3a\" true\n",
           "ARG A=3a\nFROM $A\n",
           "ARG A=3\nARG B=a\nFROM ${A}${B}\n",
           "ARG A=sha256\nARG B=0123\nFROM ${A}:${B}\n",
           "FROM ${A:-3a}\n",
           "FROM ${A#x}\n",
           "FROM 3a AS 3a\nFROM debian AS 3a\n",
           "FROM debian AS ab\nRUN <<E\nE\nFROM ab\n",
           "FROM debian\nRUN <<\"E\\\"\nE\\\nFROM 3a\n",
       })
    EXPECT_THAT(refusal(text), HasSubstr("is refused: ")) << text;
}

TEST(Dockerfile, ImagesOfOtherJobsAreNotNamed) {
  for (const std::string text : {
           "FROM lockstep/env:0123\n",
           "FROM docker.io/lockstep/env:0123\n",
           "FROM localhost/lockstep/env:0123\n",
           "ARG A=lockstep\nFROM ${A}/env:0123\n",
           "FROM debian\nCOPY --from=lockstep/env:0123 / /\n",
           "FROM debian\nRUN --mount=from=lockstep/env:0123,target=/x true\n",
       })
    EXPECT_THAT(refusal(text), HasSubstr("of another job's")) << text;
  EXPECT_EQ(refusal("FROM registry.example/lockstep/env:1\nFROM lockstep/environment:1\n"), "");
}

TEST(Dockerfile, NoOtherFrontendIsTaken) {
  for (const std::string text : {
           "# syntax=evil/frontend\nFROM debian\n",
           "#SYNTAX=docker.io/evil/dockerfile:1\nFROM debian\n",
           "# escape=`\n# syntax = docker/dockerfiles:1\nFROM debian\n",
           "// syntax=evil/frontend\n",
           "#!/usr/bin/env x\n// syntax=evil/frontend\n",
           "{\"syntax\": \"evil/frontend\"}\n",
           "\xef\xbb\xbf# syntax=evil/frontend\nFROM debian\n",
       })
    EXPECT_THAT(refusal(text), HasSubstr("docker's own")) << text;
}

TEST(Dockerfile, PodmanTakesNoPathsOfTheNode) {
  for (const std::string text : {
           "FROM docker-archive:/root/image.tar\n",
           "FROM dir:tmp\n",
           "FROM debian\nCOPY --from=oci:/home/alice/image / /\n",
           "FROM debian\nCOPY --from=$X / /\n",
           "FROM debian\nRUN --mount=type=cache,target=/x,id=../../root true\n",
           "FROM debian\nRUN --mount=type=$T,target=/x true\n",
       })
    EXPECT_THAT(refusal(text, kPodman), HasSubstr("is refused: ")) << text;
  const std::string cached = "FROM debian\nRUN --mount=type=cache,target=/x true\n";
  EXPECT_EQ(refusal(cached, kPodman), "");
  EXPECT_THAT(refusal(cached, BuildEngine{true, true}), HasSubstr("leave --mount=type=cache out"));
}

}  // namespace
}  // namespace lockstep::envs
