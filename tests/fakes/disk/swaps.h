#pragma once
// Simulates an attacker who changes their own folder between two system calls of a program with
// more rights (a TOCTOU race). A test runs its scenario with the change before the first call, the
// second, … until a run has fewer calls (each_swap). A canary outside that folder must stay
// unchanged.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::test {

class Swap final : public io::disk::Faults {
 public:
  Swap(int kth, std::function<void()> act) : kth_(kth), act_(std::move(act)) {}
  std::optional<io::disk::Fault> before(io::disk::Call, std::size_t) override {
    if (++seen_ == kth_) act_();
    return std::nullopt;
  }
  bool came() const { return seen_ >= kth_; }

 private:
  const int kth_;
  const std::function<void()> act_;
  std::atomic<int> seen_{0};
};

// For k = 1, 2, …: prepare(), then run() with act() before its k-th call, then look(). Returns the
// number of calls.
inline int each_swap(const std::function<void()>& prepare, const std::function<void()>& act,
                     const std::function<void()>& run, const std::function<void()>& look) {
  for (int kth = 1;; ++kth) {
    SCOPED_TRACE("before call " + std::to_string(kth));
    prepare();
    Swap swap(kth, act);
    {
      const io::disk::InFront front(swap);
      run();
    }
    look();
    if (!swap.came() || testing::Test::HasFatalFailure()) return kth - 1;
  }
}

// A folder with a file and a folder in it, whose change is_untouched() detects.
class Canary {
 public:
  explicit Canary(std::string path) : path_(std::move(path)) {
    EXPECT_TRUE(io::make_directories(path_ + "/inner", 0700));
    EXPECT_TRUE(io::write_file_atomically(path_ + "/file", "precious", 0640, false));
    EXPECT_EQ(::chmod(path_.c_str(), 0750), 0);
    before_ = facts();
  }
  const std::string& path() const { return path_; }
  void is_untouched() const { EXPECT_EQ(facts(), before_); }

 private:
  std::string facts() const {
    std::string all;
    for (const char* name : {"", "/file", "/inner"}) {
      struct stat info {};
      EXPECT_EQ(::lstat((path_ + name).c_str(), &info), 0) << path_ << name << " is gone";
      all += std::to_string(info.st_mode) + " " + std::to_string(info.st_uid) + " " +
             std::to_string(info.st_gid) + " " + std::to_string(info.st_ino) + "\n";
    }
    for (const std::string& name : io::list_directory(path_).value_or(std::vector<std::string>()))
      all += name + "\n";
    return all + io::read_file(path_ + "/file").value_or("none");
  }

  const std::string path_;
  std::string before_;
};

}  // namespace lockstep::test
