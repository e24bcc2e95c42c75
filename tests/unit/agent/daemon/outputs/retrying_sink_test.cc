#include "agent/daemon/outputs/retrying_sink.h"

#include <gmock/gmock.h>

namespace lockstep::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A launcher that answers as it is told, after so many of 10 bytes.
class ScriptedSink final : public OutputSink {
 public:
  struct Answer {
    Status status;
    std::uint64_t left = 10;
  };
  Status push(const snapshot::Snapshot&, const transfer::OnProgress& progress) override {
    const Answer answer = answers.at(pushes++);
    progress({0, 10});
    progress({10 - answer.left, 10});
    return answer.status;
  }
  std::vector<Answer> answers;
  std::size_t pushes = 0;
};

Status no_space() { return make_error(ErrorCode::resource_exhausted, "no space"); }
Status away() { return make_error(ErrorCode::unavailable, "away"); }

struct Fixture {
  Status push() {
    return sink.push({}, [&](const auto& done) { seen.push_back(done.done_bytes); });
  }

  ScriptedSink launcher;
  CancelToken cancel;
  std::vector<std::pair<std::string, bool>> said;
  std::vector<std::uint64_t> seen;
  // Called for each thing said, so that a test can change its mind there.
  std::function<void()> then = [] {};
  RetryingSink sink{launcher,
                    [this](const std::string& text) {
                      said.emplace_back(text, cancel.no_space());
                      then();
                    },
                    cancel, milliseconds(0)};
};

TEST(RetryingSink, TriesAgainWhileTheLauncherIsAwayOrFull) {
  Fixture f;
  f.launcher.answers = {{away()}, {no_space()}, {away()}, {{}, 0}};
  EXPECT_TRUE(f.push());
  EXPECT_EQ(f.launcher.pushes, 4u);
  EXPECT_THAT(f.said, ElementsAre(std::pair("waits to send its outputs: away", false),
                                  std::pair("waits to send its outputs: no space", true),
                                  std::pair("waits to send its outputs: away", false)));
  EXPECT_FALSE(f.cancel.no_space());
}

// A try begins anew, and is refused where the one before was.
TEST(RetryingSink, OnlyATryThatComesFurtherShowsThatThereIsSpace) {
  Fixture f;
  f.launcher.answers = {{no_space(), 4}, {no_space(), 4}, {no_space(), 3}, {{}, 0}};
  EXPECT_TRUE(f.push());
  EXPECT_THAT(f.seen, ElementsAre(0, 6, 7, 10));
}

TEST(RetryingSink, OneThatSettlesIsTriedOnceMoreAndSaysWhyItWasNotKept) {
  Fixture f;
  f.launcher.answers = {{no_space()}, {no_space()}, {no_space()}, {no_space()}, {{}, 0}};
  f.then = [&] {
    if (f.launcher.pushes == 2) f.cancel.settle();
  };
  const Status pushed = f.push();
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(pushed.error().message, HasSubstr("(no space); to get it, run the job again"));
  EXPECT_EQ(f.launcher.pushes, 3u);
  EXPECT_TRUE(f.push()) << "the next one may fit, a moment later";
  EXPECT_EQ(f.launcher.pushes, 5u);
}

TEST(RetryingSink, ManyThatDoNotFitAreSoonGivenUp) {
  Fixture f;
  f.cancel.settle();
  f.launcher.answers.assign(100, {no_space()});
  for (int tree = 0; tree < 20; ++tree) EXPECT_FALSE(f.push());
  EXPECT_EQ(f.launcher.pushes, 25u);
}

TEST(RetryingSink, ALauncherThatIsAwayIsWaitedForByOneThatSettles) {
  Fixture f;
  f.cancel.settle();
  f.launcher.answers = {{away()}, {away()}, {{}, 0}};
  EXPECT_TRUE(f.push());
}

TEST(RetryingSink, GivenUpKeepsNothingWhateverTheReason) {
  for (const Status& answer : {no_space(), away()}) {
    Fixture f;
    f.launcher.answers = {{answer}};
    f.cancel.give_up();
    EXPECT_EQ(f.push().error().code, ErrorCode::unavailable);
  }
}

}  // namespace
}  // namespace lockstep::agent
