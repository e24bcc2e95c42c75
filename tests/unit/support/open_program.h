#pragma once
// A program that is run as another user. A checkout may be closed to others, so its programs are
// copied to a folder in /tmp that everybody can enter; it is removed when the test program ends.

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::test {

// The copy of the program at `built`; one copy for a test program.
inline std::string open_program(const std::string& built) {
  struct OpenDir : TempDir {
    OpenDir() { CHECK(::chmod(path().c_str(), 0755) == 0, "a folder that everybody can enter"); }
  };
  static const OpenDir folder;
  const std::string copy = folder / std::filesystem::path(built).filename().string();
  std::filesystem::copy_file(built, copy, std::filesystem::copy_options::skip_existing);
  return copy;
}

}  // namespace lockstep::test
