#include "launcher/files/data/datastores_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::spec {
namespace {

using testing::HasSubstr;

TEST(DatastoresFile, NamesDirectoriesAndRemotes) {
  const auto stores = read_datastores("/home/datastores.yml",
                                      "scratch:\n"
                                      "  directory: /data/scratch/\n"
                                      "lake:\n"
                                      "  rclone: minio:bucket/sets/\n"
                                      "  config: rclone.conf\n"
                                      "  read_only: true\n"
                                      "  users: [alice]\n"
                                      "  projects: [vision]\n");
  ASSERT_TRUE(stores) << stores.error().message;
  ASSERT_EQ(stores->size(), 2u);
  const Datastore& lake = stores->front();
  EXPECT_EQ(lake.view.remote, "minio:bucket/sets");
  EXPECT_EQ(lake.config, "/home/rclone.conf");
  EXPECT_TRUE(lake.view.read_only);
  EXPECT_EQ(lake.view.users, std::vector<std::string>{"alice"});
  EXPECT_EQ(lake.view.projects, std::vector<std::string>{"vision"});
  EXPECT_EQ(stores->back().view.directory, "/data/scratch");
  for (const char* text : {"", "# none yet\n\n"})
    EXPECT_TRUE(read_datastores("f", text)->empty()) << text;
}

TEST(DatastoresFile, NamesTheDefault) {
  const auto stores = read_datastores("f", "default: b\na: {directory: /x}\nb: {directory: /y}\n");
  ASSERT_TRUE(stores) << stores.error().message;
  ASSERT_EQ(stores->size(), 2u);
  EXPECT_FALSE(stores->front().is_default);
  EXPECT_TRUE(stores->back().is_default);
  const auto one = read_datastores("f", "default: {directory: /x}\n");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->front().view.name, "default");
  EXPECT_FALSE(one->front().is_default) << "it is only a name";
}

TEST(DatastoresFile, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case kCases[] = {
      {"a: /data\n", "f:1:1: 'a' must be a mapping with 'directory' or 'rclone', not a value"},
      {"default: lke\nlake: {directory: /x}\n",
       "f:1:10: 'default': the file has no datastore lke; did you mean 'lake'?"},
      {"a: {}\n", "f:1:1: 'a' must have one of 'directory' and 'rclone'"},
      {"a: {directory: /x, rclone: 'b:c'}\n", "must have one of 'directory' and 'rclone'"},
      {"a: {directory: x}\n", "f:1:16: 'a.directory': x is not an absolute path"},
      {"a: {directory: /x/../y}\n", ""},
      {"a: {directory: [x]}\n", "'a.directory' must be a text, not a list"},
      {"a: {directory: /x, config: c}\n", "'a.config' is for rclone"},
      {"-a: {directory: /x}\n", "-a is not a datastore's name"},
      {"a: {rclone: 'b:c'}\n", "'a' needs rclone's configuration file: write 'config: FILE'"},
      {"a: {rclone: ':sftp,host=h:x', config: c}\n",
       "'a.rclone': :sftp,host=h:x is not REMOTE:PATH"},
      {"a: {rclone: 'b,host=h:x', config: c}\n", "is not REMOTE:PATH"},
      {"a: {rclone: '-b:x', config: c}\n", "is not REMOTE:PATH"},
      {"a: {rclone: /local/path, config: c}\n", "is not REMOTE:PATH"},
      {"a: {directory: /x, users: []}\n", "'a.users' must be a list of 1 to 1000 names"},
      {"a: {directory: /x, users: alice}\n", "'a.users' must be a list"},
      {"a: {directory: /x, projects: ['no such']}\n", "f:1:31: 'a.projects':"},
      {"a: {directory: /x, read_only: maybe}\n", "'a.read_only' must be true or false"},
      {"a:\n  directory: /x\n  readonly: true\n",
       "f:3:3: unknown key 'a.readonly'; did you mean 'read_only'?"},
      {"a: {directory: /x}\na: {directory: /y}\n", "f:2:1: duplicate key 'a'"},
      {"- a\n", "a file of datastores must be a mapping"},
  };
  for (const Case& one : kCases) {
    const auto stores = read_datastores("f", one.text);
    if (*one.says == '\0') {
      EXPECT_TRUE(stores) << one.text;
      continue;
    }
    ASSERT_FALSE(stores) << one.text;
    EXPECT_THAT(stores.error().message, HasSubstr(one.says)) << one.text;
  }
}

TEST(WorkspaceDatastores, AreAddedToThoseThatTheFileHas) {
  const test::TempDir temp;
  const std::string folder = temp.path() + "/datastores";
  const auto none = with_workspace_datastores({}, folder);
  ASSERT_TRUE(none) << none.error().message;
  ASSERT_EQ(none->size(), 2u);
  EXPECT_EQ(none->front().view.name, "workspaceartifactstore");
  EXPECT_FALSE(none->front().is_default);
  EXPECT_EQ(none->back().view.name, "workspaceblobstore");
  EXPECT_EQ(none->back().view.directory, folder + "/workspaceblobstore");
  EXPECT_TRUE(none->back().is_default);
  EXPECT_TRUE(std::filesystem::is_directory(folder + "/workspaceblobstore"));
  EXPECT_TRUE(with_workspace_datastores({}, folder));  // they are there

  auto named = read_datastores(
      "f", "default: a\na: {directory: /x}\nworkspaceblobstore: {directory: /mine}\n");
  const auto both = with_workspace_datastores(*std::move(named), folder);
  ASSERT_TRUE(both && both->size() == 3u);
  EXPECT_EQ(both->back().view.directory, "/mine");
  EXPECT_TRUE(both->front().is_default);
  EXPECT_FALSE(both->back().is_default);
}

}  // namespace
}  // namespace lockstep::spec
