#pragma once
// A directory for one test, removed with everything in it.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lockstep::test {

class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/lockstep-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep::test
