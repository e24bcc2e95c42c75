#include "common/snapshot/live/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace lockstep::snapshot {
namespace {

using ::testing::HasSubstr;

struct Objects {
  std::map<Digest, std::string> all;
  DirectoryObjects access() {
    DirectoryObjects objects;
    objects.read = [this](const Digest& digest) -> Result<std::string> { return all.at(digest); };
    objects.write = [this](const Digest& digest, const std::string& bytes) -> Status {
      all[digest] = bytes;
      return {};
    };
    return objects;
  }
  Digest put(const Directory& directory) {
    const std::string bytes = encode(directory);
    all[sha256(bytes)] = bytes;
    return sha256(bytes);
  }
  Digest put(const std::vector<PiecedFile>& files) {
    const auto objects = encode(files);
    for (const DirectoryObject& object : objects) all[object.digest] = object.bytes;
    return objects.back().digest;
  }
  Directory get(const Digest& digest) { return *decode_directory(all.at(digest)); }
};

std::vector<PiecedFile> some() {
  return {{"a/b", 0640, false, {{0, 5, sha256("hello")}, {5, 6, sha256(" world")}}},
          {"a/b", 0640, true, {{0, 12, sha256("hello world!")}}},
          {"empty", 0600, true, {}}};
}

TEST(Pieces, AListIsReadAsItWasWritten) {
  Objects objects;
  const Digest root = objects.put(some());
  const auto read = decode_pieces(root, objects.access().read);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, some());
}

TEST(Pieces, WholeFilesTakeTheirNamesAndPartialOnesStandBeside) {
  Objects objects;
  Directory top;
  top.entries = {{"c", EntryKind::file, 0644, 1, sha256("c"), {}},
                 {"empty.partial", EntryKind::file, 0644, 1, sha256("mine"), {}}};
  const auto root = put_in_pieces(objects.put(top), some(), objects.access(),
                                  [](const PiecedFile& file, const std::string&) -> Result<Digest> {
                                    return sha256(file.path + std::to_string(file.size()));
                                  });
  ASSERT_TRUE(root) << root.error().message;
  const Directory merged = objects.get(*root);
  ASSERT_EQ(merged.entries.size(), 4u);
  EXPECT_EQ(merged.entries[0].name, "a");
  EXPECT_EQ(merged.entries[2].name, "empty.partial") << "a file of the job's keeps its name";
  EXPECT_EQ(merged.entries[2].digest, sha256("mine"));
  EXPECT_EQ(merged.entries[3].name, "empty.partial2");
  const Directory inside = objects.get(merged.entries[0].digest);
  ASSERT_EQ(inside.entries.size(), 2u);
  EXPECT_EQ(inside.entries[0], (Entry{"b", EntryKind::file, 0640, 11, sha256("a/b11"), {}}));
  EXPECT_EQ(inside.entries[1],
            (Entry{"b.partial", EntryKind::file, 0640, 12, sha256("a/b12"), {}}));
}

struct Placed {
  explicit Placed(const std::vector<PiecedFile>& files, Directory top = {}) {
    Objects objects;
    const auto root = put_in_pieces(objects.put(top), files, objects.access(),
                                    [&](const PiecedFile& file, const std::string& at) {
                                      by_file[file.path + (file.partial ? "*" : "")] = at;
                                      return Result<Digest>(sha256(file.path));
                                    });
    EXPECT_TRUE(root) << root.error().message;
    for (const Entry& entry : objects.get(*root).entries) entries[entry.name] = entry.digest;
  }
  std::map<std::string, std::string> by_file;  // path, "*" if it is partial -> where it stands
  std::map<std::string, Digest> entries;
};

// The same name came out for ever, and whoever looked at the job waited for it.
TEST(Pieces, ALongNameThatIsItsOwnPartialNameIsPlacedBeside) {
  const std::string taken = std::string(247, 'x') + ".partial";
  ASSERT_EQ(partial_name(taken), taken);
  const Placed placed({{taken, 0640, true, {}}},
                      Directory{{{taken, EntryKind::file, 0644, 1, sha256("mine"), {}}}});
  EXPECT_EQ(placed.entries.size(), 2u);
  EXPECT_EQ(placed.entries.at(taken), sha256("mine"));
  EXPECT_EQ(placed.by_file.at(taken + "*"), std::string(246, 'x') + ".partial2");
}

TEST(Pieces, LongNamesThatBeginAlikeAllHaveAPlace) {
  std::vector<PiecedFile> files;
  for (int i = 0; i < 200; ++i)
    files.push_back({std::string(250, 'x') + std::to_string(1'000 + i), 0640, true, {}});
  const Placed placed(files);
  EXPECT_EQ(placed.entries.size(), 200u);
  EXPECT_EQ(placed.by_file.at(files[0].path + "*"), std::string(247, 'x') + ".partial");
  EXPECT_EQ(placed.by_file.at(files[199].path + "*"), std::string(244, 'x') + ".partial200");
}

// A whole file in pieces whose name is another's partial name went without a word.
TEST(Pieces, APartialFileTakesTheNameOfNoWholeOne) {
  const Placed placed({{"a", 0640, true, {}}, {"a.partial", 0640, false, {}}});
  EXPECT_EQ(placed.by_file.at("a*"), "a.partial2");
  EXPECT_EQ(placed.by_file.at("a.partial"), "a.partial");
  EXPECT_EQ(placed.entries.size(), 2u);
}

// A node may send anything.
TEST(Pieces, AHostileListIsRefused) {
  const auto refused = [](const std::vector<Entry>& entries) {
    Objects objects;
    const Digest file = objects.put(Directory{entries});
    const Digest root = objects.put(
        Directory{{{"00000000", EntryKind::directory, 0755, objects.all[file].size(), file, {}}}});
    const auto read = decode_pieces(root, objects.access().read);
    EXPECT_FALSE(read);
    return read ? "" : read.error().message;
  };
  const auto piece = [](const std::string& name, std::uint64_t size) {
    return Entry{name, EntryKind::file, 0644, size, sha256("x"), {}};
  };
  const auto named = [](const std::string& path) {
    return Entry{"partial", EntryKind::symlink, 0, 0, {}, path};
  };
  const std::string first = "0000000000000000";
  EXPECT_THAT(refused({piece(first, 1)}), HasSubstr("no path"));
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "a//b", "."})
    EXPECT_THAT(refused({piece(first, 1), named(path)}), HasSubstr("no path")) << path;
  EXPECT_THAT(refused({piece("0000000000000001", 1), named("a")}), HasSubstr("piece is missing"));
  EXPECT_THAT(refused({piece(first, ~0ull), piece("0000000000000001", 1), named("a")}),
              HasSubstr("piece is missing"));
  EXPECT_THAT(refused({piece("0", 1), named("a")}), HasSubstr("no piece"));
  EXPECT_THAT(refused({named("a"), {"whole", EntryKind::symlink, 0, 0, {}, "b"}}),
              HasSubstr("two states"));
}

TEST(Pieces, ANameIsNeverTooLongForItsEnding) {
  EXPECT_EQ(partial_name("a/b.csv"), "a/b.csv.partial");
  EXPECT_EQ(partial_name(std::string(255, 'x')).size(), kMaxNameBytes);
  EXPECT_EQ(partial_name("a/b.csv", 12), "a/b.csv.partial12");
  EXPECT_EQ(partial_name("d/" + std::string(246, 'x') + "éé"),
            "d/" + std::string(246, 'x') + ".partial")
      << "an é is not cut in two";
}

}  // namespace
}  // namespace lockstep::snapshot
