// Dockerfiles that would reach what others have in a node's engine.

#include "envs/docker/dockerfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
           "\xef\xbb\xbf# \u00e0\u00a0la carte\r\nFROM debian\r\nRUN a \\\r\n  b\r\n",
           "# a\u00a0comment\nFROM debian\nRUN echo \u00e0\u00a0la \u00e0\nENV A=\u00e0 B=\u5143\n",
           "FROM debian\nLABEL a=\"10\u00a0000\"\nCOPY \u00e0 /\u00e0\nRUN <<E\n\u00e0\nE\n",
           "FROM debian\nRUN --mount=type=cache,target=/x\\\n a \\\n b\n",
           "ARG A=x\nFROM debian\nCOPY --chown=$A a /\nRUN a \\\n env $A b\nFROM ${A}\n",
           "FROM debian\nRUN --mount=type=cache,target=\"/x\" echo \"$A\" '\\n' `b` \\\\\nRUN a\n",
           "ARG A=\"python\"\nARG B=${A:-x}\nFROM \"${B}\":3\nRUN psql <<E\nSELECT 1\nFROM a, "
           "b;\nE\n",
           "FROM debian AS ad\nCOPY --from=ad /x /\nFROM debian\nCOPY --from=0 /x /\nRUN sort <x\n",
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
           "FROM debian\nRUN <<'E\\'\nE\\\nFROM \\\n3a\n",
           "FROM debian\nRUN <\\\n<'E\\'\nE\\\nFROM \\\n3a\n",
           "FROM debian AS ab\nRUN <\\\n<E\nFROM debian AS ac\nE\nCOPY --from=ac / /\n",
           // Blanks of a continued line count; newer BuildKit does not continue after two escapes.
           "FROM\\\n 3a\n",
           "FROM debian\nRUN echo \\\\\nFROM \\\n3a\n",
           // Flags in quotes, with blanks, and without a '='.
           "FROM debian\nRUN --mount=\"target=/x y,from=3a\" true\n",
           "FROM debian\nRUN --mount=target=/x\\ y,from=3a true\n",
           "FROM debian\nRUN --mount='\"'\" ,from=3a\" true\n",
           "FROM --platform=\"linux amd64\" 3a\n",
           "FROM debian\nCOPY --from 3a / /\n",
           "FROM debian\nRUN --mount from=3a true\n",
           // Stages that an engine does not have.
           "FROM debian\nCOPY --from=0 / /\n",
           "FROM debian\nFROM debian\nCOPY --from=00 / /\n",
           // What variables become.
           "ARG A=3\nFROM \"$A\"a\n",
           "ARG A=3\nFROM $A\"a\"\n",
           "ARG B=3\nARG A=$B\nFROM ${A}a\n",
           "ARG A=\"x 3a\"\nFROM $A\n",
           "ARG A$1=3a\nFROM $A\n",
           "ARG B=A\nARG $B=3a\nFROM $A\n",
           "FROM x$1a\n",
           "FROM x$@y\n",
           "FROM ${A:-${B:-3a}}\n",
       })
    EXPECT_THAT(refusal(text), HasSubstr("is refused: ")) << text;
}

// Of a size that no engine takes, in a time that is bounded.
TEST(Dockerfile, WhatWouldTakeTooLongIsRefused) {
  std::string text = "RUN <<E\n";
  for (int i = 0; i < 100'000; ++i) text += "RUN a\\\n";
  EXPECT_THAT(refusal(text), HasSubstr("too many continued lines"));
  std::string values;
  for (int i = 0; i < 1'000; ++i) values += "ARG A=$A$A$A\n";
  EXPECT_THAT(refusal(values + "FROM $A\n"), HasSubstr("cannot be determined"));
}

// Parsers in Go take them for blanks: at both ends of a line, between words of ARG and ENV, and,
// since they read flags byte by byte, two bytes of other characters.
TEST(Dockerfile, BlanksOfUnicodeHideNothing) {
  for (const std::string& blank :
       std::vector<std::string>{"\u00a0", "\u0085", "\u1680", "\u2003", "\u2028", "\u202f",
                                "\u205f", "\u3000", "\x85", "\xa0"}) {
    for (const std::string& text : std::vector<std::string>{
             blank + "RUN --mount=type=cache,id=../../etc,target=/x true",
             " " + blank + "RUN true",
             "RUN a \\\n" + blank + "b",
             blank + "FROM 3a",
             blank + "# a comment",
             "FROM " + blank + "3a",
             "FROM 3a " + blank,
             "ARG A=1" + blank + "B=3a",
             "ENV A " + blank + "3a",
             "ONBUILD " + blank + "COPY --from=3a / /",
             "RUN " + blank + "--mount=from=3a,target=/x true",
             "RUN --network=none " + blank + "--mount=from=3a,target=/x true",
             "COPY --chown=0" + blank + "--from=X / /y",
         }) {
      EXPECT_THAT(refusal("FROM debian\n" + text + "\n"), HasSubstr("is refused: ")) << text;
      EXPECT_THAT(refusal("FROM debian\n" + text + "\n", kPodman), HasSubstr("is refused: "))
          << text;
    }
  }
  EXPECT_EQ(refusal("FROM debian\n\u00a0RUN true\n"),
            "the Dockerfile's line 2 is refused: it has the character U+00A0 at its begin, which "
            "engines take for a blank; write a plain blank");
  EXPECT_EQ(
      refusal("FROM debian\nARG A=1\u2003B=3a\n"),
      "the Dockerfile's line 2, 'ARG A=1\u2003B=3a', is refused: it has the character U+2003, "
      "which engines take for a blank; write a plain blank");
}

TEST(Dockerfile, LettersThatGoFoldHideNothing) {
  for (const std::string text :
       {"FROM 3a a\u017f x\n", "ONBU\u0130LD COPY --from=3a / /\n", "FROM 3\u00e4\n"})
    EXPECT_THAT(refusal(text), HasSubstr("is refused: ")) << text;
}

TEST(Dockerfile, ControlCharactersAreRefused) {
  for (const std::string text : {
           "FROM debian\nRUN echo \\\v\nFROM \\\n3a\n",
           "FROM debian\nRUN echo \\\f\nFROM \\\n3a\n",
           "FROM debian\nRUN echo \\\r\r\nFROM \\\n3a\n",
           "FROM debian\rRUN true\r",
       })
    EXPECT_THAT(refusal(text), HasSubstr("a vertical tab, a form feed or a carriage return"))
        << text;
  EXPECT_THAT(refusal(std::string("FROM debian\n\0", 13)), HasSubstr("null character"));
}

TEST(Dockerfile, ImagesOfOtherJobsAreNotNamed) {
  for (const std::string text : {
           "FROM lockstep/env:0123\n",
           "FROM docker.io/lockstep/env:0123\n",
           "FROM localhost/lockstep/env:0123\n",
           "ARG A=lockstep\nFROM ${A}/env:0123\n",
           "FROM debian\nCOPY --from=lockstep/env:0123 / /\n",
           "FROM debian\nRUN --mount=from=lockstep/env:0123,target=/x true\n",
           "RUN <<E\nFROM debian AS lockstep/env:0123\nE\nCOPY --from=lockstep/env:0123 / /\n",
           "ARG B=lock\nARG A=$B\nFROM ${A}step/env:0123\n",
           "FROM lock$A\"step/env:0123\"\n",
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
           "#\u00a0syntax=evil/frontend\nFROM debian\n",
           "# escape=`\n#\u2003syntax\u00a0=evil/frontend\nFROM debian\n",
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
           "FROM debian AS 3A\nFROM debian\nCOPY --from=3a / /\n",  // it compares names exactly
           "FROM debian\nCOPY --from$1=3a / /\n",
           "FROM debian\nCOPY --fromage=3a / /\n",
           "FROM debian\nRUN --mo${A}unt=from=3a,target=/x true\n",
       })
    EXPECT_THAT(refusal(text, kPodman), HasSubstr("is refused: ")) << text;
  const std::string cached = "FROM debian\nRUN --mount=type=cache,target=/x true\n";
  EXPECT_EQ(refusal(cached, kPodman), "");
  EXPECT_THAT(refusal(cached, BuildEngine{true, true}), HasSubstr("leave --mount=type=cache out"));
}

// Of podman 4.3.1 as root. A cache needs nothing but a target: /a/link is where a link in the cache
// /a leads.
TEST(Dockerfile, MountsThatLeadOutAreRefused) {
  constexpr BuildEngine kLeaky{true, false, "podman 4.3.1"};
  for (const std::string mount : {"type=cache,target=/a", "target=/a", "type=bind,from=x,source=/l",
                                  "type=cache,target=/a,id=x", "type=tmpfs,target=/a,from=x",
                                  "type=tmpfs,type=cache,target=/a", "type=secret,id=x", ""}) {
    const std::string text = "FROM debian\nRUN --mount=" + mount + " true\n";
    EXPECT_THAT(refusal(text, kLeaky), HasSubstr("podman 4.3.1 runs as root here")) << text;
    EXPECT_EQ(refusal(text, kPodman), "") << text;
  }
  EXPECT_EQ(refusal("FROM debian\nRUN --mount=type=tmpfs,target=/x,size=1m true\n", kLeaky), "");
}

}  // namespace
}  // namespace lockstep::envs
