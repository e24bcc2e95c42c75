// Files that are written without their blocks of zeros.

#include "common/io/files/sparse_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using test::TempDir;

std::uint64_t on_disk(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

// Appends in parts of `part` bytes.
void write(const std::string& path, const std::string& content, std::size_t part) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  SparseWriter writer(file.get());
  for (std::size_t at = 0; at < content.size(); at += part)
    ASSERT_TRUE(writer.append(std::string_view(content).substr(at, part)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(writer.size(), content.size());
}

TEST(SparseWriterTest, TheBytesAreTheSameHoweverTheyAreCut) {
  const TempDir dir;
  std::string content(300'000, '\0');
  for (const std::size_t at : {0, 1, 4095, 4096, 70'000, 131'071, 250'000}) content[at] = 'x';
  int number = 0;
  for (const std::size_t length : {0UL, 1UL, 4096UL, 4097UL, 131'072UL, 250'001UL, 300'000UL})
    for (const std::size_t part : {1000UL, 4096UL, 65'537UL, 400'000UL}) {
      const std::string path = dir / std::to_string(number++);
      write(path, content.substr(0, length), part);
      EXPECT_EQ(read_file(path).value_or("?"), content.substr(0, length)) << length << "/" << part;
    }
}

TEST(SparseWriterTest, ZerosTakeNoSpace) {
  const TempDir dir;
  std::string content(64 << 20, '\0');
  write(dir / "zeros", content, 1 << 20);
  EXPECT_EQ(on_disk(dir / "zeros"), 0U);
  content[32 << 20] = 'x';
  write(dir / "one", content, 1 << 20);
  EXPECT_LT(on_disk(dir / "one"), mebibytes(1).count);
}

TEST(SparseWriterTest, PiecesMayComeInAnyOrder) {
  const TempDir dir;
  const Fd file(::open((dir / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string zeros(1 << 20, '\0'), data(1 << 20, 'd');
  ASSERT_TRUE(write_sparse_at(file.get(), 2 << 20, zeros));
  ASSERT_TRUE(write_sparse_at(file.get(), 1 << 20, data));
  ASSERT_TRUE(write_sparse_at(file.get(), 0, zeros));
  ASSERT_EQ(::ftruncate(file.get(), 3 << 20), 0);
  EXPECT_EQ(read_file(dir / "file").value_or(""), zeros + data + zeros);
  EXPECT_LT(on_disk(dir / "file"), mebibytes(2).count);
}

}  // namespace
}  // namespace lockstep::io
