#pragma once
// A directory for one test, removed with all its contents, with short functions for making files.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "common/base/check.h"
#include "common/io/file_system.h"

namespace lockstep::test {

class TempDir {
 public:
  explicit TempDir(const std::string& parent = "/tmp") : path_(parent + "/lockstep-test-XXXXXX") {
    CHECK(::mkdtemp(path_.data()) != nullptr, "a directory for the test");
  }
  ~TempDir() { EXPECT_TRUE(io::remove_tree(path_)); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  void folder(const std::string& name, mode_t mode = 0755) const {
    for (std::size_t at = name.find('/'); at != name.npos; at = name.find('/', at + 1)) {
      ::mkdir((*this / name.substr(0, at)).c_str(), 0755);
    }
    ::mkdir((*this / name).c_str(), 0755);
    ASSERT_EQ(::chmod((*this / name).c_str(), mode), 0);
  }
  void file(const std::string& name, const std::string& content, mode_t mode = 0644) const {
    if (const auto slash = name.rfind('/'); slash != name.npos) {
      if (::access((*this / name.substr(0, slash)).c_str(), F_OK) != 0)
        folder(name.substr(0, slash));
    }
    std::ofstream(*this / name, std::ios::binary | std::ios::trunc) << content;
    ASSERT_EQ(::chmod((*this / name).c_str(), mode), 0);
  }
  void link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), (*this / name).c_str()), 0);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(*this / name, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};

}  // namespace lockstep::test
