// Ends the program when one of its tests takes longer than LOCKSTEP_TEST_LIMIT seconds (default
// 300), and names the test. ctest limits only whole programs, which a slow machine may well exceed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace lockstep {
namespace {

constexpr unsigned kDefaultSeconds = 300;
std::string message;  // written by the signal handler

void end(int) {
  static_cast<void>(::write(STDERR_FILENO, message.data(), message.size()) == 0);
  std::signal(SIGALRM, SIG_DFL);
  static_cast<void>(std::raise(SIGALRM));
}

class TestLimit : public testing::EmptyTestEventListener {
 public:
  explicit TestLimit(unsigned limit) : seconds_(limit) {}

  void OnTestStart(const testing::TestInfo& test) override {
    message = std::string("[ TIMEOUT  ] ") + test.test_suite_name() + "." + test.name() +
              " did not end within " + std::to_string(seconds_) + " s\n";
    std::signal(SIGALRM, end);
    ::alarm(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { ::alarm(0); }

 private:
  const unsigned seconds_;
};

unsigned limit() {
  const char* text = std::getenv("LOCKSTEP_TEST_LIMIT");
  const int seconds = text == nullptr ? 0 : std::atoi(text);
  return seconds > 0 ? static_cast<unsigned>(seconds) : kDefaultSeconds;
}

// gtest owns the listener.
const bool is_added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new TestLimit(limit()));
  return true;
}();

}  // namespace
}  // namespace lockstep
