#pragma once
// Makes folder trees whose paths exceed PATH_MAX.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "common/io/file_system.h"

namespace lockstep::test {

// `depth` folders named `name`, nested below `path`, with a file in the innermost.
inline void make_deep_tree(const std::string& path, int depth, const std::string& name = "d") {
  ASSERT_TRUE(io::make_directories(path));
  io::Fd at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0) << i;
    io::Fd next(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(next) << i;
    at = std::move(next);
  }
  const io::Fd file(::openat(at.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_TRUE(file);
}

}  // namespace lockstep::test
