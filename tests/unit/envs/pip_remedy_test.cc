// What a person is told to do about a package that pip did not find, and an index that is away.

#include "envs/venv/pip_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string not_found(const std::string& tail) {
  return pip_remedy(ErrorCode::invalid_argument, tail);
}

TEST(PipRemedy, ANameThatNoIndexHas) {
  EXPECT_EQ(
      not_found("Looking in links: /wheels\n"
                "ERROR: Could not find a version that satisfies the requirement lockstep-nothing"
                "==9.9 (from versions: none)\n"
                "ERROR: No matching distribution found for lockstep-nothing==9.9\n"),
      "the node found no 'lockstep-nothing==9.9' for its Python, neither in its package index nor "
      "by --find-links; correct the name or version in the requirements, or name the index that "
      "has it (--extra-index-url)");
}

TEST(PipRemedy, OtherVersionsAreListed) {
  EXPECT_EQ(
      not_found("ERROR: Could not find a version that satisfies the requirement inner>=2 (from "
                "outer) (from versions: 1.0, 1.1)\n"),
      "the index has no 'inner>=2' for the node's Python, but other versions: 1.0, 1.1; choose "
      "one of them in the requirements");
}

TEST(PipRemedy, OfManyVersionsTheNewestAreListed) {
  const std::string sign = "ERROR: Could not find a version that satisfies the requirement a==0 ";
  EXPECT_THAT(not_found(sign + "(from versions: 1, 2, 3, 4, 5, 6, 7, 8)\n"),
              HasSubstr("other versions: 1, 2, 3, 4, 5, 6, 7, 8; choose"));
  EXPECT_THAT(not_found(sign + "(from versions: 1, 2, 3, 4, 5, 6, 7, 8, 9)\n"),
              HasSubstr("other versions: …, 2, 3, 4, 5, 6, 7, 8, 9; choose"));
}

TEST(PipRemedy, WithoutTheFirstLineTheSecondIsEnough) {
  EXPECT_THAT(not_found("0, 1.1)\nERROR: No matching distribution found for six==9 (from a)"),
              HasSubstr("the node found no 'six==9' for its Python"));
}

TEST(PipRemedy, HostileTextIsShortAndPrintable) {
  const std::string sign = "Could not find a version that satisfies the requirement ";
  const std::string long_name = not_found(sign + std::string(100'000, 'x') + " (from versions: ");
  EXPECT_LT(long_name.size(), 600U);
  EXPECT_THAT(long_name, HasSubstr("…' for its Python"));
  const std::string remedy = not_found(sign + "a\x1b[31m\t\xff (from versions: \x1b]0;b, " +
                                       std::string(100'000, '9') + ")\n");
  EXPECT_LT(remedy.size(), 600U);
  EXPECT_THAT(remedy, Not(HasSubstr("\x1b")));
  EXPECT_THAT(remedy, Not(HasSubstr("\t")));
  EXPECT_THAT(remedy, Not(HasSubstr("\xff")));
  EXPECT_THAT(not_found(sign + "a (from versions: , , , )\n"), HasSubstr("no 'a' for"));
  EXPECT_THAT(not_found(sign + "a (from versions: )\n"), HasSubstr("found no 'a' for"));
  EXPECT_EQ(not_found(sign), "");
}

TEST(PipRemedy, AnIndexThatIsNotReached) {
  const std::string tail =
      "Looking in indexes: http://ann:s3cr3t@127.0.0.1:9/simple\n"
      "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by "
      "'NewConnectionError('<pip._vendor>: Failed to establish a new connection: [Errno 111] "
      "Connection refused')': /simple/six/\n"
      "ERROR: Could not find a version that satisfies the requirement six (from versions: none)\n";
  EXPECT_EQ(pip_remedy(ErrorCode::unavailable, tail),
            "the node cannot reach the package index at http://127.0.0.1:9: Connection refused; "
            "correct the index (--index-url in the requirements, or the agent's PIP_INDEX_URL), or "
            "let the node connect to it");
  EXPECT_THAT(pip_remedy(ErrorCode::unavailable, "[Errno -3] Temporary failure in name resolution"),
              HasSubstr("the package index: Temporary failure in name resolution; correct"));
}

TEST(PipRemedy, OtherErrorsHaveNone) {
  EXPECT_EQ(not_found("ERROR: ResolutionImpossible: for help visit https://pip.pypa.io\n"), "");
  EXPECT_EQ(not_found(""), "");
  EXPECT_EQ(pip_remedy(ErrorCode::unavailable, "ERROR: HTTP error 503 Server Error: a\n"), "");
  EXPECT_EQ(pip_remedy(ErrorCode::corrupt, "No matching distribution found for six\n"), "");
}

}  // namespace
}  // namespace lockstep::envs
