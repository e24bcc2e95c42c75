// What is made of what the command of a core file says, and of one that says nothing in time.

#include "runner/attach/core_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"

namespace lockstep::runner {
namespace {

constexpr int kDumped = SIGSEGV | 0x80;  // of wait(2)
constexpr Instant kNow{1'000'000'000};

class CoreFilesTest : public ::testing::Test {
 protected:
  void make(bool keeps) {
    CoreFiles::Callbacks callbacks;
    callbacks.start = [this](int id, const spawn::RankProcess&, const Stdio& stdio) -> Status {
      started_.push_back(id);
      tool_ = io::Fd(::dup(stdio.theirs[1].get()));
      return {};
    };
    callbacks.kill = [this](int id) { killed_.push_back(id); };
    callbacks.rank = [this](int) -> const spawn::RankProcess* { return &process_; };
    CorePlace place;
    place.globs = {"core"};
    cores_ =
        std::make_unique<CoreFiles>(loop_, std::move(callbacks), std::move(place), keeps, "", 1);
    cores_->exited_rank(3, kDumped, kNow);
    ASSERT_EQ(started_.size(), 1U);
  }
  void say(const std::string& text) const {
    ASSERT_EQ(::write(tool_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end(Instant now = kNow) {
    tool_.reset();
    cores_->exited(started_.back(), 0, now);
    EXPECT_FALSE(cores_->any());
  }
  const CoreResult& result() const { return cores_->results().at(3); }

  io::EventLoop loop_;
  spawn::RankProcess process_;
  io::Fd tool_;  // the end to which the command writes
  std::vector<int> started_, killed_;
  std::unique_ptr<CoreFiles> cores_;
};

TEST_F(CoreFilesTest, TheStackOfTheThreadThatFailedIsShown) {
  make(false);
  say("lockstep-core: size 6\nlockstep-core: tool eu-stack\nTID 17:\n#0  0x01 crash\n#1  0x02 "
      "main\n"
      "lockstep-core: end\n");
  end();
  EXPECT_EQ(result().backtrace, "#0 crash\n#1 main\n");
  EXPECT_EQ(result().place, Why(CrashedIn{"crash", "", 0}));
  EXPECT_EQ(result().note, Why());
}

TEST_F(CoreFilesTest, AKeptFileIsNamed) {
  make(true);
  say("lockstep-core: size 6\nlockstep-core: kept\n");
  end();
  EXPECT_EQ(result().note, Why(CoreFileIsKept{3, "logs/core.rank3", Bytes{6}}));
}

TEST_F(CoreFilesTest, AFileThatCouldNotBeKeptIsSaid) {
  make(true);
  say("lockstep-core: size 6\n");
  end();
  EXPECT_EQ(result().note, Why(CoreFileNotWritten{3, Bytes{6}, "logs/core.rank3"}));
}

// The tools are those of the job's PATH, too.
TEST_F(CoreFilesTest, WhatAToolMakesUpIsNotShown) {
  make(true);
  say("lockstep-core: size 6\nlockstep-core: tool eu-stack\nlockstep-core: kept \x1b[31m" +
      std::string(40'000, 'x') + "\n");
  end();
  EXPECT_EQ(result().note, Why(CoreFileNotWritten{3, Bytes{6}, "logs/core.rank3"}));
}

TEST_F(CoreFilesTest, OneThatIsNotReadInTimeIsSaid) {
  make(false);
  EXPECT_EQ(cores_->next_deadline(), kNow + kCoreTimeout);
  cores_->expire(kNow + kCoreTimeout);
  EXPECT_EQ(killed_, started_);
  say("lockstep-core: size 6\nlockstep-core: tool gdb\n");
  end(kNow + kCoreTimeout);
  EXPECT_EQ(result().note, Why(NoCoreFile{3, CoreWasNotRead{kCoreTimeout, true}}));
}

TEST_F(CoreFilesTest, OneThatIsGivenUpIsSaid) {
  make(false);
  cores_->give_up();
  EXPECT_EQ(killed_, started_);
  EXPECT_FALSE(cores_->any());
  EXPECT_EQ(result().note, Why(NoCoreFile{3, CoreWasNotRead{std::nullopt, true}}));
}

}  // namespace
}  // namespace lockstep::runner
