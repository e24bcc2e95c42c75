// Inputs and outputs in a datastore's directory, as a job's user.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "agent/workspace/collect/write_back.h"
#include "agent/workspace/stage_inputs.h"
#include "common/io/clock.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PlacesOfStores : public testing::Test {
 protected:
  PlacesOfStores() {
    user_ = *(::geteuid() == 0 ? io::find_user("nobody") : io::current_user());
    ::chmod(dir_.path().c_str(), 0755);
    write("store/set/a.txt", "first");
    write("store/set/sub/b.txt", "second");
    ::chmod((dir_ / "store/set/a.txt").c_str(), 0444);
    fs::create_directories(attempt_.path());
    ::chmod(attempt_.path().c_str(), 0711);
    fs::create_directories(attempt_.code());
    give(attempt_.code());
    give(dir_ / "store/set");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(dir_ / name).parent_path());
    std::ofstream(dir_ / name) << text;
  }
  void give(const std::string& path) const {
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(path.c_str(), user_.uid, user_.gid), 0);
  }
  std::string read(const std::string& path) const { return io::read_file(path).value_or("(none)"); }
  Result<MountedInputs> stage(InputMode mode, InputType type = InputType::uri_folder,
                              const std::string& path = "set", bool can_mount = true) {
    DataInput input;
    input.name = "d";
    input.type = type;
    input.mode = mode;
    input.place = DatastorePath{"store", dir_ / "store", path};
    if (type == InputType::uri_file) input.file = path.substr(path.rfind('/') + 1);
    inputs_ = {input};
    const std::string working = attempt_.code();
    return stage_inputs({inputs_, attempt_, working, user_, can_mount, false,
                         [](const Digest&) -> Result<std::string> { return std::string(); },
                         [](const std::string&) {}, [](const std::string&) { return Status(); },
                         [this](Bytes size) -> Status {
                           asked_for_.push_back(size);
                           if (size <= free_) return {};
                           return make_error(ErrorCode::unsatisfiable, "no room");
                         }});
  }

  const test::TempDir dir_;
  const io::AttemptDir attempt_{dir_ / "job.1"};
  io::User user_;
  std::vector<DataInput> inputs_;
  std::vector<Bytes> asked_for_;  // room for copies
  Bytes free_ = gibibytes(1);
};

TEST_F(PlacesOfStores, WhatIsMountedIsLeftToTheRunner) {
  const auto mounted = stage(InputMode::ro_mount);
  ASSERT_TRUE(mounted) << mounted.error().message;
  ASSERT_EQ(mounted->placed.size(), 1u);
  EXPECT_FALSE(mounted->placed[0].is_writable);
  EXPECT_TRUE(stage(InputMode::rw_mount)->placed[0].is_writable);
  EXPECT_TRUE(stage(InputMode::direct)->placed.empty());
  EXPECT_EQ(stage(InputMode::ro_mount, InputType::uri_file, "set/a.txt")->placed[0].file, "a.txt");
}

TEST_F(PlacesOfStores, ACopyIsTheUsersOwn) {
  for (const bool can_mount : {true, false}) {
    const auto mode = can_mount ? InputMode::download : InputMode::ro_mount;
    const auto staged = stage(mode, InputType::uri_folder, "set", can_mount);
    ASSERT_TRUE(staged) << staged.error().message;
    const std::string copy = attempt_.code() + "/.lockstep/inputs/d";
    EXPECT_EQ(read(copy + "/a.txt"), "first");
    EXPECT_EQ(read(copy + "/sub/b.txt"), "second");
    struct stat info {};
    ASSERT_EQ(::stat((copy + "/a.txt").c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, user_.uid);
    EXPECT_EQ(info.st_mode & 0200, 0200u) << "its ranks may change it";
  }
  ASSERT_TRUE(stage(InputMode::download, InputType::uri_file, "set/a.txt"));
  EXPECT_EQ(read(attempt_.code() + "/.lockstep/inputs/d/a.txt"), "first");
}

TEST_F(PlacesOfStores, ACopyThatDoesNotFitIsNotBegun) {
  write("store/set/large", std::string(4 << 20, 'x'));
  free_ = mebibytes(1);
  const auto refused = stage(InputMode::download);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsatisfiable);
  EXPECT_THAT(refused.error().message, HasSubstr("input 'd': no room"));
  ASSERT_EQ(asked_for_.size(), 1u);
  EXPECT_GE(asked_for_[0], mebibytes(4));
  EXPECT_LT(asked_for_[0], mebibytes(5));
  EXPECT_FALSE(fs::exists(attempt_.input_beside()));
  ASSERT_FALSE(stage(InputMode::download, InputType::uri_file, "set/large"));
  EXPECT_GE(asked_for_.back(), mebibytes(4));
  asked_for_.clear();
  EXPECT_TRUE(stage(InputMode::ro_mount)) << "what is mounted takes nothing";
  EXPECT_TRUE(asked_for_.empty());
}

TEST_F(PlacesOfStores, WhatCannotBeIsSaid) {
  const auto says = [](const Result<MountedInputs>& staged, const std::string& text) {
    ASSERT_FALSE(staged);
    EXPECT_THAT(staged.error().message, HasSubstr("input 'd': "));
    EXPECT_THAT(staged.error().message, HasSubstr(text));
  };
  says(stage(InputMode::ro_mount, InputType::uri_folder, "none"), "does not exist on this node");
  says(stage(InputMode::ro_mount, InputType::uri_folder, "set/a.txt"), "write type: uri_file");
  says(stage(InputMode::ro_mount, InputType::uri_file, "set"), "write type: uri_folder");
  says(stage(InputMode::rw_mount, InputType::uri_folder, "set", false), "cannot mount");
  ASSERT_EQ(::mkfifo((dir_ / "store/set/pipe").c_str(), 0666), 0);
  says(stage(InputMode::download), "pipe is neither a file, a folder nor a link");
}

// The launcher tries again what may be an outage, and nothing else.
TEST_F(PlacesOfStores, APathThatIsNotThereIsNoOutageAndADirectoryThatIsNotMountedIsOne) {
  const auto code = [&](const Result<MountedInputs>& staged) {
    EXPECT_FALSE(staged);
    return staged ? ErrorCode::internal : staged.error().code;
  };
  EXPECT_EQ(code(stage(InputMode::ro_mount, InputType::uri_folder, "none")),
            ErrorCode::unsatisfiable);
  EXPECT_EQ(code(stage(InputMode::download, InputType::uri_file, "set/none.txt")),
            ErrorCode::unsatisfiable);
  EXPECT_EQ(code(stage(InputMode::ro_mount, InputType::uri_file, "set")),
            ErrorCode::invalid_argument);
  fs::rename(dir_ / "store", dir_ / "unmounted");
  EXPECT_EQ(code(stage(InputMode::ro_mount)), ErrorCode::unavailable);
}

TEST_F(PlacesOfStores, OutputsReplaceWhatIsThere) {
  write("written/.lockstep/outputs/model/a.txt", "new");
  write("written/.lockstep/outputs/model/sub/c.txt", "third");
  write("written/.lockstep/outputs/score/score", "0.9");
  const io::Fd base(::open((dir_ / "written").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  OutputSpec model{"model", OutputType::uri_folder, OutputMode::rw_mount, "", {}};
  model.place = DatastorePath{"store", dir_ / "store", "set"};
  give(dir_ / "store/set/sub");
  auto written = write_back(base, model, "j", user_, {});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(read(dir_ / "store/set/a.txt"), "new");
  EXPECT_EQ(read(dir_ / "store/set/sub/b.txt"), "second") << "what else is there stays";
  EXPECT_EQ(read(dir_ / "store/set/sub/c.txt"), "third");
  OutputSpec score{"score", OutputType::uri_file, OutputMode::rw_mount, "", {}};
  score.place = DatastorePath{"store", dir_ / "store", "set/${{name}}/${{output_name}}.txt"};
  written = write_back(base, score, "j", user_, {});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(read(dir_ / "store/set/j/score.txt"), "0.9");
  model.place->path = "set/a.txt/below";
  EXPECT_THAT(write_back(base, model, "j", user_, {}).error().message,
              HasSubstr("is not a folder"));
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / "store"))
    EXPECT_EQ(entry.path().filename().string().find(".lockstep-"), std::string::npos);
}

class NodesOfOneStore : public PlacesOfStores {
 protected:
  NodesOfOneStore() {
    model_.place = DatastorePath{"store", dir_ / "store", "set"};
    model_.path = "azureml://datastores/store/paths/set";
    give(dir_ / "store/set/sub");
    prepare();
  }
  // Files that were written until now are older than the attempt, by more than the tick of the
  // file system's clock.
  void prepare() {
    const Instant until = io::wall_clock() + milliseconds(20);
    while (io::wall_clock() < until) std::this_thread::yield();
    prepared_ = io::wall_clock();
  }
  // What the node wrote to its output: path -> text.
  void wrote(int node, const std::map<std::string, std::string>& files) const {
    const std::string root = fmt::format("node{}/.lockstep/outputs/model/", node);
    fs::remove_all(dir_ / root);
    fs::create_directories(dir_ / root);
    for (const auto& [path, text] : files) write(root + path, text);
  }
  std::vector<std::string> back(int node) const {
    const std::string root = dir_ / fmt::format("node{}", node);
    const io::Fd base(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto notes =
        write_back(base, model_, "j", user_, OneOfNodes{node, prepared_, longest_claim_});
    EXPECT_TRUE(notes) << notes.error().message;
    return notes.value_or(std::vector<std::string>{"(failed)"});
  }
  std::map<std::string, std::string> stored() const {
    std::map<std::string, std::string> all;
    const fs::path top = dir_ / "store/set";
    for (const auto& entry : fs::recursive_directory_iterator(top))
      if (entry.is_regular_file())
        all[entry.path().lexically_relative(top).string()] = read(entry.path());
    return all;
  }

  OutputSpec model_{"model", OutputType::uri_folder, OutputMode::rw_mount, "", {}};
  Instant prepared_;
  Duration longest_claim_ = seconds(10);
};

TEST_F(NodesOfOneStore, FilesThatDifferAreKeptBesideEachOther) {
  wrote(0, {{"a.txt", "of 0"}, {"same", "same"}, {"sub/c", "of 0"}, {"only0", "x"}});
  wrote(1, {{"a.txt", "of 1"}, {"same", "same"}, {"sub/c", "OF 1"}, {"only1", "y"}});
  EXPECT_THAT(back(0), testing::IsEmpty()) << "what was there before the attempt is replaced";
  const auto second = testing::UnorderedElementsAre(
      "a.txt differs between nodes: that of node rank 1 was kept as a.txt.node1",
      "sub/c differs between nodes: that of node rank 1 was kept as sub/c.node1");
  EXPECT_THAT(back(1), second);
  const std::map<std::string, std::string> both{
      {"a.txt", "of 0"},       {"a.txt.node1", "of 1"}, {"same", "same"}, {"sub/c", "of 0"},
      {"sub/c.node1", "OF 1"}, {"sub/b.txt", "second"}, {"only0", "x"},   {"only1", "y"}};
  EXPECT_EQ(stored(), both);
  EXPECT_THAT(back(1), second) << "a collection that is repeated says the same";
  EXPECT_THAT(back(0), testing::IsEmpty());
  EXPECT_EQ(stored(), both);
}

TEST_F(NodesOfOneStore, ALaterAttemptReplacesAll) {
  wrote(0, {{"a.txt", "of 0"}});
  wrote(1, {{"a.txt", "of 1"}});
  back(0);
  back(1);
  prepare();
  wrote(0, {{"a.txt", "new 0"}});
  wrote(1, {{"a.txt", "new 1"}});
  EXPECT_EQ(back(1).size(), 0u);
  EXPECT_EQ(back(0).size(), 1u);
  const auto all = stored();
  EXPECT_EQ(all.at("a.txt"), "new 1");
  EXPECT_EQ(all.at("a.txt.node0"), "new 0");
}

TEST_F(NodesOfOneStore, AFolderAndAFileOfOneName) {
  wrote(0, {{"x", "file"}, {"y/in", "folder"}});
  wrote(1, {{"x/in", "folder"}, {"y", "file"}});
  back(0);
  EXPECT_EQ(back(1).size(), 2u);
  const auto all = stored();
  EXPECT_EQ(all.at("x"), "file");
  EXPECT_EQ(all.at("x.node1/in"), "folder");
  EXPECT_EQ(all.at("y/in"), "folder");
  EXPECT_EQ(all.at("y.node1"), "file");
}

TEST_F(NodesOfOneStore, ManyAtOnceLoseNothing) {
  constexpr int kNodes = 8;
  for (int node = 0; node < kNodes; ++node) wrote(node, {{"a.txt", fmt::format("of {}", node)}});
  std::vector<std::thread> threads;
  for (int node = 0; node < kNodes; ++node) threads.emplace_back([&, node] { back(node); });
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> texts;
  for (const auto& [path, text] : stored()) texts.insert(text);
  for (int node = 0; node < kNodes; ++node)
    EXPECT_EQ(texts.count(fmt::format("of {}", node)), 1u) << node;
  EXPECT_EQ(texts.size(), kNodes + 1u) << "and sub/b.txt";
}

TEST_F(NodesOfOneStore, AClaimOfAKilledAgentIsRemoved) {
  write("store/set/.lockstep-replacing", "");
  prepare();
  give(dir_ / "store/set/.lockstep-replacing");
  wrote(0, {{"a.txt", "of 0"}});
  longest_claim_ = milliseconds(50);
  back(0);
  EXPECT_EQ(stored().at("a.txt"), "of 0");
  EXPECT_EQ(stored().count(".lockstep-replacing"), 0u);
}

}  // namespace
}  // namespace lockstep::agent
