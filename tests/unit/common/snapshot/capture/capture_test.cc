#include "common/snapshot/capture/capture.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <utime.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "common/snapshot/capture/downloaded.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

Snapshot must_capture(const TempDir& dir, const CaptureOptions& options = {}) {
  auto captured = capture(dir.path(), options);
  EXPECT_TRUE(captured) << captured.error().message;
  return captured ? *std::move(captured) : Snapshot{};
}

TEST(Capture, DigestDependsOnContentNamesAndModesOnly) {
  TempDir one, two;
  for (const TempDir* dir : {&one, &two}) {
    dir->file("train.py", "print(1)");
    dir->file("lib/run.sh", "#!/bin/sh\n", 0755);
    dir->folder("empty");
    dir->link("lib/run.sh", "run");
  }
  const utimbuf long_ago{1000, 1000};
  ASSERT_EQ(::utime((two / "train.py").c_str(), &long_ago), 0);
  const Snapshot first = must_capture(one);
  EXPECT_EQ(first.root, must_capture(two).root);
  EXPECT_EQ(first.files.size(), 2u);
  EXPECT_EQ(first.symlinks, 1u);
  EXPECT_EQ(first.folders, 2u);
  EXPECT_EQ(first.total.count, 18u);

  const auto changes = [&](auto change) {
    change();
    const Digest root = must_capture(two).root;
    EXPECT_NE(root, first.root);
    EXPECT_EQ(root, must_capture(two).root);
  };
  changes([&] { two.file("train.py", "print(2)"); });
  two.file("train.py", "print(1)");
  EXPECT_EQ(must_capture(two).root, first.root);
  changes([&] { ::chmod((two / "lib/run.sh").c_str(), 0644); });
  ::chmod((two / "lib/run.sh").c_str(), 0755);
  changes([&] { ::rmdir((two / "empty").c_str()); });
}

TEST(Capture, FoldersThatADownloadMadeAreLeftOutOfSourceAlone) {
  TempDir dir;
  dir.file("train.py", "print(1)");
  dir.file("owl/artifacts/outputs/model", "big");
  mark_downloaded(dir / "owl", "owl");
  ASSERT_EQ(downloaded_from(dir / "owl"), "owl") << "this file system has no user attributes";
  const Snapshot snapshot = must_capture(dir);
  EXPECT_EQ(snapshot.files.size(), 1u);
  ASSERT_EQ(snapshot.skipped.size(), 1u);
  EXPECT_EQ(snapshot.skipped[0].path, "owl/");
  EXPECT_EQ(snapshot.skipped[0].pattern, kDownloaded);

  mark_downloaded(dir / "owl/artifacts", "owl");
  dir.file("owl/cat/artifacts/model", "of another job");
  mark_downloaded(dir / "owl/cat", "cat");
  auto of_itself = capture(dir / "owl", {});
  ASSERT_TRUE(of_itself);
  EXPECT_EQ(of_itself->files.size(), 1u) << "who names it means it, but not what another job left";
  TempDir linked;
  linked.link(dir / "owl", "model");
  CaptureOptions follow;
  follow.links = Links::follow;
  EXPECT_EQ(must_capture(linked, follow).files.size(), 1u) << "and so does who links it";
  CaptureOptions data;
  data.is_source = false;
  EXPECT_EQ(must_capture(dir, data).files.size(), 3u);
}

TEST(Capture, OfAFolderThatIsNoSourceAllIsTakenAndTheRestIsListed) {
  TempDir dir;
  dir.file("Dockerfile", "FROM debian\n");
  dir.file(".gitignore", "*.bin\n");
  dir.file("model.bin", "x");
  dir.file(".git/HEAD", "ref");
  dir.link("/nowhere", "link");
  CaptureOptions options;
  options.is_source = false;
  const Snapshot whole = must_capture(dir, options);
  EXPECT_EQ(whole.files.size(), 4u);
  EXPECT_EQ(whole.symlinks, 1u);
  EXPECT_TRUE(whole.skipped.empty());
  EXPECT_EQ(must_capture(dir).files.size(), 2u) << "of a source";
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const Snapshot rest = must_capture(dir, options);
  EXPECT_EQ(rest.root, whole.root);
  ASSERT_EQ(rest.skipped.size(), 1u);
  EXPECT_EQ(rest.skipped[0].path, "pipe");
  EXPECT_EQ(rest.skipped[0].pattern, "a fifo");
}

TEST(Capture, UnchangedFilesAreNotReadAgain) {
  TempDir dir, caches;
  for (int i = 0; i < 50; ++i) dir.file("d/" + std::to_string(i), std::to_string(i));
  CaptureOptions options;
  options.stat_cache = stat_cache_path(caches.path(), dir.path());
  const Snapshot first = must_capture(dir, options);
  EXPECT_EQ(first.files_read, 50u);
  // Younger than 2 s: read again, every time.
  EXPECT_EQ(must_capture(dir, options).files_read, 50u);
  // Wait until the files are old enough to be trusted.
  Snapshot settled;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    settled = must_capture(dir, options);
  } while (settled.files_read != 0 && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(settled.files_read, 0u);
  EXPECT_EQ(settled.root, first.root);

  // The same size and the same mtime, but another content: ctime tells.
  struct stat before {};
  ASSERT_EQ(::stat((dir / "d/7").c_str(), &before), 0);
  dir.file("d/7", "X");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (dir / "d/7").c_str(), times, 0), 0);
  const Snapshot changed = must_capture(dir, options);
  EXPECT_EQ(changed.files_read, 1u);
  EXPECT_NE(changed.root, first.root);

  // A damaged cache is only slower.
  std::ofstream(options.stat_cache, std::ios::binary | std::ios::app) << "junk";
  const Snapshot after_damage = must_capture(dir, options);
  EXPECT_EQ(after_damage.files_read, 50u);
  EXPECT_EQ(after_damage.root, changed.root);
}

TEST(Capture, AChangeRightAfterACaptureIsSeen) {
  TempDir dir, caches;
  CaptureOptions options;
  options.stat_cache = caches / "cache";
  Digest last;
  for (int i = 0; i < 200; ++i) {
    dir.file("same_size", "v" + std::to_string(1000 + i));
    const Snapshot now = must_capture(dir, options);
    ASSERT_NE(now.root, last) << i;
    ASSERT_EQ(now.files.at(0).digest, sha256("v" + std::to_string(1000 + i)));
    last = now.root;
  }
}

TEST(Capture, AFileThatChangesAllTheTimeIsNamed) {
  TempDir dir;
  dir.file("growing.log", "x");
  dir.file("quiet", "x");
  int reads = 0;
  CaptureOptions options;
  options.on_read = [&](const std::string& path) {
    if (path != "growing.log") return;
    std::ofstream(dir / path, std::ios::app) << ++reads;
  };
  const auto captured = capture(dir.path(), options);
  ASSERT_FALSE(captured);
  EXPECT_GT(reads, 1);
  EXPECT_EQ(captured.error().code, ErrorCode::conflict);
  EXPECT_NE(captured.error().message.find("growing.log changed during each of "), std::string::npos)
      << captured.error().message;
  EXPECT_TRUE(capture(dir.path(), {}));
}

TEST(Capture, AFileThatChangedOnceIsReadAgain) {
  TempDir dir;
  dir.file("growing.log", "x");
  int reads = 0;
  CaptureOptions options;
  options.on_read = [&](const std::string& path) {
    if (++reads == 1) std::ofstream(dir / path, std::ios::app) << "y";
  };
  const auto captured = capture(dir.path(), options);
  ASSERT_TRUE(captured);
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(captured->files.at(0).digest, sha256("xy"));
}

// Takes what is at most `limit` bytes long, and remembers what it holds.
struct Taker : ContentTaker {
  explicit Taker(std::uint64_t limit) : limit(limit) {}
  bool make_room(std::uint64_t bytes) override {
    const std::lock_guard guard(mutex);
    if (bytes <= limit) held += bytes;
    return bytes <= limit;
  }
  void give_back(std::uint64_t bytes) override {
    const std::lock_guard guard(mutex);
    held -= bytes;
  }
  void take(const Digest& digest, Content content) override {
    const std::lock_guard guard(mutex);
    EXPECT_EQ(sha256(content.view()), digest);
    taken.emplace_back(digest, content.size);
  }
  const std::uint64_t limit;
  std::mutex mutex;
  std::uint64_t held = 0;
  std::vector<std::pair<Digest, std::size_t>> taken;
};

TEST(Capture, WhatItReadsIsHandedOverOnceAndAsItWasHashed) {
  TempDir dir;
  for (int i = 0; i < 100; ++i)
    dir.file("d/" + std::to_string(i), std::string(1'000, 'a') + std::to_string(i));
  dir.file("large", std::string(700'000, 'x'));
  dir.file("empty", "");
  dir.file("changes", "x");
  std::atomic<int> reads = 0;
  Taker taker(300'000);
  CaptureOptions options;
  options.taker = &taker;
  options.on_read = [&](const std::string& path) {
    if (path == "changes" && ++reads < 3) std::ofstream(dir / path, std::ios::app) << "y";
  };
  const Snapshot snapshot = must_capture(dir, options);
  EXPECT_EQ(snapshot.root, must_capture(dir).root);
  EXPECT_EQ(taker.taken.size(), 101u) << "not the large one, not the empty one";
  std::uint64_t bytes = 0;
  for (const auto& [digest, size] : taker.taken) bytes += size;
  EXPECT_EQ(taker.held, bytes) << "room for what was dropped is given back";
}

TEST(Capture, ManyFilesInManyFoldersAreAllFoundInOrder) {
  TempDir dir;
  for (int i = 0; i < 3'000; ++i)
    dir.file("d" + std::to_string(i % 50) + "/f" + std::to_string(i), std::to_string(i));
  ASSERT_EQ(::mkfifo((dir / "d7/fifo").c_str(), 0600), 0);
  const Snapshot snapshot = must_capture(dir);
  ASSERT_EQ(snapshot.files.size(), 3'000u);
  for (const FileRecord& file : snapshot.files) {
    const std::string number = file.path.substr(file.path.rfind('f') + 1);
    ASSERT_EQ(file.digest, sha256(number)) << file.path;
    ASSERT_EQ(file.size, number.size());
  }
  EXPECT_TRUE(std::is_sorted(snapshot.files.begin(), snapshot.files.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  ASSERT_EQ(snapshot.skipped.size(), 1u);
  EXPECT_EQ(snapshot.skipped[0].path, "d7/fifo");
}

TEST(Capture, LockstepsOwnFilesStayAtHome) {
  TempDir dir;
  dir.file("train.py", "x");
  dir.file("home/keys/user.key", "secret");
  CaptureOptions options;
  options.own_files = dir / "home";
  const Snapshot snapshot = must_capture(dir, options);
  EXPECT_EQ(snapshot.files.size(), 1u);
  ASSERT_EQ(snapshot.skipped.size(), 1u);
  EXPECT_EQ(snapshot.skipped[0].path, "home/");
  options.own_files = dir / "nothing-there";
  EXPECT_EQ(must_capture(dir, options).files.size(), 2u);
}

TEST(Capture, RefusesHomeAndRoot) {
  TempDir dir;
  dir.file("x", "x");
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", dir.path().c_str(), 1);
  const auto refused = capture(dir.path() + "/.", {});
  CaptureOptions explicitly;
  explicitly.allow_home_or_root = true;
  const auto allowed = capture(dir.path(), explicitly);
  ::setenv("HOME", before.c_str(), 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("home directory"), std::string::npos);
  EXPECT_TRUE(allowed);
  const auto root = capture("/", {});
  ASSERT_FALSE(root);
  EXPECT_NE(root.error().message.find("root directory"), std::string::npos);
}

TEST(Capture, NamesWhatItCannotRead) {
  const auto missing = capture("/tmp/snap-no-such-directory", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  if (::geteuid() == 0) {
    // Root reads everything: an ordinary user tries.
    TempDir dir;
    ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    dir.file("secret", "x", 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
      const auto captured = capture(dir.path(), {});
      const bool named = !captured && captured.error().code == ErrorCode::permission_denied &&
                         captured.error().message.find("secret") != std::string::npos;
      ::_exit(named ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(Capture, SkipsSocketsAndFifosAndKeepsDanglingLinks) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string(dir / "sock").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  dir.link("/nowhere/at/all", "dangling");
  dir.link(".", "loop");
  const Snapshot snapshot = must_capture(dir);
  EXPECT_TRUE(snapshot.files.empty());
  EXPECT_EQ(snapshot.symlinks, 2u);
  ASSERT_EQ(snapshot.skipped.size(), 2u);
  EXPECT_EQ(snapshot.skipped[0].pattern, "a fifo");
  EXPECT_EQ(snapshot.skipped[1].pattern, "a socket");
}

TEST(Capture, FilesThatComeAndGoMeanwhileDoNoHarm) {
  TempDir dir;
  for (int i = 0; i < 300; ++i) dir.file("stay/" + std::to_string(i), "x");
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    for (int i = 0; !stop; ++i) {
      dir.folder("come/" + std::to_string(i % 7));
      ::rmdir((dir / ("come/" + std::to_string((i + 3) % 7))).c_str());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto captured = capture(dir.path(), {});
    EXPECT_TRUE(captured) << captured.error().message;
  }
  stop = true;
  churn.join();
}

// Trees of what ranks write, while they write it.
// It was "not there any more".
TEST(Capture, OneFileMayBeNamedByASymlink) {
  TempDir dir, plain;
  dir.file("blobs/1234", "content");
  dir.folder("named");
  dir.link("../blobs/1234", "named/model.bin");
  dir.link("model.bin", "named/again.bin");
  dir.link("nowhere", "named/dangling");
  dir.link("../blobs", "named/folder");
  plain.file("model.bin", "content");
  CaptureOptions options;
  options.is_source = false;
  options.only = "model.bin";
  const Snapshot by_link = *capture(dir / "named", options);
  EXPECT_EQ(by_link.root, must_capture(plain, options).root);
  ASSERT_EQ(by_link.files.size(), 1u);
  EXPECT_EQ(by_link.directory + "/" + by_link.files[0].path, dir / "blobs/1234")
      << "it is read from there";
  options.only = "again.bin";
  EXPECT_EQ(capture(dir / "named", options)->files[0].digest, by_link.files[0].digest);
  for (const char* bad : {"dangling", "folder", "gone"}) {
    options.only = bad;
    EXPECT_FALSE(capture(dir / "named", options)) << bad;
  }
}

TEST(CaptureTree, AFileThatNeverRestsKeepsItsVersionOfThePreviousTree) {
  TempDir dir;
  dir.file("sub/restless", "old");
  dir.file("sub/quiet", "q");
  const auto take = [&](TreeOptions options) {
    options.on_read = [&](const std::string& path) {
      if (path.find("restless") != std::string::npos)
        std::ofstream(dir / path, std::ios::app) << "more";
    };
    return capture_tree(*io::open_file(dir.path(), O_RDONLY | O_DIRECTORY), "checkpoint", options);
  };
  const auto refused = take({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);

  LowerTree previous;
  const Directory sub = {{{"restless", EntryKind::file, 0644, 3, sha256("old"), {}}}};
  const std::string bytes = encode(sub);
  const Directory root = {{{"sub", EntryKind::directory, 0755, bytes.size(), sha256(bytes), {}}}};
  previous.root = sha256(encode(root));
  previous.directories = {{previous.root, root}, {sha256(bytes), sub}};
  dir.file("new/restless", "n");
  TreeOptions options;
  options.previous = previous;
  const auto captured = take(options);
  ASSERT_TRUE(captured) << captured.error().message;
  const auto object = std::find_if(
      captured->directories.begin(), captured->directories.end(),
      [](const DirectoryObject& one) { return one.bytes.find("quiet") != std::string::npos; });
  const auto taken = decode_directory(object->bytes);
  ASSERT_EQ(taken->entries.size(), 2u);
  EXPECT_EQ(taken->entries[1].digest, sha256("old"));
  ASSERT_EQ(captured->files.size(), 1u) << "only what is read from here is sent";
  EXPECT_EQ(captured->files[0].path, "sub/quiet");
  ASSERT_EQ(captured->skipped.size(), 1u);
  EXPECT_EQ(captured->skipped[0].path, "new/restless");
}

// Holes take no disk, so that nothing else bounds how much there is to read.
TEST(CaptureTree, HolesHaveABound) {
  TempDir dir;
  dir.file("a", "1");
  for (const char* name : {"huge", "small"}) dir.file(name, "1");
  ASSERT_EQ(::truncate((dir / "huge").c_str(), std::int64_t{1} << 37), 0);  // 128 GiB
  ASSERT_EQ(::truncate((dir / "small").c_str(), 1 << 20), 0);
  io::Fd opened(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY));
  const auto captured = capture_tree(std::move(opened), "outputs", {});
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(captured->files.size(), 2u);
  EXPECT_EQ(captured->files[1].path, "small");
  ASSERT_EQ(captured->skipped.size(), 1u);
  EXPECT_EQ(captured->skipped[0].path, "huge");
  EXPECT_NE(captured->skipped[0].pattern.find("the files of the tree would have more than 64"),
            std::string::npos);
}

// `change` happens while the file "a" is read.
Result<Snapshot> capture_while(const TempDir& dir, const std::function<void()>& change) {
  TreeOptions options;
  options.on_read = [&](const std::string& path) {
    if (path == "a") change();
  };
  io::Fd opened(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY));
  return capture_tree(std::move(opened), "outputs", options);
}

TEST(CaptureTree, AFileThatGrowsAllTheTimeIsNotReadForEver) {
  TempDir dir;
  dir.file("a", "1");
  int readings = 0;
  const auto captured = capture_while(dir, [&] {
    ++readings;
    std::ofstream(dir / "a", std::ios::app) << "more";
  });
  ASSERT_FALSE(captured);
  EXPECT_EQ(captured.error().code, ErrorCode::conflict);
  EXPECT_EQ(readings, 5);
}

TEST(CaptureTree, WhatVanishesOrIsReplacedMeanwhileCostsNothingElse) {
  TempDir dir;
  dir.file("a", "1");
  dir.file("b", "2");
  dir.file("c", "3");
  dir.file("d", "4");
  const auto captured = capture_while(dir, [&] {
    ::unlink((dir / "b").c_str());
    ::unlink((dir / "c").c_str());
    dir.link("/etc/passwd", "c");
  });
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(captured->files.size(), 2u);
  EXPECT_EQ(captured->files[1].path, "d");
  ASSERT_EQ(captured->skipped.size(), 2u);
  EXPECT_EQ(captured->skipped[0].path, "c");
  EXPECT_EQ(captured->skipped[0].pattern, "changed while it was read");
  EXPECT_EQ(captured->skipped[1].path, "b");
  EXPECT_EQ(captured->skipped[1].pattern, "it vanished before it was read");
}

}  // namespace
}  // namespace lockstep::snapshot
