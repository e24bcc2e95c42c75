// Small files on a disk that says no, at every call that would change it: each is the old one or
// the new one, whole, and the error names it.

#include <gmock/gmock.h>

#include "common/io/attempt/log_times.h"
#include "common/io/durable_copy.h"
#include "common/io/file_system.h"
#include "common/io/net/transport.h"
#include "common/io/version_file.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class FileFaults : public testing::Test {
 protected:
  // Runs `act` at every fault in a fresh home, and `look` afterwards without one.
  template <typename Act, typename Look>
  void everywhere(const Act& act, const Look& look) {
    test::each_fault([&](test::DiskFaults& faults, const std::string& where) {
      SCOPED_TRACE(where);
      home_ = directory_ + "/home";
      ASSERT_TRUE(make_directories(home_));
      Status done;
      {
        const disk::InFront front(faults);
        done = act();
      }
      if (!done) {
        EXPECT_THAT(done.error().message, HasSubstr(home_));
        EXPECT_THAT(done.error().message,
                    AnyOf(HasSubstr("No space left"), HasSubstr("Input/output error"),
                          HasSubstr("Read-only file system")));
      }
      look(done.has_value());
      ASSERT_TRUE(remove_tree(home_));
    });
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string& directory_ = dir_.path();
  std::string home_;
};

TEST_F(FileFaults, AFileIsTheOldOneOrTheNewOne) {
  const std::string before(100, 'a'), after(5'000, 'b');
  everywhere(
      [&]() -> Status {
        TRY(write_file_atomically(home_ + "/file", before));
        return write_file_atomically(home_ + "/file", after);
      },
      [&](bool done) {
        const auto text = read_file(home_ + "/file");
        if (done) {
          EXPECT_EQ(text.value_or(""), after);
        }
        if (text) {
          EXPECT_THAT(*text, AnyOf(before, after));
        }
        // Nothing half written stays, unless it could not be removed either.
        EXPECT_LE(list_directory(home_)->size(), 2u);
        EXPECT_TRUE(write_file_atomically(home_ + "/file", after));
      });
}

TEST_F(FileFaults, ANewHomeIsMadeInTheEnd) {
  std::string first;
  everywhere(
      [&]() -> Status {
        first.clear();
        TRY(make_directories(home_ + "/a/keys"));
        TRY_ASSIGN(const auto keys, load_or_create_key_pair(home_ + "/a/keys/key"));
        TRY(record_version(home_ + "/a/version", 2));
        first = keys.public_key.value;
        return {};
      },
      [&](bool done) {
        ASSERT_TRUE(make_directories(home_ + "/a/keys"));
        const auto keys = load_or_create_key_pair(home_ + "/a/keys/key");
        ASSERT_TRUE(keys) << keys.error().message;
        if (done) {
          EXPECT_EQ(keys->public_key.value, first);
        }
        EXPECT_TRUE(expect_version(home_ + "/a/version", 2, "home"));
        EXPECT_TRUE(record_version(home_ + "/a/version", 2));
      });
}

TEST_F(FileFaults, ACopyIsWholeOrAnError) {
  const std::string text(3'000'000, 'c');
  everywhere(
      [&]() -> Status {
        TRY(write_file_atomically(home_ + "/from", text));
        TRY(copy_file(home_ + "/from", home_ + "/to"));
        return link_or_copy(home_ + "/from", home_ + "/other");
      },
      [&](bool done) {
        if (!done) return;
        EXPECT_EQ(read_file(home_ + "/to").value_or(""), text);
        EXPECT_EQ(read_file(home_ + "/other").value_or(""), text);
      });
}

TEST_F(FileFaults, ATimeThatWasCutIsWrittenOver) {
  everywhere(
      [&]() -> Status {
        LogTimes times(home_ + "/log.times");
        Status all;
        for (std::uint64_t i = 0; i < 4; ++i)
          if (auto done = times.append({{i * 10, Instant{static_cast<std::int64_t>(i + 1)}}});
              !done)
            all = done;
        return all;
      },
      [&](bool) {
        LogTimes times(home_ + "/log.times");
        ASSERT_TRUE(times.append({{100, Instant{100}}}));
        const auto found = times.between(0, 1'000, 100, false);
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(found.back().offset, 100u);
        for (const LogTime& time : found) EXPECT_EQ(time.offset % 10, 0u);
      });
}

}  // namespace
}  // namespace lockstep::io
