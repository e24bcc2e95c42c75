// Folders in which programs write, captured meanwhile: what is sent, and how it is marked.

#include "common/snapshot/live/live_capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>

#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/live/pieces.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

std::int64_t wall_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// A receiver of captures, and a clock that tests move: files are written now, and are as old as
// it says.
struct Live {
  TempDir folder;
  LiveCapture capture;
  Duration now = minutes(60);
  Duration ahead{0};  // of the clock of files
  std::map<Digest, std::string> blobs;
  std::uint64_t bytes = 0;  // received
  std::optional<LiveTree> last;

  void pass(Duration time) {
    now += time;
    ahead += time;
  }
  void append(const std::string& name, const std::string& text) { put(name, text, "a"); }
  void put(const std::string& name, const std::string& text, const char* how = "w") {
    std::FILE* const file = std::fopen((folder / name).c_str(), how);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
    // The kernel's clock of files has ticks: two writes within one must differ.
    struct stat info {};
    ::stat((folder / name).c_str(), &info);
    const timespec times[] = {{0, UTIME_OMIT}, {info.st_mtim.tv_sec, ++ticks_ % 1'000'000'000}};
    ::utimensat(AT_FDCWD, (folder / name).c_str(), times, 0);
  }
  bool look() {
    io::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto captured = capture.capture(std::move(fd), "outputs", {}, {now, wall_ns() + ahead.count()});
    EXPECT_TRUE(captured) << captured.error().message;
    if (!captured || !*captured) return false;
    last = **std::move(captured);
    for (const DirectoryObject& object : last->tree.directories)
      receive(object.digest, object.bytes);
    for (const FileRecord& file : last->tree.files) {
      if (blobs.count(file.digest) != 0) continue;
      const io::Fd from = open_entry(last->tree.opened->get(), file.path, O_RDONLY);
      std::string content(file.size, '\0');
      EXPECT_EQ(
          ::pread(from.get(), content.data(), content.size(), static_cast<off_t>(file.offset)),
          static_cast<ssize_t>(file.size));
      receive(file.digest, content);
    }
    capture.sent();
    return true;
  }
  // The first look sees that a file changed, and only rest after that counts.
  bool look_at_rest() {
    pass(seconds(2));
    look();
    pass(seconds(1));
    return look();
  }
  void receive(const Digest& digest, const std::string& content) {
    EXPECT_EQ(sha256(content), digest);
    if (blobs.emplace(digest, content).second) bytes += content.size();
  }
  // As a reader of it sees them: partial ones end in ".partial".
  std::map<std::string, std::string> files() {
    DirectoryObjects objects;
    objects.read = [&](const Digest& digest) -> Result<std::string> { return blobs.at(digest); };
    objects.write = [&](const Digest& digest, const std::string& object) -> Status {
      blobs[digest] = object;
      return {};
    };
    Digest root = last->tree.root;
    if (last->pieces) {
      const auto list = decode_pieces(*last->pieces, objects.read);
      EXPECT_TRUE(list);
      const auto digest_of = [&](const PiecedFile& file, const std::string&) -> Result<Digest> {
        std::string content;
        for (const Piece& piece : file.pieces) content += blobs.at(piece.digest);
        blobs[sha256(content)] = content;
        return sha256(content);
      };
      root = *put_in_pieces(root, *list, objects, digest_of);
    }
    std::map<std::string, std::string> found;
    list(root, "", found);
    return found;
  }
  void list(const Digest& folder_digest, const std::string& path,
            std::map<std::string, std::string>& found) {
    const auto directory = decode_directory(blobs.at(folder_digest));
    for (const Entry& entry : directory->entries) {
      if (entry.kind == EntryKind::directory) list(entry.digest, path + entry.name + "/", found);
      if (entry.kind == EntryKind::file) found[path + entry.name] = blobs.at(entry.digest);
    }
  }

 private:
  long ticks_ = 0;
};

using Files = std::map<std::string, std::string>;

TEST(LiveCapture, AQuietFileIsSentWhileAnotherGrows) {
  Live live;
  live.put("model.pt", "weights");
  live.put("metrics.csv", "1\n");
  EXPECT_FALSE(live.look()) << "both were touched just now";
  live.pass(milliseconds(1'500));
  live.append("metrics.csv", "2\n");
  live.ahead = Duration(0);  // the growing file is always new
  live.now += seconds(1);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"model.pt", "weights"}, {"metrics.csv.partial", "1\n2\n"}}));
  EXPECT_EQ(live.last->partial, 1u);
}

// All times of files are now: only what this process sees unchanged for a second is at rest.
TEST(LiveCapture, AGrowingFileIsSentAsFarAsItIsAndOnlyWhatIsNew) {
  Live live;
  std::string all;
  const auto grow = [&] {
    const std::string line(1'000, static_cast<char>('a' + all.size() / 1'000 % 26));
    live.append("metrics.csv", line);
    all += line;
  };
  int captures = 0;
  for (int second = 0; second < 400; ++second) {
    grow();
    live.now += seconds(1);
    if (!live.look()) continue;
    ++captures;
    EXPECT_EQ(live.files(), (Files{{"metrics.csv.partial", all}}));
    EXPECT_EQ(live.last->partial, 1u);
  }
  EXPECT_GE(captures, 20) << "at least every 20 s";
  EXPECT_LT(live.bytes, 3 * all.size()) << "with the lists of pieces";
  // It is whole when it rests, without being sent again.
  const std::uint64_t before = live.bytes;
  live.now += seconds(2);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"metrics.csv", all}}));
  EXPECT_EQ(live.last->partial, 0u);
  EXPECT_LT(live.bytes - before, 20'000u);
  live.now += seconds(2);
  EXPECT_FALSE(live.look());
}

// A file that grew looked old there, and half of it was sent as its last complete version.
TEST(LiveCapture, WhereTheClockOfFilesIsBehindAGrowingFileIsPartial) {
  Live live;
  live.ahead = seconds(30);
  live.put("done", "1");
  ASSERT_TRUE(live.look()) << "nothing is known of what was there before the first look";
  std::string all;
  for (int second = 0; second < 40; ++second) {
    live.append("metrics.csv", "line\n");
    all += "line\n";
    live.now += seconds(1);
    const bool sent = live.look();
    if (second > 12) {
      EXPECT_EQ(live.last->partial, 1u) << second;
    }
    if (sent && live.last->partial != 0) {
      EXPECT_EQ(live.files(), (Files{{"done", "1"}, {"metrics.csv.partial", all}})) << second;
    }
    EXPECT_EQ(live.files().count("metrics.csv"), 0u) << second;
  }
  live.now += seconds(1);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"done", "1"}, {"metrics.csv", all}}));
}

// It is read whole when it is called complete: not at each look.
TEST(LiveCapture, WhereTheClockOfFilesIsBehindARewriteKeepsTheLastCompleteVersion) {
  Live live;
  live.ahead = seconds(30);
  live.put("state", "complete");
  ASSERT_TRUE(live.look());
  for (int i = 0; i < 5; ++i) {
    live.put("state", "half of the next, " + std::to_string(i));
    live.now += seconds(1);
    live.look();
    EXPECT_EQ(live.files().at("state"), "complete") << i;
  }
}

TEST(LiveCapture, AFileThatGrowsInBurstsIsNotSentAgainEither) {
  Live live;
  EXPECT_FALSE(live.look());
  std::string all;
  for (int burst = 0; burst < 100; ++burst) {
    const std::string text(10'000, static_cast<char>('a' + burst % 26));
    live.append("log", text);
    all += text;
    ASSERT_TRUE(live.look_at_rest());
    EXPECT_EQ(live.files(), (Files{{"log", all}}));
  }
  EXPECT_LT(live.bytes, 4 * all.size());
}

TEST(LiveCapture, RewritingIsNotAppending) {
  Live live;
  live.put("state", "complete");
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  // In place, longer than before, and again and again.
  for (int i = 0; i < 11; ++i) {
    live.put("state", "COMPLETELY new " + std::to_string(i));
    live.ahead = Duration(0);
    live.now += seconds(1);
    live.look();
  }
  EXPECT_EQ(live.files(), (Files{{"state", "complete"}, {"state.partial", "COMPLETELY new 10"}}));
  live.now += seconds(2);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"state", "COMPLETELY new 10"}}));
}

TEST(LiveCapture, AShorterFileIsSentAnew) {
  Live live;
  live.put("log", std::string(200'000, 'x'));
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  live.append("log", "more");
  ASSERT_TRUE(live.look_at_rest());
  live.put("log", "short");
  ASSERT_TRUE(live.look_at_rest());
  EXPECT_EQ(live.files(), (Files{{"log", "short"}}));
}

TEST(LiveCapture, WhatWasRenamedIsNotSentAgain) {
  Live live;
  ASSERT_EQ(::mkdir((live.folder / "a").c_str(), 0755), 0);
  const std::string content(500'000, 'y');
  live.put("a/model", content);
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  ASSERT_EQ(::rename((live.folder / "a").c_str(), (live.folder / "b").c_str()), 0);
  const std::uint64_t before = live.bytes;
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"b/model", content}}));
  EXPECT_LT(live.bytes - before, 1'000u);
}

// Written beside and renamed, all the time: the last one that rested stays.
TEST(LiveCapture, AFileThatIsReplacedKeepsItsLastCompleteVersion) {
  Live live;
  live.put("last.pt", "first");
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  live.put("last.pt.tmp", "second");
  ASSERT_EQ(::rename((live.folder / "last.pt.tmp").c_str(), (live.folder / "last.pt").c_str()), 0);
  live.ahead = Duration(0);
  live.put("other", "x");
  live.now += seconds(1);
  live.look();
  EXPECT_EQ(live.files().at("last.pt"), "first");
  live.now += seconds(2);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"last.pt", "second"}, {"other", "x"}}));
}

TEST(LiveCapture, WhatIsGoneIsNotListed) {
  Live live;
  live.put("a", "1");
  live.put("b", "2");
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  ASSERT_EQ(::unlink((live.folder / "a").c_str()), 0);
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"b", "2"}}));
}

TEST(LiveCapture, NothingChangedSendsNothing) {
  Live live;
  EXPECT_FALSE(live.look()) << "it is empty";
  live.put("a", "1");
  ASSERT_EQ(::symlink("a", (live.folder / "link").c_str()), 0);
  live.pass(seconds(2));
  EXPECT_TRUE(live.look());
  live.pass(seconds(1));
  EXPECT_TRUE(live.look()) << "the file came since the look before: it rests by our clock first";
  for (int i = 0; i < 3; ++i) {
    live.pass(seconds(1));
    EXPECT_FALSE(live.look());
  }
}

// Its receiver was away: the next look brings it.
TEST(LiveCapture, WhatDidNotArriveIsCapturedAgain) {
  Live live;
  live.put("a", "1");
  live.pass(seconds(2));
  io::Fd fd(::open(live.folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto lost = live.capture.capture(std::move(fd), "outputs", {},
                                         {live.now, wall_ns() + live.ahead.count()});
  ASSERT_TRUE(lost && *lost);
  live.capture.not_sent(false);
  EXPECT_TRUE(live.look());
  EXPECT_EQ(live.files(), (Files{{"a", "1"}}));
}

TEST(LiveCapture, ALargeFileDoesNotHoldUpSmallOnes) {
  Live live;
  live.put("large", "x");
  ASSERT_EQ(::truncate((live.folder / "large").c_str(), 600 << 20), 0);
  live.put("small", "y");
  live.pass(seconds(2));
  ASSERT_TRUE(live.look());
  EXPECT_EQ(live.last->files, 1u);
  EXPECT_EQ(live.files(), (Files{{"small", "y"}}));
}

}  // namespace
}  // namespace lockstep::snapshot
