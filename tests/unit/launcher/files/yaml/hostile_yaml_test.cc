// Job files that are made to take time or memory. Each is read in a process of its own, whose cpu
// time and memory are what is looked at.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif
constexpr double kMostSeconds = kIsSanitized ? 10 : 1;
constexpr long kMostKib = 512 << 10;  // with the library's own queue of tokens

std::string repeated(std::string_view piece, std::size_t bytes = kMaxFileBytes - 100) {
  std::string text;
  text.reserve(bytes);
  while (text.size() + piece.size() <= bytes) text += piece;
  return text;
}

// Each list ten times the one before.
std::string laughs() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name <= 'z'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    text += std::string(1, name) + ": &" + name + " [" + before;
    for (int i = 1; i < 10; ++i) text += "," + before;
    text += "]\n";
  }
  return text;
}

std::string many_keys() {
  const std::string same(40, 'k');
  std::string text;
  for (int i = 100'000; text.size() + 60 < kMaxFileBytes; ++i)
    text += same + std::to_string(i) + ": 1\n";
  return text;
}

std::string many_anchors() {
  std::string text;
  for (int i = 0; text.size() + 60 < kMaxFileBytes; ++i)
    text += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " 1\n";
  return text;
}

struct Hostile {
  const char* name;
  std::string text;
  std::string says;  // a part of the error; "": none is asked for
};
void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

std::vector<Hostile> all() {
  const std::string deep = "levels deep", values = "values (aliases expanded)";
  const std::string half = repeated("x", kMaxFileBytes / 2);
  return {
      {"Brackets", "a: " + repeated("["), deep},
      {"Braces", "a: " + repeated("{"), deep},
      {"Dashes", "a:\n" + repeated("- "), deep},
      {"QuestionMarks", repeated("? "), deep},
      {"OpenMaps", "a: " + repeated("{a: "), deep},
      {"BillionLaughs", laughs(), values},
      {"ALargeTextAgainAndAgain",
       "a: &a " + half + "\nb: [" + repeated("*a,", kMaxFileBytes / 4) + "]\n",
       "bytes of text (aliases expanded)"},
      {"AnAliasInItsAnchor", "a: &a [*a]\n", "alias refers to the value that contains it"},
      {"ManyKeys", many_keys(), "unknown key"},
      {"ManyAnchors", many_anchors(), "unknown key"},
      {"ManyTexts", "a: [" + repeated("'',") + "]", values},
      {"ManyEmptyLists", "a: [" + repeated("[],") + "]", values},
      {"ManyOpenQuotes", "a: [" + repeated("\","), values},
      {"OneText", "command: " + repeated("x "), ""},
      {"OneTextOfLines", "command: |\n" + repeated(" \n"), ""},
      {"OneKey", half + ": 1\n", "bad YAML"},
      {"TooLarge", "command: " + repeated("x", kMaxFileBytes + 1), "a job file has at most"},
      {"Tags", "a: " + repeated("!a "), "bad YAML"},
      {"Documents", repeated("---\n"), "is empty"},
      {"Comments", "command: x\n" + repeated("#\n"), ""},
  };
}

class HostileYaml : public testing::TestWithParam<Hostile> {};

TEST_P(HostileYaml, TakesLittleTimeAndMemory) {
  const Hostile& hostile = GetParam();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto job = parse_job("job.yml", hostile.text);
    const bool is_said = !job && job.error().message.starts_with("job.yml:") &&
                         job.error().message.find(hostile.says) != std::string::npos;
    ::_exit(is_said || hostile.says.empty() ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  const auto job = parse_job("job.yml", hostile.text);
  EXPECT_EQ(WEXITSTATUS(status), 0) << (job ? "was accepted" : job.error().message.substr(0, 300));
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  EXPECT_LT(seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), kMostSeconds);
  if (!kIsSanitized) {
    EXPECT_LT(usage.ru_maxrss, kMostKib);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileYaml, testing::ValuesIn(all()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::spec
